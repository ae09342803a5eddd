"""Tests functrace --live: it prints lines of text without a terminal, and a table on a terminal, which tmux
provides."""

import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import time

import builds
from lifecycle import need_attach
from processes import FUNCTRACE, POSTPROC, status_field, text_differences, text_of, wait_for
from rounds import LONG

PASSING = 30008  # bytes that malloc gives to pass_by
LOOK = re.compile(r'^memory: ([\d,]+) bytes in ([\d,]+) blocks? alive,', re.M)
ROW = re.compile(r'^ +([\d,]+) +([\d,]+) +\+?([\d,-]+) +\+?([\d,-]+) +([\d.]+) +([\d.]+ s)  (.*)$', re.M)


def number(text):
    return int(text.replace(',', ''))


class Growing:
    """A program that allocates a block every few milliseconds and keeps it; at the end its text must be unchanged."""

    def __init__(self, program='growing', path=None):
        self.program = program
        self.child = subprocess.Popen([path or builds.target(program, 'O0')], stdin=subprocess.PIPE)
        self.pid = self.child.pid

    def __enter__(self):
        while self.program not in open('/proc/%d/maps' % self.pid).read() or not text_of(self.pid):
            time.sleep(0.01)
        self.text = text_of(self.pid)
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def is_well(self):
        """Returns problems: the target's text must be unchanged, and the target must end normally."""
        problems = text_differences(self.text, text_of(self.pid))
        self.child.stdin.close()
        status = self.child.wait(60)
        return problems + ([] if status == 0 else ['the target ended with %d' % status])


