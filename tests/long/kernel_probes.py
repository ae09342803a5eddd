#!/usr/bin/env python3
"""What probes in the kernel must show. Each part prints its figures, and fails if they are not reached. Without
arguments all parts run.

usage: kernel_probes.py [equal] [saturated] [killed] [fragile] [several]

equal      events with stacks of perl, python3, git, sqlite3 and a C++ program are the same as by breakpoints
saturated  LONG_SECONDS (60) of a target that keeps all CPUs busy: no call is lost unnoticed
killed     SIGKILL to all of functrace at once, LONG_ROUNDS (200) times for each number of threads
fragile    programs that a return probe or a breakpoint could kill
several    two functraces, and a probe of perf, on one process"""

import collections
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'scenarios'))

import builds
import kernel_probes
import kinds
from lifecycle import Held, engine_of
from processes import FUNCTRACE, POSTPROC, Failure, Room, Tracer, all_sleep, has_ended, may_attach, status_field, wait_for

ROUNDS = int(os.environ.get('LONG_ROUNDS', '200'))
SECONDS = int(os.environ.get('LONG_SECONDS', '60'))
SIZE = int(os.environ.get('LONG_EVENTS', '300000'))  # about how many events `equal` compares in all, by each way
WAYS = ('kernel', 'breakpoints')


class Part:
    """Collects the problems of one part."""

    def __init__(self, name):
        self.name, self.problems = name, []

    def say(self, text):
        print('%s: %s' % (self.name, text), flush=True)

    def fail(self, text):
        self.problems.append(text)
        print('%s: NOT SO: %s' % (self.name, text), flush=True)

    def expect(self, is_so, text):
        (self.say if is_so else self.fail)(text)


def in_room(part, function, *args):
    """Runs the function in a room of its own; a Failure is a problem."""
    room = Room()
    try:
        return function(part, room, *args)
    except Failure as failure:
        part.fail(str(failure))
    except builds.Skip as why:
        part.say('skipped: %s' % why)
    finally:
        for left in room.close():
            part.fail(left)
    return None


# ---- The same events by both ways ----

CALL = re.compile(r'^\d+\. (?:@[0-9a-f]+ )?(?:\[[\d:.]+\] )?(.*)$')
PERL = 'my $n = <STDIN>; my (%h, @l); for my $i (1..$n) { $h{$i % 5000} = join ",", map { $_ * $i } 1..($i % 7); ' \
       'push @l, "x" x ($i % 90) if $i % 3 == 0; splice @l, 0, 500 if @l > 2000; } print scalar(keys %h), "\\n";'
PYTHON = '''
import json, sys
n = int(sys.stdin.readline())
def build(depth):
    return {'a': [str(depth)] * 3, 'b': build(depth - 1)} if depth else [1.5, None]
total = 0
for i in range(n):
    total += len(json.dumps(build(i % 12)))
print(total)
'''
SQL = 'create table t(a integer primary key, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < %d)' \
      ' insert into t select x, hex(x * 7919) || x from c; create index i on t(b); ' \
      'select count(*), sum(length(b)), max(b) from t where b > \'3\'; select a from t order by b limit 5;\n'


def programs():
    """Returns [(name, command, a function: n -> standard input, n)]; n is for some 60,000 events."""
    top = os.environ.get('TOP_SRCDIR', os.path.join(HERE, '..', '..'))
    is_repository = subprocess.run(['git', '-C', top, 'rev-parse', 'HEAD~300'], capture_output=True).returncode == 0
    found = [('perl', ['perl', '-e', PERL], lambda n: '%d\n' % n, 40000),
             ('python3', [sys.executable, '-c', PYTHON], lambda n: '%d\n' % n, 600),
             ('sqlite3', ['sqlite3', ':memory:'], lambda n: SQL % n, 15000),
             ('C++', [builds.target('catching', 'O2')], lambda n: '%d\n' % n, 12000)]
    if is_repository:
        found.append(('git', ['git', '-C', os.path.abspath(top), '--no-pager', 'log', '--stat', '--stdin'],
                      lambda n: 'HEAD\n^HEAD~%d\n' % n, 240))
    return found


