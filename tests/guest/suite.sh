#!/bin/sh
# Runs in a guest: unit tests, then scenarios with programs that were built beforehand. What they print goes to the
# console as TAP, a line "== NAME" before each test; check.py reads it.
#
# usage: suite.sh TOP_SRCDIR TOP_BUILDDIR UNIT-TEST...      both folders as they were where all was built
# ./form, if it is there, names the scenarios.
export TOP_SRCDIR="$1" TOP_BUILDDIR="$2"
shift 2
# Programs have their libraries, and tests their files, by those names.
for folder in src:"$TOP_SRCDIR" build:"$TOP_BUILDDIR"; do
	mkdir -p "${folder#*:}"
	rmdir "${folder#*:}"
	ln -s "$PWD/${folder%%:*}" "${folder#*:}"
done
export FUNCTRACE="$TOP_BUILDDIR/functrace" FUNCTRACE_POSTPROC="$TOP_BUILDDIR/functrace-postproc" PYTHON=/usr/bin/python3
export SCENARIO_PREBUILT=1 SCENARIO_PATIENCE=8 TEST_TIMEOUT=120
form=$PWD/form
cd "$TOP_BUILDDIR" || exit 1
echo core >/proc/sys/kernel/core_pattern

for test in "$@"; do
	echo "== $test"
	case $test in
	*.py) sh "$TOP_SRCDIR/tests/tap.sh" $PYTHON "$TOP_SRCDIR/$test" ;;
	*) sh "$TOP_SRCDIR/tests/tap.sh" "./$test" ;;
	esac
done
if [ -s "$form" ]; then
	echo "== tests/scenarios/run.py"
	$PYTHON "$TOP_SRCDIR/tests/scenarios/run.py" -v -j "$(nproc)" --form="$form"
fi
echo "== end"
