"""Counts the tracer's system calls with strace while a target makes the same calls again and again. Each traced call
may need a few system calls. The tracer must not stop other threads, must not read /proc (except the target's status
once a second, for its resident memory), and must not read memory in loops of PEEK."""

import collections
import os
import re
import signal
import time

import builds
import kinds
import oracle
from processes import PATIENCE, Failure, Gate, Tracer, may_attach, state_of, status_field, wait_for

CALL = re.compile(r'^\d+\s+(?:<\.\.\. )?(\w+)(?: resumed>|\()(?:(PTRACE_\w+))?')


def tracer_pid(pid):
    """Returns the id of the tracer's thread, which is the target's TracerPid, and the id of its process, the engine."""
    tid = int(status_field(pid, 'TracerPid'))
    return tid, int(status_field(tid, 'Tgid'))


def count(path):
    """Returns {name: number of calls}, with a name for each request of ptrace, and the opened files."""
    counts = collections.Counter()
    opened = []
    with open(path) as file:
        for line in file:
            found = CALL.match(line)
            if not found or ' resumed>' in line:
                continue
            counts[found.group(2) or found.group(1)] += 1
            if 'open' in found.group(1):
                opened.append(line.strip())
    return counts, opened


def watched(room, target, args, options, pinned=False, env=None):
    """Attaches to a target that makes the counted calls between its second and third gate. Returns the tracer's system
    calls between these gates as count() does, problems, and the messages of functrace. pinned: the target is put on one
    CPU, with the tracer."""
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    strace = kinds.need('strace')
    gate = Gate()
    try:
        child = room.start([builds.target(target, 'O2')] + [str(arg) for arg in args],
                           dict(gate.env, **kinds.with_libraries(env or {})), pass_fds=gate.fds)
        gate.started()
        gate.arrived(child)
        # The tracer may use only one processor, so that it never polls.
        one = [] if pinned else [kinds.need('taskset'), '-c', str(min(os.sched_getaffinity(0)))]
        tracer = Tracer(room, child.pid, options, by=one)
        tracer.planted()
        gate.open()
        gate.arrived(child)
        tid, engine = tracer_pid(child.pid)
        # The guardian traces the tracer's thread. It is killed so that strace can trace this thread.
        os.kill(int(status_field(engine, 'PPid')), signal.SIGKILL)
        wait_for('the end of the guardian', lambda: status_field(tid, 'TracerPid') == '0')
        log, begin = room.path('strace'), time.monotonic()
        watcher = room.start([strace, '-f', '-o', log, '-p', str(engine)])
        # strace says that it has attached when it has seized and interrupted all threads. The TracerPid alone does not
        # show that the tracer's thread is interrupted, and until then its calls are not counted.
        said = watcher.stderr.readline()
        if b' attached' not in said:
            raise Failure('strace does not trace the engine: %r' % (said + room.finish(watcher).err))
        wait_for('strace', lambda: status_field(tid, 'TracerPid') == str(watcher.pid))
        gate.open()
        gate.arrived(child, 120)
        # strace writes a call's line when the call has returned, so the last one may be missing until the tracer's
        # thread sleeps in its next wait.
        wait_for('the tracer to sleep', lambda: state_of(tid) == 'S')
        is_on_one_cpu = len(os.sched_getaffinity(child.pid)) == 1
        # SIGINT would not do: strace would wait for a thread of the engine that has just begun a vfork (one does so
        # each second), whose child waits for strace. The kernel detaches both, and each line of the log is written at
        # once.
        watcher.kill()
        room.finish(watcher)
        seconds = time.monotonic() - begin
        gate.open()
        gate.arrived(child)
        problems = tracer.let_go()
        gate.open()
        done = room.finish(child)
        traces, more = kinds.read_traces(room.path('traces'), 1)
        problems += more + oracle.Oracle(done.out).check(traces, names=False)
    finally:
        gate.close()
    counts, opened = count(log)
    if pinned and (counts['sched_setaffinity'] or not is_on_one_cpu):
        raise builds.Skip('the machine is busy: the program was not on one CPU all the time')
    status = [line for line in opened if '"/proc/%d/status"' % child.pid in line]
    if len(status) > seconds + 2:
        problems.append('the status is read %d times in %.1f s' % (len(status), seconds))
    return (counts, [line for line in opened if line not in status]), problems, tracer.err.decode(errors='replace')


