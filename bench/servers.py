"""Measures how long clients of a server wait while functrace attaches, detaches and scans, and compares this with the
pauses that functrace reports.

    bench.py --section=servers [--rounds=N]

`targets/asker` records the time of each request and of its answer. A window is a span of time; its gap is the longest
wait for an answer that overlaps it. Each round has these windows in this order:

    untraced (several) | attach | steady (several) | let go | scan

The window `attach` begins when functrace is started, and ends with the line that says for how long processes were
stopped. In the steady windows functrace only traces: they show by how much traced calls delay the answers. The untraced
and steady windows are as long as the window with which they are compared. A figure is the median over the rounds. For
the ratio "without jitter", the median gap of the round's untraced windows is subtracted from the gap; for `attach` and
`let go`, that of the steady windows if it is larger. The rest still contains the additional delay of traced calls while
another thread reads a copy. The fewer traced calls an answer needs, the closer the gap is to the pause: see "redis,
PING alone". If functrace says that the time to catch up is unknown, because the process was never idle, the window has
no reported pause; if at least half of the rounds lack it, the row has none."""

import array
import glob
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import report
from programs import FUNCTRACE, Failure, built, median

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'scenarios'))
import builds  # pylint: disable=wrong-import-position
import processes  # pylint: disable=wrong-import-position
import server_programs  # pylint: disable=wrong-import-position

QUIET, STEADY = 2.0, 1.5  # smallest time untraced, and time in which functrace only traces, in seconds
BAR = 1.5  # limit of the ratio between the gap without jitter and the reported pause
UNKNOWN = b'time to catch up is unknown'
SAID = re.compile(rb'(?:stopped for|, for|: process \d+ for) ([\d.]+) ms(?:.* took ([\d.]+) ms more)?')
HTTP = ('http', 'GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n')
ROW = 'update pgbench_accounts set abalance = abalance + 1 where aid = 1%d; select abalance from pgbench_accounts where aid = 1%d'


class Kind:
    """A kind of server and its clients. make: starts the server. clients: their number. think: time in us between an
    answer and the next request. asked: the end of an answer, and the request (see targets/asker.c). options:
    options of functrace."""

    def __init__(self, name, make, clients, think, asked, options=()):
        self.name, self.make, self.clients, self.think, self.asked, self.options = name, make, clients, think, asked, options


def redis(room):
    return server_programs.Redis(room, server_programs.need('redis-server', 'redis-server'))


KEYS, AT_ONCE = 500000, 1000


def full_redis(room):
    """Starts a redis server with a large heap of about two million blocks."""
    server = redis(room)
    with socket.socket(socket.AF_UNIX) as client, client.makefile('rb') as answers:
        client.connect(server.address)
        for first in range(0, KEYS, AT_ONCE):
            client.sendall(b''.join(b'RPUSH list:%d some words\r\n' % number for number in range(first, first + AT_ONCE)))
            for _ in range(AT_ONCE):
                answers.readline()
    return server


KINDS = [
    Kind('redis, PING alone', redis, 4, 500, ('+PONG\r\n', 'PING\r\n')),
    Kind('redis', redis, 4, 500, ('+PONG\r\n', 'SET key:%d some-words\r\nGET key:%d\r\nPING\r\n')),
    Kind('redis, 500,000 lists', full_redis, 4, 500, ('+PONG\r\n', 'SET key:%d some-words\r\nGET key:%d\r\nPING\r\n')),
    Kind('memcached', server_programs.Memcached, 4, 500, ('END\r\n', 'set key:%d 0 0 10\r\nsome-words\r\nget key:%d\r\n')),
    Kind('nginx, 2 workers', server_programs.Nginx, 4, 500, HTTP, ['--children']),
    Kind('postgres, 35 clients', server_programs.Postgres, 35, 20000, ('postgres', ROW), ['--children']),
    Kind('node', server_programs.node, 4, 2000, HTTP),
    Kind('java', server_programs.java, 4, 2000, HTTP),
    Kind('python', server_programs.python, 4, 2000, HTTP),
]


