"""Tests events in the life of a process other than its calls: stops, kills, and files that are not in their place."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import builds
import kinds
import oracle
from processes import (Failure, Gate, Tracer, has_ended, may_attach, read_if_there, rounds, state_of, status_field,
                       tasks_of, text_differences, text_of, wait_for)
from rounds import LONG
from programs import come_and_go


def copied(room, path, name):
    """Copies a program into the room with cp. A child that this process forks for another scenario inherits all open
    files until its exec, and the kernel refuses to execute a file that a process has open for writing (ETXTBSY)."""
    copy = room.path(name)
    done = room.run(['cp', '-p', path, copy])
    if done.status:
        raise Failure('cannot copy %s: %r' % (path, done.err))
    return copy


def need_attach():
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)


class Held:
    """A target that waits at its gate before it begins to work."""

    def __init__(self, room, command, env=None):
        self.room, self.gate = room, Gate()
        self.child = room.start(command, dict(env or {}, **self.gate.env), pass_fds=self.gate.fds)
        self.gate.started()

    def __enter__(self):
        if not self.gate.arrived(self.child):
            raise Failure('the target ended before its gate')
        return self

    def __exit__(self, *_):
        self.gate.close()

    def work_and_end(self, tracer):
        """Opens the gate, waits for the end of the work, detaches, and waits for the end: (result, problems)."""
        self.gate.open()
        if not self.gate.arrived(self.child):
            raise Failure('the target ended before its second gate')
        problems = tracer.let_go()
        self.gate.open()
        return self.room.finish(self.child), problems


def complete(room, done, problems):
    """Compares the traces with the target's own oracle, and checks its status."""
    traces, more = kinds.read_traces(room.path('traces'), 1)
    problems = problems + more + oracle.Oracle(done.out).check(traces)
    if done.status:
        problems.append('the target ended with status %d' % done.status)
    return problems, '%d events' % sum(len(t.events) for t in traces)


def end_of_churn(room, held):
    """Opens the gate of `churn`; returns a problem unless all its threads end."""
    held.gate.open()
    done = room.finish(held.child)
    if done.status or done.out != b'all threads ended\n':
        return ['status %d, %r' % (done.status, done.out)]
    return []


# ---- Stopped and continued ----

def progress(pid):
    with open('/proc/%d/stat' % pid) as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def at_rest(pid):
    before = progress(pid)
    time.sleep(0.3)
    return progress(pid) == before and all(state_of(task) in 'tT' for task in tasks_of(pid))


def stopped_and_continued(room):
    """SIGSTOP really stops a traced process with running threads, and SIGCONT continues it."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '3']) as held:
        pid = held.child.pid
        tracer = Tracer(room, pid)
        tracer.planted()
        problems = []
        for i in range(3):
            os.kill(pid, signal.SIGSTOP)
            try:
                wait_for('the process to stop', lambda: at_rest(pid))
            except Failure as failure:
                problems.append('round %d: %s' % (i + 1, failure))
            before = progress(pid)
            os.kill(pid, signal.SIGCONT)
            wait_for('the process to run again', lambda: progress(pid) > before + 1)
        problems += tracer.let_go()
        problems += end_of_churn(room, held)
        return problems, ''


def not_stopped(pid):
    """Returns a problem if the process from which functrace has detached is not stopped. The kernel wakes a task that
    is detached in a stop, and the task stops again when it gets a CPU."""
    try:
        wait_for('process %d to be stopped' % pid, lambda: state_of(pid) == 'T')
    except Failure:
        return ['after detaching the state is %s, expected T' % state_of(pid)]
    return []


def attach_to_a_stopped_one(room):
    """A stopped process stays stopped while functrace attaches and detaches."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        pid = held.child.pid
        os.kill(pid, signal.SIGSTOP)
        wait_for('the process to stop', lambda: state_of(pid) == 'T')
        tracer = Tracer(room, pid)
        tracer.planted()
        time.sleep(0.1)
        problems = [] if state_of(pid) in 'tT' else ['state %s while traced' % state_of(pid)]
        problems += tracer.let_go() + not_stopped(pid)
        os.kill(pid, signal.SIGCONT)
        problems += end_of_churn(room, held)
        return problems, ''


