"""Tests traces in the SWAP protocol: of popular programs, after attaching, and of programs that execute others."""

import os
import re
import subprocess
import sys
import time

import builds
import kinds
import trace_text
from lifecycle import Held, need_attach
from processes import FUNCTRACE, POSTPROC, Tracer

PYTHON = 'import json, threading; t = [threading.Thread(target=json.dumps, args=(list(range(99)),)) for _ in range(4)];' \
         ' [x.start() for x in t]; [x.join() for x in t]; print(len(json.dumps({str(n): n for n in range(500)})))'
SQL = 'CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)' \
      ' INSERT INTO t SELECT i, \'text\' || i FROM n; SELECT count(*), max(b) FROM t;'
# Data that SWAP cannot represent, or has at another place: when and with which options tracing began, declarations, the
# order of objects, the heap's figures.
NOT_KEPT = re.compile(rb'^(?:version=|## tracing module: |## build-id |## resident |: |<\d+> : ).*\n|^## heap status information:\n(?:##   .*\n)+', re.M)
SAID = re.compile(rb'; trace: .*|^functrace: to see .*--report .*\n?', re.M)


def postproc(room, *arguments):
    done = room.run([POSTPROC] + list(arguments))
    problems = [] if not done.status and not done.err else ['functrace-postproc %s: status %d, %r' % (
        ' '.join(arguments), done.status, done.err[-300:])]
    return done.out, problems


def dumped(room, path):
    """Returns [(name, {field: value})] of the messages, with the last value if a field is repeated."""
    out, problems = postproc(room, '--dump', path)
    messages = []
    for line in out.decode(errors='replace').splitlines():
        if not line.startswith(' '):
            messages.append((line.split()[1], {'number': int(re.search(r'sequence number (\d+)', line).group(1))}))
        elif ': ' in line:
            key, _, value = line.strip().partition(': ')
            messages[-1][1][key] = value
    numbers = [fields['number'] for _, fields in messages]
    if numbers != list(range(len(numbers))):
        problems.append('%s: the numbers have gaps' % path)
    return messages, problems


def totals(text):
    return re.findall(rb'^# \d+ block\(s\) leaked with total size of \d+ bytes$', text, re.M)


def differences(room, what, first, second):
    """Returns a problem if two texts differ in more than the data that SWAP cannot represent."""
    for name, text in ('first', first), ('second', second):
        with open(room.path(name), 'wb') as file:
            file.write(NOT_KEPT.sub(b'', text))
    done = subprocess.run(['diff', room.path('first'), room.path('second')], stdout=subprocess.PIPE, check=False)
    return ['%s:\n%s' % (what, done.stdout[:1500].decode(errors='replace'))] if done.returncode else []


def converted(room, command, env=None):
    """Compares the events and leaks of an rtrace trace with those after a conversion to SWAP and back, and tests a run
    that writes SWAP."""
    done = room.run([FUNCTRACE, '-a', '-A', '-o', room.path('t.rtrace')] + command, env)
    plain, problems = postproc(room, room.path('t.rtrace'))
    problems += postproc(room, '-q', '-f', 'swap', '-o', room.path('t.swap'), room.path('t.rtrace'))[1]
    through, more = postproc(room, room.path('t.swap'))
    problems += more
    problems += differences(room, 'the events differ', plain, through)
    leaks = [totals(postproc(room, '-l', room.path(name))[0]) for name in ('t.rtrace', 't.swap')]
    if leaks[0] != leaks[1] or not leaks[0]:
        problems.append('leaks: %r and %r' % tuple(leaks))
    problems += postproc(room, '-q', '-f', 'rtrace', '-o', room.path('back'), room.path('t.swap'))[1]
    again, more = postproc(room, room.path('back'))
    # SWAP does not have the depth of stacks either. rtrace needs it to distinguish truncated stacks from stacks that
    # could not be unwound.
    problems += more + differences(room, 'back in rtrace the events differ', through.replace(b'(lost)', b'(cut)'),
                                   again.replace(b'(lost)', b'(cut)'))
    live = room.run([FUNCTRACE, '-f', 'swap', '-o', room.path('live.swap')] + command, env)
    if (live.status, live.out) != (done.status, done.out):
        problems.append('status %d, %r; in rtrace %d, %r' % (live.status, live.out, done.status, done.out))
    said = re.search(rb'([\d,]+) events?; ([\d,]+) blocks? with ([\d,]+) bytes', live.err)
    events, blocks, size = (int(number.replace(b',', b'')) for number in said.groups())
    messages, more = dumped(room, room.path('live.swap'))
    problems += more
    names = [name for name, _ in messages]
    if names.count('PROBE_MEMORY') != events or names[0] != 'PROCESS_INFO' or names[-1] != 'TERMINATE':
        problems.append('%d events, %d messages from %s to %s' % (events, len(names), names[0], names[-1]))
    if totals(postproc(room, '-l', room.path('live.swap'))[0]) != [
            b'# %d block(s) leaked with total size of %d bytes' % (blocks, size)]:
        problems.append('live are %d blocks with %d bytes' % (blocks, size))
    return problems, '%d events' % events


