"""Where traces go, what is said of them, and what happens when they cannot be written any more."""

import os
import re
import signal
import subprocess
import time

import builds
import kinds
import trace_text
from lifecycle import Held, need_attach, running
from processes import FUNCTRACE, POSTPROC, Failure, Gate, status_field, text_differences, text_of, wait_for

SUMMARY = re.compile(r'^functrace: process (\d+) \((.*?)\): ([\d,]+) events.*; trace: (.*?)(?: \(incomplete.*)?$', re.M)


def summary(done):
    """[(pid, name, events, path)] of what the end says, in its order."""
    return [(int(pid), name, int(events.replace(',', '')), path)
            for pid, name, events, path in SUMMARY.findall(done.err.decode(errors='replace'))]


def check_summary(room, done):
    """Each trace that the summary names is there, once, of that process, with as many events as it says."""
    problems, seen = [], set()
    for pid, _, events, path in summary(done):
        full = room.path(path)
        if path in seen:
            problems.append('%s is named twice' % path)
        seen.add(path)
        if not os.path.exists(full):
            problems.append('%s is named, and not there' % path)
            continue
        trace = trace_text.read(full)
        problems += trace.problems
        if trace.pid != pid or len(trace.events) != events:
            problems.append('%s is of process %d with %d events; it should be %d with %d' % (
                path, trace.pid, len(trace.events), pid, events))
    return problems


def sizes_of(room, path):
    return [e.size for e in trace_text.read(room.path(path)).events if e.kind == '+' and 30000 <= e.size < 40000]


def equal(what, found, expected):
    return [] if found == expected else ['%s: %r, expected %r' % (what, found, expected)]


# ---- -o FILE ----

def images(room, how, *more, by=()):
    return room.run(list(by) + [FUNCTRACE, '-f', 'text', '-o', 'X', builds.target('images', 'O0'), how] + list(more))


def numbered_images(room):
    """A child that becomes another program twice: FILE, FILE.PID, FILE.PID.1, FILE.PID.2; older ones are replaced."""
    with open(room.path('X'), 'w') as file:
        file.write('of another run\n' * 1000)
    done = images(room, 'exec')
    lines = [line.split() for line in done.out.decode().split('\n') if line]
    child = lines[1][0] if len(lines) == 4 else '?'
    names = ['X', 'X.' + child, 'X.%s.1' % child, 'X.%s.2' % child]
    problems = equal('files', sorted(os.listdir(room.folder)), sorted(names))
    problems += check_summary(room, done) + equal('traces named', len(summary(done)), 4)
    for name, (_, size) in zip(names, lines):
        if os.path.exists(room.path(name)):
            problems += equal(name, sizes_of(room, name), [int(size)])
    return problems + equal('status', done.status, 0), ''


def first_becomes_another(room):
    """The first process executes another program: FILE and FILE.PID.1; a child in between FILE.PID."""
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'Y', 'sh', '-c', '(exec ls); exec ls'])
    told = summary(done)
    if len(told) != 4:
        return ['%d traces are named, expected 4: %s' % (len(told), done.err.decode())], ''
    main = [pid for pid, _, _, path in told if path == 'Y']
    child = [pid for pid, _, _, _ in told if [pid] != main]
    names = ['Y', 'Y.%d.1' % main[0], 'Y.%d' % child[0], 'Y.%d.1' % child[0]] if main and child else []
    return check_summary(room, done) + equal('names', sorted(path for _, _, _, path in told), sorted(names)), ''


def threads_execute(room):
    """A thread that is not the leader executes: nothing of the first program is lost."""
    done = room.run([FUNCTRACE, '-f', 'text', '-o', 'Z', builds.target('execs', 'O2'), 'thread'])
    told = summary(done)
    problems = check_summary(room, done) + equal('traces named', len(told), 2)
    if not problems:
        problems = equal('names', sorted(path for _, _, _, path in told), ['Z', 'Z.%d.1' % told[0][0]])
        problems += equal('of the first', sizes_of(room, 'Z').count(34102), 1)
        problems += equal('of the second', sizes_of(room, 'Z.%d.1' % told[0][0]).count(34103), 2)
    return problems, ''


