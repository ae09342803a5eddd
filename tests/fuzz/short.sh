#!/bin/sh
# Fuzzes each reader of untrusted bytes with FUZZ_RUNS (30) inputs, fast readers with 5 times as many, to find what a
# change breaks at once; tests/long/fuzz.sh takes longer. Prints TAP. The number and the seed are the same each time, so
# that a failure can be repeated; `tests/fuzz/run` without FUZZ_SEED takes random ones.
folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
harnesses="rtrace text mpatrol swap stacktrack rows layout packed conf"
FUZZ_SEED=${FUZZ_SEED:-1} FUZZ_RUNS=${FUZZ_RUNS:-30} "$folder/run" 120 $harnesses >"$work/said" 2>&1
code=$?
number=0
status=0
echo "1..$(echo $harnesses | wc -w)"
for harness in $harnesses; do
	number=$((number + 1))
	last=$(grep "^$harness: " "$work/said")
	case $code:$last in
	77:*) echo "ok $number - $harness # SKIP no clang with libFuzzer is installed" ;;
	*": nothing in "*) echo "ok $number - $last" ;;
	*)
		echo "not ok $number - $last: $(sed -n "/^$harness: /,\$p" "$work/said" |
			grep -m 1 'this does not hold\|^SUMMARY\|error:')"
		status=1
		;;
	esac
done
test $status = 0 || sed 's/^/# /' "$work/said"
exit $status
