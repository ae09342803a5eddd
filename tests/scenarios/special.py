"""Tests processes that the kernel treats in a special way: privileged processes, processes with seccomp filters,
children that share the memory of a sleeping parent, programs with chosen CPUs, and programs that trace themselves."""

import contextlib
import os
import random
import signal
import stat
import sys
import time

import builds
import errors
import kinds
import oracle
from lifecycle import Held, copied, engine_of, need_attach, running
from processes import (Failure, Tracer, all_sleep, has_ended, rounds, state_of, status_field, tasks_of,
                       text_differences, text_of, wait_for)


def untraced_child(attached):
    """A child by CLONE_UNTRACED cannot be followed: it dies at its first breakpoint, as the README says. Its parent and
    the parent's trace are unharmed."""
    def run(room):
        command = [builds.target('forks', 'O2'), 'untraced']
        plain = room.run(command)
        if attached:
            need_attach()
            with Held(room, command) as held:
                tracer = Tracer(room, held.child.pid)
                tracer.planted()
                done, problems = held.work_and_end(tracer)
        else:
            os.makedirs(room.path('traces'))
            done, problems = room.run(kinds.functrace(room.path('traces')) + command), []
        if b'the child has exited with status 7\n' not in plain.out:
            problems.append('untraced it said %r' % plain.out)
        wanted = plain.out.replace(b'has exited with status 7', b'was killed by signal 5')
        if (done.status, done.out) != (plain.status, wanted):
            problems.append('status %d, %r, expected %d, %r' % (done.status, done.out, plain.status, wanted))
        traces, more = kinds.read_traces(room.path('traces'), 1)
        return problems + more + oracle.Oracle(plain.out).check(traces), ''
    return run


def child_without_event(room):
    """A child by CLONE_UNTRACED and CLONE_PTRACE is traced without a fork event: it waits, as the README says, until
    functrace detaches; then both run on."""
    need_attach()
    with Held(room, [builds.target('forks', 'O2'), 'untraced-ptrace']) as held:
        tracer = Tracer(room, held.child.pid)
        tracer.planted()
        held.gate.open()
        child = wait_for('the child', lambda: [p for p in running(room, 'forks-O2') if p != held.child.pid])[0]
        wait_for('the child to wait', lambda: state_of(child) == 't')
        wait_for('the parent to wait for it', lambda: state_of(held.child.pid) == 'S')
        problems = tracer.let_go()
        held.gate.arrived(held.child)
        held.gate.open()
        done = room.finish(held.child)
    if done.status:
        problems.append('status %d, %r' % (done.status, done.out[-300:]))
    return problems + kinds.read_traces(room.path('traces'), 1)[1], ''


# ---- Privileges ----

def setuid_program(mode):
    """A user's program executes a set-user-ID program: when traced it runs without root's rights, as under any
    tracer."""
    def run(room):
        prefix, functrace = errors.as_nobody(room)
        program = copied(room, os.path.realpath(kinds.need('id')), 'id')
        os.chmod(program, mode)
        command = ['/bin/sh', '-c', '"$0" -u; "$0" -g; exec "$0" -u', program]
        plain = room.run(prefix + command)
        if plain.out != b'0\n65534\n0\n':
            raise builds.Skip('set-user-ID has no effect here: it says %r' % (plain.out + plain.err)[-100:])
        os.makedirs(room.path('traces'))
        os.chmod(room.path('traces'), 0o777)
        done = room.run(prefix + [functrace, '-f', 'text', '-o', room.path('traces')] + command)
        problems = []
        if (done.status, done.out) != (0, b'65534\n65534\n65534\n'):
            problems.append('status %d, %r' % (done.status, done.out))
        said = done.err.decode(errors='replace')
        # A file without read permission may not be traced either.
        wanted = 'set-user-ID' if mode & stat.S_IROTH else 'is not traced'
        if said.count(wanted) != 3:
            problems.append('message not printed three times: %r' % wanted)
        if own := kinds.own_lines(done.err):
            problems.append('lines that are not functrace\'s: %r' % own[:3])
        traces, more = kinds.read_traces(room.path('traces'))
        problems += more
        if len(traces) < (4 if mode & stat.S_IROTH else 1):
            problems.append('only %d traces' % len(traces))
        if problems:
            problems.append('functrace said: ' + said[-1500:])
        return problems, '%d traces' % len(traces)
    return run