MAPPING = re.compile(r'^: (.+) => 0x([0-9a-f]+)-0x([0-9a-f]+)$')


class Event:
    def __init__(self, call, mappings):
        self.call, self.mappings = call, mappings  # the trace's mappings, which grow
        self.stack, self.end = [], ''  # 'cut' or 'lost' if the stack has more frames

    def place(self, address):
        """Returns the object, and the offset from the start of its mapping."""
        for path, low, high in reversed(self.mappings):
            if low <= address < high:
                return path, address - low
        return '', address

    def __str__(self):
        return '%s %s %s' % (self.call, ' '.join(self.stack), self.end)


def events_of(path):
    """Yields the events of a text trace."""
    event, mappings = None, []
    with open(path, errors='surrogateescape') as file:
        for line in file:
            if line.startswith('\t0x0 ('):
                event.end = line[6:line.index(')')]
            elif line.startswith('\t0x'):
                event.stack.append(line.split(None, 1)[0])
            elif line[0].isdigit():
                if event:
                    yield event
                event = Event(CALL.match(line).group(1), mappings)
            elif line[0] == ':':
                found = MAPPING.match(line)
                mappings.append((found.group(1), int(found.group(2), 16), int(found.group(3), 16)))
    if event:
        yield event


PARTS_OF_CALL = re.compile(r'^(.*)\((?:(0x[0-9a-f]+)|(\d+))\)(?: = (0x[0-9a-f]+))?$')


def same_block(address, other):
    """Compares addresses of blocks. Without ASLR there is no room beside the stack for the page that the kernel maps for its
    probes. So the page takes a gap between other mappings, and later mappings take others."""
    low, high = sorted(int(text, 16) for text in (address, other))
    return low == high or low > 0x7f0000000000 and (high - low) % 4096 == 0


def same_call(call, other):
    """Compares calls; the sizes of operator new as kernel_probes.same_size() does."""
    if call == other:
        return True
    one, two = PARTS_OF_CALL.match(call or ''), PARTS_OF_CALL.match(other or '')
    if not one or not two or one.group(1) != two.group(1) or not all(
            a == b or a and b and same_block(a, b) for a, b in ((one.group(i), two.group(i)) for i in (2, 4))):
        return False
    size, wanted = int(one.group(3) or 0), int(two.group(3) or 0)
    return size == wanted or one.group(1).startswith('operator new') and (
        (size, wanted) == (1, 0) or 'align_val_t' in one.group(1) and 0 < size - wanted < 4096)


def same_stack(event, other):
    """Compares stacks. A stack that ends by loss is counted as such, and its frames are compared. The mapping of a frame may
    have another address, see same_block()."""
    if (event.stack, event.end) == (other.stack, other.end):
        return True
    is_shorter = event.end == 'lost' and len(event.stack) < len(other.stack)
    return (is_shorter or event.end == other.end and len(event.stack) == len(other.stack)) and all(
        frame == wanted or event.place(int(frame, 16)) == other.place(int(wanted, 16))
        for frame, wanted in zip(event.stack, other.stack))