def python(room):
    return converted(room, [sys.executable, '-I', '-c', PYTHON], {'PYTHONHASHSEED': '1'})


def sqlite(room):
    return converted(room, [kinds.need('sqlite3'), ':memory:', SQL])


def attached(room):
    """If descriptors are traced, messages about the open descriptors of a process follow the message that describes the
    process. When functrace detaches, the process has not ended."""
    need_attach()
    problems = []
    with open(room.path('open file'), 'w') as file:
        file.write('x' * 1234)
    for options, wanted in ((['-e', 'file'], True), ([], False)):
        # No pipe of a gate has the descriptor 200.
        opens = 'import os, sys; os.dup2(os.open("open file", os.O_RDONLY), 200); os.execv(sys.argv[1], sys.argv[1:])'
        with Held(room, [sys.executable, '-S', '-c', opens, builds.target('threads', 'O2'), '2', '20']) as held:
            tracer = Tracer(room, held.child.pid, ['-f', 'swap'] + options)
            tracer.planted()
            held.work_and_end(tracer)
        paths = [room.path('traces', name) for name in os.listdir(room.path('traces')) if name.endswith('.swap')]
        messages, more = dumped(room, paths[0])
        problems += more
        names = [name for name, _ in messages]
        if names[:2] != ['PROCESS_INFO', 'PROCESS_STATUS_INFO'] or 'TERMINATE' in names:
            problems.append('the trace begins with %s, and ends with %s' % (names[:2], names[-1]))
        done = room.run([POSTPROC, '--dump', paths[0]]).out.decode()
        if wanted != bool(re.search(r'fd: 200\n +tid: \d+\n +file size: 1234\n +file path: ".*/open file"\n', done)):
            problems.append('open files: ' + done[:1500])
        for name in os.listdir(room.path('traces')):
            os.remove(room.path('traces', name))
    return problems, ''


def own_start(room):
    """If functrace attaches to a process, the process's start in the trace is before the attaching, and the kernel's
    mappings are not among its libraries."""
    need_attach()
    begin = time.time()
    with Held(room, [builds.target('threads', 'O2'), '2', '20']) as held:
        time.sleep(1.5)  # the kernel has the start in hundredths of a second
        attach = time.time()
        tracer = Tracer(room, held.child.pid, ['-f', 'swap'])
        tracer.planted()
        held.work_and_end(tracer)
    path = [room.path('traces', name) for name in os.listdir(room.path('traces')) if name.endswith('.swap')][0]
    dump = room.run([POSTPROC, '--dump', path]).out.decode()
    info, rest = dump.split('PROCESS_STATUS_INFO', 1)
    start, first = float(re.search(r'start time: ([\d.]+)', info).group(1)), float(re.search(r' time ([\d.]+),', info).group(1))
    problems = [] if begin - 0.1 <= start <= attach - 1 else ['started at %f, from %f to %f' % (start, begin, attach)]
    problems += [] if first >= attach - 0.1 else ['the trace began at %f, attached at %f' % (first, attach)]
    problems += ['[vdso] is a library'] if '[vdso]' in info else []
    # Addresses in the kernel's mappings get names nevertheless.
    return problems + ([] if '[vdso]' in rest or builds.processor() not in ('x86_64', 'aarch64') else ['[vdso] is lost']), ''


def executes(room):
    """A child has its own file, and so has a program that is executed; the trace before an exec does not say that the
    process has ended."""
    done = room.run([FUNCTRACE, '-f', 'swap', '-o', 'E', builds.target('images', 'O0'), 'exec'])
    names = sorted(name for name in os.listdir(room.folder) if not name.endswith('.map'))
    problems = [] if len(names) == 4 and not done.status else ['status %d, files %r' % (done.status, names)]
    ended = {}
    for name in names:
        messages, more = dumped(room, name)
        problems += more
        told = [kind for kind, _ in messages]
        if told.count('PROCESS_INFO') != 1 or told[0] != 'PROCESS_INFO':
            problems.append('%s: %r' % (name, told))
        ended.setdefault(messages[0][1]['pid'], []).append('TERMINATE' in told)
        if not os.path.exists(room.path(name + '.map')):
            problems.append('%s has no map beside it' % name)
    if sorted(ended.values()) != [[False, False, True], [True]]:
        problems.append('ended: %r' % ended)
    return problems, ''


CASES = [
    ('SWAP: python3, converted and written directly', python),
    ('SWAP: sqlite3, converted and written directly', sqlite),
    ('SWAP: a process that functrace attaches to', attached),
    ('SWAP: the start time of a process that functrace attaches to', own_start),
    ('SWAP: children, and programs that are executed', executes),
]
