"""Tests scans of processes with many threads or huge mappings, in namespaces, and of processes that exec, fork or end
during the scan. Tests the messages about processes that cannot be scanned."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import builds
from lifecycle import Held, need_attach
from processes import FUNCTRACE, PATIENCE, Tracer, state_of, status_field, wait_for
from rounds import LONG
from scans import Target, compare, wide

BUILDS = [('planted', 'O2'), ('churn', 'O2'), ('forkstorm', 'O2')]
GONE = ('functrace: cannot attach to process %d: there is no such process (any more).\n',
        'functrace: cannot attach to process %d: it has ended, and its parent has not waited for it (a zombie).\n')


def scan(room, pid, *options):
    return room.run([FUNCTRACE, '--scan=json', *options, '-t', str(pid)])


def said(done, wanted):
    """Returns problems if the scan is not refused with these words."""
    return [] if (done.status, done.out, done.err.decode()) == (1, b'', wanted) else \
        ['status %d: %s%s, not: %s' % (done.status, done.out.decode()[:200], done.err.decode(), wanted)]


def need_root():
    if os.geteuid() != 0:
        raise builds.Skip('only root can create such namespaces')


def many_threads(room):
    """The process has 500 sleeping threads, and some that start and end."""
    problems = []
    with Held(room, [builds.target('churn', 'O2'), '2', '500']) as held:
        for _ in range(3 if LONG else 1):
            done = scan(room, held.child.pid)
            found = json.loads(done.out) if not done.status else {}
            if done.status or found['threads'] < 501 or found['threads_not_stopped'] or not found['still_reachable']['blocks']:
                problems.append('the scan has status %d: %s%s' % (done.status, done.err.decode(), done.out[:300]))
        held.gate.open()
        end = room.finish(held.child)
        if end.status:
            problems.append('the process ended with status %d' % end.status)
    return problems, ''


SPARSE = '''
import mmap, sys
PRIVATE, ANONYMOUS, NORESERVE = 2, 0x20, 0x4000
wide = mmap.mmap(-1, 1 << 40, flags=PRIVATE | ANONYMOUS | NORESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
sparse = mmap.mmap(-1, 16 << 30, flags=PRIVATE | ANONYMOUS | NORESERVE)
for place in 0, 5 << 30, (16 << 30) - 4096:
    wide[place] = sparse[place] = 7
print('ready', flush=True)
sys.stdin.read()
print(sum(sparse[place] for place in (0, 5 << 30, (16 << 30) - 4096)), wide[5 << 30])
'''


def sparse(room):
    """Three used pages of a mapping of 16 GiB are copied; a mapping of 1 TiB is left out with a message."""
    need_attach()
    if sys.maxsize < 1 << 40:
        raise builds.Skip('the target needs 64-bit addresses')
    child = room.start([sys.executable, '-c', SPARSE], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise builds.Skip('such mappings cannot be made here')
    done = scan(room, child.pid)
    problems = ['status %d: %s' % (done.status, done.err.decode())] if done.status else []
    found = json.loads(done.out) if not problems else None
    if found and (found['bytes_left_out'] != 1 << 40 or found['copied_bytes'] > 1 << 30 or found['bytes_unreadable']):
        problems.append('%s' % {name: value for name, value in found.items() if 'bytes' in name})
    out, err = child.communicate(b'', timeout=60 * PATIENCE)
    if child.returncode or out != b'21 7\n':
        problems.append('the process ended with status %d: %s%s' % (child.returncode, out, err))
    return problems, ''


def namespace(room):
    """The first process of a pid namespace, as in a container, is scanned from outside and from inside."""
    need_root()
    if not shutil.which('unshare') or room.run(['unshare', '--pid', '--fork', '--mount-proc', 'true']).status:
        raise builds.Skip('no namespace of process ids can be made here')
    child = room.start(['unshare', '--pid', '--fork', '--mount-proc', builds.target('planted', 'O2'), '3', '60', '2'],
                       stdin=subprocess.PIPE)
    problems = [] if child.stdout.readline() == b'ready\n' else ['it does not run']
    with open('/proc/%d/task/%d/children' % (child.pid, child.pid)) as file:
        pid = int(file.read())
    wanted = {'definitely_lost': (60 * wide(56), 60), 'indirectly_lost': (120 * wide(40), 120)}
    for command in [], ['nsenter', '--target', str(pid), '--pid', '--mount', '--']:
        if command and not shutil.which(command[0]):
            continue
        done = room.run(command + [FUNCTRACE, '--scan=json', '-t', '1' if command else str(pid)])
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
        else:
            problems += compare(json.loads(done.out), **wanted)
    end = room.finish(child, data=b'')
    return problems + (['the process ended with status %d' % end.status] if end.status else []), ''


def moving(room, command, scans, end):
    """Scans a process that changes meanwhile: each scan must print figures, or the reason why there are none. Returns
    problems, and how many scans printed figures and reasons."""
    problems, figures, gone = [], 0, 0
    child = room.start(command, stdin=subprocess.PIPE)
    for _ in range(scans):
        done = scan(room, child.pid)
        words = done.err.decode()
        if done.status == 0 and json.loads(done.out)['pid'] == child.pid:
            figures += 1
        elif done.status == 1 and not done.out and re.match(end, words) and words.count('\n') == 1:
            gone += 1
        else:
            problems.append('status %d: %s%s' % (done.status, done.out.decode()[:200], words))
    done = room.finish(child, data=b'\n')
    if done.status:
        problems.append('the process ended with status %d: %s' % (done.status, done.err.decode()[-300:]))
    return problems, figures, gone


CHANGES = 'functrace: (cannot attach to process [0-9]+: (there is no such process|it has ended)|process [0-9]+ .* has no heap of glibc)'
EXECS = '[ "$1" -gt 0 ] && exec sh "$0" $(($1 - 1)); exit 0'


def executing(room):
    """The process executes another program each millisecond. The scan is of one of these programs, or finds no heap
    yet."""
    need_attach()
    with open(room.path('script'), 'w') as file:
        file.write(EXECS)
    problems, figures, gone = moving(room, ['sh', room.path('script'), str(int((500 if LONG else 250) * PATIENCE))], 12 if LONG else 5, CHANGES)
    return problems, '%d scans with figures, %d without' % (figures, gone)


def forking(room):
    need_attach()
    with Held(room, [builds.target('forkstorm', 'O2'), '2']) as held:
        problems = []
        for _ in range(8):
            done = scan(room, held.child.pid)
            if done.status:
                problems.append('status %d: %s' % (done.status, done.err.decode()))
        held.gate.open()
        end = room.finish(held.child)
        if end.status:
            problems.append('the process ended with status %d: %s' % (end.status, end.out.decode()[-300:]))
    return problems, ''


def ending(room):
    """The processes live only for milliseconds."""
    problems, figures, gone = [], 0, 0
    for number in range(0, 15, 1 if LONG else 3):
        child = room.start(['sh', '-c', 'echo; i=0; while [ $i -lt %d ]; do i=$((i + 1)); done' % (number * 3000)])
        # Before the shell runs it has no heap, and the message would be another one.
        child.stdout.readline()
        done = scan(room, child.pid)
        if done.status == 0:
            figures += 1
        elif done.status == 1 and done.err.decode() in [words % child.pid for words in GONE]:
            gone += 1
        else:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
        room.finish(child)
    return problems, '%d scans with figures, %d of ended ones' % (figures, gone)


def two_at_once(room):
    """Two functraces scan at the same time: each prints a result, or that the other one traces the process."""
    problems, refused = [], 0
    with Target(room, 'planted', 'O2', 4, 100) as target:
        for _ in range(8 if LONG else 3):
            both = [room.start([FUNCTRACE, '--scan=json', '-t', str(target.pid)]) for _ in range(2)]
            for child in both:
                done = room.finish(child)
                if done.status == 0:
                    problems += compare(json.loads(done.out), definitely_lost=(100 * wide(56), 100))
                elif re.fullmatch(r'functrace: cannot attach to process %d: (process \d+ \(functrace\) traces (it|a thread of it) '
                                  r'already, and a process can have only one tracer\. End that tracer first|another tracer, which has '
                                  r'just gone, traced (it|a thread of it)\. Try again)\.\n' % target.pid, done.err.decode()):
                    refused += 1
                else:
                    problems.append('status %d: %s' % (done.status, done.err.decode()))
        problems += target.end()
    return problems, '%d were refused' % refused


def traced(room):
    """The process is already traced by functrace, gdb or strace: the message names the tracer."""
    problems, skipped = [], []
    for name, command in ((None, None), ('gdb', ['gdb', '-q', '-nx', '-p']), ('strace', ['strace', '-f', '-o', '/dev/null', '-p'])):
        if command and not shutil.which(name):
            skipped.append('%s is not installed' % name)
            continue
        with Target(room, 'planted', 'O2', 2, 100) as target:
            if command:
                tracer = room.start(command + [str(target.pid)], stdin=subprocess.PIPE)
            else:
                tracer = Tracer(room, target.pid)
                tracer.planted()
            pid = int(wait_for('the process to have a tracer', lambda: int(status_field(target.pid, 'TracerPid') or 0)))
            problems += said(target.scan(), 'functrace: cannot attach to process %d: process %d (%s) traces it already, and a '
                             'process can have only one tracer. End that tracer first.\n' % (
                                 target.pid, pid, name or 'ft-engine'))
            if command:
                tracer.kill()
                wait_for('the process to have no tracer', lambda: status_field(target.pid, 'TracerPid') == '0')
                # The tracer may have stopped a thread without waiting for the stop.
                os.kill(target.pid, signal.SIGCONT)
            else:
                problems += tracer.let_go()
            wait_for('the process to run on', lambda: state_of(target.pid) in 'RS')
            problems += target.look()[0]
            problems += target.end()
    return problems, '; '.join(skipped)


def unscannable_processes(room):
    """A zombie, a kernel thread, and functrace itself cannot be scanned."""
    child = room.start(['true'])
    wait_for('the end of the child', lambda: state_of(child.pid) == 'Z')
    problems = said(scan(room, child.pid), GONE[1] % child.pid)
    room.finish(child)
    problems += said(scan(room, child.pid), GONE[0] % child.pid)
    if status_field(2, 'Name') == 'kthreadd' and status_field(2, 'VmSize') == '':
        problems += said(scan(room, 2), 'functrace: cannot attach to process 2: it is a kernel thread, which has no program.\n')
    own = room.start(['sh', '-c', 'exec "$0" --scan=json -t $$', FUNCTRACE])
    done = room.finish(own)
    if done.status not in (1, 2) or done.out or str(own.pid) not in done.err.decode():
        problems.append('itself: status %d: %s%s' % (done.status, done.out.decode(), done.err.decode()))
    return problems, ''


def parent(room):
    """functrace scans the process that started it and waits for it."""
    done = room.run(['sh', '-c', '"$0" --scan=json -t $$; echo "=$?"', FUNCTRACE])
    lines = done.out.decode().splitlines()
    if done.status or lines[-1:] != ['=0'] or json.loads(lines[0])['still_reachable']['blocks'] < 5:
        return ['status %d: %s%s' % (done.status, done.out.decode()[:300], done.err.decode())], ''
    return [], ''


CASES = [
    ('--scan: a process with 500 threads runs on unharmed', many_threads),
    ('--scan: only the used pages of huge mappings are copied', sparse),
    ('--scan: a process in another pid namespace', namespace),
    ('--scan: a process that executes programs all the time', executing),
    ('--scan: a process that forks all the time', forking),
    ('--scan: processes that end soon', ending),
    ('--scan: two scans at once: the second one names the tracer', two_at_once),
    ('--scan: the message names the tracer of the process', traced),
    ('--scan: processes that cannot be scanned', unscannable_processes),
    ('--scan: the parent of functrace', parent),
]
