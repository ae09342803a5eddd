#!/bin/sh
# Each reader of bytes from outside is fuzzed for FUZZ_SECONDS (20): what a change breaks at once. TAP.
folder=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
number=0
status=0
echo 1..8
for harness in rtrace text mpatrol swap stacktrack layout packed conf; do
	number=$((number + 1))
	"$folder/run" "${FUZZ_SECONDS:-20}" "$harness" >"$work/said" 2>&1
	code=$?
	last=$(tail -n 1 "$work/said")
	case $code in
	0) echo "ok $number - $last" ;;
	77) echo "ok $number - $harness # SKIP no clang with libFuzzer is installed" ;;
	*)
		echo "not ok $number - $harness"
		sed 's/^/# /' "$work/said"
		status=1
		;;
	esac
done
exit $status