def locked_in_without_rights(how):
    """A filter kills the process for system calls that the tracer needs, and the tracer may not suspend the filter: the
    program is unharmed, and functrace prints what it could not do."""
    def run(room):
        prefix, functrace = errors.as_nobody(room)
        command = [copied(room, builds.target('sandboxed', 'O2'), 'sandboxed'), how]
        plain = room.run(prefix + command)
        if plain.status != 5:
            raise Failure('untraced: status %d, %r' % (plain.status, plain.out + plain.err))
        os.makedirs(room.path('traces'))
        os.chmod(room.path('traces'), 0o777)
        with Held(room, prefix + command) as held:
            before = text_of(held.child.pid)
            tracer = room.start(prefix + [functrace, '-f', 'text', '-o', room.path('traces'), '-t',
                                          str(held.child.pid)])
            # The breakpoint at the dynamic linker's notice comes long before the others. All are in place when
            # functrace says that it has attached.
            heard = b''
            while b'attached to ' not in heard:
                line = tracer.stderr.readline()
                if not line:
                    raise Failure('functrace ended while attaching: %r' % heard)
                heard += line
            wait_for('breakpoints', lambda: text_differences(before, text_of(held.child.pid)))
            held.gate.open()
            if not held.gate.arrived(held.child):
                raise Failure('the target died: status %d' % room.finish(held.child).status)
            tracer.send_signal(signal.SIGINT)
            said = room.finish(tracer)
            problems = text_differences(before, text_of(held.child.pid))
            ignored = bool(int(status_field(held.child.pid, 'SigIgn'), 16) & 1 << (signal.SIGTRAP - 1))
            held.gate.open()
            done = room.finish(held.child)
        if (done.status, done.out) != (plain.status, plain.out):
            problems.append('status %d, %r, untraced %d' % (done.status, done.out[-300:], plain.status))
        told = b'no longer ignores SIGTRAP' in said.err
        if how == 'seccomp-ignored' and told == ignored:
            problems.append('SIGTRAP is%s ignored after detaching; functrace said %r' % (
                '' if ignored else ' not', said.err[-500:]))
        traces, more = kinds.read_traces(room.path('traces'), 1)
        return problems + more + oracle.Oracle(plain.out).check(traces), ''
    return run


def ignored_again(room):
    """functrace has the right to suspend the filter: SIGTRAP is ignored again after detaching, although the filter
    forbids the target to change this."""
    need_attach()
    with Held(room, [builds.target('sandboxed', 'O2'), 'seccomp-ignored']) as held:
        before = status_field(held.child.pid, 'SigIgn')
        tracer = Tracer(room, held.child.pid)
        tracer.planted()
        held.gate.open()
        held.gate.arrived(held.child)
        problems = tracer.let_go()
        after = status_field(held.child.pid, 'SigIgn')
        may = not os.geteuid() and b'no longer ignores SIGTRAP' not in tracer.err
        if may and after != before:
            problems.append('ignored signals %s, before %s; functrace said %r' % (after, before, tracer.err))
        held.gate.open()
        done = room.finish(held.child)
        if done.status != 5:
            problems.append('status %d' % done.status)
        return problems, 'put back' if may else 'not permitted'


# ---- Shared memory ----

def sharers(which, how):
    """-t names a process that shares its memory with another one, or names both: there is one trace, with the calls of
    both."""
    def run(room):
        need_attach()
        command = [builds.target('sharers', 'O2'), how]
        plain = room.run(command)
        with Held(room, command) as held:
            other = [p for p in running(room, 'sharers-O2') if p != held.child.pid][0]
            named = {'the other': (other,), 'both': (held.child.pid, other), 'both, in reverse order,': (other, held.child.pid)}[which]
            tracer = Tracer(room, named[0], [option for pid in named[1:] for option in ('-t', str(pid))])
            tracer.planted()
            done, problems = held.work_and_end(tracer)
        if tracer.err.count(b'shares the memory of process') != 1:
            problems.append('functrace said: %r' % tracer.err[-500:])
        problems += kinds.compare_runs(plain, done)
        traces, more = kinds.read_traces(room.path('traces'), 1)
        return problems + more + oracle.Oracle(plain.out).check(traces), ''
    return run


