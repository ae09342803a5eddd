"""Tests errors while children of forks are traced. Before its first traced call a child borrows its parent's tables
(src/tracer/forks.c)."""

import os
import signal
import subprocess

import builds
import kinds
from processes import Gate, Tracer, may_attach, status_field, text_of, wait_for
from rounds import rounds

COUNT = 12


def children_of(pid):
    with open('/proc/%d/task/%d/children' % (pid, pid)) as file:
        return [int(child) for child in file.read().split()]


def engine_killed(room):
    """SIGKILL of the engine while children wait that have made no call yet: the original text of each child is
    restored, and they run on."""
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    gate = Gate()
    problems = []
    try:
        child = room.start([builds.target('bareforks', 'O2'), 'held', str(COUNT)], gate.env, pass_fds=gate.fds)
        gate.started()
        gate.arrived(child)
        tracer = Tracer(room, child.pid)
        tracer.planted()
        gate.open()
        gate.arrived(child)
        children = children_of(child.pid)
        if len(children) != COUNT:
            problems.append('%d children, expected %d' % (len(children), COUNT))
        os.kill(int(status_field(int(status_field(child.pid, 'TracerPid')), 'Tgid')), signal.SIGKILL)
        done = room.finish(tracer.child)
        if done.status != 1 or b'breakpoints removed: ' not in done.err:
            problems.append('functrace ended with status %d, and said %r' % (done.status, done.err))
        for pid in [child.pid] + children:
            after = text_of(pid)
            for key, before in tracer.before.items():
                size = len(before.rstrip(b'\0'))  # copies of instructions stay in the unused bytes after the text
                if before[:size] != after.get(key, before)[:size]:
                    problems.append('process %d: the text of %s is not what it was' % (pid, key[2]))
        gate.open()
        gate.arrived(child)
        gate.open()
        ended = room.finish(child)
        if ended.status or b'expect-child + %d' % (2 * COUNT) not in ended.out:
            problems.append('the target ended with status %d, %r' % (ended.status, ended.out[-300:]))
    finally:
        gate.close()
    return problems, '%d children' % COUNT


def no_descriptors(room):
    """There are more children than memory files that functrace may open: functrace detaches from the children that it
    cannot follow, with a message."""
    prlimit = kinds.need('prlimit')
    command = [builds.target('bareforks', 'O2'), 'held', '40']
    folder = room.path('traces')
    os.makedirs(folder)
    plain = room.run(command)
    traced = room.run([prlimit, '--nofile=30:30'] + kinds.functrace(folder) + command)
    problems = kinds.compare_runs(plain, traced)
    traces, more = kinds.read_traces(folder)
    problems += more
    if b'runs on untraced: its memory cannot be opened: Too many open files' not in traced.err:
        problems.append('no message that functrace detaches from children: %r' % traced.err[-600:])
    return problems, '%d of 40 children were followed' % (len(traces) - 1)


def has_said(room, text):
    with open(room.path('said'), 'rb') as file:
        return text in file.read()


def born_while_attaching(room):
    """If a child is created after its parent is seized and before the breakpoints are inserted, its text has no
    breakpoints. functrace inserts them before the child runs."""
    reason = may_attach()
    if reason:
        raise builds.Skip(reason)
    problems, children = [], 0
    for i in range(rounds(30)):
        folder = room.path('traces', str(i))
        os.makedirs(folder)
        target = room.start([builds.target('bareforks', 'O2'), 'born'], stdin=subprocess.PIPE)
        target.stdout.readline()
        with open(room.path('said'), 'w+b') as file:
            tracer = room.start(kinds.functrace(folder, '-t', str(target.pid)), stderr=file)
            wait_for('functrace, to have attached', lambda: tracer.poll() is not None or has_said(room, b'attached to'))
            ended, said = room.finish(target, 60), room.finish(tracer, 60)
        traces, more = kinds.read_traces(folder)
        problems += more
        found = sum(e.kind == '+' and e.size == 34001 for t in traces for e in t.events)
        traced = int(ended.out.split()[-1]) if ended.out.startswith(b'traced') else 0
        if ended.status or said.status or not traced or found != traced:
            problems.append('round %d: status %d and %d; %d children were traced, %d have a call in a trace: %r' % (
                i + 1, ended.status, said.status, traced, found, ended.out[-200:]))
        children += found
    return problems, '%d rounds, %d children' % (rounds(30), children)


CASES = [
    ('children that are created while functrace attaches', born_while_attaching),
    ('SIGKILL to the engine while it traces children without a call', engine_killed),
    ('more children than functrace may open descriptors', no_descriptors),
]