def own_pids():
    """A command that gives what it runs pids of its own."""
    kinds.need('unshare')
    command = ['unshare', '-p', '-f', '--mount-proc']
    if os.geteuid() or subprocess.run(command + ['true'], stderr=subprocess.DEVNULL, timeout=20).returncode:
        raise builds.Skip('a pid namespace cannot be made here (it needs root)')
    return command


def pid_reused(room):
    """Two children with one pid: both traces are whole."""
    done = images(room, 'reuse', by=own_pids())
    problems = equal('status', done.status, 0) + check_summary(room, done)
    problems += equal('names', sorted(path for _, _, _, path in summary(done)), ['X', 'X.300', 'X.300.1'])
    for name, sizes in (('X', [30100]), ('X.300', [31110]), ('X.300.1', [32220])):
        problems += [] if problems else equal(name, sizes_of(room, name), sizes)
    return problems, ''


def linked_name(room):
    """Links to the first process's trace stand where a child's is to be: that is not written over."""
    done = images(room, 'links', 'X', by=own_pids())
    problems = equal('status', done.status, 0)
    problems += equal('names', sorted(path for _, _, _, path in summary(done)), ['X', 'X.300.2'])
    for name, sizes in (('X', [30100]), ('X.300.2', [32220])):
        problems += [] if problems else equal(name, sizes_of(room, name), sizes)
    return problems, ''


def into_a_device(room):
    """-o /dev/null: the others' traces go there too, and no file appears beside it."""
    before = set(os.listdir('/dev'))
    done = room.run([FUNCTRACE, '-f', 'text', '-o', '/dev/null', 'sh', '-c', '(ls); (exec ls)'])
    new = sorted(name for name in set(os.listdir('/dev')) - before if name.startswith('null'))
    for name in new:
        os.unlink('/dev/' + name)
    problems = equal('files in /dev', new, []) + equal('files here', os.listdir(room.folder), [])
    problems += equal('paths', sorted({path for _, _, _, path in summary(done)}), ['/dev/null'])
    return problems + equal('status', done.status, 0), ''


def paused_and_resumed(room):
    """Each resume begins a file; none is replaced."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '1']) as held:
        tracer = room.start([FUNCTRACE, '-f', 'text', '-o', 'P', '-S', 'USR1', '-t', str(held.child.pid)])

        def bytes_of(name):
            return os.path.exists(room.path(name)) and os.stat(room.path(name)).st_size
        for name in ('P', 'P.%d.1' % held.child.pid, 'P.%d.2' % held.child.pid):
            wait_for('events in ' + name, lambda: bytes_of(name) and b'malloc(' in open(room.path(name), 'rb').read())
            if not name.endswith('.2'):
                os.kill(tracer.pid, signal.SIGUSR1)
                wait_for('the pause', lambda: trace_paused(room.path(name)))
                os.kill(tracer.pid, signal.SIGUSR1)
        tracer.send_signal(signal.SIGINT)
        done = room.finish(tracer, 20)
        held.gate.open()
        room.finish(held.child)
    names = ['P', 'P.%d.1' % held.child.pid, 'P.%d.2' % held.child.pid]
    return equal('names', [path for _, _, _, path in summary(done)], names) + check_summary(room, done), ''


def trace_paused(path):
    with open(path, 'rb') as file:
        return b'paused' in file.read()


CASES = [
    ('-o FILE: images of a child', numbered_images),
    ('-o FILE: the first process executes', first_becomes_another),
    ('-o FILE: a thread executes', threads_execute),
    ('-o FILE: one pid twice', pid_reused),
    ('-o FILE: links to it', linked_name),
    ('-o FILE: a device', into_a_device),
    ('-o FILE: paused and resumed', paused_and_resumed),
]