def named_and_followed(room):
    """With -F a vfork child that -t names, too, is followed into the program that it executes."""
    need_attach()
    command = [builds.target('sharers', 'O2'), 'vfork-exec']
    plain = room.run(command)
    with Held(room, command) as held:
        other = [p for p in running(room, 'sharers-O2') if p != held.child.pid][0]
        tracer = Tracer(room, held.child.pid, ['-F', '-t', str(other)])
        tracer.planted()
        done, problems = held.work_and_end(tracer)
    problems += kinds.compare_runs(plain, done)
    return problems + kinds.read_traces(room.path('traces'), 2)[1], ''


# A tracer has to reap its tracee: the tracee's parent cannot wait for it before.
SEIZE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
assert libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0, ctypes.get_errno()
print('seized', flush=True)
while True:
    pid, status = os.waitpid(-1, 0x40000000)  # __WALL
    if not os.WIFSTOPPED(status):
        break
    libc.ptrace(7, pid, 0, 0 if status >> 16 else os.WSTOPSIG(status))  # PTRACE_CONT
"""


def refused_for_another(room, held, traced, *expected):
    """Another tracer traces one task: functrace attaches to none, and prints the reason. Returns how the target
    ended."""
    before = text_of(held.child.pid)
    debugger = room.start([sys.executable, '-c', SEIZE, str(traced)])
    if debugger.stdout.readline() != b'seized\n':
        raise Failure('it could not be seized: %r' % room.finish(debugger).err)
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '-t', str(held.child.pid)))
    problems = text_differences(before, text_of(held.child.pid))
    if done.status != 1 or any(e not in done.err for e in expected):
        problems.append('status %d, %r' % (done.status, done.err))
    debugger.kill()
    room.finish(debugger)
    for _ in range(2):
        held.gate.open()
        held.gate.arrived(held.child)
    return room.finish(held.child), problems


def traced_by_another(room):
    """If a process that shares the target's memory is traced by another tracer, functrace cannot attach to the target
    either."""
    need_attach()
    with Held(room, [builds.target('sharers', 'O2'), 'vm']) as held:
        other = [p for p in running(room, 'sharers-O2') if p != held.child.pid][0]
        done, problems = refused_for_another(room, held, other, b'functrace must attach to both, or none', b'traces it already')
    if done.status != 3:
        problems.append('the target ended with status %d, %r' % (done.status, done.out[-300:]))
    return problems, ''


def descendant_shared_with_a_traced_one(room):
    """A descendant shares its memory with a process that another tracer traces: functrace attaches to neither of the
    two, and traces the named process. A breakpoint would kill the other one."""
    need_attach()
    with Held(room, ['/bin/sh', '-c', '"$0" vm; exit $?', builds.target('sharers', 'O2')]) as held:
        first, other = sorted(p for p in running(room, 'sharers-O2'))
        before = text_of(first)
        debugger = room.start([sys.executable, '-c', SEIZE, str(other)])
        if debugger.stdout.readline() != b'seized\n':
            raise Failure('it could not be seized: %r' % room.finish(debugger).err)
        tracer = Tracer(room, held.child.pid, ['--children'])
        tracer.planted()
        problems = text_differences(before, text_of(first))
        for _ in range(2):
            held.gate.open()
            held.gate.arrived(held.child)
        done = room.finish(held.child)
        said = room.finish(tracer.child).err
        debugger.kill()
        room.finish(debugger)
    if done.status != 3:
        problems.append('the target ended with status %d, %r' % (done.status, done.out[-300:]))
    if b'functrace must attach to both, or none' not in said or b'2 processes that functrace could not attach to' not in said:
        problems.append('functrace said %r' % said)
    return problems, ''


def thread_traced_by_another(room):
    """One thread is traced by another tracer, and a breakpoint would kill it. The other threads sleep on."""
    need_attach()
    with Held(room, [builds.target('sleepers', 'O2')]) as held:
        # The folder lists threads in the order of their creation, not of their ids, which wrap around. The second
        # thread sleeps for ever.
        tids = os.listdir('/proc/%d/task' % held.child.pid)
        if len(tids) < 2:
            raise Failure('it has no threads yet')
        done, problems = refused_for_another(room, held, int(tids[1]), b'traces a thread of it already')
    if done.status:
        problems.append('the target ended with status %d, %r' % (done.status, done.out[-300:]))
    problems += ['functrace says %r' % line for line in done.out.splitlines()
                 if not line.endswith((b'slept to its end', b'woken')) and not line.startswith(b'expect ')]
    return problems, ''


def thread_of_another_user(room):
    """One thread still has root's rights: functrace cannot attach to it, and a breakpoint would kill it."""
    need_attach()
    prefix, functrace = errors.as_nobody(room)
    with Held(room, [builds.target('two_users', 'O2')]) as held:
        os.makedirs(room.path('traces'))
        os.chmod(room.path('traces'), 0o777)
        done = room.run(prefix + [functrace, '-o', room.path('traces'), '-t', str(held.child.pid)])
        held.gate.open()
        ended = room.finish(held.child)
    problems = []
    if done.status != 1 or b'its thread ' not in done.err or b'belongs to user 0' not in done.err:
        problems.append('status %d, %r' % (done.status, done.err))
    if (ended.status, ended.out) != (5, b'all are well\n'):
        problems.append('the target ended with status %d, %r' % (ended.status, ended.out))
    return problems, ''


