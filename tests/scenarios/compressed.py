"""Tests compressed traces (-z, -o NAME.zst): their content, their names, and how much of them can be read after
functrace or its engine was killed."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time

import builds
import kinds
import outputs
from lifecycle import Held, engine_of, need_attach
from outputs import equal, lets_go_of, summary
from processes import FUNCTRACE, POSTPROC, command_of, status_field, text_differences, text_of, wait_for
from rounds import LONG

KINDS = {'zst': ('zstd', b'\x28\xb5\x2f\xfd'), 'gz': ('gzip', b'\x1f\x8b')}


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def as_text(room, path):
    """Returns the trace as functrace-postproc prints it, and problems."""
    done = room.run([POSTPROC, path])
    return done.out.decode(errors='replace'), [] if done.status == 0 and not done.err else [
        '%s: status %d, %r' % (path, done.status, done.err[-300:])]


def whole(room, path, kind):
    """Returns the problems that the tool of that format finds: every frame must be complete."""
    done = room.run([kinds.need(KINDS[kind][0]), '-t'], data=read(path))
    return [] if done.status == 0 else ['%s -t %s: %r' % (KINDS[kind][0], path, done.err[-300:])]


# ---- Content ----

def without_numbers(text, pid):
    """Removes what differs between runs: numbers, and the resident memory, which is also written each second."""
    text = re.sub(r'timestamp=[^,]*', 'timestamp=', text, count=1)
    text = re.sub(r'\n## resident \d+ \d+(?=\n)', '', text)
    return re.sub(r'(pid=|## thread |## process )%d\b' % pid, r'\1PID', text)


def same_text(kind):
    """If a program has the same addresses in each run, its compressed trace has the same text as an uncompressed one,
    except for pid and date."""
    def run(room):
        texts, problems = [], []
        for options in ([], ['-z' + kind]):
            name = 'a' + ''.join(options)
            done = room.run([kinds.need('setarch'), '-R', FUNCTRACE, '-T', '-A', '-o', name] + options +
                            [builds.target('alloc_basic', 'O2')])
            if not done.err and done.status:
                raise builds.Skip('setarch -R is not allowed here')
            pid = summary(done)[0][0]
            text, more = as_text(room, room.path(name))
            problems += more
            texts.append(without_numbers(text, pid))
        data = read(room.path('a-z' + kind))
        problems += equal('the first bytes', data[:len(KINDS[kind][1])], KINDS[kind][1])
        problems += whole(room, room.path('a-z' + kind), kind)
        if texts[0] != texts[1]:
            problems += ['the texts differ']
        return problems, '%d bytes for %d of text' % (len(data), len(texts[0]))
    return run


def large(kind):
    """A trace of many frames has as many events as an uncompressed one, and a small part of its bytes."""
    def run(room):
        python = os.path.realpath(sys.executable)  # the real path, because a script of that name may start python3
        command = [python, '-S', '-E', '-c', 'x = [[str(i)] * (i % 7) for i in range(30000)]']
        env = {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '1'}
        first = room.run([FUNCTRACE, '-o', 'plain'] + command, env)
        second = room.run([FUNCTRACE, '-o', 'small.' + kind] + command, env)
        if len(summary(first)) != 1 or len(summary(second)) != 1:
            return ['it said: %r, %r' % (first.err, second.err)], ''
        events = [summary(done)[0][2] for done in (first, second)]
        problems = equal('status', second.status, 0) + whole(room, room.path('small.' + kind), kind)
        if abs(events[0] - events[1]) > events[0] / 100:
            problems.append('%d events compressed, %d without' % (events[1], events[0]))
        text, more = as_text(room, room.path('small.' + kind))
        problems += more + equal('events', len(re.findall(r'^\d+\. ', text, re.M)), events[1])
        size, plain = os.stat(room.path('small.' + kind)).st_size, os.stat(room.path('plain')).st_size
        if size > {'zst': 10, 'gz': 13}[kind] * events[1]:
            problems.append('%d bytes for %d events' % (size, events[1]))
        return problems, '%.1f bytes an event, %.0f without compression' % (size / events[1], plain / events[0])
    return run


# ---- Names ----

def names_with_end(room):
    """-o X.zst: the traces of other processes and programs have the suffix, too, because the format's tools recognise
    files by it."""
    done = room.run([FUNCTRACE, '-o', 'X.zst', builds.target('images', 'O0'), 'exec'])
    lines = [line.split() for line in done.out.decode().split('\n') if line]
    child = lines[1][0] if len(lines) == 4 else '?'
    names = ['X.zst', 'X.%s.zst' % child, 'X.%s.1.zst' % child, 'X.%s.2.zst' % child]
    problems = equal('files', sorted(os.listdir(room.folder)), sorted(names))
    for name, (_, size) in zip(names, lines):
        problems += whole(room, room.path(name), 'zst')
        text, more = as_text(room, room.path(name))
        problems += more + equal(name, re.findall(r'malloc\((3\d{4})\)', text), [size])
    return problems + equal('status', done.status, 0), ''


def folder(kind):
    def run(room):
        os.mkdir(room.path('X.zst'))  # a folder's name does not choose a format
        done = room.run([FUNCTRACE, '-o', 'X.zst', '-f', 'text', '-z' + kind, kinds.shell(), '-c', '(exec $0); $0; exec $0',
                         builds.target('alloc_basic', 'O2')])
        named = summary(done)
        problems = equal('files', sorted('X.zst/' + name for name in os.listdir(room.path('X.zst'))),
                         sorted(path for _, _, _, path in named))
        for pid, _, events, path in named:
            problems += equal(path, bool(re.fullmatch(r'X.zst/%d-\d\.rtrace\.txt\.%s' % (pid, kind), path)), True)
            problems += whole(room, room.path(path), kind)
            text, more = as_text(room, room.path(path))
            problems += more + equal(path, len(re.findall(r'^\d+\. ', text, re.M)), events)
        return problems + (['%d traces: %r' % (len(named), done.err)] if len(named) < 4 else []), ''
    return run


def standard_output(room):
    """A compressed trace on standard output, through a pipe, can be read while the program runs."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        tracer = room.start([FUNCTRACE, '-z', '-o', '-', '-t', str(held.child.pid)])
        reader = room.start([POSTPROC, '--follow', '-'], stdin=tracer.stdout)
        line = b''
        while b'malloc(' not in line:
            line = reader.stdout.readline()
        problems = equal('the target is traced', status_field(held.child.pid, 'TracerPid') != '0', True)
        tracer.stdout.close()
        tracer.stdout = open(os.devnull, 'rb')
        tracer.send_signal(signal.SIGINT)
        rest = room.finish(reader)
        done = room.finish(tracer)
        held.gate.open()
        room.finish(held.child)
    events = re.findall(r'^(\d+)\. ', rest.out.decode(), re.M)
    return problems + equal('the last event', int(events[-1]), summary(done)[0][2]), ''