def steady(room, threads, pairs, options, pinned=False, frames=0, more=(), env=None, reads=1):
    """Fails if the tracer makes more system calls than allowed. `threads`: 0 means that the only thread does the work;
    `pinned`: this thread is put on one CPU, with the tracer; `frames`: the number of additional frames on the stack;
    `more`: further arguments; `reads`: the allowed reads of memory for each pair."""
    (counts, opened), problems, _ = watched(room, 'steady', (threads, pairs, frames) + more, options, pinned, env)
    stops = 3 * pairs * max(threads, 1)  # malloc's entry and return, free's entry
    # Additional calls are allowed for the gates, for flushes at intervals, for the threads' waits, and for breakpoints
    # on functions that are traced only while the target is on one CPU.
    slack = (100 + 200 * pinned) * (1 if PATIENCE == 1 else 3)
    total = sum(counts.values())
    figures = ', '.join('%s %.2f' % (name, n / stops) for name, n in counts.most_common(6))

    def at_most(names, per_stop):
        found = sum(counts[name] for name in names)
        if found > per_stop * stops + slack:
            problems.append('%s: %d calls for %d stops, at most %.2f a stop were expected' % (
                '+'.join(names), found, stops, per_stop))
    # Each stop needs one wait. With several threads another wait asks whether more threads have stopped, at most after
    # every second stop.
    at_most(['wait4', 'waitid'], 1.1 if threads <= 1 else 1.55)
    at_most(['PTRACE_CONT'], 1)
    at_most(['PTRACE_GETREGSET', 'PTRACE_GETREGS'], 1)
    at_most(['PTRACE_POKEUSER', 'PTRACE_SETREGSET', 'PTRACE_SETREGS'], 1)
    # Memory is read once for each pair: the stack that is read at malloc's entry is used at its return.
    at_most(['PTRACE_PEEKDATA', 'PTRACE_PEEKTEXT', 'PTRACE_PEEKUSER', 'process_vm_readv', 'pread64'],
            reads / 3)
    at_most(['PTRACE_GETSIGINFO'], 1)
    at_most(['process_vm_writev', 'PTRACE_POKEDATA', 'PTRACE_POKETEXT', 'pwrite64'], 0)
    at_most(['PTRACE_INTERRUPT', 'PTRACE_SINGLESTEP', 'tgkill', 'kill'], 0)
    at_most(['write', 'writev'], 0)
    at_most(['open', 'openat', 'readlink', 'getdents64', 'stat', 'newfstatat'], 0)
    if any('/proc' in line for line in opened):
        problems.append('/proc is read: ' + [line for line in opened if '/proc' in line][0])
    # On AArch64 and ARM the pc does not distinguish a hit from a SIGTRAP that was sent, so the siginfo is read, too.
    most = 5 if builds.processor() in ('x86_64', 'i386') else 6
    if total > most * stops + 3 * slack:
        problems.append('%d system calls for %d stops, at most %d a stop were expected' % (total, stops, most))
    if counts['PTRACE_CONT'] < stops:
        problems.append('only %d PTRACE_CONT for %d stops: something was not counted' % (counts['PTRACE_CONT'], stops))
    if problems:
        problems.append('counted: ' + ', '.join('%s %d' % item for item in counts.most_common()))
    return problems, 'calls a stop: %s; all %.2f' % (figures, total / stops)


def one_thread(room):
    return steady(room, 1, 1500, [])


def compressed(room):
    return steady(room, 1, 1500, ['-zgz'])


def no_stacks(room):
    return steady(room, 1, 1500, ['-b', '0'])


def four_threads(room):
    return steady(room, 4, 400, [])


