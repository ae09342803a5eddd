"""Tests on which CPUs a busy program runs: by default functrace puts it on one CPU, together with the tracer, without
the program noticing."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import builds
import kinds
from lifecycle import Held, engine_of
from processes import PATIENCE, Failure, has_ended, state_of, status_field, wait_for
from rounds import LONG
from special import cpus, need_two_cpus

TRIES = 12  # on a loaded machine the program may not be busy enough, or other programs want its CPU
NEVER = 'no task was put on a CPU in %d runs: the machine has other work, or is slow' % TRIES

# The ways in which tests/targets/placed.c reads its CPUs or passes them on, and the reason that functrace gives for
# restoring the CPUs just before.
WAYS = {
    'affinity': 'sched_getaffinity', 'pthread': 'pthread_getaffinity_np', 'number': 'sysconf',
    'attributes': 'fopen(64)?|pthread_getaffinity_np',
    'nprocs': 'get_nprocs', 'syscall': 'syscall', 'open': 'open(64)?', 'openat': 'openat(64)?', 'fopen': 'fopen(64)?',
    'nothing': 'it has ended', 'first': 'sched_setaffinity', 'last': 'sched_setaffinity', 'thread': 'pthread_create',
    'fork': 'fork', 'clone': 'clone', 'vfork': 'vfork', 'spawn': 'posix_spawn', 'system': 'posix_spawn|vfork|fork',
    'exec': 'it has executed another program', 'raw': 'it has made another task',
}


BEFORE = {'first': ('sched_getaffinity',), 'last': ('sched_getaffinity',)}  # the program calls it before it chooses

# Reasons for which CPUs are restored at any time on a machine that has other work. They do not show what the program
# does.
MACHINE = ('others want the CPU', 'it is not busy any more')


def placements(err):
    """Returns the reasons for which CPUs were restored, one for each time that a task was put on a CPU, from the
    messages of -dtracer:1."""
    return re.findall(r' are on CPU \d+\n(?:.*\n)*?.* are no longer kept on one CPU: (.*)', err.decode(errors='replace'))


def tries(room):
    """Yields a folder for each run, with longer and longer pauses between the runs."""
    for i in range(TRIES):
        if i:
            time.sleep(min(2, 0.1 * 1.5 ** i))
        yield tempfile.mkdtemp(dir=room.folder)


def telling(found, before=()):
    """Returns the reasons that show that the program was still on one CPU when it did something."""
    return [reason for reason in found if reason not in MACHINE and reason not in before]


def compared(room, command, why, options=(), before=()):
    """Runs the command untraced, and traced until functrace has put it on a CPU and restored its CPUs for that reason:
    both runs must be the same. If this does not happen, the remark says why: the program cannot do it here, or was
    never put on a CPU. `before`: reasons for which it gets its CPUs back before it does what is tested."""
    plain = room.run(command)
    if plain.out.startswith(b'skip: '):
        return [], 'not here'
    ever = []
    for folder in tries(room):
        done = room.run(kinds.functrace(folder, '-dtracer:1', *options) + command)
        problems = kinds.compare_runs(plain, done)
        found = placements(done.err)
        if problems:
            return ['%s (%s)' % (problem, found) for problem in problems], ''
        if any(re.fullmatch(why, reason) for reason in found):
            return [], ''
        ever += telling(found, before)
    if not ever:
        return [], NEVER
    return ['in %d runs it never got its CPUs back because: %s. Why it did: %s' % (TRIES, why, ever)], ''


def is_ever_placed(room, command):
    for folder in tries(room):
        if placements(room.run(kinds.functrace(folder, '-dtracer:1') + command).err):
            return True
    return False


def need_busy(room, program):
    if PATIENCE > 1 and not is_ever_placed(room, [program, 'nothing']):
        raise builds.Skip(NEVER)


def unseen(variant):
    def run(room):
        need_two_cpus()
        problems, skipped = [], []
        program = builds.target('placed', variant)
        need_busy(room, program)
        for way, why in list(WAYS.items())[::1 if LONG else 2]:
            found, remark = compared(room, [program, way], why, before=BEFORE.get(way, ()))
            if remark == NEVER and not problems:
                raise builds.Skip('%s: %s' % (way, NEVER))
            problems += ['%s: %s' % (way, problem) for problem in found]
            skipped += [way] if remark else []
        return problems, 'not here: ' + ' '.join(skipped) if skipped else ''
    return run


# ---- Real programs ----

PYTHON = '''
import os, multiprocessing, subprocess, sys, threading
def busy():
    for i in range(4000): bytearray(2000 + i % 777)
def show(what, value):
    print(what, value() if callable(value) else value, flush=True)
    busy()
def listed():
    return [line.split()[1] for line in open("/proc/self/status") if line.startswith("Cpus_allowed_list")]
busy()
show("affinity", lambda: sorted(os.sched_getaffinity(0)))
show("count", os.cpu_count)
show("sysconf", lambda: os.sysconf("SC_NPROCESSORS_ONLN"))
show("status", listed)
show("nproc", lambda: subprocess.check_output(["nproc"]))
show("shell", lambda: os.popen("nproc; taskset -p $PPID 2>&1 | sed 's/.*: //'").read())
def work(n):
    busy()
    return n, sorted(os.sched_getaffinity(0)), listed()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        show("pool", sorted(pool.map(work, range(4))))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(work(0)))
    thread.start(); thread.join()
    show("thread", seen)
    first = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {first})
    busy()
    show("chosen", lambda: (sorted(os.sched_getaffinity(0)) == [first], listed() == [str(first)]))
    show("count", os.cpu_count)
'''

OPENMP = '''
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
static int cpus(void) { cpu_set_t s; return sched_getaffinity(0, sizeof(s), &s) ? -1 : CPU_COUNT(&s); }
static void busy(void) { for (volatile int i = 0; i < 400; i++) { char *volatile p = malloc(100 + i); free(p); } }
int main(void)
{
	int each[64] = {0}, n = 0;
	busy();
	printf("processors %d\\n", omp_get_num_procs());
	busy();
	printf("places %d\\n", omp_get_num_places());
#pragma omp parallel
	{
		each[omp_get_thread_num() % 64] = cpus();
#pragma omp single
		n = omp_get_num_threads();
	}
	for (int i = 0; i < n && i < 64; i++)
		printf("thread %d: %d CPUs\\n", i, each[i]);
	busy();
	printf("most threads %d, processors %d\\n", omp_get_max_threads(), omp_get_num_procs());
	return 0;
}
'''

RUST = '''
fn busy() { for i in 0..2000usize { std::hint::black_box(vec![0u8; 100 + i % 50]); } }
fn main() {
    busy();
    println!("{}", std::thread::available_parallelism().unwrap());
    busy();
    println!("{}", std::thread::spawn(|| std::thread::available_parallelism().unwrap()).join().unwrap());
}
'''


def real(command, at_least=1):
    """A program that is busy and then prints the CPUs that it sees: the output is the same, and functrace has put
    it on one CPU before, in one run or in one of several."""
    def run(room):
        need_two_cpus()
        words = command(room)
        plain = room.run(words)
        count = 0
        for folder in tries(room):
            done = room.run(kinds.functrace(folder, '-dtracer:1') + words, timeout=120)
            problems = kinds.compare_runs(plain, done)
            count += len(placements(done.err))
            if problems or count >= at_least:
                return problems, 'put on a CPU %d times' % count
        if not count:
            raise builds.Skip(NEVER)
        return ['in %d runs it was put on a CPU %d times, not %d' % (TRIES, count, at_least)], ''
    return run


def write(room, name, text):
    with open(room.path(name), 'w') as file:
        file.write(text)
    return room.path(name)


def python(room):
    kinds.need('taskset')
    return [os.path.realpath(sys.executable), write(room, 's.py', PYTHON)]


def compiled(name, text, command):
    def build(room):
        source, output = write(room, name, text), room.path('program')
        kinds.need(command[0])
        done = subprocess.run(list(command) + ['-o', output, source], capture_output=True, timeout=300, check=False)
        if done.returncode:
            raise builds.Skip('cannot be built here: %s' % done.stderr.decode(errors='replace').strip()[:150])
        return [output]
    return build


def shell(room):
    script = 'nproc; for i in 1 2 3 4 5 6 7 8 9; do a="$a$(echo $i)"; x=; n=0; ' \
             'while [ $n -lt 300 ]; do x="$x$n"; n=$((n+1)); done; done; ' \
             'nproc; grep Cpus_allowed_list /proc/self/status; taskset -p $$ | sed "s/.*: //"; exec nproc'
    kinds.need('taskset')
    return [kinds.need('bash'), '-c', script]


# ---- Detaching, and killed processes ----

def one_cpu(pid):
    found = cpus(pid).get(pid)
    return found if found and len(found) == 1 else None


def placed_on(pid):
    """Waits until functrace has put a busy program on one CPU, and returns this CPU."""
    try:
        return wait_for('the program to be put on one CPU', lambda: one_cpu(pid))
    except Failure:
        if state_of(pid) in ('', 'Z'):
            raise
        raise builds.Skip('the busy program was not put on a CPU in a minute: the machine has other work')


def held_busy(room, how='busy'):
    os.makedirs(room.path('traces'), exist_ok=True)
    return Held(room, kinds.functrace(room.path('traces'), '-q') + [builds.target('placed', 'O2'), how])


def is_below(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = int(status_field(pid, 'PPid') or 0)
    return pid == ancestor


def target_of(tracer):
    """Returns the launched target: a traced descendant of functrace that is not one of functrace's processes."""
    def find():
        for pid in map(int, filter(str.isdigit, os.listdir('/proc'))):
            if pid != tracer.pid and status_field(pid, 'TracerPid') not in ('0', '') and is_below(pid, tracer.pid) and \
                    not os.readlink('/proc/%d/exe' % pid).endswith('/functrace'):
                return pid
        return None
    return wait_for('the launched target', find)


