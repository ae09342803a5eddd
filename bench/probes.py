"""Compares probes in the kernel (--probes=kernel) with breakpoints, with untraced runs and with heaptrack.

    bench.py --section=probes [--rounds=N] [--quick]

In each round all ways run one after the other: bare, kernel, breakpoints, heaptrack. A figure is the median over the
rounds, and the minimum stands beside it. A ratio is the median of the rounds' ratios. All times are wall times, because
the processor time of heaptrack's second process is not known; so measure on a quiet machine. (Only an unrelated process
is measured by its processor time.)

functrace writes a trace file with stacks of up to 16 frames. Each of its runs is checked: it must end with status 0 and
must have at least the expected number of events. Calls that the kernel could not record are counted in the column
"lost": a figure with lost calls is too small. `--probes=kernel` never falls back to breakpoints.

A pair of calls is measured by the target itself. The kernel's ring can keep the records of about 50,000 pairs, and
heaptrack reads symbols at the start. So the target runs three times as many pairs as PAIRS says, and the first third is
not measured: after it the ring is full, and the thread waits for functrace. "whole us" is the time of the whole run
without that of a short run, by pair: it contains the records that functrace reads after the last call."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import report
import servers
from programs import FUNCTRACE, Failure, Target, built, end, let_go, median, target, wait_until

WAYS = 'bare', 'kernel', 'breakpoints', 'heaptrack'
FRAMES = 16
EVENTS = re.compile(r'process \d+ \(.*?\): ([\d,]+) events?;')
LOST = re.compile(r'([\d,]+) calls? whose records from the kernel are missing')


class Ways:
    """The ways that this machine has. missing: {way: reason}."""

    def __init__(self, room):
        self.missing = {}
        for way in 'kernel', 'breakpoints':
            done = subprocess.run(functrace(room, way) + ['true'], cwd=room.folder, capture_output=True, text=True,
                                  timeout=60, check=False)
            if done.returncode:
                said = (done.stderr.strip().splitlines() or ['functrace does not run'])[0]
                self.missing[way] = said.rsplit('is not possible: ', 1)[-1]
        if not shutil.which('heaptrack'):
            self.missing['heaptrack'] = 'heaptrack is not installed'

    def why(self, *ways):
        return next((self.missing[way] for way in ways if way in self.missing), None)

    def there(self):
        return [way for way in WAYS if way not in self.missing]


def functrace(room, way):
    return [FUNCTRACE, '-b', str(FRAMES), '--probes=' + way, '-o', room.path('trace')]


def command(room, way, program):
    if way == 'bare':
        return program
    return (['heaptrack', '-o', room.path('heaptrack')] if way == 'heaptrack' else functrace(room, way)) + program


def number(text):
    return int(text.replace(',', ''))


class Run:
    """One run of a program to its end. seconds: its duration. out: its output. events, lost: what functrace says; 0 for
    other ways."""

    def __init__(self, room, way, program, cpus=None, least=0, variables=(), timeout=600):
        line = (['env', *variables] if variables else []) + command(room, way, program)
        log = room.path('said')
        with open(log, 'wb') as said:
            start = time.monotonic()
            child = room.start(line, cpus, stderr=said)
            try:
                self.out = child.communicate(timeout=timeout)[0].decode(errors='replace')
            except subprocess.TimeoutExpired as error:
                room.stop(child)
                raise Failure('%s did not end in %d s' % (way, timeout)) from error
            self.seconds = time.monotonic() - start
        room.forget(child)
        with open(log, errors='replace') as said:
            self.events, self.lost = counted(way, said.read(), child.returncode, least)


def counted(way, said, status, least):
    """Checks a run. Returns the number of events of functrace, and that of the calls that were lost."""
    if status:
        raise Failure('%s: ended with status %d: %s' % (way, status, said.strip()[-200:]))
    if way not in ('kernel', 'breakpoints'):
        return 0, 0
    events = sum(number(found) for found in EVENTS.findall(said))
    lost = sum(number(found) for found in LOST.findall(said))
    if events + lost < least:
        raise Failure('%s: only %d of %d events: %s' % (way, events, least, said.strip()[-200:]))
    return events, lost


def by_rounds(rounds, ways, what, measure):
    """Measures these ways in each round. Yields (way, what measure() returns for it). A round in which a way fails
    counts for no way, because ratios compare the ways of one round."""
    for _ in range(rounds):
        try:
            done = [(way, measure(way)) for way in ways]
        except (Failure, OSError, subprocess.SubprocessError) as why:
            print('%s: a round is left out: %s' % (what, why), flush=True)
            continue
        yield from done


class Samples:
    """The figures of each round: {way: [figure]}."""

    def __init__(self):
        self.of, self.lost = {}, {}

    def add(self, way, figure, lost=0):
        self.of.setdefault(way, []).append(figure)
        self.lost[way] = self.lost.get(way, 0) + lost

    def usual(self, way):
        return median(self.of[way])

    def least(self, way):
        return min(self.of[way])

    def words(self, way):
        return '%d' % self.lost[way] if self.lost.get(way) else ''


class Rows:
    """The rows that are compared with goals."""

    def __init__(self, bars, ways):
        self.bars, self.ways = bars, ways

    def add(self, what, goal, over, under, at_most=True):
        """Compares over/under with the goal. over, under: (Samples, way). Lost calls make a ratio worthless."""
        why = self.ways.why(over[1], under[1])
        if why is None and not (over[0].of.get(over[1]) and under[0].of.get(under[1])):
            why = 'was not measured'
        if why is None and (over[0].lost.get(over[1]) or under[0].lost.get(under[1])):
            why = 'calls were lost'
        if why:
            self.bars.add(what, goal, None, why[:40], at_most)
            return
        ratio = median([a / b for a, b in zip(over[0].of[over[1]], under[0].of[under[1]])])
        best = min if at_most else max
        extreme = best(over[0].of[over[1]]) / best(under[0].of[under[1]])
        self.bars.add(what, goal, ratio, '%.3f (best %.3f)' % (ratio, extreme), at_most)


# ---- A pair of malloc and free ----

PAIRS = {'bare': 10000000, 'kernel': 200000, 'breakpoints': 8000, 'heaptrack': 1000000}
PARTS = 3


def pair(room, way, threads, count, cpus):
    """Runs PARTS times `count` pairs by all threads together. Returns the run, the number of its pairs, and the ns for
    a pair that the target measured in all parts but the first."""
    each = max(1, count // threads)
    done = Run(room, way, target('malloc', frames=FRAMES, threads=threads, pairs=each, rounds=PARTS), cpus,
               2 * PARTS * each * threads)
    parts = [(int(ns), int(made)) for ns, made in re.findall(r'(?m)^round (\d+) \d+ (\d+)$', done.out)]
    if len(parts) != PARTS:
        raise Failure('%s: the target printed no times' % way)
    times, counts = zip(*parts)
    return done, sum(counts), sum(times[1:]) / sum(counts[1:])


def pairs(room, ways, threads, cpus, rounds, scale):
    """Prints the table of a pair. Returns the Samples of the target's times, in ns."""
    own, whole = Samples(), Samples()

    def measure(way):
        short = pair(room, way, threads, 1, cpus)[0].seconds
        return short, pair(room, way, threads, int(PAIRS[way] * max(scale, 0.3)), cpus)  # more than the ring can keep

    for way, (short, (done, count, ns)) in by_rounds(rounds, ways.there(), '%d threads' % threads, measure):
        own.add(way, ns, done.lost)
        whole.add(way, max(0, done.seconds - short) / count * 1e9)
    if not own.of:
        return own
    print('%-14s %10s %10s %10s %10s %8s' % ('', 'median us', 'min us', 'whole us', 'x bare', 'lost'))
    for way in WAYS:
        if way in ways.missing:
            report.missing(way, ways.missing[way])
            continue
        print('%-14s %10s %10s %10s %10.1f %8s' % (way, report.us(own.usual(way)), report.us(own.least(way)),
                                                  report.us(whole.usual(way)), own.usual(way) / own.usual('bare'),
                                                  own.words(way)), flush=True)
    return own


