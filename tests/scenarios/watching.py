"""Tests functrace --watch: windows, estimates, the ends of the target and of functrace, and the program's text."""

import contextlib
import os
import re
import signal
import subprocess
import sys

import builds
from kernel_probes import need_probes
from lifecycle import need_attach
from live import Growing, Screen
from processes import FUNCTRACE, Failure, has_ended, status_field, text_differences, text_of, wait_for

STACK = re.compile(r'^live: ([\d.]+)( [KMG])? \(([\d.]+)( [KMG])? to ([\d.]+)( [KMG])?\) bytes in (\d+) blocks?; '
                   r'growth an hour: [^;\n]*(?:; LOST: ([\d.]+)( [KMG])?)?\n')
UNITS = {'': 1, ' K': 1024, ' M': 1024 ** 2, ' G': 1024 ** 3}
WAYS = {'kernel': '--probes=kernel', 'breakpoints': '--probes=breakpoints'}


def need_way(way):
    need_attach()
    if way == 'kernel':
        need_probes()


def size(number, unit):
    return float(number or 0) * UNITS[unit or '']


class Serving(Growing):
    """tests/targets/serving.c, which knows how much it has kept and forgotten."""

    def __init__(self):
        self.program = 'serving'
        self.child = subprocess.Popen([builds.target('serving', 'O0')], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.child.pid

    def stop(self):
        self.child.stdin.write(b'stop\n')
        self.child.stdin.flush()
        return tuple(map(int, self.child.stdout.readline().split()))


class Watch:
    """functrace --watch of a process."""

    def __init__(self, room, pid, way, *options):
        self.room, self.pid = room, pid
        self.folder = room.path('watch')
        os.makedirs(self.folder, exist_ok=True)
        self.file = os.path.join(self.folder, '%d.txt' % pid)
        self.child = room.start([FUNCTRACE, '--watch', '--interval=1', WAYS[way], '-o', self.folder, '-t', str(pid)] +
                                list(options))

    def text(self):
        try:
            with open(self.file) as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def windows(self):
        found = re.search(r'^(\d+) windows? ', self.text(), re.M)
        return int(found.group(1)) if found else 0

    def wait_for_windows(self, count):
        wait_for('%d windows' % count, lambda: self.windows() >= count or self.child.poll() is not None)

    def stack(self, function):
        """Returns (live, low, high, blocks, lost) of the largest stack with the function; None if there is none."""
        for part in re.split(r'^\d+\. ', self.text(), flags=re.M)[1:]:
            row = STACK.match(part)
            if row and re.search(r'^ +%s\b' % function, part, re.M):
                row = row.groups()
                return (size(row[0], row[1]), size(row[2], row[3]), size(row[4], row[5]), int(row[6]), size(row[7], row[8]))
        return None

    def lost(self):
        found = re.search(r'^definitely lost: ([\d.]+)( [KMG])? bytes', self.text(), re.M)
        return size(*found.groups()) if found else None

    def end(self, number=signal.SIGINT):
        """Ends functrace; returns the problems: a watch that went on is one, too."""
        self.child.send_signal(number)
        done = self.room.finish(self.child)
        problems = [] if done.status == 0 else ['functrace ended with %d: %s' % (done.status, done.err[-300:])]
        return problems + (['an older watch went on: %s' % done.err] if b'goes on after' in done.err else [])


def near(value, truth, part):
    return truth * (1 - part) <= value <= truth * (1 + part)


def estimates(room, way):
    """A list that grows and forgotten blocks are found, a table is not, and nothing is left in the text."""
    need_way(way)
    problems = []
    with Serving() as target:
        watch = Watch(room, target.pid, way, '--budget=100%')
        watch.wait_for_windows(6)
        grown, forgotten = target.stop()
        wait_for('all forgotten bytes', lambda: watch.lost() and near(watch.lost(), forgotten, 0.02) or
                 watch.child.poll() is not None)
        growing, lost, text = watch.stack('grow_list'), watch.stack('forget_one'), watch.text()
        if not growing or not growing[1] / 2 <= grown <= growing[2] * 2:
            problems.append('%d bytes have grown: %s' % (grown, text))
        if not lost or not near(lost[4], forgotten, 0.3):
            problems.append('%d bytes are forgotten: %s' % (forgotten, text))
        if 'calls seen by %s' % ('the kernel' if way == 'kernel' else way) not in text:
            problems.append('not by %s: %s' % (way, text[:500]))
        os.kill(target.pid, signal.SIGSTOP)
        wait_for('a stopped process', lambda: '\nthe process is stopped by a signal\n' in watch.text() or
                 watch.child.poll() is not None)
        os.kill(target.pid, signal.SIGCONT)
        wait_for('a process that goes on', lambda: 'is stopped' not in watch.text() or watch.child.poll() is not None)
        problems += watch.end()
        problems += target.is_well()
    return problems, '%d windows' % watch.windows()


def between(room, way):
    """Between two windows the text is the program's own, apart from functrace's copies of instructions in the unused ends of
    pages, which it removes when it detaches."""
    need_way(way)
    with Serving() as target:
        watch = Watch(room, target.pid, way, '--budget=10%')
        watch.wait_for_windows(2)
        wait_for('the own text', lambda: not text_differences(target.text, text_of(target.pid), tails=False))
        wait_for('a window', lambda: text_differences(target.text, text_of(target.pid), tails=False))
        wait_for('the own text again', lambda: not text_differences(target.text, text_of(target.pid), tails=False))
        problems = watch.end()
        problems += target.is_well()
    return problems, ''


def killed(room, way):
    """After a SIGKILL of functrace the program goes on with its own text. By breakpoints it may die, and other scenarios
    test in which cases (engine_kill.py)."""
    need_way(way)
    with Serving() as target:
        watch = Watch(room, target.pid, way, '--budget=100%')
        watch.wait_for_windows(2)
        wait_for('a window', lambda: text_differences(target.text, text_of(target.pid), tails=False))
        tracer = int(status_field(target.pid, 'TracerPid') or 0)
        for pid in {watch.child.pid, tracer} - {0}:
            with contextlib.suppress(ProcessLookupError):  # the engine ends when the visible process has ended
                os.kill(pid, signal.SIGKILL)
        wait_for('the end of functrace', lambda: status_field(target.pid, 'TracerPid') == '0')
        wait_for('the own text', lambda: not text_differences(target.text, text_of(target.pid), tails=False))
        watch.room.finish(watch.child)
        target.text = text_of(target.pid)
        problems = target.is_well()
    return problems, ''


def ends(room, way):
    """If the program exits, or a signal kills it, functrace ends with status 0, and says so with the last results."""
    need_way(way)
    with Serving() as target:
        watch = Watch(room, target.pid, way, '--budget=100%', '--interval=1h')
        wait_for('a window', lambda: text_differences(target.text, text_of(target.pid), tails=False))
        wait_for('the own text', lambda: not text_differences(target.text, text_of(target.pid), tails=False))
        if way == 'kernel':
            expected, ending = -signal.SIGSEGV, 'was killed by signal 11 (Segmentation fault)'
            target.child.send_signal(signal.SIGSEGV)
        else:
            expected, ending = 0, 'has exited with status 0'
        target.child.stdin.close()
        status = target.child.wait(60)
        done = room.finish(watch.child)
        problems = [] if (status, done.status) == (expected, 0) else ['status %d, %d: %s' % (status, done.status, done.err)]
        if 'serving-O0 (%d) %s: ' % (target.pid, ending) not in done.err.decode():
            problems.append('no end in the line: %s' % done.err.decode())
        if '\nthe process %s, ' % ending not in watch.text():
            problems.append('no end in the text: %s' % watch.text())
        if watch.windows() < 1 or 'bytes in use' not in done.err.decode():
            problems.append('the last results: %s' % watch.text())
    return problems, ''


def executed(room, way):
    """After an execve the new program is watched from its beginning, also if it is the same program, and if functrace was
    started anew meanwhile."""
    need_way(way)
    script = 'import os, sys; sys.stdin.readline(); os.execv(sys.argv[1], sys.argv[1:])'
    python = [sys.executable, '-S', '-c', script]
    child = room.start(python + python + [builds.target('serving', 'O0')], stdin=subprocess.PIPE)
    problems = []

    def execute():
        child.stdin.write(b'go\n')
        child.stdin.flush()

    def begin():
        return re.search(r'^watched since .*?,', watch.text(), re.M).group()

    watch = Watch(room, child.pid, way, '--budget=100%')
    watch.wait_for_windows(3)
    wait_for('a state', lambda: os.path.exists(os.path.join(watch.folder, '%d.state' % child.pid)))
    first = begin()
    execute()
    wait_for('a new watch', lambda: begin() != first or watch.child.poll() is not None)
    problems += watch.end()
    execute()
    wait_for('the last program', lambda: b'serving' in read_bytes('/proc/%d/cmdline' % child.pid).split(b'\0')[0])
    watch = Watch(room, child.pid, way, '--budget=100%')
    wait_for('its stacks', lambda: 'grow_list' in watch.text() or watch.child.poll() is not None)
    problems += watch.end()
    child.stdin.close()
    status = child.wait(60)
    return problems + ([] if status == 0 else ['the target ended with %d' % status]), ''


def goes_on(room, way):
    """A watch that was killed goes on with its windows, and one whose state is damaged begins anew."""
    need_way(way)
    with Serving() as target:
        watch = Watch(room, target.pid, way, '--budget=100%')
        watch.wait_for_windows(3)
        state = os.path.join(watch.folder, '%d.state' % target.pid)
        wait_for('the state', lambda: os.path.exists(state))
        problems = watch.end()
        windows = watch.windows()
        second = Watch(room, target.pid, way, '--budget=100%')
        second.wait_for_windows(windows + 1)
        second.child.send_signal(signal.SIGINT)
        done = room.finish(second.child)
        found = re.search(r'the watch of process %d goes on after (\d+) windows' % target.pid, done.err.decode())
        if done.status or not found or int(found.group(1)) != windows:
            problems.append('status %d, after %d windows: %s' % (done.status, windows, done.err))
        with open(state, 'r+b') as file:
            file.seek(1000)
            byte = file.read(1)
            file.seek(1000)
            file.write(bytes([byte[0] ^ 1]))
        third = Watch(room, target.pid, way, '--budget=100%')
        wait_for('a new watch', lambda: 0 < third.windows() < 3 or third.child.poll() is not None)
        third.child.send_signal(signal.SIGINT)
        done = room.finish(third.child)
        if done.status or b'%d.state is damaged, so the watch of process' % target.pid not in done.err:
            problems.append('a damaged state: %d, %s' % (done.status, done.err))
        problems += target.is_well()
    return problems, '%d windows' % windows


def reported(room, way):
    """Without -o a report and a page are made of the results, and nothing else is left."""
    need_way(way)
    page, temporary = room.path('page.html'), room.path('temporary')
    os.makedirs(temporary)
    with Serving() as target:
        child = room.start([FUNCTRACE, '--watch', '--interval=1', '--budget=100%', WAYS[way], '--report', '--html=' + page,
                            '-t', str(target.pid)], env=dict(os.environ, TMPDIR=temporary))
        rows = lambda: [path for path, _, names in os.walk(temporary) for name in names if name == 'rows.jsonl' and
                        b'forget_one' in read_bytes(os.path.join(path, name))]
        wait_for('rows', lambda: rows() or child.poll() is not None)
        child.send_signal(signal.SIGINT)
        done = room.finish(child)
        text, problems = done.out.decode(), target.is_well()
        if done.status or b'without libjansson' in done.err:
            raise builds.Skip('functrace was built without libjansson') if b'libjansson' in done.err else \
                Failure('functrace ended with %d: %r' % (done.status, done.err[-500:]))
        for words in (r'^program +\S+/serving-O0 \(estimates of functrace --watch\), process %d,' % target.pid,
                      r'^note +figures of stacks are estimates, with intervals of 90 %, from \d+ windows?',
                      r'^ +[\d,]+ bytes definitely lost: no pointer', r'^      estimated: alive [\d,]+ to [\d,]+ bytes',
                      r'^      grow_list at serving\.c:\d+'):
            if not re.search(words, text, re.M):
                problems.append('%r is not in the report: %s' % (words, text))
        if b'estimates of functrace --watch' not in read_bytes(page):
            problems.append('the page has no estimates')
        if os.listdir(temporary):
            problems.append('left behind: %s' % os.listdir(temporary))
    return problems, ''


def read_bytes(path):
    with open(path, 'rb') as file:
        return file.read()


def on_a_terminal(_room, way):
    """A terminal shows a live view of the estimates; q detaches functrace."""
    need_way(way)
    screen = Screen(columns=130)
    try:
        with Serving() as target:
            screen.keys('%s --watch --interval=1 --budget=100%% %s -t %d; echo status $?' % (
                FUNCTRACE, WAYS[way], target.pid), 'Enter')
            problems = screen.shows(r'^figures of stacks are estimates, with intervals of 90 %, from \d+ windows?')
            problems += screen.shows(r'^ +[\d,]+ +[\d,]+ +[\d,]+  [\d,]+ to [\d,]+ .*grow_list')
            problems += screen.shows(r'^memory: [\d,]+ bytes in [\d,]+ blocks alive, [\d,]+ bytes lost; figures of stacks')
            screen.keys('b')
            problems += screen.shows('growth in an hour is estimated from')
            screen.keys('r')
            problems += screen.shows('report: functrace-live-1.txt')
            screen.keys('q')
            problems += screen.shows('^status 0$')
            with open(os.path.join(screen.folder, 'functrace-live-1.txt')) as file:
                if 'estimated: alive' not in file.read():
                    problems.append('the report has no estimates')
            problems += target.is_well()
    finally:
        screen.close()
    return problems, ''


CASES = [('watch: %s (%s)' % (what, way), lambda room, f=f, way=way: f(room, way))
         for what, f in (('what grows and is lost is found', estimates), ('the text is its own between windows', between),
                         ('functrace is killed', killed), ('the program ends', ends),
                         ('the program executes another', executed),
                         ('a watch goes on when functrace is started anew', goes_on),
                         ('a report at the end', reported), ('a live view on a terminal', on_a_terminal))
         for way in WAYS if (f, way) not in ((killed, 'breakpoints'), (reported, 'breakpoints'),
                                             (on_a_terminal, 'breakpoints'))]
BUILDS = (('serving', 'O0'),)