def once_then(room, what):
    """Returns problems; None if the program was in a call when functrace was killed, which may have ended it."""
    with held_busy(room, 'busy-at-times') as held:
        tracer, target = held.child, target_of(held.child)
        first = cpus(target)
        held.gate.open()
        placed_on(target)
        if what == 'SIGTERM':
            tracer.send_signal(signal.SIGTERM)
        else:
            os.kill(engine_of(room, target) if what == 'engine' else tracer.pid, signal.SIGKILL)
        wait_for('functrace to detach from the target', lambda: status_field(target, 'TracerPid') in ('0', ''))
        problems = []
        try:
            wait_for('the target\'s CPUs to be restored', lambda: cpus(target) == first)
            time.sleep(0.3)
            if cpus(target) != first:
                problems.append('later it has %s, had %s' % (cpus(target), first))
        except (Failure, OSError) as failure:
            problems.append('%s: it had %s' % (failure, first))
        if what != 'SIGTERM' and has_ended(target):
            problems = None
        else:
            try:
                os.kill(target, signal.SIGKILL)
            except ProcessLookupError:
                # The call in which it was when functrace was killed has ended it only now.
                problems = None if what != 'SIGTERM' else problems + ['it has died']
        room.finish(tracer)
    return problems


def then(what):
    """functrace keeps a busy launched program on one CPU. When functrace detaches or is killed, the program may run on
    all its CPUs again."""
    def run(room):
        need_two_cpus()
        for i in range(TRIES):
            problems = once_then(room, what)
            if problems is not None:
                return problems, 'died %d times' % i if i else ''
        return ['it died %d times' % TRIES], ''
    return run