class Growers(Growing):
    """A family of processes, tests/targets/growers.c."""

    def __init__(self):
        self.program = 'growers'
        self.child = subprocess.Popen([builds.target('growers', 'O0')], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.child.pid

    def add(self, byte=b''):
        """Returns the id of the next child."""
        self.child.stdin.write(byte)
        self.child.stdin.flush()
        return int(self.child.stdout.readline())


def lines(room):
    """The view is read three times: growing figures must be larger each time."""
    need_attach()
    with Growing() as target:
        problems, looks = [], []

        def has_grown():
            """Runs the view. Returns true if each look shows growth, or if something is wrong. Nothing is wrong if the
            program or the tracer had no processor before a look: then the view is run again. (After the first call of
            pass_by, its block may be the largest.)"""
            done = room.run([FUNCTRACE, '--live', '--interval=0.5', '--count=3', '--top=1', '--no-baseline',
                             '-t', str(target.pid)])
            text = done.out.decode()
            looks[:] = LOOK.findall(text)
            rows = [row for row in ROW.findall(text) if 'pass_by at growing.c' not in row[6]]
            if done.status or text.count(' calls so far, ') != 3 or len(rows) > 3:
                problems.append('status %d: %s %s' % (done.status, text, done.err[-300:]))
            for i, row in enumerate(rows):
                size, count = number(row[0]), number(row[1])
                if 'grow_one at growing.c' not in row[6] or size != 30001 * count or number(row[2]) != size:
                    problems.append('look %d: %s' % (i, row))
                if i and size - number(rows[i - 1][0]) != number(row[3]):
                    problems.append('since the last look: %s, %s' % (rows[i - 1], row))
            if b'; trace: ' in done.err or b'Broken pipe' in done.err:
                problems.append('messages: %s' % done.err)
            return problems or len(looks) == len(rows) == 3 and all(number(row[3]) for row in rows[1:])

        wait_for('growth from look to look', has_grown)
        problems += target.is_well()
    return problems, '%s blocks' % looks[-1][1] if looks else ''


def older(room):
    """Blocks from before the attach are not counted as growth or as calls. If the attach was between pass_by's malloc and
    its free, one of these blocks is released after it, which is negative growth."""
    need_attach()
    with Growing() as target:
        problems = []

        def is_whole():
            """Runs the view. Returns true if each look has the blocks from before, and growth, or if something is
            wrong. Nothing is wrong if the engine had not read the blocks before the first look, or the program had no
            processor: then the view is run again."""
            done = room.run([FUNCTRACE, '--live', '--interval=0.5', '--count=3', '--top=9', '-t', str(target.pid)])
            text = done.out.decode()
            parts = text.split(' alive, ')[1:]
            older = [re.findall(r'^ +([\d,]+) +([\d,]+) +(\S+) +(\S+) +([\d.]+) +before', part, re.M) for part in parts]
            found = [tuple(map(number, row[:4])) + row[4:] for row in sum(older, [])]
            begun = re.search(rb'it has ([\d,]+) blocks? with ([\d,]+) bytes from before the trace', done.err)
            blocks, size = [number(figure.decode()) for figure in begun.groups()] if begun else (0, 0)
            wanted, before = [], 0
            for row in found:
                grown = -PASSING if before or row[1] < blocks else 0
                wanted.append((size + grown, blocks + grown // PASSING, grown, grown - before, '0.0'))
                before = grown
            if done.status or found != wanted or [len(rows) for rows in older] != sorted(len(rows) for rows in older):
                problems.append('status %d, from before: %s, not %s: %s %s' % (
                    done.status, older, wanted, text, done.err[-300:]))
            since = re.findall(r'bytes in [\d,]+ blocks? alive, ([+ -][\d,]+) since the start', text)
            looks = [re.findall(r'^ +[\d,]+ +[\d,]+ +\+?([\d,-]+) .* (?:at growing.c|before  )', part, re.M) for part in parts]
            if len(since) != 3 or [number(n) for n in since] != [sum(map(number, look)) for look in looks]:
                problems.append('since the start: %s, of the functions: %s' % (since, looks))
            return problems or len(found) == 3 and all(number(n) > 0 for n in since)

        wait_for('blocks from before and growth in each look', is_whole)
        problems += target.is_well()
    return problems, ''


def end_of_target(room):
    """When the program ends, the view says so."""
    need_attach()
    with Growing() as target:
        path = room.path('out')
        with open(path, 'wb') as out:
            child = room.start([FUNCTRACE, '--live', '--interval=0.2', '-t', str(target.pid)], stdout=out)
        wait_for('a row', lambda: 'grow_one' in open(path).read() or child.poll() is not None)
        target.child.stdin.close()
        done = room.finish(child)
        text = open(path).read()
        problems = [] if done.status == 0 else ['status %d: %s' % (done.status, done.err[-300:])]
        if not text.endswith('The trace has ended.\n') or 'grow_one' not in text:
            problems.append('the last lines: %s' % text[-300:])
        if target.child.wait(60) != 0:
            problems.append('the target ended in another way')
    return problems, ''


class Screen:
    """A terminal of tmux, with a shell."""

    def __init__(self, columns=110, height=20):
        if not shutil.which('tmux'):
            raise builds.Skip('tmux is not installed')
        self.folder = tempfile.mkdtemp(prefix='functrace-live-')
        self.socket = os.path.join(self.folder, 'socket')
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'x', '-x', str(columns), '-y', str(height),
                  'cd %s; PS1="ready " exec bash --norc --noprofile -i' % self.folder)

    def tmux(self, *words):
        environment = {key: value for key, value in os.environ.items() if key not in ('TMUX', 'TERM')}
        return subprocess.run(['tmux', '-S', self.socket, *words], capture_output=True, text=True, timeout=60,
                              env=dict(environment, TERM='xterm', LC_ALL='C.UTF-8')).stdout

    def keys(self, *keys):
        self.tmux('send-keys', '-t', 'x', *keys)

    def text(self):
        return self.tmux('capture-pane', '-p', '-t', 'x')

    def shows(self, what):
        """Waits for a text on the screen; returns problems."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            text = self.text()
            if re.search(what, text, re.M):
                return []
            time.sleep(0.1)
        return ['%r is not shown:\n%s' % (what, text)]

    def close(self):
        self.tmux('kill-server')
        shutil.rmtree(self.folder)


def table(room):
    """Keys, a change of the window's size, a report; at the end the terminal is as it was before."""
    need_attach()
    screen = Screen()
    try:
        with Growing() as target:
            screen.keys('stty -g > before', 'Enter')
            screen.keys('%s --live --no-baseline --interval=0.2 -t %d; status=$?; stty -g > after; '
                        'echo status $status' % (FUNCTRACE, target.pid), 'Enter')
            problems = screen.shows(r'^ +[\d,]+ +[\d,]+ +\+[\d,]+ +\+?[\d,]+ +[\d.]+ +[\d.]+ s  grow_one at growing\.c')
            problems += screen.shows(r'functrace: growing-O0, process %d ' % target.pid)
            screen.keys('Enter')
            problems += screen.shows(r'^ {18}main at growing\.c')
            screen.keys('Enter', '/')
            screen.keys('-l', 'pass_by')
            problems += screen.shows(r'^filter: pass_by_')
            screen.keys('Enter')
            if 'grow_one' in screen.text():
                problems.append('the filter lets grow_one through')
            screen.keys('Escape')
            problems += screen.shows('grow_one')
            screen.keys('s')
            problems += screen.shows('sort: since start')
            screen.keys('b')
            problems += screen.shows('counted from now on')
            screen.keys('p')
            problems += screen.shows('PAUSED')
            screen.keys('p')
            screen.tmux('resize-window', '-t', 'x', '-x', '70', '-y', '10')
            problems += screen.shows(r'^ +bytes +since base  allocated by')
            screen.keys('r')
            problems += screen.shows('report: functrace-live-1.txt')
            screen.keys('h')
            problems += screen.shows('page: functrace-live-1.html')
            screen.tmux('resize-window', '-t', 'x', '-x', '110', '-y', '20')
            screen.keys('q')
            problems += screen.shows('^status 0$')
            problems += screen.shows(r'blocks with [\d,]+ bytes')
            with open(os.path.join(screen.folder, 'functrace-live-1.txt')) as file:
                report = file.read()
            if 'grow_one at growing.c' not in report or 'alive at the end, by stack' not in report:
                problems.append('the report: %s' % report)
            with open(os.path.join(screen.folder, 'functrace-live-1.html')) as file:
                page = file.read()
            if not page.startswith('<!doctype html>') or '"grow_one"' not in page or not page.endswith('</html>\n'):
                problems.append('the first page: %s...' % page[:200])
            with open(screen.folder + '/before') as before, open(screen.folder + '/after') as after:
                if before.read() != after.read():
                    problems.append('the terminal is not as before')
            problems += target.is_well()
    finally:
        screen.close()
    return problems, ''


def lost(room):
    """The key l makes one pause and shows the lost blocks among the live ones, by stack. Without the key the program is
    never stopped."""
    need_attach()
    screen = Screen(120)
    try:
        with Growing() as target:
            screen.keys('%s --live --no-baseline --interval=0.2 -t %d; echo status $?' % (FUNCTRACE, target.pid), 'Enter')
            # Registers and old frames may point to some of the blocks: all others are lost.
            problems = screen.shows(r'^ +[\d,]+ +[\d,]*\d\d +.*  grow_one')
            if 'lost:' in screen.text() or re.search(r'^ +bytes .* lost ', screen.text(), re.M):
                problems.append('it has scanned before the key')
            screen.keys('l')
            # All blocks that the program has allocated since functrace attached are lost, except the newest one and
            # those to which registers and old frames still point.
            problems += screen.shows(r'^lost: [\d,]+ bytes in [\d,]+ blocks, possibly lost: [\d,]+ bytes; as of \d+ s ago')
            problems += screen.shows(r'^ +bytes +blocks +since start +lost +calls/s')
            problems += screen.shows('sort: lost|is stopped for a moment')
            text = screen.text()
            total = re.search(r'^lost: ([\d,]+) bytes in ([\d,]+) blocks', text, re.M)
            row = re.search(r'^ +([\d,]+) +([\d,]+) +\S+ +([\d,]+) +[\d.]+ +[\d.]+ s  grow_one', text, re.M)
            if not total or not row:
                problems.append('no figures: %s' % text)
            else:
                size, count, said = number(total[1]), number(total[2]), number(row[3])
                if size != said or size != 30001 * count or not number(row[2]) >= count > 0:
                    problems.append('lost %d in %d, by the row %s' % (size, count, row.groups()))
            # The program continues to grow, and the number of lost blocks stays the same until another scan finds more.
            blocks = number(row[2]) if row else 0
            screen.keys('s', 's')
            wait_for('more blocks', lambda: [n for n in re.findall(r'^ +[\d,]+ +([\d,]+) .* grow_one', screen.text(), re.M)
                                             if number(n) > blocks + 5])
            again = re.search(r'^lost: ([\d,]+) bytes', screen.text(), re.M)
            if total and (not again or again[1] != total[1]):
                problems.append('without a scan it has become %s from %s' % (again and again[1], total[1]))
            screen.keys('l')
            wait_for('more lost blocks', lambda: [n for n in re.findall(r'^lost: ([\d,]+) bytes', screen.text(), re.M)
                                                   if total and number(n) > number(total[1])])
            screen.keys('q')
            problems += screen.shows('^status 0$')
            problems += [] if re.search(r'was stopped for [\d.]+ ms while its memory was copied', screen.text()) else \
                ['the length of the pause is not reported: %s' % screen.text()]
            problems += target.is_well()
        # A trace whose process has ended.
        path = room.path('trace')
        room.run([FUNCTRACE, '-q', '-o', path, 'true'])
        screen.keys('clear; %s --live %s; echo status $?' % (POSTPROC, path), 'Enter')
        problems += screen.shows('ENDED')
        screen.keys('l')
        problems += screen.shows('lost blocks are found only in a running process')
        screen.keys('q')
        problems += screen.shows('^status 0$')
    finally:
        screen.close()
    return problems, ''


def interrupted(room):
    """Ctrl-C ends the view and detaches. When the program ends, the view stays, and shows the end until the user
    presses q."""
    need_attach()
    screen = Screen()
    try:
        with Growing() as target:
            screen.keys('%s --live --no-baseline --interval=0.2 -t %d; echo status $?' % (FUNCTRACE, target.pid), 'Enter')
            problems = screen.shows('grow_one')
            screen.keys('C-c')
            problems += screen.shows('^status 0$')
            problems += text_differences(target.text, text_of(target.pid))
            screen.keys('clear; %s --live --interval=0.2 -t %d; echo status $?' % (FUNCTRACE, target.pid), 'Enter')
            problems += screen.shows('grow_one')
            target.child.stdin.close()
            problems += screen.shows('ENDED')
            screen.keys('q')
            problems += screen.shows('^status 0$')
            if target.child.wait(60) != 0:
                problems.append('the target ended in another way')
    finally:
        screen.close()
    return problems, ''


WRAPPED = ('wrap < make_list', 'wrap < make_text < read_settings', 'wrap < make_text < read_request_of_client')


def callers_distinguish_rows(room):
    """If several rows are allocations by one wrapper function, the rows show its callers, at any width. The program has
    the name of the link by which it was started."""
    need_attach()
    program = room.path('served')
    os.symlink(builds.target('wrapped', 'O0'), program)
    problems = []
    with Growing('wrapped', program) as target:
        want = {name + ' at wrapped.c:' for name in WRAPPED}

        def has_three():
            """Runs the view. Returns true if it shows three rows or more, or fails. It shows fewer rows if the program
            or the tracer had no processor before the only look: then it is run again."""
            done = room.run([FUNCTRACE, '--live', '--interval=0.5', '--count=1', '-t', str(target.pid)])
            rows = [row[6] for row in ROW.findall(done.out.decode())]
            is_over = len(rows) >= 3 or done.status != 0
            if is_over and ({row[:row.rindex(':') + 1] for row in rows if ':' in row} != want or len(rows) != 3):
                problems.append('rows %s, not %s: %s' % (rows, want, done.err))
            return is_over

        wait_for('three rows', has_three)
        screen = Screen(70, 10)
        try:
            screen.keys('%s --live --no-baseline --interval=0.2 -t %d' % (FUNCTRACE, target.pid), 'Enter')
            problems += screen.shows('^functrace: served, process %d ' % target.pid)
            for row in WRAPPED:
                problems += screen.shows(r'  %s( at wrapped\.c:\d+)?$' % row)
            screen.tmux('resize-window', '-t', 'x', '-x', '46', '-y', '10')
            for row in (r'  wrap < make_list$', r'  \.\. < make_text < read_settings$',
                        r'  \.\. < make_text < read_requ\.\.$'):
                problems += screen.shows(row)
            screen.tmux('resize-window', '-t', 'x', '-x', '160', '-y', '10')
            for row in WRAPPED:
                problems += screen.shows('  %s at wrapped' % row)
            screen.keys('q')
        finally:
            screen.close()
    return problems, ''


def hostile_name(room):
    """A file name that moves the cursor and forges lines stays within its line of the table, with '?' for such
    characters."""
    need_attach()
    program = room.path('se\033[2Jr\rv\u202ed')
    os.symlink(builds.target('wrapped', 'O0'), program)
    screen = Screen(110, 10)
    try:
        with Growing('wrapped', program) as target:
            screen.keys('%s --live --no-baseline --interval=0.2 -t %d' % (FUNCTRACE, target.pid), 'Enter')
            problems = screen.shows(r'^functrace: se\?\[2Jr\?v\?\?\?d, process %d ' % target.pid)
            problems += screen.shows(r'^memory: ') + screen.shows(r'  %s( at wrapped\.c:\d+)?$' % WRAPPED[0])
            screen.keys('q')
    finally:
        screen.close()
    return problems, ''


def family(room):
    """With --children all processes are shown, also one that is forked later: each row has the pid. After the end of a
    process it has no row."""
    need_attach()
    path = room.path('out')

    def looks_now():
        return re.split(r'(?m)^(?=growers-O0, process )', open(path).read())

    def rows_of(look):
        return {int(pid): (number(size), number(count), function) for pid, size, count, function in
                re.findall(r'^ +(\d+) +([\d,]+) +([\d,]+) .*  (grow_\w+) at growers\.c', look, re.M)}

    with open(path, 'wb') as out, Growers() as target:
        problems, files = [], sorted(os.listdir(room.folder))
        first = target.add()
        child = room.start([FUNCTRACE, '--live', '--children', '--interval=0.2', '-t', str(target.pid)], stdout=out)
        wait_for('the tracer', lambda: status_field(first, 'TracerPid') != '0')
        second = target.add(b'+')
        wait_for('the tracer of %d' % second, lambda: status_field(second, 'TracerPid') != '0')
        of_three, of_two = '%d and 2 more\n' % target.pid, '%d and 1 more, 1 ended\n' % target.pid
        wait_for('the rows of three processes', lambda: child.poll() is not None or any(
            of_three in look and len(rows_of(look)) == 3 for look in looks_now()))
        os.kill(first, signal.SIGKILL)
        wait_for('a look after the end of %d' % first, lambda: child.poll() is not None or of_two in open(path).read())
        target.child.stdin.close()
        done = room.finish(child)
        looks = looks_now()
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err))
        whole = [look for look in looks if of_three in look]
        if not whole:
            return problems + ['no look at three processes: %s' % ''.join(looks)[:2000]], ''
        rows = rows_of(whole[-1])
        want = {target.pid: (33700, 'grow_parent'), first: (33701, 'grow_child'), second: (33701, 'grow_child')}
        if {pid: (size // count, function) for pid, (size, count, function) in rows.items()} != want or \
                any(size % count for size, count, function in rows.values()):
            problems.append('rows %s, not %s: %s' % (rows, want, whole[-1]))
        before = re.search(r'^ +(\d+ pids|\d+) +([\d,]+) +[\d,]+ .* before ', whole[-1], re.M)
        total = re.search(r'^memory: ([\d,]+) bytes in [\d,]+ blocks? alive', whole[-1], re.M)
        if before and number(total[1]) != sum(size for size, count, function in rows.values()) + number(before[2]):
            problems.append('the sum of the rows is not that of all: %s' % whole[-1])
        after = [look for look in looks if of_two in look]
        if not after or re.search(r'^ +%d ' % first, after[-1], re.M):
            problems.append('after the end of %d: %s' % (first, looks[-2:]))
        if sorted(os.listdir(room.folder)) != files:
            problems.append('files were made: %s, not %s' % (os.listdir(room.folder), files))
    return problems, '%d looks' % len(looks)


def family_on_screen(room):
    """If the filter is a pid, only the blocks of this process are shown. If there is a baseline, the column heads say
    so."""
    need_attach()
    screen = Screen(120)
    try:
        with Growers() as target:
            first = target.add()
            screen.keys('%s --live --children --no-baseline --interval=0.2 -t %d' % (FUNCTRACE, target.pid), 'Enter')
            problems = screen.shows(r'^functrace: growers-O0, process %d and 1 more ' % target.pid)
            for pid, name in ((target.pid, 'grow_parent'), (first, 'grow_child')):
                problems += screen.shows(r'^ +%d +[\d,]+ .*  %s at growers\.c' % (pid, name))
            problems += screen.shows(r'^memory: [\d,]+ bytes in [\d,]+ blocks alive, \+[\d,]+ since the start *$')
            problems += screen.shows(r'^ +pid +bytes +blocks +since start +since last')
            screen.keys('/')
            screen.keys('-l', str(first))
            screen.keys('Enter')
            problems += screen.shows('/ filter or pid: %d ' % first)
            problems += screen.shows('grow_child')
            if 'grow_parent' in screen.text():
                problems.append('the filter lets another process through: %s' % screen.text())
            screen.keys('Escape', 'b')
            problems += screen.shows(r'^ +pid +bytes +blocks +since base +since last')
            problems += screen.shows(r', \+[\d,]+ since the baseline, \d+ s ago')
            screen.keys('s')
            problems += screen.shows('sort: since base ')
            if 'since start' in screen.text() or 'since the start' in screen.text():
                problems.append('the figures are not since the start: %s' % screen.text())
            screen.keys('q')
    finally:
        screen.close()
    return problems, ''


def declared_again(room):
    """A trace declares its kinds of resources again and again while they are shown. In a build with sanitizers the test
    fails if freed memory is shown."""
    path = room.path('trace')
    room.run([FUNCTRACE, '-q', '-o', path, 'true'])
    with open(path, 'rb') as file:
        trace = file.read()
    packets = b''
    for kind in (b'PINF', b'RESR'):
        at = trace.index(kind)
        packets += trace[at:at + 8 + int.from_bytes(trace[at + 4:at + 8], 'little')]
    with open(room.path('out'), 'wb+') as out, open(room.path('err'), 'wb+') as err:
        view = subprocess.Popen([POSTPROC, '--live', '--interval=0.1', '-'], stdin=subprocess.PIPE, stdout=out, stderr=err)
        end = time.monotonic() + (3 if LONG else 0.5)
        try:
            view.stdin.write(trace)
            while time.monotonic() < end:
                view.stdin.write(packets * 200)
            view.stdin.close()
        except BrokenPipeError:
            pass
        status = view.wait(60)
        out.seek(0)
        err.seek(0)
        if status or not out.read().endswith(b'The trace has ended.\n'):
            return ['status %d: %s' % (status, err.read().decode(errors='replace')[:2000])], ''
    return [], ''


def few_descriptors(room):
    """A view that may open no more descriptors counts the traces that it could not receive. Traces of ended processes
    need no descriptor."""
    path, problems = room.path('trace'), []
    room.run([FUNCTRACE, '-q', '-o', path, 'true'])
    with open(path, 'rb') as file:
        trace = file.read()

    def view(count, has_ended):
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = []
        with open(room.path('out'), 'wb+') as out, open(room.path('err'), 'wb+') as err:
            child = subprocess.Popen(['prlimit', '--nofile=24:24', POSTPROC, '--live', '--interval=60',
                                      '--traces', '-'], stdin=its, stdout=out, stderr=err)
            its.close()
            for i in range(count):
                end, writing = socket.socketpair()
                writing.sendall(trace)
                socket.send_fds(ours, [struct.pack('=III', 1, not i, 0)], [end.fileno()])
                end.close()
                kept.append(writing)
                if has_ended:
                    writing.shutdown(socket.SHUT_WR)
                    writing.settimeout(60)
                    try:
                        writing.recv(1)
                    except OSError as error:  # the view has read nothing then
                        problems.append('trace %d: %s' % (i, error))
                        break
            wait_for('the view', lambda: not fcntl.ioctl(ours, termios.TIOCOUTQ, b'\0' * 4).strip(b'\0'))
            for writing in kept:
                writing.close()
            ours.close()
            status = child.wait(60)
            out.seek(0)
            err.seek(0)
            text = out.read().decode()
            if status:
                problems.append('status %d: %s' % (status, err.read()))
        shown = re.search(r'^true, process \d+(?: and (\d+) more)?(?:, (\d+) ended)?(?:, (\d+) not seen .*)?$', text, re.M)
        if not shown:
            problems.append('no line about processes: %s' % text[:1000])
            return 0, 0
        return 1 + int(shown[1] or 0) + int(shown[2] or 0), int(shown[3] or 0)

    seen, unseen = view(40, False)
    if seen + unseen != 40 or not 5 < seen < 24:
        problems.append('of 40 running processes %d are shown, and %d are counted as not shown' % (seen, unseen))
    ended = view(60, True)
    if ended != (60, 0):
        problems.append('of 60 ended processes %d are shown, and %d are counted as not shown' % ended)
    return problems, '%d of 40 seen' % seen


def many_descriptors(room):
    """More processes than the soft limit of open files are all shown, because functrace and the view raise the
    limit."""
    need_attach()
    with Growers() as target:
        target.add()
        for _ in range(15):
            target.add(b'+')
        path = room.path('out')
        with open(path, 'wb') as out:
            child = room.start(['prlimit', '--nofile=16:', FUNCTRACE, '--live', '--children', '--interval=0.2',
                                '-t', str(target.pid)], stdout=out)
        whole = '%d and 16 more\n' % target.pid
        wait_for('all processes', lambda: whole in open(path).read() or child.poll() is not None)
        target.child.stdin.close()
        done = room.finish(child)
        text = open(path).read()
    return ([] if whole in text else ['%s %s' % (text[:1000], done.err)]), ''


def usage(room):
    problems = []
    for words, said in ((['--live', 'true'], b'give them with -t'), (['--live', '--report', '-t', '1'], b'do not go together'),
                        (['--live', '-t', str(os.getpid()), '-o', 'x'], b'keeps no trace'),
                        (['--interval=1', 'true'], b'applies only to --live and --scan')):
        done = room.run([FUNCTRACE] + words)
        if done.status != 2 or said not in done.err:
            problems.append('%s: status %d: %s' % (words, done.status, done.err))
    # functrace prints only the reason: a view that gets no trace adds no message.
    done = room.run([FUNCTRACE, '--live', '-t', '4194304'])
    if (done.status, done.err) != (1, b'functrace: cannot attach to process 4194304: there is no such process (any more).\n'):
        problems.append('no such process: status %d: %s' % (done.status, done.err))
    return problems, ''


CASES = [
    ('--live: lines without a terminal', lines),
    ('--live: blocks from before', older),
    ('--live: the end of the program', end_of_target),
    ('--live: a table on a terminal', table),
    ('--live: lost blocks', lost),
    ('--live: Ctrl-C, and the end of the program', interrupted),
    ('--live: rows of one wrapper show their callers', callers_distinguish_rows),
    ('--live: a file name with control characters', hostile_name),
    ('--live: several processes', family),
    ('--live: several processes on a terminal', family_on_screen),
    ('--live: kinds are declared again', declared_again),
    ('--live: few descriptors', few_descriptors),
    ('--live: more processes than descriptors', many_descriptors),
    ('--live: wrong usage', usage),
]
BUILDS = (('growers', 'O0'), ('growing', 'O0'), ('wrapped', 'O0'))