def stopped_while_traced_then_let_go(room):
    """A traced process is stopped, and functrace detaches: it is still stopped, and SIGCONT still works."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        pid = held.child.pid
        tracer = Tracer(room, pid)
        tracer.planted()
        os.kill(pid, signal.SIGSTOP)
        wait_for('the process to stop', lambda: state_of(pid) in 'tT')
        time.sleep(0.1)
        problems = tracer.let_go() + not_stopped(pid)
        os.kill(pid, signal.SIGCONT)
        problems += end_of_churn(room, held)
        return problems, ''


def thread_churn(room):
    """Threads start and end while functrace attaches, again and again; 300 idle threads exist as well."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '4', '300' if LONG else '100']) as held:
        problems, events = [], 0
        first = text_of(held.child.pid)
        for i in range(rounds(20)):
            folder = room.path('round%d' % i)
            tracer = Tracer(room, held.child.pid, output=folder)
            tracer.planted()
            time.sleep(0.05)
            problems += ['round %d: %s' % (i + 1, p) for p in tracer.let_go()]
            traces, more = kinds.read_traces(folder, 1)
            problems += more
            events += sum(len(t.events) for t in traces)
        problems += text_differences(first, text_of(held.child.pid))
        problems += end_of_churn(room, held)
        return problems, '%d rounds, %d events' % (rounds(20), events)


# ---- Killed processes ----

def running(room, name):
    """Returns the scenario's processes that run the program of that name."""
    found = []
    for pid in room.processes():
        try:
            if os.path.basename(os.readlink('/proc/%d/exe' % pid)) == name:
                found.append(pid)
        except OSError:
            pass
    return found


def kill_the_target(room):
    """SIGKILL to the target at any moment: status 137, and a trace that can be read."""
    problems, chance = [], random.Random(1)
    for i in range(rounds(30)):
        folder = room.path('round%d' % i)
        os.makedirs(folder)
        tracer = room.start(kinds.functrace(folder) + [builds.target('sigstorm', 'O2'), '4', '60000'])
        target = wait_for('the target', lambda: running(room, 'sigstorm-O2'))[0]
        time.sleep(chance.random() * 0.1)
        os.kill(target, signal.SIGKILL)
        done = room.finish(tracer)
        if done.status not in (137, -signal.SIGKILL):
            problems.append('round %d: status %d, expected 137' % (i + 1, done.status))
        problems += kinds.read_traces(folder)[1]
    return problems, '%d rounds' % rounds(30)


def engine_of(room, pid):
    """Returns the process that traces `pid` (the engine)."""
    return int(status_field(int(status_field(pid, 'TracerPid')), 'Tgid'))


def kill_engine(room):
    """SIGKILL of the engine while the target makes no call: the guardian restores the text, and the target runs on. (A
    task that has just hit a breakpoint is killed by SIGTRAP, which cannot be prevented.)"""
    need_attach()
    problems = []
    for i in range(5):
        folder = room.path('round%d' % i)
        with Held(room, [builds.target('threads', 'O2'), '4', '50']) as held:
            tracer = Tracer(room, held.child.pid, output=folder)
            tracer.planted()
            os.kill(engine_of(room, held.child.pid), signal.SIGKILL)
            done = room.finish(tracer.child)
            if done.status != 1 or not done.err:
                problems.append('functrace ended with status %d, expected 1 and a message; it said %r' % (
                    done.status, done.err))
            # the instruction copies in the unused bytes after the code stay, because a task may be running one
            problems += text_differences(tracer.before, text_of(held.child.pid), tails=False)
            held.gate.open()
            if held.gate.arrived(held.child):
                held.gate.open()
            ended = room.finish(held.child)
            if ended.status:
                problems.append('the target ended with status %d, %r' % (ended.status, ended.out[-200:]))
    return problems, '5 rounds'