def sharer_executes(room):
    """A vfork child that -t names executes another program while functrace attaches: nothing meant for that program may
    be written into its parent's memory. Without address randomisation such writes would even succeed."""
    need_attach()
    program = builds.target('alloc_basic', 'static')
    events = shared = shared_to_the_end = parents_events = 0
    for i in range(rounds(12) + 8):
        # After the other rounds come rounds in which functrace stays attached to the end, until the parent has had an
        # event.
        stays = i >= rounds(12)
        if stays and (parents_events or not shared):
            break
        target = room.start([builds.target('sharers', 'static'), 'exec-now', program, str(random.choice((0, 100, 300, 1000, 3000)))])
        child = int(target.stdout.readline().split()[1])
        before = text_of(target.pid)
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        tracer = room.start(kinds.functrace(folder, '--verify') + ['-t', str(child)])
        problems = []
        if not stays:
            time.sleep(random.uniform(0.15, 0.3))
            tracer.send_signal(signal.SIGTERM)
            said = room.finish(tracer)
            # functrace may have attached too late, or too briefly for the child to see it; or it took so long that the
            # child or the target has ended, whose status is checked below.
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGURG)
            with contextlib.suppress(ProcessLookupError):
                problems = text_differences(before, text_of(target.pid))
        done = room.finish(target)
        if stays:
            said = room.finish(tracer)
        traces, more = kinds.read_traces(folder)
        problems += more
        events += sum(len(t.events) for t in traces)
        if done.status != 3 or not done.out.endswith(b'the child ended with 0x0\n'):
            problems.append('the target ended with status %d, %r' % (done.status, done.out[-300:]))
        # On a busy machine the child may have executed the program, which ends soon, before functrace had attached.
        is_gone = said.status == 1 and b'there is no such process' in said.err and has_ended(child)
        # ... or the SIGTERM has come before functrace handled it.
        is_early = said.status == -signal.SIGTERM and not said.err
        if (said.status and not is_gone and not is_early) or b'differ' in said.err:
            problems.append('functrace: status %d' % said.status)
        is_shared = b'shares the memory' in said.err
        shared += is_shared
        shared_to_the_end += is_shared and stays
        parents_events += sum(e.size == 36903 for t in traces for e in t.events)
        if problems:
            return ['round %d: %s' % (i, p) for p in problems] + ['functrace said: %r' % said.err[-1500:]], ''
    if shared_to_the_end and not parents_events:
        return ['the parent was attached to the end %d times, and never had an event' % shared_to_the_end], ''
    return [], '%d rounds, %d events' % (rounds(12), events)


# ---- Signals to a vfork child ----

def stop_is_pending(pid):
    return bool(int(status_field(pid, 'ShdPnd') or '0', 16) & 1 << (signal.SIGSTOP - 1))