def others(room):
    """Another process may run only on this CPU: the program is moved to another one."""
    need_two_cpus()
    with held_busy(room) as held:
        target = target_of(held.child)
        held.gate.open()
        cpu = placed_on(target)
        rival = room.start([sys.executable, '-c', 'while True: pass'],
                           preexec_fn=lambda: os.sched_setaffinity(0, cpu))
        problems = []
        try:
            wait_for('the program to leave CPU %s' % cpu, lambda: cpus(target).get(target) != cpu, 60)
        except Failure as failure:
            problems.append(str(failure))
        room.kill(rival)
        os.kill(target, signal.SIGKILL)
        room.finish(held.child)
    return problems, ''


def idle(room):
    """A program that is no longer busy may use all of its CPUs again, even if it makes no call."""
    need_two_cpus()
    # It is busy until the test has seen it on one CPU.
    script = 'import select, time\nwhile not select.select([0], [], [], 0)[0]:\n' \
             '    for i in range(500): bytearray(2000 + i % 777)\nprint("ready", flush=True)\ntime.sleep(600)'
    os.makedirs(room.path('traces'))
    tracer = room.start(kinds.functrace(room.path('traces')) + [os.path.realpath(sys.executable), '-c', script],
                        stdin=subprocess.PIPE)
    target = target_of(tracer)
    first = os.sched_getaffinity(0)
    placed_on(target)
    tracer.stdin.write(b'\n')
    if tracer.stdout.readline() != b'ready\n':
        raise Failure('it did not say that it is ready')
    problems = []
    try:
        wait_for('the target\'s CPUs to be restored', lambda: cpus(target).get(target) == first)
    except Failure as failure:
        problems.append(str(failure))
    os.kill(target, signal.SIGKILL)
    room.finish(tracer)
    return problems, ''


