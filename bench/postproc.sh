#!/bin/sh
# Measures functrace-postproc on traces of 10^5, 10^6 and 10^7 events (500 stacks of 10 frames, 20000
# live at the end; 10^6 events are about 97 MB).
#
#     postproc.sh FUNCTRACE-POSTPROC MAKE-TRACE [OTHER-PROGRAM...]
#
# Each OTHER-PROGRAM (sp-rtrace-postproc, for comparison) gets the same options and the trace with -i.
# The traces are written into a new folder under TMPDIR and removed afterwards; 10^7 events need 2 GB there.
# EVENTS="100000 1000000" chooses other numbers.
set -u

[ $# -ge 2 ] || { echo "usage: $0 FUNCTRACE-POSTPROC MAKE-TRACE [OTHER-PROGRAM...]" >&2; exit 2; }
postproc=$1
make_trace=$2
shift 2
command -v /usr/bin/time >/dev/null || { echo "$0: install GNU time (package time)" >&2; exit 1; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/functrace-bench-XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# best_of NAME EVENTS COMMAND...: the best of three runs and the largest memory.
best_of() {
	name=$1
	events=$2
	shift 2
	: >"$folder/times"
	for run in 1 2 3; do
		if ! /usr/bin/time -a -o "$folder/times" -f '%e %M' "$@" >/dev/null 2>"$folder/messages"; then
			cat "$folder/messages" >&2
			echo "$0: $* failed" >&2
			return 1
		fi
	done
	awk -v name="$name" -v events="$events" '
		{ if (NR == 1 || $1 < time) time = $1; if ($2 > memory) memory = $2 }
		END {
			printf "%-34s %9d events %7.2f s %8.2f M events/s %8.1f MB\n", name, events, time,
				(time > 0 ? events / time / 1e6 : 0), memory / 1024
		}' "$folder/times"
}

for events in ${EVENTS:-100000 1000000 10000000}; do
	trace=$folder/trace.rtrace
	"$make_trace" --compat "$events" >"$trace" || exit 1
	cat "$trace" >/dev/null
	for options in -l '-l -c' '-c' --stats ''; do
		# Without a filter all is written as text: the whole way through.
		best_of "functrace-postproc ${options:-(text)}" "$events" "$postproc" $options "$trace"
		[ "$options" = --stats ] && continue
		for other; do
			best_of "${other##*/} ${options:-(text)}" "$events" "$other" $options -i "$trace"
		done
	done
	# Reading and writing the same format, then converting to others and back: no less than half as fast.
	for format in rtrace mpatrol stacktrack swap; do
		best_of "functrace-postproc -f $format" "$events" "$postproc" -q -f $format "$trace"
	done
	for format in mpatrol stacktrack swap; do
		"$postproc" -q -f $format -o "$folder/trace.$format" "$trace" || exit 1
		best_of "functrace-postproc of $format's" "$events" "$postproc" -q -f rtrace "$folder/trace.$format"
		rm -f "$folder/trace.$format" "$folder/trace.$format.map"
	done
	# What -c wrote: its calls have to be put back into their order.
	"$postproc" -q -c -o "$folder/groups.txt" "$trace" || exit 1
	best_of "functrace-postproc -c of -c's" "$events" "$postproc" -q -c "$folder/groups.txt"
	rm "$folder/groups.txt"
done
