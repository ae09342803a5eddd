"""Tests the output of a scan: of truncated core files, of processes that end or execute another program during it, of
several processes, and when the output cannot be written. Tests the paths by which blocks are reachable, and that the
manual describes all keys of the JSON."""

import calendar
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import builds
from errors import as_nobody
from lifecycle import need_attach
from processes import (FUNCTRACE, PATIENCE, POSTPROC, all_sleep, command_of, has_ended, state_of, status_field,
                       tasks_of, wait_for)
from rounds import LONG
from scans import Target, compare, gdb_core, kernel_core, of_core, of_size, wide

BUILDS = [('planted', 'O2'), ('besidetls', 'O2'), ('besidetls', 'static'), ('damaged', 'O2'), ('aligned', 'musl-static')]
LOST = {'definitely_lost': (100 * wide(56), 100)}


def whole_size(data):
    """Returns the end of the last segment of a core file, 64-bit or 32-bit."""
    wide_file = data[4] == 2
    at, size, count = struct.unpack_from('<Q' if wide_file else '<I', data, 32 if wide_file else 28)[0], \
        *struct.unpack_from('<HH', data, 54 if wide_file else 42)
    ends = []
    for i in range(count):
        kind = struct.unpack_from('<I', data, at + i * size)[0]
        offset, held = (struct.unpack_from('<Q', data, at + i * size + place)[0] for place in (8, 32)) if wide_file else \
            (struct.unpack_from('<I', data, at + i * size + place)[0] for place in (4, 16))
        if kind in (1, 4) and held:
            ends.append(offset + held)
    return max(ends)


