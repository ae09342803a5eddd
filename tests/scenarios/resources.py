"""Tests kinds of resource other than memory. The targets print which lines their traces must have, with ids and order
(tests/targets/kind.h), and which resources are live at the end. functrace-postproc must list these resources with their
places in the source."""

import os
import re

import builds
from kinds import compare_runs
from processes import FUNCTRACE, POSTPROC, Failure, Gate, Tracer, may_attach, unexpected

CALL = re.compile(r'^\d+\. (?:\[[\d:.]+\] )?(.*)$')
ARGUMENT = re.compile(r'^\t\$\d+ = (.*)$')
COMMON = ('O0', 'O2', 'static', 'musl', 'musl-static', 'm32', 'm32-O0', 'm32-time64', 'arm32')


class Kind:
    """A target of a module: its builds, the words that functrace must print at the end, and perhaps a function
    check(room, calls) -> problems. If not exact, the calls are not compared with the lines that the target prints.
    own_ids: only calls with the ids that the target prints are compared."""

    def __init__(self, module, target=None, args=(), variants=COMMON, said=(), modes=('plain', 'all', 'attach'), check=None,
                 unsaid=('that was not seen', 'that were not seen', 'double release', 'allocated again', 'without a return'),
                 options=(), label=None, env=None, exact=True, source=None,
                 own_ids=False):
        self.module, self.target, self.args = module, target or 'kind_' + module, [str(a) for a in args]
        self.variants, self.said, self.modes, self.check, self.unsaid = variants, said, modes, check, unsaid
        self.exact, self.own_ids = exact, own_ids
        self.options, self.env = list(options), env or {}
        self.source = source or self.target + '.c'
        self.label = label or ' '.join(['kinds:', self.target] + self.args)


def storm(count):
    """Each thread is created and then joined or detached, in this order."""
    def check(_room, calls):
        live, made, problems = set(), 0, []
        for number, call in enumerate(calls, 1):
            ident = re.search('0x[0-9a-f]+', call)[0]
            if '= 0x' in call:
                made += 1
                if ident in live:
                    problems.append('record %d: %s is live already' % (number, call))
                live.add(ident)
            elif ident not in live:
                problems.append('record %d: %s is not live' % (number, call))
            live.discard(ident) if '= 0x' not in call else None
        if made != 2 * count + 2 or live:
            problems.append('%d threads created, %d of them live at the end' % (made, len(live)))
        return problems[:5]
    return check


