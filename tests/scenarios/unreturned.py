"""Tests recorded calls (-x) that never return: for each of them the trace has a remark with the reason."""

import os
import re
import signal
import subprocess

from lifecycle import need_attach
from outputs import equal
from processes import FUNCTRACE, POSTPROC, Tracer
from words import compiled, has_line, said

SOURCE = """
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf there;
#define F __attribute__((noipa))
F int returns(int n) { return n + 1; }
F int crashes(int *p) { return *p; }
F void ends(int status) { exit(status); }
F void aborts(int n) { if (n) abort(); }
F void jumps(int n) { if (n) jumps(n - 1); longjmp(there, 1); }
F void leaves(long n) { pthread_exit((void *)n); }
F void executes(const char *path) { execl(path, path, "end", (char *)NULL); }
F void waits(int fd) { char c = 'w'; if (write(1, &c, 1) == 1 && read(fd, &c, 1) != 1) exit(9); }
F int deep(int n) { return n ? deep(n - 1) + 1 : *(volatile int *)NULL; }
static void *thread(void *data) { leaves(7); return data; }
int main(int argc, char **argv)
{
	const char *how = argv[argc - 1];
	pthread_t id;
	char c;
	returns(1);
	if (!strcmp(how, "crash"))
		crashes(NULL);
	if (!strcmp(how, "exit"))
		ends(3);
	if (!strcmp(how, "abort"))
		aborts(4);
	if (!strcmp(how, "jump")) {
		if (setjmp(there))
			returns(3);
		else {
			jumps(1);
			returns(4);
		}
	}
	if (!strcmp(how, "thread")) {
		pthread_create(&id, NULL, thread, NULL);
		pthread_join(id, NULL);
	}
	if (!strcmp(how, "exec"))
		executes(argv[0]);
	if (!strcmp(how, "fork")) {
		if (!fork())
			crashes(NULL);
		wait(NULL);
	}
	if (!strcmp(how, "deep"))
		deep(149);
	if (!strcmp(how, "wait") && write(1, "r", 1) == 1 && read(0, &c, 1) == 1)
		waits(0);
	returns(2);
	return 0;
}
"""
NAMES = 'returns;crashes;ends;aborts;jumps;leaves;executes;waits;deep'
ENDED = 'its thread has ended'
LEFT = 'it has ended otherwise (an exception, longjmp)'
# For each way in which the program ends: its status, and the calls and remarks of each trace.
WAYS = {
    'crash': (-signal.SIGSEGV, [['returns(1)', 'crashes(p=NULL) <no return>: ' + ENDED]]),
    'exit': (3, [['returns(1)', 'ends(status=3) <no return>: ' + ENDED]]),
    'abort': (-signal.SIGABRT, [['returns(1)', 'aborts(n=4) <no return>: ' + ENDED]]),
    'jump': (0, [['returns(1)', 'jumps(n=0) <no return>: ' + LEFT, 'jumps(n=1) <no return>: ' + LEFT, 'returns(3)', 'returns(2)']]),
    'thread': (0, [['returns(1)', 'returns(2)', 'leaves(n=7) <no return>: ' + ENDED]]),
    'exec': (0, [['returns(1)', 'executes(path="{path}") <no return>: its thread executes another program'],
                 ['returns(1)', 'returns(2)']]),
    'fork': (0, [['returns(1)', 'returns(2)'], ['crashes(p=NULL) <no return>: ' + ENDED]]),
    'deep': (-signal.SIGSEGV, [['returns(1)'] + ['deep(n=%d) <no return>: %s' % (n, ENDED) for n in range(100)] +
                                    ['and 50 outer calls of this thread <no return>']]),
}


def read(path):
    """Reads a trace. Returns the calls, with their first argument, and the remarks, in their order, without the times
    at which calls were left."""
    with open(path) as file:
        text = file.read()
    lines = re.findall(r'^(?:\d+\. \[.*?\] (\w+)\(.*\n(?:\t0x.*\n)*\t\$1 = \w+=(.*)|## (.* <no return>.*))$', text, re.M)
    return [remark or '%s(%s)' % (name, value) for name, value, remark in lines]


def program(room):
    return compiled(room, 'unreturned', SOURCE, '-pthread')


def all_ways(room):
    path, problems = program(room), []
    for how, (status, traces) in WAYS.items():
        done = room.run([FUNCTRACE, '-f', 'text', '-a', '-x', NAMES, '-o', room.path(how), path, how])
        names = sorted((n for n in os.listdir(room.folder) if n == how or n.startswith(how + '.')), key=lambda n: (len(n), n))
        # A call that longjmp leaves is noticed later: at the next call of its caller, or at the end.
        found = [read(room.path(name)) for name in names]
        expected = [[line.format(path=path) for line in lines] for lines in traces]
        if how == 'jump':
            found = [sorted(line.replace(ENDED, LEFT) for line in lines) for lines in found]
            expected = [sorted(lines) for lines in expected]
        problems += equal(how, found, expected)
        if done.status != status:
            problems.append('%s: status %d: %s' % (how, done.status, said(done)))
        count = sum('<no return>' in line for lines in expected for line in lines) + 49 * (how == 'deep')
        problems += has_line(done, r'functrace: %d recorded calls? did not return: the trace, as text, has lines like '
                                   r'"## NAME\(\.\.\.\) <no return>" for them' % count)
    return problems, '%d ways' % len(WAYS)


def formats(room):
    """Tests the remarks without -a, in a binary trace that functrace-postproc reads, and in a format that cannot
    represent such calls."""
    path, problems = program(room), []
    room.run([FUNCTRACE, '-x', NAMES, '-o', room.path('b'), path, 'exit'])
    text = room.run([POSTPROC, 'b']).out.decode()
    problems += equal('functrace-postproc', re.findall('^## (.*<no return>.*)$', text, re.M), ['ends(...) <no return>: ' + ENDED])
    report = room.run([POSTPROC, '--report', 'b'])
    if report.status or 'ends(...) <no return>: ' + ENDED not in report.out.decode():
        problems.append('--report: status %d: %s' % (report.status, report.out.decode() + said(report)))
    done = room.run([FUNCTRACE, '-x', NAMES, '-f', 'mpatrol', '-o', room.path('m'), path, 'exit'])
    if 'has no place for' not in said(done) or 'did not return' in said(done):
        problems.append('mpatrol: ' + said(done))
    return problems, ''


def let_go(room):
    """When functrace detaches, a call has not returned yet: the remark says that the call continues."""
    need_attach()
    child = room.start([program(room), 'wait'], stdin=subprocess.PIPE)
    os.read(child.stdout.fileno(), 1)
    tracer = Tracer(room, child.pid, ['-e', 'memory', '-x', 'waits', '-a'])
    tracer.planted()
    os.write(child.stdin.fileno(), b'a')
    os.read(child.stdout.fileno(), 1)
    problems = tracer.let_go()
    done = room.finish(child, data=b'b')
    if done.status:
        problems.append('the target ended with status %d' % done.status)
    (name,) = os.listdir(room.path('traces'))
    return problems + equal('the trace', read(room.path('traces', name)), ['waits(fd=0) <no return>: the call goes on after the trace']), ''


CASES = [
    ('calls that do not return', all_ways),
    ('calls that do not return, in other formats', formats),
    ('calls that do not return before functrace detaches', let_go),
]
