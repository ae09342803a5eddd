"""functrace attaches to busy programs. Tests which allocations and releases are no events, which releases are not
reported as errors, and how long clients of the program wait."""

import itertools
import os
import re
import select
import subprocess
import threading
import time

import builds
from baseline_blocks import Seen, lines_of, trace_of
from lifecycle import Held, need_attach
from processes import FUNCTRACE, PATIENCE, TIMEOUT, Failure, Tracer, status_field, text_differences, text_of
from rounds import LONG
from words import compiled
from server_programs import children_of

FROM_BEFORE = re.compile(rb'([\d,]+) releases? (?:by the C library )?of (?:a block|blocks) from before')
BUILDS = [('cachedends', variant) for variant in ('O2', 'static', 'musl')]
OTHER_FAMILY = re.compile(rb'(\d+) releases? by another family of functions')


def attached_to(room, target, variant, args, options=()):
    """Returns (messages of functrace, the trace, the target's output, problems)."""
    need_attach()
    with Held(room, [builds.target(target, variant), *args]) as held:
        tracer = Tracer(room, held.child.pid, ['-e', 'memory', *options])
        tracer.planted()
        done, problems = held.work_and_end(tracer)
    if done.status:
        problems.append('status %d: %s' % (done.status, done.err.decode()))
    return tracer.err, trace_of(room, held.child.pid), done.out, problems


def threads_that_end(room, variant='O2', threads=4):
    """When threads end, the C library's releases of its own blocks are no events; releases of the program's blocks are
    events."""
    err, trace, out, problems = attached_to(room, 'cachedends', variant, [str(threads)])
    seen, old = Seen(trace), lines_of(out, 'old')
    if len(old) != 3 * threads:
        problems.append('the target has kept %d' % len(old))
    if seen.unknown or FROM_BEFORE.search(err):
        problems.append('%d releases of unknown blocks: %s' % (len(seen.unknown), err.decode()))
    missing = [hex(block) for block in old if block not in seen.before]
    left = [hex(block) for block in old if block in seen.live]
    if missing or left:
        problems.append('of the kept blocks %s are unknown, %s not released' % (missing, left))
    return problems, ''


def threads_that_end_unknown(room, threads=4):
    """Without a baseline functrace reports both kinds of releases, each with its own message."""
    err, trace, out, problems = attached_to(room, 'cachedends', 'O2', [str(threads)], ['--no-baseline'])
    said = dict((b'C library' in match.group(0), int(match.group(1).replace(b',', b''))) for match in FROM_BEFORE.finditer(err))
    own = len(Seen(trace).unknown) - 3 * threads
    if said != {False: 3 * threads, True: own} or own < 30 * threads:
        problems.append('%s of %d: %s' % (said, own, err.decode()))
    return problems, ''


def inside_new(room, variant='O2', helper=0, options=()):
    """When functrace attaches, a thread is in malloc, which operator new has called; functrace does not know the
    caller. A later call of operator new is still recorded as operator new and not as malloc."""
    err, trace, _, problems = attached_to(room, 'insidenew', variant, [str(helper)], options)
    notes = re.findall(r'mismatch: .*', trace)
    said = OTHER_FAMILY.search(err)
    if len(notes) != 1 or not said or said.group(1) != b'1':
        problems.append('%s: %s' % (notes, err.decode()))
    return problems, ''


TRIES = 3
STOOD = re.compile(rb'was stopped for ([\d.]+) ms')
MORE = re.compile(rb'was stopped for ([\d.]+) ms: .*\. Catching up with the delayed work took ([\d.]+) ms more\n')


def baseline_said(tracer, count=1):
    """Returns true if functrace has reported the baselines of that many processes. Later output of functrace
    does not belong to attaching, so the test does not wait for it."""
    said, end = b'', time.monotonic() + TIMEOUT * PATIENCE
    while said.count(b'was stopped for') < count and not re.search(rb'\d+ more processes were stopped, each for .*\n', said):
        more = select.select([tracer.child.stderr], [], [], max(end - time.monotonic(), 0))[0] and \
            os.read(tracer.child.stderr.fileno(), 65536)
        if not more:
            raise Failure('functrace has not said that it is attached: %s' % said.decode())
        said += more
    return said