def attach_while_it_starts(room):
    """functrace attaches around the time of the target's exec: before it, or while the dynamic linker works."""
    need_attach()
    problems, events = [], []
    program = builds.target('alloc_cpp', 'O2')
    plain = room.run([program])
    for i in range(rounds(24)):
        folder = room.path('round%d' % i)
        os.makedirs(folder)
        child = room.start(['sh', '-c', 'read go; exec "$0"', program], stdin=subprocess.PIPE)
        tracer = room.start(kinds.functrace(folder, '-t', str(child.pid)))
        time.sleep(i % 12 * 0.001)
        ended, done = room.finish(child, data=b'go\n'), room.finish(tracer)
        if (ended.status, ended.out, ended.err) != (plain.status, plain.out, plain.err):
            problems.append('round %d: the target ended with status %d and said %r' % (
                i + 1, ended.status, (ended.out + ended.err)[-300:]))
        if done.status not in (0, 1) or (done.status and not done.err):
            problems.append('round %d: functrace ended with status %d, %r' % (i + 1, done.status, done.err[-300:]))
        traces, more = kinds.read_traces(folder)
        problems += more
        if any(t.header.get('process', '').startswith('/bin/') or 'dash' in t.header.get('process', '')
               for t in traces):
            # functrace attached before the exec, so the program's trace is complete
            problems += ['round %d: %s' % (i + 1, p) for p in oracle.Oracle(plain.out).check(traces, names=False)]
        events.append(sum(len(t.events) for t in traces))
    return problems[:5], 'events: %s' % ' '.join(map(str, events))


def launched(room, program, *options):
    """Runs a program that was compiled for the scenario, untraced and launched by functrace."""
    plain = room.run([program])
    os.makedirs(room.path('traces'))
    done = room.run(kinds.functrace(room.path('traces'), *options) + [program])
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    problems += kinds.compare_runs(plain, done) + oracle.Oracle(plain.out).check(traces, names=False)
    return problems, '%d events' % sum(len(t.events) for t in traces)


def minidebuginfo(room):
    """A static stripped program with .gnu_debugdata: functrace finds the names there."""
    for tool in ('nm', 'objcopy', 'strip', 'xz'):
        kinds.need(tool)
    twin, program = builds.target('alloc_basic', 'static'), room.path('program')
    script = '''
nm "$1" -g --defined-only | awk '$2 == "T" || $2 == "W" { print $3 }' | sort -u > keep
objcopy -S --remove-section .comment --keep-symbols=keep "$1" mini 2>/dev/null
xz -k mini && strip -o "$2" "$1" && objcopy --add-section .gnu_debugdata=mini.xz "$2"'''
    made = room.run(['sh', '-c', script, 'sh', twin, program])
    if made.status:
        raise Failure('cannot make the program: %s' % made.err.decode(errors='replace')[-300:])
    return launched(room, program)


def rust(room):
    """An optimised Rust program with Vec, threads, alignment and a panic."""
    rustc = kinds.need('rustc')
    source, program = os.path.join(builds.SOURCES, 'rusty.rs'), room.path('rusty')
    made = room.run([rustc, '-O', '-o', program, source], timeout=120)
    if made.status:
        raise builds.Skip('rustc cannot build it: ' + made.err.decode(errors='replace').strip()[:150])
    return launched(room, program)


def kill_functrace(room):
    """The process that the user started is killed by SIGKILL: the target lives and is no longer traced; the trace can
    be read."""
    need_attach()
    with Held(room, [builds.target('sigstorm', 'O2'), '4', '0']) as held:
        tracer = Tracer(room, held.child.pid)
        tracer.planted()
        time.sleep(0.1)
        engine = engine_of(room, held.child.pid)
        tracer.child.kill()
        wait_for('the end of the killed process', lambda: tracer.child.poll() is not None)
        wait_for('functrace to detach from the target', lambda: status_field(held.child.pid, 'TracerPid') == '0')
        # The engine may detach from a task before it has written the end of the trace.
        wait_for('the end of the engine', lambda: has_ended(engine))
        problems = []
        if held.child.poll() is not None:
            problems.append('the target died with status %d' % held.child.returncode)
        else:
            problems = text_differences(tracer.before, text_of(held.child.pid))
            held.gate.open()
            done = room.finish(held.child)
            if done.status:
                problems.append('the target ended with status %d, %r' % (done.status, done.out))
        problems += kinds.read_traces(room.path('traces'), 1)[1]
        return problems, ''