def under(frames):
    def run(room):
        return steady(room, 1, 1500, ['-b', '256'], frames=frames)
    return run


def aligned(room):
    """functrace finds out only once by which of a function's two names a caller calls it."""
    return steady(room, 1, 1500, [], more=('aligned',))


def one_address(room):
    """free and operator delete are one function: the return address shows whether one of them has called the other
    one."""
    return steady(room, 1, 1500, [], env={'LD_PRELOAD': '{lib:libtcmalloc_minimal.so.4}'}, reads=2)


def pinned(room):
    if len(os.sched_getaffinity(0)) < 2:
        raise builds.Skip('there is only one CPU to run on')
    return steady(room, 0, 1500, ['--cpu=auto'], True)


def not_pinned(room):
    return steady(room, 0, 1500, ['--cpu=auto'])


# The limits for each fork of a child that calls nothing. Its stops are the fork event, the child's first stop and its
# exit, SIGCHLD, and the child's end; a wait may ask for more. If the child's first stop comes before the fork event,
# its parent is read from /proc.
FORKS = 200
FOLLOWED = {'waitid': 11, 'PTRACE_CONT': 4, 'PTRACE_GETEVENTMSG': 1, 'PTRACE_GETREGS': 2, 'PTRACE_GETREGSET': 1, 'kcmp': 1,
            'tgkill': 1, 'openat': 1, 'pread64': 1, 'close': 1}
LET_GO = {'waitid': 8, 'PTRACE_CONT': 2, 'PTRACE_GETEVENTMSG': 1, 'PTRACE_GETREGS': 1, 'PTRACE_GETREGSET': 1, 'kcmp': 1,
          'tgkill': 1, 'openat': 2, 'close': 2, 'PTRACE_DETACH': 1, 'pread64': 9, 'pwrite64': 8}


def forks(room, options, bounds, word):
    """The target forks children that call nothing. Tests the tracer's system calls, and the messages about children
    without a traced call."""
    (counts, _), problems, told = watched(room, 'bareforks', ('counted', FORKS), options)
    slack = 40
    for name in sorted(counts):
        if counts[name] > bounds.get(name, 0) * FORKS + slack:
            problems.append('%s: %d calls for %d forks, at most %d a fork were expected' % (
                name, counts[name], FORKS, bounds.get(name, 0)))
    if counts['PTRACE_GETEVENTMSG'] < FORKS:
        problems.append('only %d fork events for %d forks: something was not counted' % (counts['PTRACE_GETEVENTMSG'], FORKS))
    if word % (FORKS + 3) not in told:
        problems.append('message missing: ' + word % (FORKS + 3))
    if problems:
        problems += ['counted: ' + ', '.join('%s %d' % item for item in counts.most_common()), 'functrace said: ' + told]
    return problems, 'calls a fork: %.2f' % (sum(counts.values()) / FORKS)


def followed_forks(room):
    return forks(room, [], FOLLOWED, 'forked processes that made no traced call, and so have no trace: %d\n')


def forks_let_go(room):
    return forks(room, ['-F'], LET_GO, 'not traced: %d processes that functrace detached from\n')


BUILDS = [('steady', 'O2'), ('bareforks', 'O2')]
CASES = [
    ('system calls of a stop, 1 thread', one_thread),
    ('system calls of a stop, without stacks', no_stacks),
    ('system calls of a stop, compressed', compressed),
    ('system calls of a stop, 4 threads', four_threads),
    ('system calls of a stop, 16 frames deep', under(16)),
    ('system calls of a stop, 64 frames deep', under(64)),
    ('system calls of a stop, 200 frames deep', under(200)),
    ('system calls of a stop, two names of one function', aligned),
    ('system calls of a stop, free and delete are one function', one_address),
    ('system calls of a stop, on one CPU by --cpu=auto', pinned),
    ('system calls of a stop, --cpu=auto on a machine with one CPU', not_pinned),
    ('system calls of a fork whose child calls nothing', followed_forks),
    ('system calls of a fork whose child calls nothing, -F', forks_let_go),
]