class Stalls:
    """Measures the longest time in milliseconds for which a runnable thread waits for a processor on this machine. Two
    threads are measured by the kernel's counters (/proc/PID/schedstat): one that sleeps most of the time, and the
    tracer of a process."""

    def __init__(self, pid):
        self.pid, self.longest, self.is_over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        last, tracer, waited = time.monotonic(), None, None
        while not self.is_over.is_set():
            time.sleep(0.0005)
            now = time.monotonic()
            self.longest, last = max(self.longest, (now - last) * 1000), now
            tracer = tracer or int(status_field(self.pid, 'TracerPid') or 0)
            before, waited = waited, self.waits_of(tracer)
            if None not in (before, waited):
                self.longest = max(self.longest, waited - before)

    @staticmethod
    def waits_of(tid):
        try:
            with open('/proc/%d/schedstat' % tid) as file:
                return int(file.read().split()[1]) / 1e6
        except (OSError, IndexError):
            return None

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def many_processes(room, workers=24 if LONG else 6, mebibytes=4):
    """While functrace stops one process the other processes run, and no process waits longer than the time that
    functrace prints. Other tests run at the same time, and the tracer waits for a processor, too; so one good try of a
    few is enough. If the waits of the processes added up, no try would be good."""
    need_attach()
    for number in range(TRIES):
        problems, late, remark = attach_to_many(room, workers, mebibytes, room.path('try%d' % number))
        if problems or not late:
            break
    return problems + late, remark


def attach_to_many(room, workers, mebibytes, output):
    with Held(room, [builds.target('workers', 'O2'), str(workers), str(mebibytes)]) as held, Stalls(held.child.pid) as stalls:
        pids = [held.child.pid, *children_of(held.child.pid)]
        tracer = Tracer(room, held.child.pid, ['-e', 'memory', '--children'], output=output)
        err = baseline_said(tracer, len(pids))
        done, problems = held.work_and_end(tracer)
    if done.status or len(pids) != workers + 1:
        return problems + ['status %d, %d processes: %s' % (done.status, len(pids), done.err.decode())], [], ''
    took = {name: int(value) / 1000 for name, value in (line.split() for line in done.out.decode().splitlines())}
    said = max((float(match) for match in STOOD.findall(err)), default=0)
    remark = 'a worker was held for %.1f ms, and %.1f are said (%.1f before; a wait for a processor: %.1f)' % (
        took['attached'], said, took['quiet'], stalls.longest)
    # A round with two breakpoint hits takes three turns of the tracer on a processor, and it may have to wait before
    # each turn.
    late = took['attached'] > 1.5 * max(said, 1) + 3 * max(took['quiet'], stalls.longest)
    return problems, ['%s: %s' % (remark, err.decode())] if late else [], remark


def what_waited(room):
    """Requests that come in the pause are answered after it, at the speed of traced calls; functrace prints how long
    that took. If the thread gets no processor for a moment, it seems to have caught up. How many calls a request must
    have to take a millisecond, and may have before it takes too long, depends on the machine; so one good try of a few
    is enough."""
    need_attach()
    end = time.monotonic() + TIMEOUT * PATIENCE
    for number, pairs in enumerate(itertools.cycle((3, 3, 10, 1, 30))):
        with Held(room, [builds.target('periodic', 'O2'), '32', str(int(1000 * PATIENCE)), str(pairs)]) as held:
            tracer = Tracer(room, held.child.pid, ['-e', 'memory'], output=room.path('try%d' % number))
            err = baseline_said(tracer)
            done, problems = held.work_and_end(tracer)
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
        said = MORE.search(err)
        # The load is the mean of a minute. A machine that it does not show as busy may be busy now, so the tries go on
        # for a minute.
        is_busy = os.getloadavg()[0] > os.cpu_count()
        if problems or said or number >= 4 and (is_busy or time.monotonic() > end):
            break
    if not said and not problems and is_busy:
        raise builds.Skip('the machine is busy: %s' % err.decode())
    if not said:
        return problems + ['the time to catch up is missing: %s' % err.decode()], ''
    took = {name: int(value) / 1000 for name, value in (line.split() for line in done.out.decode().splitlines())}
    return problems, 'an answer was %.1f ms late, and %s and %s are said' % (
        took['attached'], said.group(1).decode(), said.group(2).decode())


