"""Compares traces with the reference logger's logs for processes that end while their threads are at work."""

import glob
import os
import re
import signal
import tempfile
import time

import builds
import endings
import kinds
import reflog
import scans
import strict
from processes import FUNCTRACE, state_of, wait_for
from rounds import LONG
from words import compiled

ROUNDS = 4 if LONG else 1
SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *data)
{
	void *p = malloc(77);
	for (;;) {
		free(malloc(101));
		p = realloc(p, 5000);
		p = realloc(p, 77);
	}
	return data;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, work, NULL);
	usleep(30000);
	if (!strcmp(argv[1], "kill"))
		abort();
	if (!strcmp(argv[1], "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(argv[1], "fork") && !fork()) {
		free(malloc(55)); /* is in the log and in the trace, even if the end cuts off all threads' events */
		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, work, NULL);
		usleep(30000);
		_exit(0);
	}
	if (!strcmp(argv[1], "fork"))
		wait(NULL);
	_exit(argc != 2);
}
"""


def at_work(room):
    """Processes that end by _exit, a signal or an exec, and a forked child: the trace and the log differ only in events
    that the end has cut off."""
    program, problems, count = compiled(room, 'atwork', SOURCE, '-pthread', '-w'), [], 0
    for how in ('exit', 'kill', 'exec', 'fork') * ROUNDS:
        folder, log = room.path('traces-%d' % count), room.path('log-%d' % count)
        os.makedirs(folder)
        os.makedirs(log)
        room.run(kinds.functrace(folder) + [program, how], {'REFLOG': log, 'LD_PRELOAD': builds.logger()})
        images = {pid: [i for i in some if i.program == 'atwork'] for pid, some in reflog.read_images(log).items()}
        for trace in kinds.read_traces(folder)[0]:
            if 'atwork' not in trace.header.get('process', ''):
                continue
            (image,) = images.pop(trace.pid)
            found = trace.problems + strict.compare(trace, image.in_order(), strict.Names(False), True)
            problems += ['%s: %s' % (how, words) for words in found]
        problems += ['%s: process %d has no trace' % (how, pid) for pid, some in images.items() if some]
        count += 1
    return problems[:3], '%d runs' % count


LARGE = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile long *shared; /* whether the large process is at its end; the other one's longest call since, its time */
static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}
static void *waits(void *none)
{
	for (;;)
		pause();
	return none;
}
static void ends(void)
{
	static char *kept;
	pthread_t thread;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, waits, NULL);
	kept = malloc(BYTES);
	memset(kept, 1, BYTES);
	free(malloc(4321) + !malloc(1234));
	shared[0] = 1;
	_exit(3);
}
static void calls(void)
{
	long before = now(), since = 0;
	while (shared[0] < 2) {
		free(malloc(77));
		const long after = now();
		if (shared[0] == 1 && !since)
			since = before;
		if (since && after - before > shared[1])
			shared[1] = after - before;
		before = after;
	}
	shared[2] = before - since;
	_exit(0);
}
int main(void)
{
	int status;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t other = fork();
	if (!other)
		calls();
	const pid_t large = fork();
	if (!large)
		ends();
	waitpid(large, &status, 0);
	shared[0] = 2;
	waitpid(other, NULL, 0);
	printf("%d %ld %ld\\n", WEXITSTATUS(status), shared[1], shared[2]);
	return 0;
}
"""


def is_short(measure, share):
    """Returns (problems, remark): the longest call must be short compared with the whole. Other programs may have used
    the processors during one call; a delay in each run is functrace's."""
    for _ in range(6):
        problems, longest, whole = measure()
        if problems or longest * share <= whole:
            break
    else:
        problems = ['a call took %d of %d us' % (longest, whole)]
    return problems, '%d of %d us' % (longest, whole)


def served_meanwhile(room, threads):
    """While functrace reads the heap of a process that ends, it handles the stops of other processes and the ends of
    the process's own threads."""
    program = compiled(room, 'large', LARGE, '-w', '-pthread', '-DBYTES=%d' % ((256 if LONG else 128) << 20), '-DTHREADS=%d' % threads)
    return is_short(lambda: calls_of_another(room, program), 2)


def calls_of_another(room, program):
    trace = os.path.join(tempfile.mkdtemp(dir=room.folder), 'trace')
    done = room.run([FUNCTRACE, '--scan', '-e', 'memory', '-f', 'text', '-o', trace, program])
    status, longest, meanwhile = done.out.decode().split()
    texts = [room.run(['cat', path]).out for path in [trace] + glob.glob(trace + '.*')]
    lost = [re.findall(rb'malloc\(1234\) = (0x[0-9a-f]+)', text) for text in texts]
    problems = ['status %s: %s' % (status, done.err.decode())] if status != '3' or done.status else []
    said = [b'## lost <1> %s definitely\n' % addresses[0] in text for addresses, text in zip(lost, texts) if addresses]
    if said != [True]:
        problems.append('lost blocks are not reported: %s' % said)
    return problems, int(longest), int(meanwhile)


FULL = """
#include <stdio.h>
#include <stdlib.h>
#include <poll.h>
#include <time.h>
static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}
static void **kept;
int main(void)
{
	long longest = 0;
	struct pollfd input = {0, POLLIN, 0};
	kept = malloc(BLOCKS * sizeof(*kept));
	for (long i = 0; i < BLOCKS; i++)
		kept[i] = malloc(20);
	printf("ready\\n");
	fflush(stdout);
	while (!poll(&input, 1, 1)) {
		const long before = now();
		free(malloc(77));
		if (now() - before > longest)
			longest = now() - before;
	}
	printf("%ld\\n", longest);
	return 0;
}
"""