def cut_short(room, path):
    """Truncates a core file at several sizes; returns problems if it is not refused each time."""
    problems, broken = [], room.path('broken')
    with open(path, 'rb') as file:
        data = file.read()
    whole = whole_size(data)
    with open(broken, 'wb') as file:
        file.write(data)
    for held in sorted([len(data) * percent // 100 for percent in (1, 10, 40, 60, 75, 90, 99)] + [100, 4096, whole - 1], reverse=True):
        os.truncate(broken, held)
        for form in '--scan', '--scan=json':
            done = room.run([FUNCTRACE, form, '--core=' + broken])
            said = done.err.decode()
            match = re.match(r'functrace: the core file %s is truncated: by its headers it should have ([\d,]+) bytes, but it has %s\. '
                             % (re.escape(broken), format(held, ',')), said)
            if (done.status, done.out) != (1, b'') or not match or said.count('\n') != 1:
                problems.append('%d of %d bytes: status %d: %s%s' % (held, len(data), done.status, done.out.decode()[:300], said))
            elif held > 65536 and match.group(1) != format(whole, ','):
                problems.append('%d bytes: %s, not %d' % (held, said, whole))
    with open(broken, 'wb') as file:
        file.write(data[:whole])
    more, found = of_core(room, broken)
    problems += ['cut after its last segment: %s' % problem for problem in more or compare(found, **LOST)]
    for made, words in ((lambda: open(broken, 'wb').close(), 'it is empty'), (lambda: os.unlink(broken), 'No such file')):
        made()
        done = room.run([FUNCTRACE, '--scan', '--core=' + broken])
        if done.status != 1 or 'cannot scan the core file %s: %s' % (broken, words) not in done.err.decode():
            problems.append('%s: status %d: %s' % (words, done.status, done.err.decode()))
    return problems


def truncated(room, variant='O2', by_kernel=True):
    with Target(room, 'planted', variant, 2, 100) as target:
        path = kernel_core(room, target) if by_kernel else gdb_core(room, target.pid)
        problems = cut_short(room, path)
        problems += target.end() if not by_kernel else []
    return problems, ''


def not_a_file(room):
    """functrace is given a core file that cannot be read twice, such as a pipe, and a folder."""
    problems = []
    for command in 'cat /bin/true | "$0" --scan --core=/dev/stdin', '"$0" --scan --core=.', 'mkfifo f; "$0" --scan --core=f':
        done = room.run(['sh', '-c', command, FUNCTRACE])
        if done.status != 1 or b'it is no regular file' not in done.err:
            problems.append('%s: status %d: %s' % (command, done.status, done.err.decode()))
    return problems, ''


def full(room):
    """The output device is full."""
    problems = []
    with Target(room, 'planted', 'O2', 2, 100) as target:
        path = gdb_core(room, target.pid) if LONG and shutil.which('gdb') else None
        whom = ['-t', str(target.pid)]
        for options in ['--scan', *whom], ['--scan=json', *whom], ['--scan', '--interval=0.01', '--count=100', *whom], \
                       *([['--scan', '--core=' + path], ['--scan=json', '--core=' + path]] if path else []):
            for redirected, why in (('>/dev/full', 'No space left on device'), ('>&-', 'Bad file descriptor')):
                done = room.run(['sh', '-c', 'exec "$@" %s' % redirected, 'sh', FUNCTRACE, '--error-exitcode=9', *options])
                wanted = 'functrace: cannot write standard output: %s; the output is incomplete. Redirect it to another place.\n' % why
                if (done.status, done.err.decode()) != (1, wanted):
                    problems.append('%s %s: status %d: %s' % (options, redirected, done.status, done.err.decode()))
        problems += target.end()
    for program, *options in (FUNCTRACE, '--help', '--usage', '-V', '-e help', '-e help=memory'), (POSTPROC, '--help', '--usage', '-V'):
        for option in options:
            done = room.run(['sh', '-c', 'exec "$0" %s >/dev/full' % option, program])
            if (done.status, done.err) != (1, b'%s: cannot write standard output: No space left on device\n' % os.path.basename(program).encode()):
                problems.append('%s: status %d: %s' % (option, done.status, done.err))
    return problems, ''


def hold(scans, pid):
    """Stops functrace at a moment when it does not hold the process, so that all that the test does until it continues
    functrace comes before the next copy."""
    def is_held():
        scans.send_signal(signal.SIGSTOP)
        wait_for('functrace to stop',
                 lambda: has_ended(scans.pid) or all(state_of(tid) == 'T' for tid in tasks_of(scans.pid)))
        if has_ended(scans.pid) or status_field(pid, 'TracerPid') == '0':
            return True
        scans.send_signal(signal.SIGCONT)
        return False
    wait_for('functrace to let go of the process', is_held)


def scanned_through_exec(room, form):
    """A shell executes another program after the first of five scans. functrace is stopped until that program has lost
    its blocks. If the test is late, and fewer than two scans are left, the next try has a longer interval. Returns (the
    shell, the result of the scans, their output)."""
    for interval in '0.3', '3', '10':
        child = room.start(['sh', '-c', 'read line; exec "$0" 1 100', builds.target('planted', 'O2')], stdin=subprocess.PIPE)
        wait_for('the shell to wait', lambda child=child: state_of(child.pid) == 'S')
        scans = room.start([FUNCTRACE, '--scan=' + form, '--interval=' + interval, '--count=5', '--error-exitcode=5', '-t', str(child.pid)])
        line = scans.stdout.readline()
        hold(scans, child.pid)
        child.stdin.write(b'\n')
        child.stdin.flush()
        if child.stdout.readline() != b'ready\n':
            raise builds.Skip('the target does not run here')
        scans.send_signal(signal.SIGCONT)
        done = room.finish(scans)
        out = (line + done.out).decode()
        of_new = re.findall(r'(?m)^(?:\{"pid":\d+,"program":")?planted-O2\b', out)
        if done.status not in (0, 5) or len(of_new) > 1 or interval == '10':
            break
        child.kill()
        room.finish(child)
    return child, done, out


def becomes(room):
    """A shell executes another program between two scans: the second scan is not compared with the first."""
    need_attach()
    problems = []
    for form in 'json', 'text':
        child, done, out = scanned_through_exec(room, form)
        if done.status != 5:
            problems.append('the scan has status %d: %s' % (done.status, done.err.decode()))
        if form == 'json':
            found = [json.loads(line) for line in out.splitlines()]
            changed = [i for i, one in enumerate(found) if 'program_before' in one]
            names = [one['program'] for one in found]
            if len(changed) != 1 or [one['scan'] for one in found] != list(range(1, 6)):
                problems.append('the program has changed in %s: %s' % (changed, names))
                continue
            at = changed[0]
            if len(set(names[:at])) != 1 or set(names[at:]) != {'planted-O2'} or found[at]['program_before'] != names[0]:
                problems.append('names: %s' % names)
            if any(key in found[at] for key in ('still_lost', 'grown', 'since_last_ns')) or 'before' in found[at]['groups'][0]:
                problems.append('the scan is compared with another program: %s' % found[at])
            for one in found[at + 1:]:
                problems += compare(one, **LOST, still_lost=LOST['definitely_lost'])
        else:
            first = r'planted-O2 \(%d\), scan (\d) of 5, [-\d]+ [:\d]+ UTC: .*\n  the process has executed another program since the ' \
                    r'previous scan, which was of \S+: growth is counted anew\n' % child.pid
            parts = re.split(r'\n(?=\S+ \(%d\), scan)' % child.pid, out)
            anew = [part for part in parts if 'growth is counted anew' in part]
            if len(parts) != 5 or len(anew) != 1 or not re.match(first, anew[0]):
                problems.append('%s' % out)
            elif 'Grown' in anew[0] or 'lost before, too' in anew[0] or parts[-1].count('lost before, too:') != 1:
                problems.append('the scan is compared with another program: %s' % anew[0])
        end = room.finish(child, data=b'')
        problems += ['the process ended with status %d' % end.status] if end.status else []
    return problems, ''


LOADER = '''
import ctypes, sys
print('ready', flush=True)
kept = []
for line in sys.stdin:
    kept.append(ctypes.CDLL(line.strip()))
    kept[-1].take()
    print('taken', flush=True)
'''


def loads(room):
    """A library is loaded between two scans: the second one has its names."""
    need_attach()
    library = room.path('libkept.so')
    with open(room.path('kept.c'), 'w') as file:
        file.write('#include <stdlib.h>\nvoid *scan_kept;\nvoid take(void) { scan_kept = malloc(123456 / 2); }\n')
    done = room.run([*builds.CC, '-shared', '-fPIC', '-o', library, room.path('kept.c')])
    if done.status:
        raise builds.Skip('no library can be made here: %s' % done.err.decode())
    child = room.start([sys.executable, '-c', LOADER], stdin=subprocess.PIPE)
    child.stdout.readline()
    # functrace is stopped in the interval between the scans, until the library is loaded.
    scans = room.start([FUNCTRACE, '--scan=json', '--interval=5', '--count=2', '-t', str(child.pid)])
    first = scans.stdout.readline()
    hold(scans, child.pid)
    child.stdin.write(library.encode() + b'\n')
    child.stdin.flush()
    child.stdout.readline()
    scans.send_signal(signal.SIGCONT)
    done = room.finish(scans)
    found = [json.loads(line) for line in (first + done.out).splitlines()]
    owners = [[owner['bytes'] for owner in one['owners'] if owner['root'] == 'libkept.so: scan_kept'] for one in found]
    room.finish(child, data=b'')
    roots = [[owner['root'] for owner in one['owners']] for one in found]
    return ([] if len(owners) == 2 and not owners[0] and owners[1] and owners[1][0] >= 61728 else
            ['%s of %s: %s' % (owners, roots, done.err.decode())]), ''


FAMILY = 'exec 3<&0; "$0" 1 10 <&3 & "$0" 1 20 <&3 & wait'


class Family:
    """A shell with two children, which have lost 10 and 20 blocks; all end when their standard input ends."""

    def __init__(self, room):
        need_attach()
        self.room = room

    def __enter__(self):
        self.parent = self.room.start(['sh', '-c', FAMILY, builds.target('planted', 'O2')], stdin=subprocess.PIPE)
        if [self.parent.stdout.readline() for _ in range(2)] != [b'ready\n'] * 2:
            raise builds.Skip('the target does not run here')
        with open('/proc/%d/task/%d/children' % (self.parent.pid, self.parent.pid)) as file:
            self.children = [int(pid) for pid in file.read().split()]
        return self

    def __exit__(self, *_):
        self.parent.stdin.close()
        self.parent.wait()


def lost_of(out):
    """Returns the processes with lost blocks, in the order of the JSON."""
    return [(one['pid'], one['definitely_lost']['blocks']) for one in map(json.loads, out.splitlines())]


def family(room):
    """With --children, or several -t, each process has a separate result."""
    problems = []
    with Family(room) as ours:
        one, two = ours.children
        above = str(ours.parent.pid)
        for options, wanted in ((['-t', above, '--children'], [(int(above), 0), (one, 10), (two, 20)]),
                                (['-t', str(two), '-t', str(one)], [(two, 20), (one, 10)]),
                                (['-t', str(one), '-t', above, '--children'], [(one, 10), (int(above), 0), (two, 20)]),
                                (['-t', str(one), '--children'], [(one, 10)])):
            done = room.run([FUNCTRACE, '--scan=json', '--error-exitcode=7', *options])
            if done.status != 7 or lost_of(done.out) != wanted or done.err:
                problems.append('%s: status %d: %s, not %s, %s' % (options, done.status, lost_of(done.out), wanted, done.err))
        done = room.run([FUNCTRACE, '--scan', '--count=2', '--interval=.1', '-t', above, '--children'])
        heads = re.findall(r'(?m)(?:\A|^\n)^(?:sh|dash|bash|planted-O2) \((\d+)\), scan (\d) of 2, ', done.out.decode())
        if done.status or heads != [(pid, n) for n in '12' for pid in (above, str(one), str(two))]:
            problems.append('text: status %d: %s: %s%s' % (done.status, heads, done.out.decode(), done.err.decode()))
        done = room.run([FUNCTRACE, '--scan=json', '-t', above, '-t', '1999999999'])
        if done.status != 1 or lost_of(done.out) != [(int(above), 0)] or b'process 1999999999: there is no such process' not in done.err:
            problems.append('one process does not exist: status %d: %s%s' % (done.status, done.out[:100], done.err))
    return problems, ''


def family_ends(room):
    """If a child ends between two scans, this is no error; if a process of -t ends, it is one."""
    problems = []
    for options, status, end in (([], 0, ''), (['-t'], 1, '.')):
        # On a busy machine all three scans may be made before the process is killed: then the next try has a longer
        # interval.
        for interval in '1', '5', '20':
            with Family(room) as ours:
                one, two = ours.children
                named = ['-t', str(one)] if options else []
                scans = room.start([FUNCTRACE, '--scan=json', '--interval=' + interval, '--count=3', '-t',
                                    str(ours.parent.pid), '--children', *named])
                lines = [scans.stdout.readline() for _ in range(3)]
                os.kill(one, 9)
                done = room.finish(scans)
            pids = [pid for pid, _ in lost_of(b''.join(lines) + done.out)]
            if pids.count(one) < 3:
                break
        times = min(pids.count(one), 2)  # the second scan may be made before the process is killed, too
        wanted = [ours.parent.pid, one, two] * times + [ours.parent.pid, two] * (3 - times)
        said = 'functrace: process %d (planted-O2) has ended after %d scan%s%s\n' % (one, times, 's' * (times > 1), end)
        if done.status != status or done.err.decode() != said or not times or pids != wanted:
            problems.append('%s: status %d: %s %s' % (options, done.status, pids, done.err))
    return problems, ''


def ended(room):
    """The message has the number of scans before the process ended."""
    with Target(room, 'planted', 'O2', 2, 100) as target:
        scans = room.start([FUNCTRACE, '--scan=json', '--interval=1', '--count=9', '-t', str(target.pid)])
        for _ in range(2):
            scans.stdout.readline()
        target.child.kill()
        target.child.wait()
        done = room.finish(scans)
    # On a busy machine more scans are made before the process is killed: only the numbers of these may follow.
    more = [json.loads(line)['scan'] for line in done.out.splitlines()]
    wanted = 'functrace: process %d (planted-O2) has ended after %d scans.\n' % (target.pid, 2 + len(more))
    return ([] if (done.status, more, done.err.decode()) == (1, list(range(3, 3 + len(more))), wanted) else
            ['status %d: %s%s' % (done.status, done.out, done.err)]), ''


def ways(room):
    """The paths by which blocks are reachable or lost, in text and in JSON."""
    problems = []
    with Target(room, 'planted', 'O2', 2, 10, 2) as target:
        more, found = target.look()
        if more:
            return more, ''
        led = [group['example'] for group in found['groups'] if group['indirectly_lost']['blocks']]
        head = [group['example'] for group in found['groups'] if group['definitely_lost']['blocks']]
        kept = [group['example'] for group in found['groups'] if group['size'] == wide(72)]
        half = [group['example'] for group in found['groups'] if group['possibly_lost']['blocks']]
        more, found = target.look(*['--why=' + address for address in (led[0], head[0], kept[0], half[0], '0x10')])
        why = {one['address']: one for one in found['why']} if not more else {}
        problems += more
        block = lambda address, size: {'address': address, 'size': size, 'type': None}
        path = why[led[0]]['path'] if why else []
        if why and (why[led[0]]['class'] != 'indirectly_lost' or len(path) != 2 or path[1] != block(led[0], wide(40)) or
                    path[0] != block(path[0]['address'], wide(56))):
            problems.append('the path to a block that a lost block points to: %s' % why[led[0]])
        if why and (why[head[0]] != {'address': head[0], 'class': 'definitely_lost', 'path': [block(head[0], wide(56))]} or
                    why['0x10'] != {'address': '0x10', 'class': None, 'path': []}):
            problems.append('the path to a lost block, and to an address without block: %s' % why)
        for address, size, name, root in ((kept[0], wide(72), 'still_reachable', 'lists'), (half[0], wide(104), 'possibly_lost', 'halves')):
            one = why.get(address, {'path': [{}], 'class': None})
            if one['class'] != name or one['path'][-1] != block(address, size) or \
                    not re.fullmatch(r'planted-O2: %s(\+\d+)?' % root, one['path'][0].get('root', '')):
                problems.append('%s: %s' % (name, one))
        out = target.scan('--why=' + led[0], '--why=0x10', '--why=0x11').out.decode()
        if path and ('What keeps %s:\n  only lost blocks, beginning with one that is definitely lost:\n  %s, %d bytes\n'
                     '  -> %s, %d bytes\n' % (led[0], path[0]['address'], wide(56), led[0], wide(40))) not in out:
            problems.append('text: %s' % out)
        if not re.match(r'.* bytes copied\n(  .*not used.*\n)?  0x10 \(--why\) is in no block of the heap\n'
                        r'  0x11 \(--why\) is in no block of the heap\n\n', out):
            problems.append('no block: %s' % out)
        problems += target.end()
    return problems, ''


def beside_variables(room, variant):
    """A mapping contains a thread's stack and TLS, and after them memory of the program."""
    problems = []
    with Target(room, 'besidetls', variant) as target:
        blocks = [target.child.stdout.readline().decode().strip() for _ in range(4)]
        # When all threads sleep, the variables and frames from which the addresses were printed are cleared.
        wait_for('the threads to sleep', lambda: all_sleep(target.pid))
        more, found = target.look(*['--why=' + block for block in blocks])
        roots = [why['path'][0]['root'] for why in found['why']] if not more else []
        thread, = (tid for tid in tasks_of(target.pid) if tid != target.pid)
        wanted = [r'mapping 0x[0-9a-f]+-0x[0-9a-f]+, 0x[0-9a-f]+'] + \
            [r'%s of thread %d, 0x[0-9a-f]+' % (what, thread) for what in ('variables', 'variables', 'stack')]
        for root, pattern in zip(roots, wanted):
            if not re.fullmatch(pattern, root):
                problems.append('%s, not %s' % (root, pattern))
        problems += more + target.end()
    return problems, ''


def times(room):
    """Each of several scans has its time; growing groups are shown with their figures."""
    problems, began = [], time.time()
    with Target(room, 'planted', 'O2', 2, 100) as target:
        done = target.scan('--interval=.2', '--count=2')
        stamps = re.findall(r'(?m)^planted-O2 \(%d\), scan \d of 2, (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC: ' % target.pid, done.out.decode())
        seconds = [calendar.timegm(time.strptime(stamp, '%Y-%m-%d %H:%M:%S')) for stamp in stamps]
        if len(stamps) != 2 or not all(int(began) <= second <= time.time() for second in seconds):
            problems.append('%s: %s' % (stamps, done.out.decode()))
        if re.search(r'\d\d:\d\d', target.scan().out.decode().split('\n')[0]):
            problems.append('a single scan has a time')
        more, found = target.look()
        if more or not began <= found['time'] <= time.time() or 'core' in found:
            problems.append('JSON: %s' % found)
        problems += target.end()
    grower = "import sys\nkept = []\nfor line in sys.stdin:\n    kept += [bytes(20000) for _ in range(100)]\n    print('ready', flush=True)\n"
    child = room.start([sys.executable, '-c', grower], stdin=subprocess.PIPE)
    grow = lambda: (child.stdin.write(b'\n'), child.stdin.flush(), child.stdout.readline())
    grow()
    for form in '--scan', '--scan=json':
        started = time.monotonic()
        scans = room.start([FUNCTRACE, form, '--interval=5', '--count=2', '--top=99', '-t', str(child.pid)])
        first = scans.stdout.readline()
        hold(scans, child.pid)
        seen = time.monotonic()
        grow()
        # The first copy was made after the start and before its output; the second one comes after this, and not
        # before 5 s are over.
        least = max(time.monotonic(), started + 5) - seen
        scans.send_signal(signal.SIGCONT)
        out = (first + room.finish(scans).out).decode()
        most = time.monotonic() - started
        if form == '--scan':
            match = re.search(r'Grown in [\d.]+ s, by size and type:\n(.*\n)*? +\+(2,0\d\d,\d{3}) +\+(\d+) +(200\d\d)  .*, now [\d,]+\n', out)
            if not match or int(match.group(2).replace(',', '')) != int(match.group(3)) * int(match.group(4)):
                problems.append('no growth: %s' % out)
        else:
            found = json.loads(out.splitlines()[1])
            grown = [one for one in found['grown'] if 20000 < one['size'] < 20100]
            if not least * 1e9 <= found['since_last_ns'] <= most * 1e9 or len(grown) != 1 or \
                    grown[0]['blocks'] not in range(95, 106) or \
                    grown[0]['bytes'] != grown[0]['blocks'] * grown[0]['size']:
                problems.append('no growth: %s' % found['grown'][:5])
    room.finish(child, data=b'')
    return problems, ''


def keys_of(value):
    if isinstance(value, list):
        return set().union(*map(keys_of, value), set())
    return set(value).union(*map(keys_of, value.values())) if isinstance(value, dict) else set()


def described(room):
    """The manual describes each key of the JSON."""
    if not shutil.which('gdb'):
        raise builds.Skip('gdb is not installed')
    with open(os.path.join(builds.TOP_SRCDIR, 'man', 'functrace-scan.7')) as file:
        manual = file.read()
    with Target(room, 'planted', 'O2', 2, 100, 2) as target:
        done = room.run([FUNCTRACE, '--scan=json', '--interval=.1', '--why=0x10', '-t', str(target.pid)])
        keys = set().union(*(keys_of(json.loads(line)) for line in done.out.splitlines()))
        more, found = of_core(room, gdb_core(room, target.pid))
        problems = more + target.end()
    keys |= {'program_before', 'root', 'left_out', 'address'} | keys_of(found or {})
    problems += ['the manual does not describe "%s"' % key for key in sorted(keys) if not re.search(r'\b%s\b' % key, manual)]
    if found and (found['core'] != room.path('gcore') or 'time' in found):
        problems.append('keys of a core file: %s' % {key: found.get(key) for key in ('core', 'time')})
    return problems, '%d keys' % len(keys)


def core_inside_malloc(room):
    """A core file whose heap is inconsistent: the message does not say that there is no heap."""
    if not shutil.which('gdb'):
        raise builds.Skip('gdb is not installed')
    with Target(room, 'damaged', 'O2', 'ring') as target:
        done = room.run([FUNCTRACE, '--scan', '--core=' + gdb_core(room, target.pid)])
        wanted = 'functrace: the heap of the core file of process %d (damaged-O2) is inconsistent: the ring of its arenas ' \
                 'does not lead back to the first one. A thread was inside malloc when the file was written, or the ' \
                 'heap is damaged.\n' % target.pid
        problems = [] if (done.status, done.err.decode()) == (1, wanted) else ['status %d: %s' % (done.status, done.err.decode())]
        problems += target.end()
    return problems, ''


def no_heap(room):
    """If a process has no heap of a known allocator, the message has advice."""
    problems = []
    words = "has an allocator that functrace does not know (tcmalloc, Go's, musl's simple one in some static programs). "
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        while True:
            os.write(write_end, bytes(4096))
    except BlockingIOError:
        os.set_blocking(write_end, True)
    child = room.start([builds.go('goroutines')], stdout=write_end)  # the program cannot end before
    done = room.run([FUNCTRACE, '--scan', '-t', str(child.pid)])
    said = done.err.decode()
    if done.status != 1 or words + 'It is a Go program: ' not in said or '--live' in said:
        problems.append('Go: status %d: %s' % (done.status, said))
    os.close(read_end)
    os.close(write_end)
    room.kill(child)
    if builds.processor() == 'x86_64':
        child = room.start(['sleep', '600'], env={'LD_PRELOAD': 'libtcmalloc_minimal.so.4'})
        wait_for('the process to sleep', lambda: state_of(child.pid) == 'S')
        if 'tcmalloc' in open('/proc/%d/maps' % child.pid).read():
            said = room.run([FUNCTRACE, '--scan', '-t', str(child.pid)]).err.decode()
            if words + 'Trace it instead: functrace --live -t %d\n' % child.pid not in said:
                problems.append('tcmalloc: %s' % said)
        room.kill(child)
    return problems, ''


def of_another_user(room):
    """If -t names another user's process, by its name or its id, the message names the owner."""
    prefix, functrace = as_nobody(room)
    own = 'scan-of-%d' % os.getpid()  # no other process has this name, and the kernel does not truncate it
    program = room.path(own)
    shutil.copy(shutil.which('sleep'), program)
    child = room.start([program, '600'])
    # The kernel sets the name a little later than start() returns.
    wait_for('the program to sleep', lambda: command_of(child.pid) == own and state_of(child.pid) == 'S')
    problems = []
    for name in own, program, str(child.pid):
        for options in ['--scan'], []:
            done = room.run(prefix + [functrace, *options, '-t', name])
            if done.status != 1 or done.out or not re.search(r'process %d.* belongs to user 0\. Run functrace as that user, or as root\.\n$'
                                                              % child.pid, done.err.decode()):
                problems.append('%s: status %d: %s' % (name, done.status, done.err.decode()))
    done = room.run(prefix + [functrace, '--scan', '-t', 'no-such-name-at-all'])
    if done.status != 2 or b'no process has that name' not in done.err:
        problems.append('status %d: %s' % (done.status, done.err.decode()))
    room.kill(child)
    return problems, ''


CASES = [
    ("--scan: the kernel's core file, truncated, is refused", truncated),
    ("--scan: gdb's core file, truncated, is refused", lambda room: truncated(room, by_kernel=False)),
    ('--scan: a core file that is a pipe or a folder', not_a_file),
    ('--scan: a full output device is reported', full),
    ('--scan: a second scan is not compared with another program', becomes),
    ('--scan: a library that is loaded between two scans has names', loads),
    ('--scan: several processes', family),
    ('--scan: several processes, a child of which ends', family_ends),
    ('--scan: the message has the number of scans before the process ended', ended),
    ('--scan: paths to blocks', ways),
    ("--scan: memory after a thread's stack and TLS", lambda room: beside_variables(room, 'O2')),
    ("--scan: memory after a thread's stack and TLS, static", lambda room: beside_variables(room, 'static')),
    ('--scan: times and growth', times),
    ('--scan: the manual describes each key of the JSON', described),
    ('--scan: a core file of a thread inside malloc', core_inside_malloc),
    ('--scan: a Go program', no_heap),
    ("--scan: the message names the owner of another user's process", of_another_user),
]
