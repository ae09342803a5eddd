"""Tests what remains in a process when all three processes of functrace are killed at once, which messages report this,
and how --repair removes it."""

import os
import signal
import subprocess

import builds
from lifecycle import copied, engine_of, need_attach
from processes import FUNCTRACE, Failure, Tracer, state_of, status_field, text_differences, text_of, wait_for


def kill_all(tracer, pid):
    """Kills the three processes. Each is stopped before, so that none can react to the end of another one."""
    engine = engine_of(None, pid)
    guardian = int(status_field(engine, 'PPid'))
    visible = tracer.child.pid
    if int(status_field(guardian, 'PPid')) != visible:
        raise Failure('%d is not the guardian of %d' % (guardian, visible))
    # A thread of the engine gets SIGSTOP only when the guardian, which traces it, passes it on.
    for one in (engine, guardian, visible):
        os.kill(one, signal.SIGSTOP)
        wait_for('functrace to stop', lambda one=one: state_of(one) in 'Tt')
    for one in (visible, guardian, engine):
        os.kill(one, signal.SIGKILL)
    tracer.room.finish(tracer.child)
    wait_for('the end of the tracer', lambda: status_field(pid, 'TracerPid') == '0')


def worker(child):
    """Starts the next worker; returns its exit status."""
    child.stdin.write(b'f')
    child.stdin.flush()
    return child.stdout.readline().decode().strip()


def functrace(room, *words):
    done = room.run([FUNCTRACE] + list(words))
    return done.status, done.err.decode(errors='replace')


def expect(problems, what, said, *parts):
    for part in parts:
        if part not in said:
            problems.append('%s: functrace said %r, without %r' % (what, said, part))


def leave_breakpoints(room, variant='O2'):
    """Leaves the breakpoints of a killed functrace in the prefork master; returns the master's text from before."""
    need_attach()
    child = room.start([builds.target('prefork', variant)], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise Failure('the target did not begin')
    before = text_of(child.pid)
    tracer = Tracer(room, child.pid)
    tracer.planted()
    kill_all(tracer, child.pid)
    if not text_differences(before, text_of(child.pid), tails=False):
        raise Failure('no breakpoint was left')
    return child, before


def check_end(room, child, problems):
    ended = room.finish(child, data=b'')
    if ended.status:
        problems.append('the target ended with status %d' % ended.status)
    return problems, ''


def repaired(variant):
    def run(room):
        child, before = leave_breakpoints(room, variant)
        pid, problems = child.pid, []
        if worker(child) != 'killed by signal 5':
            problems.append('a worker lived in spite of the breakpoints')
        status, said = functrace(room, '-o', room.path('again'), '--verify', '--duration=0.3', '-t', str(pid))
        expect(problems, 'the next attach', said, ' of a tracer that is gone are in the code of process %d' % pid,
               'functrace --repair -t %d' % pid, 'in which no breakpoint could be set',
               'that this run did not set are there')
        if 'none of the functions to be traced was found' in said:
            problems.append('after attaching again functrace reports an error of the program: %r' % said)
        status, said = functrace(room, '--repair', '-t', str(pid))
        expect(problems, '--repair', said, ' from its code, left there by a tracer that is gone')
        if status:
            problems.append('--repair ended with status %d, expected 0' % status)
        problems += text_differences(before, text_of(pid), tails=False)
        if worker(child) != 'status 7':
            problems.append('a worker did not work after the repair')
        status, said = functrace(room, '--repair', '-t', str(pid))
        expect(problems, '--repair again', said, 'no breakpoint is in its code')
        status, said = functrace(room, '-o', room.path('sound'), '--verify', '--duration=0.3', '-t', str(pid))
        expect(problems, 'attached after it', said, 'its text is as it was')
        if 'is gone' in said:
            problems.append('after the repair functrace still says %r' % said)
        return check_end(room, child, problems)
    return run


def traced(room):
    """--repair does not touch the breakpoints of a running functrace."""
    need_attach()
    child = room.start([builds.target('prefork', 'O2')], stdin=subprocess.PIPE)
    child.stdout.readline()
    tracer = Tracer(room, child.pid)
    tracer.planted()
    status, said = functrace(room, '--repair', '-t', str(child.pid))
    problems = []
    expect(problems, '--repair', said, 'traces it already')
    if status != 1:
        problems.append('--repair ended with status %d' % status)
    if worker(child) != 'status 7':
        problems.append('the worker did not work')
    problems += tracer.let_go()
    return check_end(room, child, problems)


def denied(room):
    """--repair of another user's process fails with the right reason, not with the message that the process has
    ended."""
    if os.geteuid():
        raise builds.Skip('only root can try as another user')
    child = room.start(['cat'], stdin=subprocess.PIPE)
    program = copied(room, FUNCTRACE, 'functrace')
    os.chmod(room.folder, 0o755)
    done = room.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', program, '--repair', '-t', str(child.pid)])
    problems = [] if done.status == 1 else ['status %d' % done.status]
    expect(problems, '--repair', done.err.decode(), 'it belongs to user 0. Run functrace as that user, or as root.')
    child.communicate(b'')
    return problems, ''


CASES = [
    ("--repair of another user's process", denied),
    ('SIGKILL to all of functrace: --repair removes the breakpoints', repaired('O2')),
    ('SIGKILL to all of functrace: --repair of a static program', repaired('static')),
    ('SIGKILL to all of functrace: --repair of a 32-bit program', repaired('m32')),
    ('--repair of a process that is being traced', traced),
]