class Asker:
    """The running clients. waits: the times of request and answer, (asked, answered), in seconds of time.monotonic();
    filled by end()."""

    def __init__(self, room, kind, address):
        self.child = room.start([built('targets/asker'), str(address), str(kind.clients), str(kind.think), *kind.asked],
                                stdin=subprocess.PIPE)
        line = self.child.stdout.readline()
        if line != b'ready\n':
            raise Failure('the clients: ' + line.decode(errors='replace').strip())
        self.waits = []

    def check(self):
        if self.child.poll() is not None:
            raise Failure('the clients: ' + self.child.stdout.read().decode(errors='replace').strip()[:200])

    def end(self):
        self.check()
        numbers = array.array('Q', self.child.communicate(timeout=60)[0])
        self.waits = [(numbers[i + 1] / 1e9, numbers[i + 2] / 1e9) for i in range(0, len(numbers), 3)]

    def gap(self, begin, end):
        """Returns the longest wait, in ms, that overlaps the window."""
        return 1000 * max((answered - asked for asked, answered in self.waits if answered > begin and asked < end), default=0)

    def gaps(self, begin, end, size):
        """Divides the time from begin to end into windows of `size` seconds. Returns the gap of each, in ms."""
        count = max(1, int((end - begin) / size))
        return [self.gap(begin + i * size, begin + (i + 1) * size) for i in range(count)]


# ---- functrace ----

class Functrace:
    """A running functrace, and its output: parts is a list of (time of arrival, bytes)."""

    def __init__(self, room, options):
        self.room, self.parts = room, []
        self.begin = time.monotonic()
        self.child = room.start([FUNCTRACE, *options], stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self.read, args=(stream,)) for stream in (self.child.stdout, self.child.stderr)]
        for reader in self.readers:
            reader.start()

    def read(self, stream):
        while True:
            part = os.read(stream.fileno(), 65536)
            if not part:
                return
            self.parts.append((time.monotonic(), part))

    def pauses(self, since=0):
        """Returns what functrace has printed since that time, and the pauses that it has reported there, in ms."""
        text = b''.join(part for when, part in self.parts if when >= since)
        return text, [float(stopped) + float(more or 0) for stopped, more in SAID.findall(text)]

    def said(self, since=0):
        """Returns the longest pause, in ms, that functrace has reported since that time; None if it has reported none,
        or has said that a pause was longer by an unknown time."""
        text, pauses = self.pauses(since)
        return None if UNKNOWN in text else max(pauses, default=None)

    def attached(self):
        """Waits until functrace has attached. Returns the time at which the last line with a pause arrived."""
        limit = time.monotonic() + 60
        while not self.pauses()[1]:
            if self.child.poll() is not None or time.monotonic() > limit:
                raise Failure('functrace has not attached: ' + self.words())
            time.sleep(0.005)
        time.sleep(0.1) # with several processes there are several such lines
        return max(when for when, part in self.parts if SAID.search(part))

    def words(self):
        return b''.join(part for _, part in self.parts).decode(errors='replace')[-300:]

    def ended(self, number=None):
        """Waits for the end of functrace, after the signal `number` if that is given. Returns the times of the signal
        (without one: of the start) and of the end."""
        begin = time.monotonic() if number else self.begin
        if number:
            self.child.send_signal(number)
        try:
            self.child.wait(120)
        except subprocess.TimeoutExpired as error:
            raise Failure('functrace does not end') from error
        end = time.monotonic()
        for reader in self.readers:
            reader.join()
        if self.child.returncode:
            raise Failure('functrace ended with %d: %s' % (self.child.returncode, self.words()))
        self.room.forget(self.child)
        return begin, end


# ---- Rounds ----