def terminate_functrace(room):
    """On SIGTERM functrace detaches from a launched program, which runs to its end."""
    folder = room.path('traces')
    os.makedirs(folder)
    gate = Gate()
    try:
        tracer = room.start(kinds.functrace(folder) + [builds.target('threads', 'O2'), '2', '50'], gate.env,
                            pass_fds=gate.fds)
        gate.started()
        if not gate.arrived(tracer):
            raise Failure('the target ended before its gate')
        pid = running(room, 'threads-O2')[0]
        tracer.terminate()
        wait_for('functrace to detach from the target', lambda: status_field(pid, 'TracerPid') == '0')
        problems = [] if state_of(pid) in 'SR' else ['state %s' % state_of(pid)]
        gate.open()
        if not gate.arrived(tracer):
            raise Failure('the target died after functrace had detached')
        gate.open()
        try:
            done = room.finish(tracer)
        finally:
            traces, more = kinds.read_traces(folder, 1)
        problems += more
        late = [e for e in traces[0].events if e.size in (32001, 32002)]
        if late:
            problems.append('events after functrace detached: %s' % late[0])
        return problems, 'status %d' % done.status
    finally:
        gate.close()


def attached_at_gate(room, command, options=(), fds=(), change=lambda: None, pid_of=lambda child: child.pid):
    """Attaches to a program that waits at its gate, lets it work, and detaches before it ends. pid_of returns the
    process to attach to, from the process that was started."""
    gate = Gate()
    try:
        child = room.start(command, gate.env, pass_fds=gate.fds + tuple(fds))
        gate.started()
        if not gate.arrived(child):
            raise Failure('the target ended before its gate: %r' % room.finish(child).err[-300:])
        change()
        tracer = Tracer(room, pid_of(child), options)
        tracer.planted()
        gate.open()
        gate.arrived(child)
        problems = tracer.let_go()
        gate.open()
        return complete(room, room.finish(child), problems)
    finally:
        gate.close()


# ---- Files that are not in their place ----

def from_a_copy(room, change, variant='O2', prefix=()):
    """Attaches to a program whose file was changed by `change` after its start."""
    need_attach()
    path = room.path('program')
    shutil.copy(builds.target('alloc_basic', variant), path)
    with Held(room, list(prefix) + [path]) as held:
        change(path)
        tracer = Tracer(room, held.child.pid, ['-r'])
        tracer.planted()
        done, problems = held.work_and_end(tracer)
        return complete(room, done, problems)


def deleted(room):
    return from_a_copy(room, os.unlink)


def deleted_static(room):
    return from_a_copy(room, os.unlink, 'static')


def replaced(room):
    """Another program has the target's file name now: no names and addresses may be taken from this file."""
    def change(path):
        os.unlink(path)
        shutil.copy(builds.target('threads', 'static'), path)
    return from_a_copy(room, change, 'static')


def replaced_while_traced(room):
    """The program's file is replaced, and then the program loads libraries: the maps now show the program under another
    name, but functrace must know that it is the same."""
    need_attach()
    path = room.path('program')
    shutil.copy(builds.target('loading', 'no-build-id'), path)
    with Held(room, [path, builds.library(), '10']) as held:
        tracer = Tracer(room, held.child.pid)
        tracer.planted()
        os.unlink(path)
        shutil.copy(builds.target('threads', 'static'), path)
        done, problems = held.work_and_end(tracer)
        return complete(room, done, problems)


def memfd(room):
    """The program has no file at all."""
    need_attach()
    source = builds.target('alloc_basic', 'static')
    fd = os.memfd_create('program', 0)
    with open(source, 'rb') as file:
        os.write(fd, file.read())
    try:
        return attached_at_gate(room, ['/proc/self/fd/%d' % fd], fds=(fd,))
    finally:
        os.close(fd)


def private_mount(room):
    """The unshare command, and a folder on which it mounts; skips if that is not possible."""
    unshare, inner = kinds.need('unshare'), room.path('inner')
    os.makedirs(inner)
    probe = room.run([unshare, '--mount', 'mount', '-t', 'tmpfs', 'none', inner])
    if probe.status:
        raise builds.Skip('no mount namespace can be made: ' + probe.err.decode().strip()[:100])
    return unshare, inner


def other_mount_namespace(room):
    """The program's files exist only in the program's mount namespace, and have other names outside."""
    need_attach()
    unshare, inner = private_mount(room)
    script = 'mount -t tmpfs none "$2" && cp "$1" "$2/program" && exec "$2/program"'
    return attached_at_gate(room, [unshare, '--mount', 'sh', '-c', script, 'sh', builds.target('alloc_basic', 'static'),
                                   inner], ['-r'])


