#!/bin/sh
# Runs in a guest: unit tests, then scenarios with programs that were built before. Their TAP goes to the console, with a
# line "== NAME" before each test; check.py reads it.
#
# usage: suite.sh FORM TOP_SRCDIR TOP_BUILDDIR UNIT-TEST...      the paths of both folders on the build machine
# ./FORM, unless it is empty, names the scenarios.
form=$PWD/$1
export TOP_SRCDIR="$2" TOP_BUILDDIR="$3"
shift 3
# The paths in which programs search for their libraries, and tests for their files.
for folder in src:"$TOP_SRCDIR" build:"$TOP_BUILDDIR"; do
	mkdir -p "${folder#*:}"
	rmdir "${folder#*:}"
	ln -s "$PWD/${folder%%:*}" "${folder#*:}"
done
# An AArch64 kernel runs ARM's programs.
if [ -d arm ]; then
	ln -s "$PWD/arm" /usr/lib/arm-linux-gnueabihf
	ln -s "$PWD/arm/ld-linux-armhf.so.3" /usr/lib/ld-linux-armhf.so.3
fi
export FUNCTRACE="$TOP_BUILDDIR/functrace" FUNCTRACE_POSTPROC="$TOP_BUILDDIR/functrace-postproc" PYTHON=/usr/bin/python3
export SCENARIO_PREBUILT=1 SCENARIO_PATIENCE=8 TEST_TIMEOUT=600 UNWIND_STEPS=1000
TRACED='alloc_basic-O2 alloc_cpp-O2 nested-O2 threads-O2 alloc_basic-arm32 alloc_cpp-arm32'
cd "$TOP_BUILDDIR" || exit 1
echo core >/proc/sys/kernel/core_pattern

for test in "$@"; do
	echo "== $test"
	case $test in
	*.py) sh "$TOP_SRCDIR/tests/tap.sh" $PYTHON "$TOP_SRCDIR/$test" ;;
	*.sh) sh "$TOP_SRCDIR/tests/tap.sh" sh "$TOP_SRCDIR/$test" ;;
	*) sh "$TOP_SRCDIR/tests/tap.sh" "./$test" ;;
	esac
done
if [ -s "$form" ]; then
	echo "== tests/scenarios/run.py"
	$PYTHON "$TOP_SRCDIR/tests/scenarios/run.py" -v -j "$(nproc)" --form="$form"
fi

# Traces that are also read on the build machine, with the output of functrace-postproc in the guest.
mkdir -p /out/traces
for program in $TRACED; do
	[ -x "tests/targets/bin/$program" ] || continue
	"$FUNCTRACE" -q -A -o "/out/traces/$program.rtrace" "tests/targets/bin/$program" >/dev/null
	"$FUNCTRACE_POSTPROC" -r "/out/traces/$program.rtrace" >"/out/traces/$program.txt"
	"$FUNCTRACE_POSTPROC" -l -c -r "/out/traces/$program.rtrace" >"/out/traces/$program.leaks.txt"
done

# The cost of three stops without tracing, and of a traced pair of malloc and free, in turn, on one CPU: "figure NAME
# NANOSECONDS".
figure() {
	name=$1
	shift
	taskset 1 "$@" --pairs=100 | sed -n "s/^round \([0-9]*\) .*/figure $name \1/p"
}
if [ -x bench/floor ] && [ -s "$form" ]; then
	echo "== bench/floor"
	for _ in 1 2 3; do
		figure floor bench/floor
		figure plain "$FUNCTRACE" -q -b 0 --cpu=free -o /tmp/floor.rtrace bench/targets/malloc
		figure stacks "$FUNCTRACE" -q --cpu=free -o /tmp/floor.rtrace bench/targets/malloc
	done
fi
echo "== end"