def show_pairs(room, ways, rows, rounds, scale):
    cpus = sorted(os.sched_getaffinity(0))
    report.title('Kernel probes: malloc+free, one thread, %d frames; all on one CPU' % FRAMES)
    one = pairs(room, ways, 1, cpus[-1], rounds, scale)
    rows.add('a pair: kernel x breakpoints', 0.12, (one, 'kernel'), (one, 'breakpoints'))
    report.title('Kernel probes: malloc+free, four threads on two CPUs, wall time over all pairs')
    four = Samples()
    if len(cpus) < 2:
        report.missing('four threads', 'this machine has one CPU')
    else:
        four = pairs(room, ways, 4, set(cpus[-2:]), rounds, scale)
    rows.add('4 threads: kernel x breakpoints of one thread', 0.06, (four, 'kernel'), (one, 'breakpoints'))
    rows.add('a pair: kernel x heaptrack', 4, (one, 'kernel'), (one, 'heaptrack'))


# ---- Whole runs ----

class Program:
    """command: a function of the room and the scale that returns the command, or raises Failure. variables: its
    environment."""

    def __init__(self, name, make, variables=()):
        self.name, self.make, self.variables = name, make, variables


def found(name):
    path = shutil.which(name)
    if not path:
        raise Failure(name + ' is not installed')
    return path