def other_pid_namespace(room):
    """The program is process 1 of a pid namespace; functrace runs outside, where it has another number."""
    need_attach()
    unshare = kinds.need('unshare')
    if room.run([unshare, '--pid', '--fork', 'true']).status:
        raise builds.Skip('no pid namespace can be made')
    return attached_at_gate(room, [unshare, '--pid', '--fork', builds.target('threads', 'O2'), '3', '50'],
                            pid_of=lambda outer: running(room, 'threads-O2')[0])


def stripped_static(room):
    """No function can be found: the message says so and advises --symbol-address; with --symbol-address it works."""
    kinds.need(builds.NM[0])
    stripped, twin = builds.target('alloc_basic', 'static-stripped'), builds.target('alloc_basic', 'static')
    folder = room.path('first')
    os.makedirs(folder)
    plain = room.run([stripped])
    done = room.run(kinds.functrace(folder) + [stripped])
    problems = kinds.compare_runs(plain, done)
    if b'--symbol-address' not in done.err:
        problems.append('no hint at --symbol-address: %r' % done.err[-500:])
    symbols = {}
    for line in room.run([*builds.NM, twin]).out.decode().split('\n'):
        fields = line.split()
        if len(fields) == 3 and fields[1] in 'tTwWiI':
            symbols[fields[2]] = fields[0]
    names = ('malloc', 'free', 'calloc', 'realloc', 'reallocarray', 'posix_memalign', 'aligned_alloc', 'memalign',
             'valloc', 'pvalloc')
    # --symbol-address takes addresses as nm prints them, and with 0x.
    options = ['--symbol-address=%s=%s%s' % (name, '0x' if name == 'free' else '', symbols[name]) for name in names
               if name in symbols]
    folder = room.path('traces')
    os.makedirs(folder)
    done = room.run(kinds.functrace(folder, *options) + [stripped])
    problems += kinds.compare_runs(plain, done)
    traces, more = kinds.read_traces(folder, 1)
    return problems + more + oracle.Oracle(plain.out).check(traces, names=False), '%d symbols given' % len(options)



def preattach(room):
    """Blocks from before the attach are released while traced: the releases are of unknown blocks."""
    need_attach()
    with Held(room, [builds.target('sigstorm', 'O2'), '2', '0']) as held:
        problems, events = come_and_go(room, held.child.pid, rounds(20), 0.01)
        held.gate.open()
        done = room.finish(held.child)
        if done.status:
            problems.append('status %d, %r' % (done.status, done.out))
        return problems, '%d events' % events


def nine_processes(room):
    """Several -t options: functrace prints a line for each of the processes, however many there are."""
    need_attach()
    sleepers = [room.start([builds.target('planted', 'O2'), '1', '0'], stdin=subprocess.PIPE) for _ in range(9)]
    for child in sleepers:
        child.stdout.readline()
    wait_for('the processes to sleep', lambda: all(state_of(child.pid) == 'S' for child in sleepers))
    before = {child.pid: text_of(child.pid) for child in sleepers}
    tracer = room.start(kinds.functrace(room.folder, *[word for child in sleepers for word in ('-t', str(child.pid))]))
    problems = []
    wait_for('functrace to attach', lambda: all(
        status_field(child.pid, 'TracerPid') != '0' and text_of(child.pid) != before[child.pid] for child in sleepers))
    tracer.send_signal(signal.SIGINT)
    done = room.finish(tracer)
    for child in sleepers:
        problems += text_differences(before[child.pid], text_of(child.pid))
        if not re.search(rb'process %d \([^)]+\): 0 events' % child.pid, done.err):
            problems.append('process %d has no line: %r' % (child.pid, done.err))
        room.kill(child)
    if done.status:
        problems.append('status %d, %r' % (done.status, done.err))
    return problems, ''


WITH_THREAD = """
import sys, threading
def work():
    print(threading.get_native_id(), flush=True)
    sys.stdin.readline()
thread = threading.Thread(target=work)
thread.start()
thread.join()
blocks = [bytearray(40000) for _ in range(100)]
sys.exit(7)
"""


def named_by_a_thread(room):
    """-t with the id of a thread means its process, which is traced on after that thread ends."""
    need_attach()
    target = room.start([sys.executable, '-c', WITH_THREAD], stdin=subprocess.PIPE)
    tid = int(target.stdout.readline())
    tracer = Tracer(room, tid)
    tracer.planted()
    done, said = room.finish(target, data=b'\n'), room.finish(tracer.child)
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    if done.status != 7 or said.status or b'process %d (' % target.pid not in said.err:
        problems.append('target %d, functrace %d, %r' % (done.status, said.status, said.err[-300:]))
    if sum(e.size == 40001 for t in traces for e in t.events) < 100:
        problems.append('calls after the end of the thread are not traced')
    return problems, ''