def served_at_letting_go(room):
    """When functrace detaches, the process is stopped for the copy of its heap, but not while the copy is read, which
    takes some ten times as long: its longest call is short compared with a whole scan on the same machine."""
    program = compiled(room, 'full', FULL, '-w', '-DBLOCKS=1500000')
    return is_short(lambda: call_beside_scan(room, program), 4)


def call_beside_scan(room, program):
    trace = os.path.join(tempfile.mkdtemp(dir=room.folder), 'trace')
    with scans.Target(room, program, None) as target:
        began = time.monotonic()
        problems, _ = target.look()
        scan = (time.monotonic() - began) * 1e6
        done = room.run([FUNCTRACE, '--scan', '--no-baseline', '-e', 'memory', '--duration=0.5', '-o', trace,
                         '-t', str(target.pid)])
        out, _ = target.child.communicate(b'\n')
        if done.status or b'was stopped for' not in done.err or target.child.returncode:
            problems.append('status %d, then %d: %s' % (done.status, target.child.returncode, done.err.decode()))
    return problems, int(out), int(scan)


# All blocks are of one size class. Blocks of keep() are always reachable, blocks of lose() never. Another thread holds
# malloc's lock most of the time, so that a copy of the heap cannot be used.
BUSY = """
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *volatile kept[64];
static void keep(int i)
{
	char *const old = kept[i], *const new = malloc(1101);
	memset(new, 0, 1101);
	kept[i] = new;
	free(old);
}
static void lose(void)
{
	memset(malloc(1102), 0, 1102);
}
static void *keeps(void *none)
{
	for (int i = 0;; i++, usleep(10))
		keep(i % 64);
	return none;
}
static void *loses(void *none)
{
	for (;; usleep(100))
		lose();
	return none;
}
static void *locks(void *none)
{
	for (;; usleep(100))
		for (int i = 0; i < 10; i++)
			mallinfo();
	return none;
}
int main(void)
{
	static char *many[200000];
	void *(*const all[])(void *) = {keeps, loses, locks};
	pthread_t thread;
	mallopt(M_ARENA_MAX, 1);
	for (int i = 0; i < 200000; i++)
		many[i] = malloc(150);
	for (int i = 0; i < 200000; i += 10) {
		free(many[i]);
		many[i] = NULL;
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, all[i], NULL);
	printf("ready\\n");
	fflush(stdout);
	return getchar();
}
"""


def lost_sizes(text):
    """Returns the sizes of a trace's lost blocks whose allocation was traced."""
    sizes, lost = {}, []
    for line in text.splitlines():
        made = re.match(r'\d+\. (?:\[[^]]*\] )?malloc\((\d+)\) = (0x[0-9a-f]+)', line)
        gone = re.match(r'\d+\. (?:\[[^]]*\] )?free\((0x[0-9a-f]+)\)', line)
        said = re.match(r'## lost <1> (0x[0-9a-f]+) (definitely|indirectly)', line)
        if made:
            sizes[made[2]] = int(made[1])
        elif gone:
            sizes.pop(gone[1], None)
        elif said and said[1] in sizes:
            lost.append(sizes[said[1]])
    return lost


def looked_at_again(room):
    """If several copies are needed, functrace notices the calls between two copies: it does not report a new block at
    the address of a block that was released."""
    program, problems, all_lost = compiled(room, 'busy', BUSY, '-w', '-pthread'), [], []
    for number in range(4):
        target, trace = scans.Target(room, program, None), room.path('busy-%d' % number)
        with target:
            done = room.run([FUNCTRACE, '--scan', '-e', 'memory', '-f', 'text', '--duration=0.5', '-o', trace,
                             '-t', str(target.pid)])
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
            continue
        with open(trace, encoding='utf-8') as file:
            all_lost += lost_sizes(file.read())
    if 1101 in all_lost:
        problems.append('%d blocks are wrongly reported as lost' % all_lost.count(1101))
    if 1102 not in all_lost:
        problems.append('no block is reported as lost')
    return problems, '%d blocks are lost' % len(all_lost)


def stopped_by_a_signal(room):
    """Lost blocks of a process that a signal has stopped are reported when functrace detaches; the process stays
    stopped."""
    problems, report = [], None
    with scans.Target(room, 'planted', 'O2', 2, 40, 1) as target:
        os.kill(target.pid, signal.SIGSTOP)
        wait_for('the process to stop', lambda: state_of(target.pid) == 'T')
        report = room.run([FUNCTRACE, '--report', '-e', 'memory', '--duration=0.2', '-t', str(target.pid)])
        # The process runs for a moment in the kernel when it is detached from, until it has stopped again. If it ran
        # on, it would wait for its input, in state S.
        wait_for('the process to be stopped again', lambda: state_of(target.pid) == 'T')
        os.kill(target.pid, signal.SIGCONT)
        problems += target.end()
    found = re.findall(rb'in ([0-9]+) blocks (definitely|indirectly) lost', report.out)
    if report.status or found != [(b'40', b'definitely'), (b'40', b'indirectly')]:
        problems.append('status %d: %s' % (report.status, (report.out + report.err).decode()))
    return problems, ''


CASES = [('lost at the end: a process that a signal has stopped', stopped_by_a_signal),
         ('lost at the end: several copies', looked_at_again),
         ('lost at the end: the process runs on while its copy is read', served_at_letting_go),
         ('lost at the end: other processes run meanwhile', lambda room: served_meanwhile(room, 0)),
         ('lost at the end: other processes run meanwhile, a process with threads', lambda room: served_meanwhile(room, 3)),
         ('events that the end of a process cuts off', endings.cases), ('processes that end at work, compared with the logger', at_work)]