class Figures:
    def __init__(self):
        self.events = self.stacks = self.calls_differ = self.stacks_differ = self.lost = self.lost_both = 0
        self.moved = self.copies = self.late_copies = self.late_events = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def compare(self, by_kernel, by_breakpoints):
        """Compares two traces; returns the first difference."""
        first = None
        for number, (event, other) in enumerate(itertools.zip_longest(
                events_of(by_kernel), events_of(by_breakpoints), fillvalue=Event(None, [])), 1):
            self.events += event.call is not None
            self.stacks += bool(event.stack)
            self.lost += event.end == 'lost'
            self.lost_both += event.end == other.end == 'lost'
            calls_differ, stacks_differ = not same_call(event.call, other.call), not same_stack(event, other)
            self.calls_differ += calls_differ
            self.stacks_differ += stacks_differ
            self.moved += not calls_differ and not stacks_differ and event.end == other.end and str(event) != str(other)
            if not first and (calls_differ or stacks_differ):
                first = 'event %d is %s; by breakpoints %s' % (number, event, other)
        return first

    def __str__(self):
        return '%d events, %d with stacks; %d calls differ, %d stacks (%d have an address that [uprobes] has moved); %d stacks end by loss (%.4f %%; %d of them by breakpoints, ' \
            'too); copies of stacks: %d, after the start %d for %d events (%.2f %%)' % (
                self.events, self.stacks, self.calls_differ, self.stacks_differ, self.moved, self.lost,
                100 * self.lost / max(self.events, 1), self.lost_both, self.copies, self.late_copies, self.late_events,
                100 * self.late_copies / max(self.late_events, 1))


def copies_in(said):
    found = re.search(rb'kernel probes: (\d+) stacks were copied', said)
    return int(found.group(1)) if found else 0


def options_of(way):
    return ['--probes=' + way, '-dbreakpoint:1', '-e', 'memory', '-b', '16']