def perl(_room, scale):
    return [found('perl'), '-e', 'for (1..%d) { my $x = "a" x (200 + $_ %% 3000); my @l = (1..3); }' % (36000 * scale)]


def python(_room, scale):
    text = 'for i in range(%d): bytearray(2000 + i %% 777)' % (10000 * scale)
    return [os.path.realpath(sys.executable), '-S', '-c', text]


WHO = '-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'commit.gpgsign=false'


def git(room, scale):
    program, folder = found('git'), room.path('repository')
    if not os.path.isdir(folder):
        os.mkdir(folder)
        for commit in range(21):
            for name in range(max(1, int(40 * scale))):
                with open(os.path.join(folder, 'file-%d' % name), 'w') as file:
                    file.writelines('line %d of %d\n' % (i * (commit if i % 3 else 1), name) for i in range(60))
            for words in ['init -q'] * (not commit) + ['add .', 'commit -q -m commit-%d' % commit]:
                subprocess.run([program, *WHO, *words.split()], cwd=folder, check=True, timeout=120,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [program, '-C', folder, '--no-pager', 'log', '--stat', '-n', '20']


def sqlite3(room, scale):
    program, script = found('sqlite3'), room.path('sql')
    with open(script, 'w') as file:
        file.write('BEGIN; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);\n')
        file.writelines("INSERT INTO t VALUES(%d, '%s');\n" % (i, 'text' * (i % 20)) for i in range(int(2500 * scale)))
        file.write('COMMIT; CREATE INDEX i ON t(b); SELECT count(*), sum(length(b)) FROM t;\n')
    return [program, '-batch', ':memory:', '.read ' + script]


# Each makes about 100,000 events.
PROGRAMS = [Program('true', lambda _room, _scale: [found('true')]), Program('perl', perl),
            Program('python3', python, ['PYTHONMALLOC=malloc']), Program('git', git), Program('sqlite3', sqlite3)]


def whole(room, ways, program, rounds, scale):
    """Returns the Samples of the durations, in s, and the number of events."""
    line, samples, events = program.make(room, scale), Samples(), 0
    for way, done in by_rounds(rounds, ways.there(), program.name,
                               lambda way: Run(room, way, line, variables=program.variables)):
        samples.add(way, done.seconds, done.lost)
        events = max(events, done.events)
    if not samples.of:
        raise Failure('no round succeeded')
    return samples, events


def show_programs(room, ways, rows, rounds, scale):
    report.title('Kernel probes: whole runs, s: median, minimum; "true" shows the time to start')
    print('%-10s %9s' % ('', 'events') + ''.join('%18s' % way for way in WAYS) + '%8s' % 'lost')
    for program in PROGRAMS:
        samples = Samples()
        try:
            samples, events = whole(room, ways, program, rounds, scale)
            print('%-10s %9d' % (program.name, events) + ''.join(
                '%18s' % ('%.3f, %.3f' % (samples.usual(way), samples.least(way)) if way in samples.of else '-')
                for way in WAYS) + '%8s' % samples.words('kernel'), flush=True)
        except (Failure, OSError, subprocess.SubprocessError) as why:
            samples = Samples()
            report.missing(program.name, str(why))
        if program.name != 'true':
            rows.add('%s: kernel x heaptrack' % program.name, 1.5, (samples, 'kernel'), (samples, 'heaptrack'))


# ---- Redis ----

class Redis:
    """A running redis-server, which is started by one of the ways, on a free port of this machine."""

    def __init__(self, room, way):
        self.room, self.way = room, way
        with socket.socket() as holder:
            holder.bind(('127.0.0.1', 0))
            self.port = holder.getsockname()[1]
        note = room.path('redis-pid')
        with contextlib.suppress(FileNotFoundError):
            os.unlink(note)
        with open(room.path('redis-said'), 'wb') as said:
            self.child = room.start(command(room, way, [
                found('redis-server'), '--port', str(self.port), '--bind', '127.0.0.1', '--save', '',
                '--appendonly', 'no', '--dir', room.folder, '--pidfile', note]), stdout=subprocess.DEVNULL, stderr=said)
        wait_until('redis', lambda: self.child.poll() is not None or self.answers() and os.path.exists(note), 60)
        if self.child.poll() is not None:
            raise Failure('redis-server did not start by way of ' + way)
        with open(note) as file:
            self.pid = int(file.read())

    def answers(self):
        with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', self.port), 1) as client:
            client.sendall(b'PING\r\n')
            client.settimeout(5)
            return client.recv(100).startswith(b'+PONG')
        return False

    def rate(self, count):
        """Returns the number of requests a second that redis-benchmark measures."""
        done = subprocess.run([found('redis-benchmark'), '-h', '127.0.0.1', '-p', str(self.port), '-t', 'set', '-q',
                               '-n', str(count), '-r', '10000', '-d', '64'], capture_output=True, text=True,
                              timeout=300, check=False)
        rates = re.findall(r'([\d.]+) requests per second', done.stdout)
        if done.returncode or not rates:
            raise Failure('redis-benchmark: ' + (done.stderr or done.stdout).strip()[-200:])
        return float(rates[-1])

    def close(self, requests):
        """Ends the server, and checks what functrace says: a request needs at least one call. Returns the number of
        lost calls."""
        end(self.pid, signal.SIGTERM)
        try:
            self.child.wait(120)
        except subprocess.TimeoutExpired as error:
            self.room.stop(self.child)
            raise Failure('the server did not end') from error
        self.room.forget(self.child)
        with open(self.room.path('redis-said'), errors='replace') as said:
            return counted(self.way, said.read(), self.child.returncode, requests)[1]


def redis_rate(room, way, seconds):
    server = Redis(room, way)
    try:
        first = server.rate(1000)
        count = max(1000, int(max(first, server.rate(max(1000, int(first / 4)))) * seconds))
        rate = server.rate(count)
    except BaseException:
        end(server.pid)
        raise
    return rate, server.close(count)


def show_redis(room, ways, rows, rounds, scale):
    report.title('Kernel probes: redis-server under redis-benchmark, SET, requests a second')
    samples = Samples()
    try:
        found('redis-server'), found('redis-benchmark')
        for way, figures in by_rounds(rounds, ways.there(), 'redis',
                                      lambda way: redis_rate(room, way, max(0.3, 3 * scale))):
            samples.add(way, *figures)
        if not samples.of:
            raise Failure('no round succeeded')
        print('%-14s %12s %12s %10s %8s' % ('', 'median', 'maximum', 'x bare', 'lost'))
        for way in ways.there():
            print('%-14s %12.0f %12.0f %10.3f %8s' % (
                way, samples.usual(way), max(samples.of[way]), samples.usual(way) / samples.usual('bare'),
                samples.words(way)), flush=True)
    except (Failure, OSError, subprocess.SubprocessError) as why:
        samples = Samples()
        report.missing('redis', str(why))
    rows.add('redis: requests a second, kernel x heaptrack', 0.5, (samples, 'kernel'), (samples, 'heaptrack'), False)
    rows.add('redis: requests a second, kernel x breakpoints', 10, (samples, 'kernel'), (samples, 'breakpoints'), False)


# ---- An unrelated process ----

class Kept:
    """functrace, which traces a process by probes in the kernel until close(). It has attached when this is made.
    poke: a function that makes the process call malloc."""

    def __init__(self, room, pid, cpus=None, poke=lambda: None):
        self.room, self.pid = room, pid
        self.child = room.start(functrace(room, 'kernel') + ['-q', '-e', 'memory', '-t', str(pid)], cpus)
        wait_until('probes', lambda: poke() or self.child.poll() is not None or self.is_probing(), 60)
        if self.child.poll() is not None:
            room.forget(self.child)
            raise Failure('functrace did not attach')

    def is_probing(self):
        """The kernel maps this page when it first records a call whose return is probed."""
        with contextlib.suppress(OSError), open('/proc/%d/maps' % self.pid) as file:
            return '[uprobes]' in file.read()
        return False

    def close(self):
        let_go(self.room, self.child)


def unrelated(room, rounds, is_busy):
    """Returns the Samples of the processor time, in ns, of a pair of an untraced process. Meanwhile another process is
    untraced (bare: before and after) or traced (kernel). It is busy on other CPUs, or idle."""
    cpus = sorted(os.sched_getaffinity(0))
    samples, others, count = Samples(), set(cpus[:-1]) or set(cpus), 1000000
    mine = Target(room, target('malloc', frames=FRAMES, pin=cpus[-1]) + ['--ask'])

    mine.round(count)

    def pair_of_mine():
        return [mine.round(count)[1] for _ in range(5)]

    for _ in range(rounds):
        if is_busy:
            child = room.start(target('malloc', frames=FRAMES, pairs=10 ** 12), others)
        else:
            other = Target(room, target('malloc', frames=FRAMES) + ['--ask'])
            child = other.child
        before = pair_of_mine()
        kept = Kept(room, child.pid, others, (lambda: None) if is_busy else lambda: other.round(5) and None)
        samples.add('kernel', median(pair_of_mine()))
        kept.close()
        samples.add('bare', median(before + pair_of_mine()))
        room.stop(child)
    mine.close()
    return samples


def show_unrelated(room, _ways, rows, rounds, _scale):
    report.title('Kernel probes: a pair of an unrelated process, processor time')
    samples = {False: Samples(), True: Samples()}
    for is_busy in samples:
        name = 'the traced process is %s' % ('busy' if is_busy else 'idle')
        try:
            if is_busy and len(os.sched_getaffinity(0)) < 2:
                raise Failure('this machine has one CPU')
            mine = samples[is_busy] = unrelated(room, rounds, is_busy)
            print('%-28s bare %7.2f ns (min %7.2f), beside the traced process %7.2f ns (min %7.2f)' % (
                name, mine.usual('bare'), mine.least('bare'), mine.usual('kernel'), mine.least('kernel')), flush=True)
        except (Failure, OSError) as why:
            report.missing(name, str(why))
        rows.add('unrelated process x bare; traced one is %s' % ('busy' if is_busy else 'idle'), 1.05,
                 (samples[is_busy], 'kernel'), (samples[is_busy], 'bare'))


# ---- Attaching to a busy process ----

REST = 1000  # us; without rests functrace often cannot say when the process has caught up
ATTACH = 'attach: s', 'attach: pause, ms', 'let go: s', 'let go: pause, ms'


def pause_of(said, pauses, way):
    """Returns the longest of the pauses that functrace has reported; None if it says that one was longer by an unknown
    time."""
    if not pauses:
        raise Failure('%s: functrace reports no pause' % way)
    return None if servers.UNKNOWN in said else max(pauses)


def attached_once(room, way, seconds):
    """Attaches to a busy process and lets it go after some time. Returns the figures in the order of ATTACH. Each time
    it is a new process, because the kernel may not report the breakpoints of a process that has had uprobes."""
    child = room.start([built('targets/churn'), '2', str(REST)])
    try:
        time.sleep(0.1)
        tracer = servers.Functrace(room, functrace(room, way)[1:] + ['-e', 'memory', '-t', str(child.pid)])
        attach = tracer.attached() - tracer.begin
        first = tracer.pauses()
        time.sleep(seconds)
        begin, ended = tracer.ended(signal.SIGINT)
        last = tracer.pauses(begin)
        counted(way, (first[0] + last[0]).decode(errors='replace'), 0, 100)
        if child.poll() is not None:
            raise Failure('%s: the process has ended with status %d' % (way, child.returncode))
    finally:
        room.stop(child)
    return attach, pause_of(*first, way), ended - begin, pause_of(*last, way)


def show_attach(room, ways, rows, rounds, scale):
    report.title('Kernel probes: attach to a busy process that starts threads all the time, and let it go')
    tracing = [way for way in ways.there() if way in ('kernel', 'breakpoints')]
    done = {way: [] for way in tracing}
    for way, figures in by_rounds(rounds, tracing, 'attach', lambda way: attached_once(room, way, max(0.5, 2 * scale))):
        done[way].append(figures)
    samples = {what: Samples() for what in ATTACH}
    for of_round in zip(*done.values()):
        for what, figures in zip(ATTACH, zip(*of_round)):
            if None not in figures:  # a ratio needs both
                for way, figure in zip(tracing, figures):
                    samples[what].add(way, figure)
    print('%-14s' % '' + ''.join('%21s' % what for what in ATTACH))
    for way in tracing:
        print('%-14s' % way + ''.join('%21s' % (
            '%.3f, min %.3f' % (mine.usual(way), mine.least(way)) if way in mine.of else 'unknown')
                                      for mine in samples.values()), flush=True)
    for what, mine in samples.items():
        known, every = len(mine.of.get('kernel', ())), len(done.get('kernel', ()))
        if known < every:
            print('%s: in %d of %d rounds functrace says that it is longer by an unknown time' % (
                what, every - known, every))
        rows.add('%s, kernel x breakpoints' % what, 1.5, (mine, 'kernel'), (mine, 'breakpoints'))


def show(room, bars, rounds, is_quick):
    """Prints all tables, and adds the rows that have goals to the bars."""
    ways = Ways(room)
    print('\nThe goals of this section are for wall times, also on a busy machine.')
    for way, why in ways.missing.items():
        print('%s is not measured: %s' % (way, why))
    if 'kernel' in ways.missing:
        bars.add('probes in the kernel', 0, None, 'not possible here')
        return
    rows, scale = Rows(bars, ways), 0.05 if is_quick else 1
    for part in show_pairs, show_programs, show_redis, show_unrelated, show_attach:
        try:
            part(room, ways, rows, rounds, scale)
        except (Failure, OSError, subprocess.SubprocessError) as why:
            report.missing(part.__name__, str(why))
