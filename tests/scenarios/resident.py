"""Tests resident memory in a trace: the figures must be those that the program reads by getrusage() and in
/proc/PID/status."""

import os
import re
import signal

import trace_text
from lifecycle import need_attach
from processes import FUNCTRACE, POSTPROC, state_of, status_field, wait_for
from rounds import LONG
from words import compiled

MIB = 1 << 20

# The figures may differ by this number of bytes, because the kernel has separate counters for each CPU, which it does
# not always add up.
SLACK = MIB

PEAK = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void use(size_t size, int is_kept)
{
	char *p = malloc(size);

	memset(p, 1, size);
	if (!is_kept)
		free(p);
}

int main(int argc, char **argv)
{
	struct rusage usage;

	if (argc > 1 && !strcmp(argv[1], "exec")) {
		use(48 << 20, 1);
		execl(argv[0], argv[0], (char *)0);
	}
	use(32 << 20, 0);
	use(4 << 20, 1);
	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_maxrss * 1024);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		free(malloc(100));
		pause();
	}
	return 0;
}
'''


def resident_of(path):
    return trace_text.read(path).resident


def size(pid, key):
    return int(status_field(pid, key).split()[0]) * 1024


def within(what, found, expected):
    return [] if abs(found - expected) <= SLACK else ['%s: %d, expected about %d' % (what, found, expected)]


def at_the_end(room):
    """The peak is that of getrusage(), and the final size is smaller by the freed memory."""
    program = compiled(room, 'peak', PEAK)
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'T', program])
    found = resident_of(room.path('T'))
    if not found:
        return ['the trace has no resident memory'], ''
    now, peak = found[-1]
    problems = within('the peak', peak, int(done.out)) + within('the end', now, peak - 28 * MIB)
    report = room.run([POSTPROC, '--report', room.path('T')]).out.decode()
    line = 'resident    %s bytes when last measured, %s at the peak' % ('{:,}'.format(now), '{:,}'.format(peak))
    problems += [] if '\n%s\n' % line in report else ['the report has no line %r: %s' % (line, report[:400])]
    shown = room.run([POSTPROC, '--stats', room.path('T')]).out.decode()
    line = 'resident memory  %12d bytes when last measured, %d at the peak' % (now, peak)
    return problems + ([] if '\n%s\n' % line in shown else ['--stats has no line %r: %s' % (line, shown[:400])]), ''


def forms(room):
    """All formats that can represent the figures have the same ones. The others have none, and functrace prints no
    message about this."""
    problems = []
    program = compiled(room, 'peak', PEAK)
    for form, options in (('rtrace', []), ('stacktrack', []), ('mpatrol', []),
                          *([('rtrace', ['--compat=sp-rtrace']), ('swap', [])] if LONG else [])):
        done = room.run([FUNCTRACE, '-f', form] + options + ['-o', 'F', program])
        text = room.run([POSTPROC, '-q', '-f', 'text', room.path('F')]).out.decode()
        peaks = [int(peak) for peak in re.findall(r'^## resident \d+ (\d+)$', text, re.M)]
        if form in ('rtrace', 'stacktrack') and not options:
            problems += within(form, peaks[-1], int(done.out)) if peaks else [form + ' has none']
        elif peaks or b'resident' in done.err:
            problems.append('%s %s: %r, %r' % (form, options, peaks, done.err))
    return problems, ''


def executes(room):
    """After an exec the peak is that of the new program; the old program's memory no longer exists when functrace reads
    it."""
    program = compiled(room, 'peak', PEAK)
    room.run([FUNCTRACE, '-f', 'text', '-o', 'E', program, 'exec'])
    names = sorted(name for name in os.listdir(room.path('.')) if re.match(r'^E(\.\d+\.1)?$', name))
    found = [resident_of(room.path(name)) for name in names]
    if len(found) != 2 or not found[1]:
        return ['%r: %r' % (names, found)], ''
    return [] if found[1][-1][1] < 44 * MIB else ['the peak is the old program\'s: %r' % found[1]], ''


def attached(room):
    """When functrace detaches from a process that runs on, the figures are those of this moment."""
    need_attach()
    program = compiled(room, 'peak', PEAK)
    target = room.start([program, 'wait'])
    wait_for('the work', lambda: size(target.pid, 'VmRSS') > 3 * MIB and state_of(target.pid) == 'S')
    tracer = room.start([FUNCTRACE, '-f', 'text', '-o', 'A', '-t', str(target.pid)])
    wait_for('the trace to have data', lambda: os.path.exists(room.path('A')) and os.stat(room.path('A')).st_size)
    tracer.send_signal(signal.SIGINT)
    room.finish(tracer)
    now, peak = size(target.pid, 'VmRSS'), size(target.pid, 'VmHWM')
    target.kill()
    room.finish(target)
    found = resident_of(room.path('A'))
    if not found:
        return ['the trace has no resident memory'], ''
    return within('now', found[-1][0], now) + within('the peak', found[-1][1], peak), ''


CASES = [
    ('resident memory: the peak and the final size are those of the program', at_the_end),
    ('resident memory: in each format that has a place for it', forms),
    ("resident memory: after an exec the peak is the new program's", executes),
    ('resident memory: the figures at detaching', attached),
]