# PYTHONSAFEPATH: python3 does not list the current folder, which has other files in each run
ENVIRONMENT = {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0', 'PYTHONSAFEPATH': '1', 'PERL_HASH_SEED': '0'}


def launched(room, way, folder, command, data):
    done = room.run(['setarch', '-R', FUNCTRACE, '-f', 'text', '-o', folder] + options_of(way) + command, ENVIRONMENT, 900,
                    data.encode())
    return done, done.err


def attached(room, way, folder, command, data):
    child = room.start(['setarch', '-R'] + command, ENVIRONMENT, subprocess.PIPE)
    name = os.path.basename(os.path.realpath(kinds.need(command[0])))

    def waits():
        return os.path.basename(os.readlink('/proc/%d/exe' % child.pid)) == name and all_sleep(child.pid)
    wait_for('%s to read' % name, waits)
    time.sleep(0.2)
    tracer = Tracer(room, child.pid, options_of(way), folder)
    tracer.planted()
    done = room.finish(child, 900, data.encode())
    return done, room.finish(tracer.child).err


def traced(part, room, how, way, command, data, label):
    """Returns the result, the paths of the traces, and what functrace said."""
    folder = room.path(how.__name__ + '-' + way + label)
    os.makedirs(folder)
    done, said = how(room, way, folder, command, data)
    if way == 'kernel' and b'stacks were copied' not in said:
        part.fail('functrace had no probes in the kernel: %s' % said.decode(errors='replace')[-300:])
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    return done, sorted(paths, key=lambda path: [int(n) for n in re.findall(r'\d+', os.path.basename(path))]), said


def compare_program(part, room, how, name, command, data_of, count, total):
    data = data_of(count)
    plain = room.run(command, ENVIRONMENT, data=data.encode())
    results = {way: traced(part, room, how, way, command, data, '') for way in WAYS}
    figures = Figures()
    paths, expected = (results[way][1] for way in WAYS)
    if len(paths) != len(expected):
        part.fail('%s: %d traces, by breakpoints %d' % (name, len(paths), len(expected)))
    first = [found for found in map(figures.compare, paths, expected) if found]
    # The start is that of a run with a quarter of the work. (Two runs are the same but for that.)
    start = traced(part, room, how, 'kernel', command, data_of(count // 4), '-start')
    figures.copies = copies_in(results['kernel'][2])
    figures.late_copies = max(0, figures.copies - copies_in(start[2]))
    figures.late_events = max(0, figures.events - sum(1 for path in start[1] for _ in events_of(path)))
    part.expect(not figures.calls_differ and not figures.stacks_differ,
                '%s, %s: %s' % (name, how.__name__, figures))
    for text in first[:1]:
        part.say(text[:1500])
    for way in WAYS:
        done = results[way][0]
        if (done.status, done.out) != (plain.status, plain.out):
            part.fail('%s, by %s: status %d, untraced %d; the output %s' % (
                name, way, done.status, plain.status, 'is the same' if done.out == plain.out else 'differs'))
    total.add(figures)


def equal(part):
    kinds.need('setarch')
    for how in (launched, attached):
        total, share = Figures(), SIZE / 300000
        for name, command, data_of, count in programs():
            in_room(part, compare_program, how, name, command, data_of, max(4, int(count * share)), total)
        part.expect(not total.calls_differ and not total.stacks_differ and total.lost <= total.events / 10000 and
                    total.late_copies <= total.late_events / 100, 'all, %s: %s' % (how.__name__, total))
        if total.stacks < SIZE * 5 / 6:
            part.fail('%d events with stacks, expected %d' % (total.stacks, SIZE * 5 / 6))


# ---- Saturated processors ----

COUNT_CALLS = '/^[0-9]+[.] .*malloc[(]31001[)]/ { m++ } /^[0-9]+[.] .*free[(]/ { f++ } ' \
              '/^## lost: / { print } END { printf "malloc %d\\nfree %d\\n", m, f }'


def count_calls(part, folder):
    """Returns the events and the lost calls of the traces in a folder, by function."""
    seen, lost = collections.Counter(), collections.Counter()
    for name in os.listdir(folder):
        with subprocess.Popen([POSTPROC, os.path.join(folder, name)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as reader:
            said = subprocess.run(['awk', COUNT_CALLS], stdin=reader.stdout, capture_output=True, text=True).stdout
        for line in said.splitlines():
            found = kernel_probes.LOST.match(line[3:])
            if found:
                lost[found.group(2)] += int(found.group(1))
            elif line.startswith('#'):
                part.fail('not understood: ' + line)
            else:
                seen[line.split()[0]] += int(line.split()[1])
    return seen, lost


def slow_down(engine, until):
    """Lets the engine run for 10 of 100 ms."""
    while not until():
        os.kill(engine, signal.SIGSTOP)
        time.sleep(0.09)
        os.kill(engine, signal.SIGCONT)
        time.sleep(0.01)


def saturate(part, room, is_slow):
    threads = 2 * (os.cpu_count() or 1)
    with Held(room, [builds.target('saturating', 'O2'), str(threads), str(SECONDS)]) as held:
        tracer = Tracer(room, held.child.pid, ['--probes=kernel', '-f', 'rtrace', '-b', '4'])
        tracer.planted()
        held.gate.open()
        engine, end = engine_of(None, held.child.pid), time.monotonic() + SECONDS
        if is_slow:
            slow_down(engine, lambda: time.monotonic() >= end)
        if not held.gate.arrived(held.child, 10 * SECONDS + 120):
            raise Failure('the target ended before its second gate')
        for problem in tracer.let_go():
            part.fail(problem)
        held.gate.open()
        done = room.finish(held.child)
    found = re.search(rb'pairs (\d+)', done.out)
    if done.status or not found:
        raise Failure('the target ended with status %d, %r' % (done.status, done.out))
    pairs, (seen, lost) = int(found.group(1)), count_calls(part, room.path('traces'))
    size = sum(os.path.getsize(room.path('traces', name)) for name in os.listdir(room.path('traces')))
    for name in ('malloc', 'free'):
        part.expect(seen[name] + lost[name] == pairs and not lost[name], '%d threads, %d s%s: %s: %d calls, %d events, %d lost' % (
            threads, SECONDS, ', the reader slowed tenfold' if is_slow else '', name, pairs, seen[name], lost[name]))
    part.say('%.1f us a pair, %d MB of trace' % (1e6 * SECONDS / max(pairs, 1), size >> 20))


def saturated(part):
    for is_slow in (False, True):
        in_room(part, saturate, is_slow)


# ---- SIGKILL to all of functrace ----

PROBES = 9  # functions of glibc that the kernel probes


def leaked():
    """Returns how often the kernel has reported that it could not remove a probe; 0 if its log cannot be read."""
    return subprocess.run(['dmesg'], capture_output=True).stdout.count(b'leaking uprobe')


def names_of(pid, places):
    """Describes addresses in the code of a process."""
    words = []
    for place in sorted(places):
        with open('/proc/%d/maps' % pid) as file:
            for line in file:
                low, high = (int(x, 16) for x in line.split()[0].split('-'))
                if low <= place < high:
                    fields = line.split(None, 5)
                    words.append(name_in(fields[5].strip(), place - low + int(fields[2], 16)))
    return words


def name_in(path, offset):
    """Returns the exported function at the offset of a file whose code has the same offsets and addresses."""
    best = (0, '?')
    for line in subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if fields[1] in 'TWi' and int(fields[0], 16) <= offset:
            best = max(best, (int(fields[0], 16), fields[2].split('@')[0]))
    return '%s:%s+%#x' % (os.path.basename(path), best[1], offset - best[0])


class Deaths:
    def __init__(self):
        self.lived = self.trapped = 0
        self.others = collections.Counter()
        self.names = []

    def __str__(self):
        return '%d lived, %d were killed by SIGTRAP, %d ended otherwise%s; functrace\'s own breakpoints that stayed: %s' % (
            self.lived, self.trapped, sum(self.others.values()), ''.join(' (%s: %d)' % o for o in self.others.items()),
            ', '.join(self.names) or 'none')


def kill_round(part, room, threads, moment, pause, deaths):
    child = room.start([builds.target('sound', 'O2'), str(threads), '0'], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise Failure('the target did not begin')
    tracer = Tracer(room, child.pid, ['--probes=kernel', '-b', '4', '-f', 'rtrace'])
    tracer.planted()
    before = set(kernel_probes.differences_from_files(child.pid))
    engine = engine_of(None, child.pid)
    guardian, visible = int(status_field(engine, 'PPid')), tracer.child.pid
    if moment == 'stopped':
        os.kill(child.pid, signal.SIGSTOP)
    if moment == 'while functrace detaches':
        tracer.child.send_signal(signal.SIGINT)
    time.sleep(pause)
    for pid in (visible, guardian, engine):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    room.finish(tracer.child)
    wait_for('the end of the tracer', lambda: has_ended(engine) and status_field(child.pid, 'TracerPid') in ('0', ''))
    if moment == 'stopped':
        time.sleep(0.05)
        os.kill(child.pid, signal.SIGCONT)
    if not has_ended(child.pid):
        # The probes are removed when the last thread of the engine has ended.
        end = time.monotonic() + 10
        left = set(kernel_probes.differences_from_files(child.pid))
        while len(before) - len(left) < PROBES and time.monotonic() < end and not has_ended(child.pid):
            time.sleep(0.01)
            left = set(kernel_probes.differences_from_files(child.pid))
        deaths.names = names_of(child.pid, left)
        if left - before or len(before) - len(left) < PROBES:
            part.fail('the text differs: %s' % ', '.join(deaths.names))
    ended = room.finish(child, data=b'')
    if ended.status == 0 and ended.out.endswith(b'sound\n'):
        deaths.lived += 1
    elif ended.status == -signal.SIGTRAP:
        deaths.trapped += 1
    else:
        deaths.others['status %d %r' % (ended.status, ended.out[-100:])] += 1


MOMENTS = {'': 1, 'stopped': 10, 'while functrace detaches': 4}  # when functrace is killed; a fraction of the rounds


def killed(part):
    for threads, moment in itertools.product((1, 8, 64), MOMENTS):
        chance, deaths, before = random.Random(threads), Deaths(), leaked()
        count = max(1, ROUNDS // MOMENTS[moment])
        for _ in range(count):
            in_room(part, kill_round, threads, moment, chance.random() * 0.1, deaths)
        part.expect(deaths.lived == count and leaked() <= before, '%d threads%s, %d rounds: %s; leaked probes: %d' % (
            threads, moment and ', ' + moment, count, deaths, leaked() - before))


# ---- Programs that are easy to kill ----

def unharmed(part, room, name, command, env=None, data=None, is_same=True):
    """The program does the same with probes in the kernel as untraced. is_same: its output, too."""
    plain = room.run(command, env, data=data)
    os.makedirs(room.path('traces'))
    done = room.run([FUNCTRACE, '--probes=kernel', '-dbreakpoint:1', '-e', 'memory', '-b', '16', '-o', room.path('traces')] +
                    command, env, 600, data)
    problems = kinds.compare_runs(plain, done) if is_same else []
    if done.status != plain.status or b'stacks were copied' not in done.err:
        problems.append('status %d, untraced %d: %s' % (done.status, plain.status, done.err[-500:]))
    part.expect(not problems, '%s: %s' % (name, '; '.join(problems) or 'unharmed'))
    return done


def walk_in_handlers(part, room):
    """A stack that the program itself takes may end at a call of malloc in flight (functrace-limits(7))."""
    done = unharmed(part, room, 'backtrace() in a handler', [builds.target('backtraces', 'O2'), '2000'], is_same=False)
    part.say('backtrace() in a handler: ' + ' '.join(re.findall(r'(\d+ of \d+ stacks end early)', done.err.decode())))


def fragile(part):
    for name, program, *args in [
            ('exceptions, also of operator new', 'catching'),
            ('exceptions through frames that allocate', 'throwing'),
            ('coroutines that move between threads', 'coroutines'),
            ('a seccomp filter', 'sandboxed', 'seccomp'),
            ('a seccomp filter, SIGTRAP ignored', 'sandboxed', 'seccomp-ignored'),
            ('strict seccomp', 'sandboxed', 'strict'),
            ('longjmp out of functions', 'leaving', 'longjmp'),
            ('siglongjmp out of malloc', 'abandoned'),
            ('a fork storm of 1,000 children', 'manyforks', '1000'),
            ('processes and threads that fork', 'regress_forkstorm', '3', '10'),
            ('a recursion, 100,000 deep', 'recursion', '100000'),
            ('handlers in the C library', 'handled', 'memory'),
            ('the program\'s own malloc', 'ownmalloc'),
            ('threads that end', 'threads', '64', '50')]:
        in_room(part, unharmed, name, [builds.target(program, 'O2'), *args], None, b'20000\n' if program == 'catching' else None)
    in_room(part, walk_in_handlers)


# ---- Several tracers ----

def second_functrace(part, room):
    """A second functrace is refused, and the first one goes on."""
    command = [builds.target('threads', 'O2'), '4', '200']
    with Held(room, command) as held:
        tracer = Tracer(room, held.child.pid, ['--probes=kernel'])
        tracer.planted()
        os.makedirs(room.path('second'))
        other = room.run([FUNCTRACE, '--probes=kernel', '-e', 'memory', '-o', room.path('second'), '-t', str(held.child.pid)])
        done, problems = held.work_and_end(tracer)
    traces, more = kinds.read_traces(room.path('traces'), 1)
    problems += more + kernel_probes.oracle.Oracle(done.out).check(traces)
    part.expect(other.status == 1 and b'traces it already' in other.err and not done.status and not problems,
                'a second functrace: status %d, %r; the first: %d events, %s' % (
                    other.status, other.err.decode()[-200:], sum(len(t.events) for t in traces), problems or 'complete'))


def beside(part, room):
    """Two functraces trace two processes that run the same files, and one of them ends earlier."""
    command = [builds.target('threads', 'O2'), '4', '200']
    with Held(room, command) as one, Held(room, command) as two:
        tracers = [Tracer(room, held.child.pid, ['--probes=kernel'], room.path('traces%d' % i))
                   for i, held in enumerate((one, two))]
        for tracer in tracers:
            tracer.planted()
        problems = tracers[0].let_go()
        left = kernel_probes.text_and_files(one.child.pid)
        done, more = two.work_and_end(tracers[1])
        problems += more + left
        one.gate.open()
        one.gate.arrived(one.child)
        one.gate.open()
        problems += kernel_probes.oracle.Oracle(done.out).check(kinds.read_traces(room.path('traces1'), 1)[0])
        room.finish(one.child)
    part.expect(not problems, 'two processes with the same files: %s' % (problems or 'complete'))


def perf_probe(part, room, is_first):
    """perf records a probe at malloc in the same process meanwhile. is_first: it begins before functrace; functrace then
    takes the probe for a breakpoint of another tracer, and reports that it does not trace the function."""
    perf, libc = kinds.need('perf'), kinds.find_library('libc.so.6')
    added = room.run([perf, 'probe', '-q', '-x', libc, '-a', 'functracetest=malloc'])
    if added.status:
        raise builds.Skip('perf cannot set a probe: %s' % added.err.decode(errors='replace').strip()[-200:])
    try:
        with Held(room, [builds.target('threads', 'O2'), '4', '200']) as held:
            record = [perf, 'record', '-q', '-e', 'probe_libc:functracetest', '-o', room.path('perf.data'), '-p',
                      str(held.child.pid)]
            if is_first:
                watcher = room.start(record)
                time.sleep(1)
            tracer = Tracer(room, held.child.pid, ['--probes=kernel'])
            time.sleep(2)
            if not is_first:
                watcher = room.start(record)
                time.sleep(1)
            held.gate.open()
            if not held.gate.arrived(held.child):
                raise Failure('the target ended before its second gate')
            tracer.child.send_signal(signal.SIGINT)
            said = room.finish(tracer.child)
            held.gate.open()
            done = room.finish(held.child)
            watcher.send_signal(signal.SIGINT)
            room.finish(watcher)
        events = room.run([perf, 'script', '-i', room.path('perf.data')]).out.count(b'functracetest')
    finally:
        room.run([perf, 'probe', '-q', '-d', 'probe_libc:functracetest'])
    traces, problems = kinds.read_traces(room.path('traces'), 1)
    is_said = b' of a tracer that is gone ' in said.err
    problems += [] if is_said and is_first else kernel_probes.oracle.Oracle(done.out).check(traces)
    part.expect(not problems and events and not done.status and not said.status, 'beside perf, which begins %s: %d events of perf, '
                '%d of functrace, %s' % ('earlier' if is_first else 'later', events, sum(len(t.events) for t in traces), problems or (
                    'functrace reports that it does not trace the function' if is_said else 'complete')))


def several(part):
    in_room(part, second_functrace)
    in_room(part, beside)
    for is_first in (True, False):
        in_room(part, perf_probe, is_first)


PARTS = {function.__name__: function for function in (equal, saturated, killed, fragile, several)}


def main():
    reason = may_attach()
    try:
        kernel_probes.need_probes()
    except builds.Skip as why:
        reason = reason or str(why)
    if reason:
        print('no probes in the kernel here: ' + reason)
        return 77
    problems = []
    for name in sys.argv[1:] or PARTS:
        part = Part(name)
        began = time.monotonic()
        PARTS[name](part)
        part.say('%d s' % (time.monotonic() - began))
        problems += ['%s: %s' % (name, problem) for problem in part.problems]
    return kinds.told(problems)


if __name__ == '__main__':
    sys.exit(main())