def replay_ranges(calls):
    """Returns [(start, end, type)] of the mappings that are live after these calls."""
    live = {}
    for call in calls:
        made = re.match(r'.*?<(\w*shmmap)>\((\d+)\) = 0x([0-9a-f]+)', call)
        gone = re.match(r'.*?<(\w*shmmap)>\(0x([0-9a-f]+)\)', call)
        if made:
            live[made[1], int(made[3], 16)] = int(made[2])
        elif gone:
            del live[gone[1], int(gone[2], 16)]
    return [(start, start + (size + 4095) // 4096 * 4096, kind) for (kind, start), size in live.items()]


def as_mapped(calls, maps):
    """Live mappings are mapped in the process, and the process's mappings of those files are live."""
    lines = [re.match(r'maps ([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+\s*(.*)', line) for line in maps]
    mapped = [(int(line[1], 16), int(line[2], 16), line[3]) for line in lines]
    live = replay_ranges(calls)
    problems = ['no mapping of the kernel\'s list: %x-%x %s' % one for one in live
                if not any(start <= one[0] and one[1] <= end for start, end, _ in mapped)]
    shared = [(start, end) for start, end, path in mapped if '/functrace-kind-' in path]
    if sorted(shared) != sorted(one[:2] for one in live if one[2] == 'pshmmap'):
        problems.append('mapped of shared memory: %s; live: %s' % (shared, live))
    return problems + ([] if len(live) == 4 else ['%d live mappings' % len(live)])


def apart(threads, rounds):
    """No two live mappings share a page, each released mapping was live, and at the end none of the mappings is
    left."""
    def check(_room, calls):
        live, made, problems = {}, 0, []
        for number, call in enumerate(calls, 1):
            new = re.match(r'\w+<\w+>\((\d+)\) = 0x([0-9a-f]+)', call)
            if not new:
                if live.pop(int(call.split('0x')[1][:-1], 16), None) is None:
                    problems.append('record %d: %s was not live' % (number, call))
                continue
            start, size = int(new[2], 16), (int(new[1]) + 4095) // 4096 * 4096
            made += call.startswith('mmap')
            problems += ['record %d: %s is where %x has %d bytes' % (number, call, other, length)
                         for other, length in live.items() if other < start + size and start < other + length]
            live[start] = size
        left = [size for size in live.values() if size <= 8 * 4096]
        if left or made < threads * rounds:
            problems.append('%d mappings, still live: %s' % (made, left))
        return problems[:5]
    return check


MAPPINGS = ('1 shared memory mapping with 20,480 bytes is live', '2 file mappings with 20,480 bytes are live',
            '1 anonymous mapping with 28,672 bytes is live', '1 shared memory object not unlinked',
            '1 shared memory descriptor is live')

KINDS = [
    Kind('thread', said=('2 threads never joined',)),
    Kind('thread', 'kind_threadstorm', (200,), variants=('O2', 'musl', 'm32'), exact=False, check=storm(200)),
    Kind('shmsysv', said=('1 shared memory segment with 30,004 bytes not removed, or still attached',
                          '1 attached segment with 30,004 bytes is live')),
    Kind('shmposix', said=MAPPINGS, variants=[v for v in COMMON if v != 'musl']),
    # musl's dynamic linker, which is also its C library, makes mappings before the program begins.
    Kind('shmposix', said=MAPPINGS, variants=('musl',), modes=('attach',)),
    Kind('shmposix', 'kind_mapstorm', (4, 100), variants=('O2', 'musl-static', 'm32'), exact=False, check=apart(4, 100)),
    Kind('gobject', variants=('O0', 'O2'), said=('1 GObject with 64 bytes is live',)),
    Kind('gobject', args=('late',), variants=('O2',), modes=('attach',), said=('1 GObject with 64 bytes is live',)),
    Kind('memtransfer', own_ids=True),
    Kind('qobject', said=('2 QObjects are live',), variants=('O0', 'O2', 'static', 'm32', 'm32-O0', 'arm32'),
         source='kind_qobject.h'),
    Kind('qobject', args=('{library:kind_qobjectlib}',), said=('2 QObjects are live',), variants=('O2', 'm32'),
         source='kind_qobject.h', label='kinds: kind_qobject in a library'),
]


def calls_of(path):
    """Returns the calls of a text trace, each followed by its arguments, and its notes."""
    calls, notes = [], []
    with open(path) as file:
        for line in file.read().split('\n'):
            call, argument = CALL.match(line), ARGUMENT.match(line)
            if call:
                calls.append(call.group(1))
            elif argument:
                calls[-1] += ' ' + argument.group(1)
            elif line.startswith('## '):
                notes.append(line)
    return calls, notes


def read_log(room):
    """Reads what the target printed about its trace: the calls, the live resources at the end, and the kernel's
    mappings."""
    with open(room.path('log')) as file:
        lines = file.read().split('\n')[:-1]
    os.unlink(room.path('log'))
    left = [line.split()[1:] for line in lines if line.startswith('left ')]
    return ([line for line in lines if not line.startswith(('left ', 'maps '))],
            {kind: (int(count), int(units), int(line)) for kind, count, units, line in left},
            [line for line in lines if line.startswith('maps ')])


def is_meant(call, expected, numbers, is_static):
    """Compares a call with an expectation. Names of one function are separated by |: the first is the one that is
    called, but a static program does not distinguish them. A #word matches any number the first time, and the same number after that."""
    word = re.search('#[a-z]+', expected)
    if word and word[0] not in numbers:
        numbers[word[0]] = re.findall('0x[0-9a-f]+', call)[-1]
    if word:
        expected = expected.replace(word[0], numbers[word[0]])
    names, at, rest = re.match('([^<(]*)(.?)(.*)', expected).groups()
    return any(call == name + at + rest for name in names.split('|')[:None if is_static else 1])


def compare(calls, expected, is_static):
    numbers = {}
    for number, (one, other) in enumerate(zip(calls, expected)):
        if not is_meant(one, other, numbers, is_static):
            return ['record %d is %s, and not %s; the trace:\n  %s\nexpected:\n  %s' % (
                number + 1, one, other, '\n  '.join(calls[max(0, number - 5):number + 10]),
                '\n  '.join(expected[max(0, number - 5):number + 10]))]
    if len(calls) != len(expected):
        longer, words = (calls, 'too many') if len(calls) > len(expected) else (expected, 'missing')
        rest = longer[min(len(calls), len(expected)):]
        return ['%d records %s: %s' % (len(rest), words, '; '.join(rest[:10]))]
    return []


def leaks_of(room, trace, env=None):
    """Returns {kind: (count, units)} and the frames of the leaks, as functrace-postproc prints them."""
    done = room.run([POSTPROC, '-l', '-r', trace], env)
    text = done.out.decode(errors='replace')
    if done.status or unexpected(done.err):
        raise Failure('functrace-postproc -l: status %d: %s' % (done.status, done.err[-300:]))
    return text


def compare_leaks(text, left, source, with_lines):
    """Each leak must be an expected one, and its place in the source must be among the frames."""
    problems = []
    leaks = [m.group(1) for m in map(CALL.match, text.split('\n')) if m]
    wanted = sum(count for count, _, _ in left.values())
    if len(leaks) != wanted:
        problems.append('%d leaks, expected %d: %s' % (len(leaks), wanted, '; '.join(leaks[:10])))
    for kind, (count, _, line) in left.items():
        own = [leak for leak in leaks if '<%s>' % kind in leak] if any('<' in leak for leak in leaks) else leaks
        if len(own) != count:
            problems.append('%d leaks of %s, expected %d' % (len(own), kind, count))
        if line and with_lines and '%s:%d' % (source, line) not in text:
            problems.append('no leak of %s has the place %s:%d:\n%s' % (kind, source, line, text[-2000:]))
    return problems


class Run:
    """A scenario: the target of one kind runs in one build and one mode."""

    def __init__(self, kind, variant, mode):
        self.kind, self.variant, self.mode = kind, variant, mode

    def options(self):
        ways = {'plain': ['-b', '16'], 'all': ['-A', '-b', '64'], 'bare': ['-b', '0'], 'attach': []}
        return ['-e', self.kind.module, '-T'] + ways[self.mode] + self.kind.options

    def run(self, room):
        binary = builds.target(self.kind.target, self.variant)
        command = [binary] + [builds.library(a[9:-1], variant=self.variant) if a.startswith('{library:') else a
                              for a in self.kind.args]
        env = dict(self.kind.env)
        plain = room.run(command, env)
        if plain.out.startswith(b'skip: '):
            raise builds.Skip(plain.out[6:].decode(errors='replace').strip())
        env['KIND_LOG'] = room.path('log')
        traced = (self.attached if self.mode == 'attach' else self.launched)(room, command, env)
        problems = compare_runs(plain, traced)
        if problems:
            return problems + [traced.err.decode(errors='replace')[-1500:]], ''
        return self.judge(room, traced.err.decode(errors='replace'))

    def launched(self, room, command, env):
        return room.run([FUNCTRACE, '-f', 'text'] + self.options() + ['-o', room.path('trace')] + command, env)

    def attached(self, room, command, env):
        reason = may_attach()
        if reason:
            raise builds.Skip(reason)
        os.mkdir(room.path('traces'))
        gate = Gate()
        try:
            child = room.start(command, dict(env, **gate.env), pass_fds=gate.fds)
            gate.started()
            if not gate.arrived(child):
                raise Failure('the target ended before its gate')
            tracer = Tracer(room, child.pid, self.options())
            tracer.planted()
            gate.open()
            if not gate.arrived(child):
                raise Failure('the target ended before its second gate')
            problems = tracer.let_go()
            gate.open()
            done = room.finish(child)
        finally:
            gate.close()
        if problems:
            raise Failure('; '.join(problems))
        traces = os.listdir(room.path('traces'))
        if len(traces) != 1:
            raise Failure('%d traces' % len(traces))
        os.rename(room.path('traces', traces[0]), room.path('trace'))
        done.err += tracer.err
        return done

    def compare(self, room, calls):
        expected, left, maps = read_log(room)
        if not any('<' in call for call in calls):
            expected = [re.sub('<.*?>', '', line) for line in expected]
        if self.kind.own_ids:
            meant = {line.split(' = ')[1] for line in expected} | {'0x0'}
            calls = [call for call in calls if call.split(' = ')[1] in meant]
        problems = compare(calls, expected, 'static' in self.variant)
        if maps and not problems:
            problems = as_mapped(calls, maps)
        if not problems and self.mode != 'bare':
            text = leaks_of(room, room.path('trace'))
            problems += compare_leaks(text, left, self.kind.source, self.variant not in builds.WITHOUT_NAMES)
        return problems

    def judge(self, room, said):
        calls, notes = calls_of(room.path('trace'))
        problems = self.compare(room, calls) if self.kind.exact else []
        problems += ['functrace does not say: %s' % words for words in self.kind.said if not re.search(words, said)]
        problems += ['functrace says: %s' % words for words in self.kind.unsaid if words in said]
        problems += ['it is accused: ' + note for note in notes if 'releases 0x' in note]
        if self.kind.check:
            problems += self.kind.check(room, calls)
        if problems:
            problems.append('functrace said: ' + said[-1500:])
        return problems, '%d calls' % len(calls)


def cases():
    for kind in KINDS:
        for variant in kind.variants:
            if builds.PROCESSORS.get(variant) and builds.processor() not in builds.PROCESSORS[variant]:
                continue
            for mode in kind.modes:
                yield '%s [%s] %s' % (kind.label[7:], variant, mode), Run(kind, variant, mode).run


CASES = list(cases())
# And builds.library('kind_qobjectlib').
BUILDS = sorted({(kind.target, variant) for kind in KINDS for variant in kind.variants})