class Round:
    """One round. windows: {name: (begin, end)}. said: {name: reported pause in ms, or None}."""

    def __init__(self, room, kind, pid, quiet):
        self.windows, self.said, self.trace = {}, {}, room.path('served')
        self.rest('untraced', quiet)
        tracer = Functrace(room, ['-e', 'memory', '-o', self.trace, '-t', str(pid), *kind.options])
        self.windows['attach'] = tracer.begin, tracer.attached()
        self.said['attach'] = tracer.said()
        time.sleep(0.2)
        self.rest('steady', STEADY)
        self.windows['let go'] = tracer.ended(signal.SIGINT)
        self.said['let go'] = tracer.said(self.windows['let go'][0])
        for name in glob.glob(self.trace + '*'):
            os.unlink(name)
        time.sleep(0.2)
        scan = Functrace(room, ['--scan', '-t', str(pid), *kind.options])
        self.windows['scan'] = scan.ended()
        self.said['scan'] = scan.said()
        time.sleep(0.2)

    def rest(self, what, seconds):
        begin = time.monotonic()
        time.sleep(seconds)
        self.windows[what] = begin, time.monotonic()

    def figures(self, asker, what):
        begin, end = self.windows[what]
        untraced, steady = (asker.gaps(*self.windows[name], end - begin) for name in ('untraced', 'steady'))
        return Figures(asker.gap(begin, end), self.said.get(what), untraced, steady, what != 'scan')


class Figures:
    """The figures of one window, in ms. usual, most: median and maximum of the untraced gaps. steady: median of the
    steady gaps. ratio: gap / said. beyond: the same ratio without jitter."""

    def __init__(self, gap, said, untraced, steady, is_traced):
        self.gap, self.said, self.usual, self.most, self.steady = gap, said, median(untraced), max(untraced), median(steady)
        self.jitter = max(self.usual, self.steady) if is_traced else self.usual
        self.ratio = gap / said if said else None
        self.beyond = max(0, gap - self.jitter) / said if said else None


def taken(room, kind, rounds):
    """Measures a kind of server. Returns {name of the window: [Figures of each round]}."""
    place = processes.Room()
    try:
        server = kind.make(place)
        try:
            asker, quiet, done = Asker(room, kind, server.address), QUIET, []
            for _ in range(rounds):
                done.append(Round(room, kind, server.child.pid, quiet))
                quiet = max([QUIET] + [3 * (end - begin) for what, (begin, end) in done[-1].windows.items() if what in WINDOWS])
                asker.check()
            asker.end()
        finally:
            server.end()
    finally:
        place.close()
    return {what: [one.figures(asker, what) for one in done] for what in WINDOWS}


# ---- Output ----

WINDOWS = 'attach', 'scan', 'let go'
FIELDS = 'gap', 'said', 'usual', 'most', 'steady', 'ratio', 'beyond'


def middle(figures, field):
    """Returns the median of a field over the rounds; None if at least half of the rounds lack the figure."""
    values = [getattr(one, field) for one in figures if getattr(one, field) is not None]
    return median(values) if 2 * len(values) > len(figures) else None


def words(value):
    return '' if value is None else '%.2f' % value if value < 100 else '%.0f' % value


def show(room, rounds):
    """Prints the table. Yields (server, window, ratio without jitter or None, why). why: the reason why there is no
    ratio. If the jitter is longer than the pause, it may hide a gap, so that only a ratio above the limit counts."""
    print('%-20s %-7s %8s %8s %17s %8s %9s %9s' % ('', '', 'longest', 'reported', 'longest untraced', 'longest', 'longest', 'without'))
    print('%-20s %-7s %8s %8s %8s %8s %8s %9s %9s' % ('', '', 'wait', 'pause', 'median', 'max', 'traced', 'x pause', 'jitter'))
    for kind in KINDS:
        try:
            found = taken(room, kind, rounds)
        except (Failure, processes.Failure, builds.Skip, OSError) as why:
            report.missing(kind.name, str(why))
            continue
        for what, figures in found.items():
            print('%-20s %-7s %8s %8s %8s %8s %8s %9s %9s' % (kind.name, what, *(words(middle(figures, field)) for field in FIELDS)),
                  flush=True)
            beyond = middle(figures, 'beyond')
            if what == 'let go':
                continue
            if beyond is None:
                yield kind.name, what, None, 'reported as unknown'
            elif beyond > BAR or middle(figures, 'jitter') <= middle(figures, 'said'):
                yield kind.name, what, beyond, ''
            else:
                yield kind.name, what, None, 'jitter > pause'