def wrong_use(room):
    problems = []
    for options in (['-zxz'], ['--compress=zip'], ['-o', 'a.gz', '--compress=zst'], ['-o', 'a.zst', '-zgz']):
        done = room.run([FUNCTRACE] + options + ['true'])
        problems += equal(' '.join(options), (done.status, os.listdir(room.folder)), (2, []))
    return problems, ''


# ---- Killed processes and full disks ----

def events_in(room, path):
    """Returns the number of the last event, and whether the trace was read without an error."""
    done = room.run([POSTPROC, '-q', path])
    found = re.findall(rb'^(\d+)\. ', done.out, re.M)
    return int(found[-1]) if found else 0, done.status == 0


def one_death(room, number, kind, chance):
    """The engine is killed: all flushed data can be read, in complete frames."""
    name, copy = room.path('%d.%s' % (number, kind)), room.path('copy')
    problems = []
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        tracer = room.start([FUNCTRACE, '-o', name, '-t', str(held.child.pid)])
        # The engine is killed after at least two flushes with events, at a random time.
        sizes = set()

        def grown():
            if os.path.exists(name):
                sizes.add(os.stat(name).st_size)
            return len(sizes - {0}) >= 3
        wait_for('flushes', grown)
        time.sleep(chance.random())
        with open(copy, 'wb') as file:
            file.write(read(name))
        os.kill(engine_of(room, held.child.pid), signal.SIGKILL)
        done = room.finish(tracer)
        problems += equal('status', b'was killed by signal 9' in done.err, True)
        held.gate.open()
        ended = room.finish(held.child)
        if ended.status not in (0, -signal.SIGTRAP):
            problems.append('the target: %d' % ended.status)
    before, after = events_in(room, copy), events_in(room, name)
    if not read(name).startswith(read(copy)):
        problems.append('what was written before was changed')
    if not after[0] or after[0] < before[0] or not after[1]:
        problems.append('%d events before, %d after; readable: %s' % (before[0], after[0], after[1]))
    return problems + whole(room, name, kind), after[0]