ASLEEP = """
import sys
blocks = [bytes(100 + i %% 50) for i in range(%d)]
print(len(blocks), flush=True)
sys.stdin.readline()
""" % (1000000 if LONG else 300000)


def terminated_resuming(room):
    """SIGTERM comes while functrace resumes; the program sleeps, so that none of its calls wakes the tracer."""
    need_attach()
    target, problems = room.start([sys.executable, '-c', ASLEEP], stdin=subprocess.PIPE), []
    target.stdout.readline()
    before = text_of(target.pid)
    count = 12 if LONG else 1
    for i in range(count):
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        tracer = room.start(kinds.functrace(folder) + ['-S', 'USR2', '--start-paused', '-t', str(target.pid)])
        if b'paused' not in tracer.stderr.readline():
            raise Failure('round %d: it is not paused' % i)
        tracer.send_signal(signal.SIGUSR2)
        time.sleep(random.uniform(0, 0.1))
        tracer.send_signal(signal.SIGTERM)
        done = room.finish(tracer)
        problems += ['round %d: status %d, %r' % (i, done.status, done.err[-300:])] * (done.status != 0)
        problems += text_differences(before, text_of(target.pid))
    done = room.finish(target, data=b'')
    return problems + ['the target ended with %d' % done.status] * (done.status != 0), '%d rounds' % count


def not_begun(done):
    """Returns true if SIGTERM came before functrace began to resume, as on a busy machine."""
    return done.status == -signal.SIGTERM and not done.err


def exec_storm(room):
    """functrace attaches again and again to a program whose threads execute it anew all the time: an exec waits for all
    other threads, and the tracer must not wait for the exec at that moment."""
    need_attach()
    command = [builds.target('regress_execstorm', 'O2'), str(max(rounds(400), 100)), '150', '1000']
    target = room.start(command)
    done_rounds, problems = 0, []
    while target.poll() is None and not problems:
        folder = room.path('traces', str(done_rounds))
        os.makedirs(folder)
        tracer = room.start(kinds.functrace(folder) + ['-t', str(target.pid)])
        time.sleep(random.uniform(0.05, 0.25))
        tracer.send_signal(signal.SIGTERM)
        words = read_if_there('/proc/%d/cmdline' % target.pid)
        done = room.finish(tracer)
        if done.status and b'cannot attach' in done.err:
            # The process may be ending now. If it is not, it executes itself again and again.
            wait_for('the target to end or to go on', lambda words=words: target.poll() is not None or
                     read_if_there('/proc/%d/cmdline' % target.pid) not in (b'', words))
        if done.status and target.poll() is None and not not_begun(done):
            problems.append('round %d: status %d, %r' % (done_rounds, done.status, done.err[-500:]))
        problems += kinds.read_traces(folder)[1]
        done_rounds += 1
    done = room.finish(target)
    if (done.status, done.out) != (7, b'all is well\n'):
        problems.append('the target ended with status %d, %r' % (done.status, (done.out + done.err)[-300:]))
    if done_rounds < 2:
        problems.append('attached only %d times' % done_rounds)
    return problems, '%d rounds' % done_rounds


def killed_in_exec(room):
    """SIGKILL may come just when a thread takes the leader's place by an exec: the kernel reports nothing more of this
    thread, and functrace must not wait for it when it detaches from another process."""
    need_attach()
    command = [builds.target('regress_execstorm', 'O2'), '9999', '50', '200']
    other = room.start(['sleep', '600'])
    for i in range(rounds(25)):
        target = room.start(command)
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        tracer = room.start(kinds.functrace(folder) + ['-t', str(other.pid), '-t', str(target.pid)])
        time.sleep(random.uniform(0.05, 0.2))
        target.kill()
        time.sleep(0.05)
        tracer.send_signal(signal.SIGTERM)
        try:
            done = room.finish(tracer)
        except Failure as failure:
            return ['round %d: %s' % (i, failure)], ''
        if done.status and b'cannot attach' not in done.err and not not_begun(done):
            return ['round %d: status %d, %r' % (i, done.status, done.err[-300:])], ''
    wait_for('the other process to sleep', lambda: state_of(other.pid) == 'S')
    return [], '%d rounds' % rounds(25)