def stop_in_vfork(room):
    """A stop signal to a vfork child before its exec, and to its parent, which sleeps meanwhile: both stop as soon as
    the child has execed; after SIGCONT both run on."""
    go_on = room.path('go-on')
    command = [builds.target('vforker', 'O2'), go_on]
    with open(go_on, 'w'):
        plain = room.run(command)
    os.unlink(go_on)
    os.makedirs(room.path('traces'))
    tracer = room.start(kinds.functrace(room.path('traces')) + command)
    if tracer.stdout.readline() != b'ready\n':
        raise Failure('the child did not say that it is ready')
    both = wait_for('parent and child', lambda: (lambda p: p if len(p) == 2 else None)(running(room, 'vforker-O2')))
    parent = [p for p in both if int(status_field(p, 'PPid')) not in both][0]
    child = [p for p in both if p != parent][0]
    engine = engine_of(room, parent)
    for pid in both:
        os.kill(pid, signal.SIGSTOP)
    problems = []
    try:
        # While functrace acts on the child's signal, the child is in a tracing stop.
        wait_for('the child to run on', lambda: not stop_is_pending(child) and state_of(child) == 'S')
    except Failure:
        problems.append('the child is stopped before its exec, while its parent waits for the exec: %s' % state_of(parent))
        os.kill(child, signal.SIGCONT)
    with open(go_on, 'w'):
        pass
    for pid in both:
        # Each has a tracing stop at the exec, too. When functrace has nothing more to do, a stop is that of the signal.
        # A SIGCONT that comes before functrace has passed on the child's SIGSTOP would not end the stop.
        wait_for('process %d to stop' % pid, lambda pid=pid: state_of(pid) in 'tT' and all_sleep(engine))
    wait_for('functrace to stop with the program', lambda: state_of(tracer.pid) == 'T')
    for pid in reversed(both):
        os.kill(pid, signal.SIGCONT)
    done = room.finish(tracer)
    done.out = b'ready\n' + done.out
    problems += kinds.compare_runs(plain, done)
    return problems + kinds.read_traces(room.path('traces'))[1], ''


# ---- --cpu=pin ----

def cpus(pid):
    return {task: os.sched_getaffinity(task) for task in tasks_of(pid)}


def busy_and_pinned(room, held, tracer):
    """Lets the target run to its second gate, where the busy thread must be pinned (otherwise the test would prove
    nothing)."""
    tracer.planted()
    held.gate.open()
    held.gate.arrived(held.child)
    now = cpus(held.child.pid)[held.child.pid]
    return [] if len(now) == 1 else ['the busy thread is not pinned: it may run on %s' % sorted(now)]


def need_two_cpus():
    need_attach()
    if len(os.sched_getaffinity(0)) < 2:
        raise builds.Skip('there is only one CPU to run on')


def pinned(room):
    """--cpu=pin: a pinned thread gets its own CPUs back before each fork or clone, and at detaching."""
    need_two_cpus()
    command = [builds.target('pinned', 'O2')]
    plain = room.run(command)
    with Held(room, command) as held:
        first = cpus(held.child.pid)
        tracer = Tracer(room, held.child.pid, ['--cpu=pin'])
        problems = busy_and_pinned(room, held, tracer)
        held.gate.open()
        held.gate.arrived(held.child)
        held.gate.open()
        held.gate.arrived(held.child)
        problems += tracer.let_go()
        # Not all tasks: the thread that has ended may still be there.
        now = os.sched_getaffinity(held.child.pid)
        if now != first[held.child.pid]:
            problems.append('after detaching: %s, before %s' % (now, first))
        held.gate.open()
        done = room.finish(held.child)
    done.err += tracer.err
    problems += kinds.compare_runs(plain, done)
    traces, more = kinds.read_traces(room.path('traces'))
    return problems + more + oracle.Oracle(plain.out).check(traces), ''


def pinned_launched(room):
    need_two_cpus()
    command = [builds.target('pinned', 'O2')]
    plain = room.run(command)
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), '--cpu=pin', '-F') + command)
    done.out = done.out.replace(b'in the end: no\n', b'in the end: yes\n')  # it is traced and pinned to its end
    problems = kinds.compare_runs(plain, done)
    traces, more = kinds.read_traces(room.path('traces'), 1)
    return problems + more + oracle.Oracle(plain.out).check(traces), ''