def free(room):
    """--cpu=free: the program is never put on one CPU."""
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '-dtracer:1', '--cpu=free') +
                    [builds.target('placed', 'O2'), 'last'])
    return ['it was put on a CPU: %r' % done.err] if b' on CPU ' in done.err or done.status else [], ''


def threaded(room):
    """When the program has a second thread, which sleeps, it is no longer put on one CPU."""
    need_two_cpus()
    program = builds.target('placed', 'O2')
    need_busy(room, program)
    ever = []
    for folder in tries(room):
        done = room.run(kinds.functrace(folder, '-dtracer:1') + [program, 'threaded'])
        found = placements(done.err)
        if done.status or 'pthread_create' in found[:-1]:
            return ['status %d, %s' % (done.status, found)], ''
        if found[-1:] == ['pthread_create']:
            return [], ''
        ever += telling(found)
    if not ever:
        raise builds.Skip(NEVER)
    return ['in %d runs it was not on a CPU when it made its thread: %s' % (TRIES, ever)], ''


def thread_executes(room):
    """--cpu=pin: a thread that is on one CPU and is not the leader executes another program, which has the original
    CPUs."""
    need_two_cpus()
    command = [builds.target('placed', 'O2'), 'thread-executes']
    problems, remark = compared(room, command, 'it has executed another program', ['--cpu=pin'])
    if remark == NEVER:
        raise builds.Skip(NEVER)
    return problems, remark


UNSEEN = ('O2', 'static', 'static-pie', 'musl', 'musl-static')
# builds whose names are not written out in this file (run.py --build)
BUILDS = [('placed', variant) for variant in UNSEEN]
CASES = [
    ('a busy program cannot see that it is on one CPU, %s' % variant, unseen(variant)) for variant in UNSEEN
] + [
    ('the CPUs that python3 sees', real(python, 4)),
    ('the CPUs that bash and its children see', real(shell)),
    ('the CPUs that an OpenMP program sees',
     real(compiled('s.c', OPENMP, builds.CC + ['-O1', '-fno-builtin', '-fopenmp']), 2)),
    ('the CPUs that a Rust program sees', real(compiled('s.rs', RUST, ['rustc', '-O']))),
    ('a busy program on one CPU, SIGTERM to functrace', then('SIGTERM')),
    ('a busy program on one CPU, SIGKILL to the engine', then('engine')),
    ('a busy program on one CPU, SIGKILL to functrace', then('functrace')),
    ('a busy program is moved if another process wants its CPU', others),
    ('a program that is no longer busy gets its CPUs back', idle),
    ('a busy program with a second thread is not put on one CPU', threaded),
    ('--cpu=free: never on one CPU', free),
    ('--cpu=pin, a thread executes another program', thread_executes),
]