def deaths(kind):
    def run(room):
        need_attach()
        chance, problems, events = random.Random(kind), [], []
        for number in range(13 if LONG else 1):
            more, count = one_death(room, number, kind, chance)
            problems += more
            events.append(str(count))
        return problems, 'events: ' + ', '.join(events)
    return run


def visible_killed(room):
    """The process that the user started is killed: the engine detaches and ends the trace normally."""
    need_attach()
    with Held(room, [builds.target('churn', 'O2'), '2']) as held:
        before = text_of(held.child.pid)
        tracer = room.start([FUNCTRACE, '-o', 'a.zst', '-t', str(held.child.pid)])
        wait_for('events', lambda: os.path.exists(room.path('a.zst')) and events_in(room, room.path('a.zst'))[0])
        engine = engine_of(room, held.child.pid)
        tracer.send_signal(signal.SIGKILL)
        wait_for('the end of the engine', lambda: not os.path.exists('/proc/%d' % engine))
        problems = text_differences(before, text_of(held.child.pid))
        room.finish(tracer)
        held.gate.open()
        problems += equal('the target', room.finish(held.child).status, 0)
    return problems + whole(room, room.path('a.zst'), 'zst') + as_text(room, room.path('a.zst'))[1], ''


def full_disk(kind):
    def run(room):
        disk = outputs.small_disk(room)
        try:
            with open(disk + '/filler', 'wb') as file:
                file.write(bytes(270 << 10))
            path = disk + '/a.' + kind
            problems, remark = lets_go_of(room, ['-o', path], 'No space left',
                                          kept=lambda path: outputs.calls_in(room, path))
            return problems + whole(room, path, kind), remark
        finally:
            subprocess.run(['umount', '-l', disk], timeout=60)
    return run


def file_too_large(room):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    problems, remark = lets_go_of(room, ['-z', '-o', 'a'], 'File too large', preexec_fn=limit,
                                  kept=lambda path: outputs.calls_in(room, room.path(path)))
    return problems + whole(room, room.path('a'), 'zst'), remark


def device_full(room):
    problems, remark = lets_go_of(room, ['-z', '--no-baseline', '-o', '/dev/full'], 'No space left', kept=lambda path: 0)
    # functrace may find the cause of the failure before the first event.
    none = ': 0 events; 0 blocks with 0 bytes are live; trace: /dev/full (incomplete)'
    return [problem for problem in problems if none not in problem], remark


# ---- The compressing thread ----

def own_processors(room):
    """The thread that compresses may use all processors with which functrace was started, also while the tracer shares
    the program's processor."""
    need_attach()
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        raise builds.Skip('there is one processor')
    python = os.path.realpath(os.environ.get('PYTHON') or kinds.need('python3'))
    child = room.start([python, '-c', 'while True: x = [str(i) for i in range(1000)]'], {'PYTHONMALLOC': 'malloc'})
    tracer = room.start([FUNCTRACE, '--cpu=pin', '-o', 'a.zst', '-t', str(child.pid)])
    wait_for('the tracer', lambda: status_field(child.pid, 'TracerPid') not in ('', '0'))
    tid = int(status_field(child.pid, 'TracerPid'))
    wait_for('the tracer to run on one CPU', lambda: len(os.sched_getaffinity(tid)) == 1)
    engine = engine_of(room, child.pid)

    def packers():
        return [int(name) for name in os.listdir('/proc/%d/task' % engine) if command_of(int(name)) == 'ft-packer']
    packer = wait_for('the thread ft-packer', packers)[0]
    problems = equal('the processors of the thread', os.sched_getaffinity(packer), allowed)
    tracer.send_signal(signal.SIGINT)
    done = room.finish(tracer)
    room.kill(child)
    return problems + equal('status', done.status, 0) + whole(room, room.path('a.zst'), 'zst'), ''


CASES = [
    ('the same text as without compression, zst', same_text('zst')),
    ('the same text as without compression, gz', same_text('gz')),
    ('many frames, zst', large('zst')),
    ('many frames, gz', large('gz')),
    ('-o NAME.zst and other processes', names_with_end),
    ('-o DIR -z', folder('zst')),
    ('-o DIR -zgz', folder('gz')),
    ('-o - -z, read live', standard_output),
    ('wrong options for compression are refused', wrong_use),
    ('the engine is killed, zst', deaths('zst')),
    ('the engine is killed, gz', deaths('gz')),
    ('functrace is killed', visible_killed),
    ('no space left, zst', full_disk('zst')),
    ('no space left, gz', full_disk('gz')),
    ('the file is too large', file_too_large),
    ('a trace to a full device ends with an error', device_full),
    ('processors of the compressing thread', own_processors),
]