NOT_KNOWN = re.compile(rb'was stopped for ([\d.]+) ms, but its blocks from before the trace are unknown: [^(]*\((\d+) pauses?, '
                       rb'([\d.]+) ms in all\)\. Attach again when it is less busy, or do without these blocks \(--no-baseline\)')


def never_at_rest(room, mebibytes=150):
    """The sum of all pauses has a limit. If the limit is reached, functrace says that there is no baseline."""
    need_attach()
    with Held(room, [builds.target('unsettled', 'O2'), str(mebibytes)]) as held:
        tracer = Tracer(room, held.child.pid, ['-e', 'memory'])
        err = baseline_said(tracer)
        done, problems = held.work_and_end(tracer)
    said = NOT_KNOWN.search(err)
    if done.status or not said:
        return problems + ['status %d: %s' % (done.status, err.decode())], ''
    longest, pauses, together = float(said.group(1)), int(said.group(2)), float(said.group(3))
    # No pause is begun when the sum is a second; on a busy machine one pause may take a second.
    if pauses > 28 or (pauses < 3 and together <= 1000) or together > 1000 + longest:
        problems.append(said.group(0).decode())
    return problems, '%d pauses, %.0f ms' % (pauses, together)


BUSY = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { BLOCKS = 300000, THREADS = 64 };
static void *blocks[BLOCKS];
static void *work(void *none)
{
	for (;;)
		free(malloc(40));
	return none;
}
int main(void)
{
	pthread_t thread;
	char byte;
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(24);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, work, NULL))
			return 2;
	puts("ready");
	fflush(stdout);
	_exit(read(0, &byte, 1) != 0);
}
"""


def many_busy(room):
    """If many threads only allocate, at each moment one of them has just made a call. The blocks are recorded
    nevertheless, and --duration detaches."""
    need_attach()
    target = room.start([compiled(room, 'busy', BUSY, '-pthread', '-fno-builtin')], stdin=subprocess.PIPE)
    target.stdout.readline()
    before = text_of(target.pid)
    done = room.run([FUNCTRACE, '-e', 'memory', '-o', room.path('trace'), '--duration=1', '-t', str(target.pid)])
    problems = text_differences(before, text_of(target.pid))
    said = re.search(rb'it has ([\d,]+) blocks', done.err)
    if done.status or not said or int(said.group(1).replace(b',', b'')) < 300000:
        problems.append('status %d: %s' % (done.status, done.err.decode()))
    # Calls come all the time, so the process is idle only if no thread gets a processor for a moment.
    if not re.search(rb' from before the trace\. (The process was never idle after that, so the time to catch up is unknown|'
                     rb'Catching up with the delayed work took [\d.]+ ms more)\n', done.err):
        problems.append('the time to catch up: %s' % done.err.decode())
    end = room.finish(target, data=b'')
    return problems + ['the target ended with %d' % end.status] * bool(end.status), said.group(1).decode() if said else ''


CASES = [
    ('baseline: the blocks of 64 threads that only allocate are recorded', many_busy),
    ('baseline: a heap that is never consistent', never_at_rest),
    ('baseline: while one of many processes is stopped the others run', many_processes),
    ('baseline: the time to catch up after the pause is printed', what_waited),
    ('baseline: while one of many large processes is stopped the others run',
     lambda room: many_processes(room, 12, 48)),
    ('baseline: threads that end', threads_that_end),
    ('baseline: threads that end, static', lambda room: threads_that_end(room, 'static')),
    ('baseline: threads that end, musl', lambda room: threads_that_end(room, 'musl')),
    ('baseline: threads that end, --no-baseline', threads_that_end_unknown),
    ('baseline: inside operator new', inside_new),
    ('baseline: inside operator new, by a helper', lambda room: inside_new(room, helper=1)),
    ('baseline: inside operator new, without stacks', lambda room: inside_new(room, helper=1, options=['-b', '0'])),
]
