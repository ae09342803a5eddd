"""Tests processes that end at a bad moment: while functrace attaches, in a core dump, or at the same time as many
others."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import time

import builds
import kinds
from lifecycle import need_attach, running
from processes import Failure, Gate, rounds, status_field, wait_for
from rounds import LONG


def brief_children(room):
    """Children that end at once after fork, vfork, posix_spawn and exec, some of them at the same time."""
    number = 25 if LONG else 8
    script = 'i=0; while [ $i -lt %d ]; do (exit 3) & true; /bin/true & i=$((i + 1)); done; wait; ' \
             'exec %s -c "exit 9"' % (number, kinds.shell())
    command = [kinds.shell(), '-c', script]
    plain = room.run(command)
    problems, counts = [], []
    for options in ([], ['-F']):
        folder = room.path('traces' + ''.join(options))
        os.makedirs(folder)
        done = room.run(kinds.functrace(folder, *options) + command)
        problems += kinds.compare_runs(plain, done)
        if done.status != 9:
            problems.append('status %d' % done.status)
        traces, more = kinds.read_traces(folder)
        problems += more
        counts.append(len(traces))
    # There are traces for the shell before and after its exec, for each child, and one more for each child that execs
    # after its fork.
    if not 2 + 2 * number <= counts[0] <= 2 + 3 * number or counts[1] != 2:
        problems.append('%s traces, expected %d to %d, and 2 without children' % (counts, 2 + 2 * number, 2 + 3 * number))
    return problems, '%s traces' % counts


def ends_while_attached_to(room):
    """The target ends at a random moment of the attaching, fifty times: its exit status is its own, and functrace
    reports what it found."""
    need_attach()
    problems, said, chance = [], {}, random.Random(2)
    command = [builds.target('threads', 'O2'), '4', '3']
    plain = room.run(command)
    for i in range(rounds(50)):
        folder = room.path('round%d' % i)
        os.makedirs(folder)
        gate = Gate()
        child = room.start(command, gate.env, pass_fds=gate.fds)
        gate.started()
        gate.arrived(child)
        tracer = room.start(kinds.functrace(folder, '-t', str(child.pid)))
        time.sleep(chance.random() * 0.03)
        gate.open()
        gate.open()
        ended, done = room.finish(child), room.finish(tracer)
        gate.close()
        if (ended.status, ended.out) != (plain.status, plain.out):
            problems.append('round %d: status %d, %r' % (i + 1, ended.status, (ended.out + ended.err)[-300:]))
        if done.status not in (0, 1) or not done.err:
            problems.append('round %d: functrace: status %d, %r' % (i + 1, done.status, done.err[-300:]))
        problems += ['round %d: %s' % (i + 1, p) for p in kinds.read_traces(folder)[1]]
        said[done.status] = said.get(done.status, 0) + 1
    return problems[:5], 'attached in time %d times of 50' % said.get(0, 0)


# ---- Core dumps ----

DUMPER = '''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *busy(void *data) { for (;;) free(malloc(100)); return data; }
int main(int argc, char **argv)
{
	size_t size = (size_t)atoi(argv[1]) << 20;
	char *big = malloc(size);
	pthread_t tid;
	char byte = 0;
	for (size_t i = 0; i < size; i += 512)
		big[i] = (char)(i * 7);
	for (int i = 0; i < 3; i++)
		pthread_create(&tid, NULL, busy, NULL);
	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		if (read(0, &byte, 1) < 0) return 1;
	}
	usleep(20000);
	abort();
}
'''


def dumper(room):
    with open('/proc/sys/kernel/core_pattern') as file:
        pattern = file.read().strip()
    if '/' in pattern or '|' in pattern:
        raise builds.Skip('core files do not go to the current folder here, but to ' + pattern)
    with open(room.path('dumper.c'), 'w') as file:
        file.write(DUMPER)
    made = room.run(builds.compiler() + ['-O1', '-fno-builtin', '-pthread', '-o', room.path('dumper'), room.path('dumper.c')])
    if made.status:
        raise Failure(made.err.decode())
    return room.path('dumper')


def with_core(function):
    """Runs a test with core files enabled; the limit of the tests may forbid them."""
    def run(room):
        before = resource.getrlimit(resource.RLIMIT_CORE)
        if before[1] != resource.RLIM_INFINITY:
            raise builds.Skip('core files are limited to %d bytes' % before[1])
        return function(room, ['/bin/sh', '-c', 'ulimit -c unlimited && exec "$0" "$@"'])
    return run


def cores(room):
    """Removes the core files; returns {name: (size, whether it is a core file of the dumper)}."""
    found = {}
    for name in os.listdir(room.folder):
        if name.startswith('core'):
            with open(room.path(name), 'rb') as file:
                found[name] = (os.stat(room.path(name)).st_size, b'dumper\0\0\0' in file.read(65536))
            os.unlink(room.path(name))
    return found


def one_core(found, least):
    if len(found) != 1 or not all(size >= least and ours for size, ours in found.values()):
        return ['core files: %s, expected one of at least %d bytes' % (found, least)]
    return []


def core_dump(room, prefix):
    """A launched program dumps core: its core file is complete, functrace dumps none, and the status has the program's
    signal."""
    command = prefix + [dumper(room), '20']
    plain = room.run(command)
    problems = ['untraced: ' + p for p in one_core(cores(room), 20 << 20)]
    os.makedirs(room.path('traces'))
    done = room.run(prefix + kinds.functrace(room.path('traces')) + command[len(prefix):])
    problems += kinds.compare_runs(plain, done) + one_core(cores(room), 20 << 20)
    if done.status != -signal.SIGABRT:
        problems.append('status %d' % done.status)
    return problems + kinds.read_traces(room.path('traces'), 1)[1], ''


def let_go_in_a_core_dump(room, prefix):
    """Ctrl-C to functrace while the program writes its core file: both end, and the file is complete."""
    need_attach()
    child = room.start(prefix + [dumper(room), '120', 'wait'], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise Failure('the target did not start')
    os.makedirs(room.path('traces'))
    tracer = room.start(kinds.functrace(room.path('traces'), '-t', str(child.pid)))
    # The target's threads make calls all the time.
    wait_for('a trace', lambda: os.listdir(room.path('traces')))
    child.stdin.write(b'x')
    child.stdin.flush()
    wait_for('the core dump', lambda: child.poll() is not None or status_field(child.pid, 'CoreDumping') == '1')
    dumping = child.poll() is None
    tracer.send_signal(signal.SIGINT)
    said = room.finish(tracer)
    done = room.finish(child)
    problems = one_core(cores(room), 120 << 20)
    if done.status != -signal.SIGABRT or said.status:
        problems.append('the target ended with status %d, functrace with %d, %r' % (done.status, said.status, said.err))
    return problems + kinds.read_traces(room.path('traces'), 1)[1], 'in it' if dumping else 'it was over'


def killed_in_a_core_dump(room, prefix):
    """SIGKILL ends a core dump, and then functrace ends."""
    child = room.start(prefix + kinds.functrace(room.folder) + [dumper(room), '120', 'wait'], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise Failure('the target did not start')
    pid = running(room, 'dumper')[0]
    child.stdin.write(b'x')
    child.stdin.flush()
    wait_for('the core dump', lambda: child.poll() is not None or status_field(pid, 'CoreDumping') == '1')
    # The dump may just have been completed.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    done = room.finish(child)
    cores(room)
    if done.status not in (-signal.SIGKILL, -signal.SIGABRT):
        return ['status %d, %r' % (done.status, done.err[-300:])], ''
    return [], 'status %d' % done.status


CASES = [
    ('children that end at once', brief_children),
    ('the target ends while functrace attaches', ends_while_attached_to),
    ('a core dump, launched', with_core(core_dump)),
    ('functrace detaches during a core dump', with_core(let_go_in_a_core_dump)),
    ('SIGKILL during a core dump', with_core(killed_in_a_core_dump)),
]