def pinned_then_killed(which):
    """SIGKILL to the engine, or to functrace itself, while a thread is pinned: the thread's CPUs are restored."""
    def run(room):
        need_two_cpus()
        with Held(room, [builds.target('pinned', 'O2')]) as held:
            pid = held.child.pid
            first = cpus(pid)
            tracer = Tracer(room, pid, ['--cpu=pin'])
            problems = busy_and_pinned(room, held, tracer)
            os.kill(engine_of(room, pid) if which == 'engine' else tracer.child.pid, signal.SIGKILL)
            wait_for('the end of functrace', lambda: tracer.child.poll() is not None)
            wait_for('functrace to detach from the target', lambda: status_field(pid, 'TracerPid') == '0')
            try:
                wait_for('the target\'s CPUs to be restored', lambda: cpus(pid) == first)
            except Failure as failure:
                problems.append('%s: it has %s, had %s' % (failure, cpus(pid), first))
            problems += text_differences(tracer.before, text_of(pid), tails=False)
            held.gate.open()
            for _ in range(2):
                if held.gate.arrived(held.child):
                    held.gate.open()
            done = room.finish(held.child)
            if done.status or b': no\n' in done.out:
                problems.append('the target ended with status %d, %r' % (done.status, done.out[-300:]))
        return problems, ''
    return run


# ---- Leak checks that use ptrace themselves ----

def leak_check(variant):
    """A program with a built-in leak check: if it is traced to its end, the check reports that it cannot run under a
    tracer, and the trace is complete; if functrace detaches before, the check works."""
    def run(room):
        command = [builds.target('threads', variant), '2', '20']
        plain = room.run(command)
        if b'detected memory leaks' not in plain.err:
            raise builds.Skip('the check finds no leaks here: status %d, %r' % (plain.status, plain.err[-200:]))
        os.makedirs(room.path('traces'))
        done = room.run(kinds.functrace(room.path('traces')) + command)
        traces, problems = kinds.read_traces(room.path('traces'), 1)
        problems += oracle.Oracle(plain.out).check(traces)
        if done.out != plain.out or b'does not work under ptrace' not in done.err:
            problems.append('launched: status %d, %r' % (done.status, (done.out + done.err)[-600:]))
        need_attach()
        with Held(room, command) as held:
            tracer = Tracer(room, held.child.pid, output=room.path('attached'))
            tracer.planted()
            done, more = held.work_and_end(tracer)
        problems += more
        if (done.status, done.out) != (plain.status, plain.out) or b'detected memory leaks' not in done.err:
            problems.append('detached from before its end: status %d, untraced %d, %r' % (
                done.status, plain.status, done.err[-300:]))
        traces, more = kinds.read_traces(room.path('attached'), 1)
        return problems + more + oracle.Oracle(plain.out).check(traces), ''
    return run


# Builds whose names are not written out in this file (run.py --build).
BUILDS = [('threads', 'asan'), ('threads', 'lsan')]
CASES = [
    ('a CLONE_UNTRACED child that allocates, launched', untraced_child(False)),
    ('a CLONE_UNTRACED child that allocates, attached', untraced_child(True)),
    ('a child by CLONE_UNTRACED and CLONE_PTRACE', child_without_event),
    ("a set-user-ID program runs without root's rights", setuid_program(0o4755)),
    ('a set-user-ID program that may not be read is not traced', setuid_program(0o4711)),
    ('a seccomp filter, SIGTRAP handled, no rights to suspend it', locked_in_without_rights('seccomp-handler')),
    ('a seccomp filter, SIGTRAP ignored, no rights to suspend it', locked_in_without_rights('seccomp-ignored')),
    ('a seccomp filter, SIGTRAP is ignored again after detaching', ignored_again),
] + [
    ('processes that share memory, %s named: %s' % (which, how), sharers(which, how))
    for which in ('the other', 'both', 'both, in reverse order,') for how in ('vm', 'vfork')
] + [
    ('processes that share memory, both named, -F, and one executes another program', named_and_followed),
    ('processes that share memory, one is traced by another tracer', traced_by_another),
    ('a descendant shares memory with a process that another tracer traces', descendant_shared_with_a_traced_one),
    ('a thread is traced by another tracer', thread_traced_by_another),
    ('a thread of another user', thread_of_another_user),
    ('processes that share memory, one executes another program while functrace attaches', sharer_executes),
    ('a stop signal to a vfork child stops it and its parent after the exec', stop_in_vfork),
    ('--cpu=pin, detached from', pinned),
    ('--cpu=pin, launched', pinned_launched),
    ('--cpu=pin, SIGKILL to the engine', pinned_then_killed('engine')),
    ('--cpu=pin, SIGKILL to functrace', pinned_then_killed('functrace')),
    ('a built-in leak check: AddressSanitizer', leak_check('asan')),
    ('a built-in leak check: LeakSanitizer', leak_check('lsan')),
]