def forks_before_exec(room):
    """Threads fork, and another thread executes the program anew, while functrace attaches: the tasks whose fork events
    are expected no longer exist, so functrace must not wait for these events."""
    need_attach()
    for i in range(rounds(24)):
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        target = room.start([builds.target('regress_execfork', 'O2'), str((0, 200, 500, 1000, 2000, 4000)[i % 6])])
        wait_for('the threads to start', lambda: int(status_field(target.pid, 'Threads') or 0) >= 408)
        tracer = room.start(kinds.functrace(folder) + ['-t', str(target.pid)] + ['-F'][i % 2:])
        if target.stdout.readline() != b'anew\n':
            raise Failure('round %d: it said something else' % i)
        wait_for('the children of round %d to end' % i,
                 lambda: [p for p in running(room, 'regress_execfork-O2') if p != target.pid] == [])
        tracer.send_signal(signal.SIGTERM)
        done = room.finish(tracer)
        if done.status:
            return ['round %d: status %d, %r' % (i, done.status, done.err[-300:])], ''
        wait_for('the target of round %d to sleep' % i, lambda: state_of(target.pid) == 'S')
        target.kill()
        room.finish(target)
    return [], '%d rounds' % rounds(24)


def exec_once(room):
    """The newest of many threads executes the program anew while functrace attaches to one thread after the other: the
    thread that takes the leader's place may not be attached to yet."""
    need_attach()
    for i in range(rounds(40)):
        delay = random.randint(8000, 22000)
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        target = room.start([builds.target('regress_execstorm', 'O2'), '1', '1000', str(delay)])
        while target.poll() is None and int(status_field(target.pid, 'Threads') or 0) < 1001:
            pass
        tracer = room.start(kinds.functrace(folder) + ['-t', str(target.pid)])
        done, said = room.finish(target), room.finish(tracer)
        problems = kinds.read_traces(folder)[1]
        if (done.status, done.out) != (7, b'all is well\n'):
            problems.append('the target ended with status %d, %r' % (done.status, done.out + done.err))
        if said.status and b'cannot attach' not in said.err:
            problems.append('functrace: status %d, %r' % (said.status, said.err[-300:]))
        if problems:
            return ['round %d, after %d us: %s' % (i, delay, p) for p in problems], ''
    return [], '%d rounds' % rounds(40)


CASES = [
    ('SIGSTOP and SIGCONT of a traced process', stopped_and_continued),
    ('a stopped process stays stopped after attaching and detaching', attach_to_a_stopped_one),
    ('a process that was stopped while traced stays stopped after detaching', stopped_while_traced_then_let_go),
    ('-t with the id of a thread attaches to its process', named_by_a_thread),
    ('threads execute the program anew while functrace attaches and detaches', exec_storm),
    ('a thread executes the program anew while functrace attaches', exec_once),
    ('SIGKILL while threads execute the program anew', killed_in_exec),
    ('threads fork, and one executes the program anew, while functrace attaches', forks_before_exec),
    ('threads start and end while functrace attaches', thread_churn),
    ('SIGKILL to the target: status 137, and a readable trace', kill_the_target),
    ('SIGKILL to functrace: the target runs on, untraced', kill_functrace),
    ('SIGKILL to the engine', kill_engine),
    ('attach while the program starts', attach_while_it_starts),
    ('SIGTERM to functrace: it detaches, and the target runs on', terminate_functrace),
    ('SIGTERM to functrace while it resumes', terminated_resuming),
    ('the program file was deleted', deleted),
    ('the program file was deleted, static', deleted_static),
    ('the program file was replaced', replaced),
    ('the program file is replaced while traced', replaced_while_traced),
    ('the program file is a memfd', memfd),
    ('a program in another mount namespace', other_mount_namespace),
    ('a program in another pid namespace', other_pid_namespace),
    ('stripped and static: --symbol-address', stripped_static),
    ('stripped and static: .gnu_debugdata', minidebuginfo),
    ('a Rust program with threads and a panic', rust),
    ('releases of blocks from before the attach', preattach),
    ('nine -t options: each process has a line', nine_processes),
]
