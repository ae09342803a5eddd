"""Tests scans of heaps that are generated from a seed (tests/generate/heap_plans.py), with several compilers, C
libraries and allocators: the class of each block must follow from the pointers that the program itself logs."""

import itertools
import json
import os
import re
import signal
import struct
import subprocess

import builds
import heap_plans
import heap_model
import heap_valgrind
import kinds
from lifecycle import need_attach
from processes import FUNCTRACE, PATIENCE, POSTPROC, Failure, living_task, probes_in_turn
from rounds import LONG

THIRTY_TWO = builds.THIRTY_TWO
HAS_REGISTERS = builds.processor() in ('x86_64', 'i386')
MUSL = {'allocator': 'musl', 'contexts': False, 'second': False}
STATIC = {'libraries': False, 'second': False}

# name: (compiler, flags, preloaded library, arguments of heap_plans.Features)
BUILDS_OF_HEAPS = {
    'gcc -O0': ('gcc', ['-O0'], None, {}),
    'gcc -O1': ('gcc', ['-O1'], None, {}),
    'gcc -O2': ('gcc', ['-O2'], None, {}),
    'gcc -O3': ('gcc', ['-O3', '-fomit-frame-pointer'], None, {}),
    'clang -O0': ('clang', ['-O0'], None, {}),
    'clang -O1': ('clang', ['-O1'], None, {}),
    'clang -O2': ('clang', ['-O2'], None, {}),
    'clang -O3': ('clang', ['-O3'], None, {}),
    'g++ -O0': ('g++', ['-O0'], None, {}),
    'g++ -O2': ('g++', ['-O2'], None, {}),
    'clang++ -O2': ('clang++', ['-O2'], None, {}),
    'g++ -O2 -no-pie': ('g++', ['-O2', '-no-pie', '-fno-pie'], None, {'has_tables': None}),
    'gcc -O2 -static': ('gcc', ['-O2', '-static'], None, STATIC),
    'gcc -O2 -static-pie': ('gcc', ['-O2', '-static-pie', '-fPIE'], None, STATIC),
    'gcc -O0 -m32': ('gcc', ['-O0', *THIRTY_TWO], None, {}),
    'gcc -O2 -m32': ('gcc', ['-O2', *THIRTY_TWO], None, {}),
    'g++ -O2 -m32': ('g++', ['-O2', *THIRTY_TWO], None, {}),
    'clang -O3 -m32': ('clang', ['-O3', *THIRTY_TWO], None, {}),
    'gcc -O2 -m32 -static': ('gcc', ['-O2', '-static', *THIRTY_TWO], None, STATIC),
    'musl -O2': ('musl-gcc', ['-O2'], None, MUSL),
    'musl -O0': ('musl-gcc', ['-O0'], None, MUSL),
    'musl -O2 -static': ('musl-gcc', ['-O2', '-static'], None, {**MUSL, **STATIC}),
    'jemalloc': ('gcc', ['-O2'], 'libjemalloc.so.2', {'allocator': 'jemalloc', 'second': False}),
    'jemalloc, C++': ('g++', ['-O1'], 'libjemalloc.so.2', {'allocator': 'jemalloc', 'second': False}),
    'mimalloc': ('gcc', ['-O2'], 'libmimalloc.so.2.0', {'allocator': 'mimalloc', 'second': False}),
    'mimalloc, C++': ('g++', ['-O1'], 'libmimalloc.so.2.0', {'allocator': 'mimalloc', 'second': False}),
}
SOURCES = ('heaps.c', 'heaps.h', 'heaps_blocks.h', 'heaps_places.h', 'heaps_threads.h', 'target.h')
OF_C = {'g++': 'gcc', 'clang++': 'clang'}


class Build:
    """One of the builds of the program."""

    def __init__(self, name):
        compiler, flags, preload, features = BUILDS_OF_HEAPS[name]
        self.name, self.is_32_bit = name, '-m32' in flags
        # If the heap has low addresses, numbers look like pointers into it.
        self.is_low = self.is_32_bit or '-no-pie' in flags or '-static' in flags
        is_narrow = self.is_32_bit or builds.processor() in ('i386', 'arm')
        cxx, tag = compiler.endswith('++'), re.sub('[^a-z0-9+-]', '', name.lower())
        self.features = heap_plans.Features(word=4 if is_narrow else 8, cxx=cxx, general=(3 if is_narrow else 6) * HAS_REGISTERS,
                                       vectors=8 * HAS_REGISTERS, **features)
        command = [compiler, *(['-x', 'c++'] if cxx else []), '-g', '-w', '-fno-builtin', '-pthread', *flags,
                   *([] if self.features.contexts else ['-DNO_CONTEXTS']), *([] if self.features.libraries else ['-DNO_LIBRARIES'])]
        self.program = builds.compiled('heaps-' + tag, command, SOURCES, ['-ldl'] if self.features.libraries else [])
        self.library = [builds.compiled('libheaps-%s.so' % tag, [OF_C.get(compiler, compiler), '-shared', '-fPIC',
                                         *(flag for flag in flags if 'pie' not in flag)],
                                        ['heaps_library.c'])] if self.features.libraries else []
        self.env = {'LD_PRELOAD': kinds.find_library(preload)} if preload else None


WAYS = {'live': 'running', 'end': 'at its end', 'core': 'in a core file', 'valgrind': 'beside valgrind'}


def pages_at(memory, at, size):
    """Returns bytes of a process's memory; zeros for pages that cannot be read."""
    try:
        return os.pread(memory.fileno(), size, at)
    except OSError:
        return bytes(size) if size <= 4096 else b''.join(pages_at(memory, at + i, 4096) for i in range(0, size, 4096))


class NoScan(Failure):
    """Raised if a trace contains neither lost blocks nor the reason why they are unknown."""


class Heap:
    """A plan that a build of the program follows, and the classes that functrace reports of its blocks."""

    def __init__(self, room, build, seed, way, attempt=0):
        self.room, self.build, self.way = room, build, way
        self.title = '%s, seed %s, %s' % (build.name, seed, WAYS[way])
        self.probes = probes_in_turn(seed)
        self.plan = heap_plans.Plan(seed, build.features, way != 'end')
        tag = '%s-%s-%d' % (seed, way, attempt)
        self.plan_path, self.log_path, self.trace = (room.path(name + tag) for name in ('plan', 'log', 'trace'))
        with open(self.plan_path, 'w') as file:
            file.write(self.plan.text if way != 'valgrind' else self.plan.alone())
        self.command = [build.program, self.plan_path, self.log_path] + build.library
        self.pid, self.log, self.paths, self.is_partial = None, None, {}, False
        self.words, self.before = {}, {}

    def read_log(self):
        with open(self.log_path) as file:
            return heap_model.Log(file.read())

    def ready(self, line):
        if not re.fullmatch(rb'ready \d{10}\n', line):
            raise Failure('%s: it says %r' % (self.title, line))
        self.pid = int(line.split()[1])

    def scan(self, *of):
        """Scans a process or a core file; returns {address: class}, or None if functrace reports that the classes are
        unknown."""
        whys = ['--why=%#x' % address for address in self.log.starts]
        done = self.room.run([FUNCTRACE, '--scan=json', *whys, *of])
        # A thread that only allocates may be inside malloc when the core file is written.
        if self.way == 'core' and self.plan.has_churn and b'A thread was inside malloc' in done.err:
            return None
        if done.status:
            raise Failure('%s: status %d: %s' % (self.title, done.status, done.err.decode()))
        said = json.loads(done.out)
        # The kernel does not write private pages that were never touched, so functrace reports them as missing from the
        # core file.
        self.is_partial = self.way == 'core' and said['bytes_unreadable'] > 0
        if (said['bytes_unreadable'] and not self.is_partial) or said['bytes_left_out'] or said['bytes_of_shared_left_out']:
            raise Failure('%s: not all is copied: %s' % (self.title, {k: v for k, v in said.items() if 'bytes_' in k}))
        self.paths = {int(why['address'], 16): why['path'] for why in said['why']}
        return {int(why['address'], 16): why['class'] for why in said['why']}

    def look(self):
        """Scans the running program; returns {address: class}."""
        child = self.room.start(self.command, self.build.env, stdin=subprocess.PIPE)
        try:
            self.ready(child.stdout.readline())
            self.log = self.read_log()
            found = self.scan('-t', str(self.pid))
            self.read_words()
            self.read_before()
            end = self.room.finish(child, data=b'')
            if end.status:
                raise Failure('%s: it ended with %d: %s' % (self.title, end.status, end.out))
        finally:
            self.room.kill(child)
        return found

    def look_at_core(self):
        """Does the same with a core file that the kernel writes of the program."""
        with open('/proc/sys/kernel/core_pattern') as file:
            pattern = file.read().strip()
        if re.search('[/|%]', pattern):
            raise builds.Skip('core files are named ' + pattern)
        with_all = 'echo 0x7f > /proc/self/coredump_filter; ulimit -c unlimited; exec "$0" "$@"'
        child = self.room.start(['sh', '-c', with_all, *self.command], self.build.env, stdin=subprocess.PIPE)
        try:
            self.ready(child.stdout.readline())
            self.log = self.read_log()
            self.read_words()
            self.read_before()
            os.kill(self.pid, signal.SIGQUIT)
            # The program's input must stay open until the program has ended.
            child.wait(60 * PATIENCE)
            end = self.room.finish(child)
        finally:
            self.room.kill(child)
        names = [name for name in os.listdir(self.room.folder) if re.fullmatch(r'core(\.%d)?' % self.pid, name)]
        if not names:
            raise Failure('%s: there is no core file, it ended with %d: %s' % (self.title, end.status, end.err))
        path = self.room.path(names[0])
        try:
            return self.scan('--core=' + path)
        finally:
            os.unlink(path)

    def look_by_valgrind(self):
        """Returns {address: class}, as valgrind reports them. The log is that of the run with valgrind."""
        prefix = '--vgdb-prefix=' + self.room.path('vgdb')
        child = self.room.start(['valgrind', *heap_valgrind.OPTIONS, prefix, '--log-file=' + self.room.path('valgrind.%p'), *self.command],
                                self.build.env, stdin=subprocess.PIPE)
        try:
            self.ready(child.stdout.readline())
            self.log = self.read_log()
            asked = [self.room.run(['vgdb', prefix, '--pid=%d' % self.pid, *words])
                     for words in (['leak_check', 'full', 'any', 'heuristics', 'all'], ['block_list', '1..1000000', 'unlimited'])]
            if any(done.status for done in asked):
                raise Failure('%s: vgdb: %s' % (self.title, [done.err[-300:] for done in asked]))
            self.room.finish(child, data=b'')
        finally:
            self.room.kill(child)
        return heap_valgrind.classes(asked[1].out.decode())

    def read_before(self):
        """mimalloc leaves old words in the memory before an aligned block."""
        if self.build.features.allocator == 'mimalloc':
            with open('/proc/%d/mem' % self.thread(), 'rb', 0) as memory:
                for block in self.plan.blocks:
                    at = self.log.addresses.get(block.number)
                    if block.how in heap_plans.ALIGNED and at in self.log.blocks:
                        self.before[at] = struct.unpack('<512Q', pages_at(memory, at - 4096, 4096))

    def know_before(self):
        """Adds the words before aligned blocks. They count, because a scan without a trace does not know where in its
        slot a block begins. --why shows the slot."""
        slots, paddings = {}, {}
        for block, words in self.before.items():
            step = (self.paths.get(block) or [{}])[-1]
            slot, size = int(step.get('address', '0'), 16), step.get('size')
            if not block - 4096 < slot <= block or slot + size != block + self.log.blocks[block]:
                raise Failure('%s: block %d at %#x is not at the end of its slot at %#x, %s bytes' % (
                    self.title, self.log.numbers[block], block, slot, size))
            slots[block] = slot
            paddings.update((at, words[(at - block) // 8]) for at in range(slot, block, 8))
        insides = {block: self.plan.blocks[number].inside for block, number in self.log.numbers.items()}
        self.log.know_slots(slots, paddings, insides)

    def thread(self):
        """Returns a thread of the process that has not ended."""
        folder = living_task(self.pid)
        if '/task/' not in folder:
            raise Failure('%s: it has ended' % self.title)
        return int(os.path.basename(folder))

    # ---- Words that look like pointers ----

    def read_words(self):
        """Reads the words of memory that may be roots, {address: word}, if numbers look like pointers in this build."""
        if not self.build.is_low:
            return
        width, form = (4, 'I') if self.build.features.word == 4 else (8, 'Q')
        low, high = self.log.starts[0], self.log.starts[-1] + self.log.blocks[self.log.starts[-1]]
        thread = self.thread()
        with open('/proc/%d/maps' % thread) as maps, open('/proc/%d/mem' % thread, 'rb', 0) as memory:
            for line in maps:
                match = re.match(r'([0-9a-f]+)-([0-9a-f]+) rw', line)
                start, end = (int(number, 16) for number in match.groups()) if match else (0, 0)
                if not match or end - start > 64 << 20:
                    continue
                for at in range(start, end, 1 << 16):
                    data = pages_at(memory, at, min(end - at, 1 << 16))
                    for i, word in enumerate(struct.unpack('<%d%s' % (len(data) // width, form), data)):
                        if low <= word < high:
                            self.words[at + i * width] = word

    def lookalikes(self, wrong):
        """Returns {block: (where, word)}: the word in a root at which the path to each of these blocks begins. The word
        must be there, and must not be one of the plan's pointers."""
        out = {}
        for block in wrong:
            path = self.paths.get(block) or [{}]
            at, first = int(path[0].get('at', '0'), 16), int(path[min(1, len(path) - 1)].get('address', '0'), 16)
            word = self.words.get(at)
            if word is None or self.log.find(at) is not None or self.log.find(word) != first:
                continue
            if all(planted != word for _, planted, _ in self.log.roots):
                out[block] = at, word
        return out

    def look_at_end(self):
        """Does the same as look() at the program's end."""
        os.makedirs(self.trace)
        done = self.room.run([FUNCTRACE, *self.probes, '--scan', '-e', 'memory', '-f', 'text', '-b', '0', '-o', self.trace, '--', *self.command],
                             self.build.env)
        self.ready(done.out)
        self.log = self.read_log()
        found = dict.fromkeys(self.log.starts, heap_model.REACHABLE)
        paths = [name for name in os.listdir(self.trace) if name.startswith('%d-' % self.pid)]
        if len(paths) != 1:
            raise Failure('%s: traces: %s' % (self.title, os.listdir(self.trace)))
        text = self.room.run([POSTPROC, '-q', os.path.join(self.trace, paths[0])]).out.decode()
        # Threads that only allocate are inside malloc when the program ends, which functrace reports.
        if self.plan.has_churn and '\n## scan <1> a thread is inside malloc\n' in text:
            return None
        if text.count('\n## scan <1>\n') != 1:
            raise NoScan('%s: there is no scan: %s%s' % (self.title, done.err.decode(), text[-300:]))
        for address, name in re.findall(r'^## lost <1> (0x[0-9a-f]+) (\w+)$', text, re.M):
            found[int(address, 16)] = name + '_lost'
        return found

    def way_to(self, block):
        """Returns the path from a root to a block, if the block is reachable and --why was given."""
        steps = [step.get('root') or '%s (%s)' % (step['address'], step['size']) if 'left_out' not in step else '...'
                 for step in self.paths.get(block) or ()]
        return '; way: ' + ' -> '.join(steps) if steps else ''

    def right(self):
        """Returns {address: the allowed classes}."""
        right = heap_model.allowed(self.log)
        # A thread inside malloc has addresses of headers and blocks in registers and on its stack, and these count as
        # pointers: no block is wrongly reported as lost.
        if self.plan.has_churn:
            right = {block: names | {heap_model.POSSIBLY, heap_model.REACHABLE} for block, names in right.items()}
        if self.is_partial:
            right = {block: {heap_model.POSSIBLY if name in (heap_model.DEFINITELY, heap_model.INDIRECTLY) else name for name in names}
                     for block, names in right.items()}
        return right

    def run(self):
        """Scans the program and compares the classes."""
        found = {'live': self.look, 'end': self.look_at_end, 'core': self.look_at_core}[self.way]()
        answer = Answer()
        if found is None:
            return answer
        if self.build.features.allocator == 'jemalloc':
            self.log.know_slabs()
        if self.build.features.allocator == 'glibc':
            self.log.know_headers(2 * self.build.features.word)
        self.know_before()
        if self.build.features.allocator == 'mimalloc':
            self.log.know_alignment()
        right = self.right()
        answer.wrong = [block for block in self.log.starts if found.get(block) not in right[block]]
        alike = self.lookalikes(answer.wrong)
        for at, word in set(alike.values()):
            self.log.know_lookalike(word, at)
        if alike:
            right = self.right()
            answer.wrong = [block for block in self.log.starts if found.get(block) not in right[block]]
            answer.alike = ['%s: %#x at %#x looks like a pointer to block %d' % (
                self.title, word, at, self.log.numbers[self.log.find(word)]) for at, word in sorted(set(alike.values()))]
        said = {block: '%s: %s, not %s: %s%s' % (self.title, found.get(block), ' or '.join(sorted(right[block])),
                                                heap_model.describe(self.log, block, self.plan.words), self.way_to(block))
                for block in answer.wrong}
        answer.numbers = {self.log.numbers[self.log.find(word)] for _, word in alike.values()}
        # The word may be in a block that does not belong to the plan, or in memory that no longer exists. Then another
        # run, with other addresses, decides.
        if self.build.is_low:
            kept = [block for block in answer.wrong if found.get(block) in (heap_model.POSSIBLY, heap_model.REACHABLE)]
            answer.alike += [said[block] for block in kept]
            answer.numbers |= {self.log.numbers[block] for block in kept}
            answer.wrong = [block for block in answer.wrong if block not in kept]
        answer.problems = [said[block] for block in answer.wrong]
        answer.blocks = len(right)
        answer.classes = {self.log.numbers[block]: name for block, name in found.items() if block in right}
        return answer


class Answer:
    """The result of a run. alike: words that looked like pointers and were none; reasons: why valgrind's classes
    differ."""

    def __init__(self, problems=(), blocks=0):
        self.problems, self.blocks, self.wrong, self.alike = list(problems), blocks, [], []
        self.classes, self.numbers, self.reasons = {}, set(), {}


def compare_with_valgrind(room, build, seed):
    """Compares functrace's classes of the blocks of a plan with valgrind's."""
    ours, heap = run_heap(room, build, seed, 'live'), Heap(room, build, seed, 'valgrind')
    # vgdb(1) can attach neither to a forked child nor to a process whose first thread has ended.
    if heap.plan.forks_late or heap.plan.is_leaderless:
        return ours
    theirs = heap.look_by_valgrind()
    answer = Answer([], len(theirs) and len(heap.log.starts))
    problems, answer.reasons = heap_valgrind.differences(heap.log, heap.plan, theirs, {} if heap.plan.has_churn else ours.classes)
    answer.problems = ours.problems + ['%s: %s' % (heap.title, problem) for problem in problems]
    return answer


# For each build: its name, the number from which a seed is searched for, and the condition that the seed's plan for a
# running program must fulfil. If a library has TLS, musl keeps the variables of main's thread in a block, too; in a
# child jemalloc counts the caches of threads that do not exist there.
IN_CHECK = (('gcc -O2', 1, None), ('gcc -O1', 1, lambda plan: plan.is_leaderless), ('gcc -O0', 2, None), ('clang -O3', 3, None), ('g++ -O2', 4, None), ('gcc -O2 -static', 5, None),
            ('gcc -O2 -m32', 6, None), ('musl -O2', 3, lambda plan: heap_plans.TLS in plan.kinds() and heap_plans.LIBRARY_TLS in plan.kinds()),
            ('jemalloc', 8, lambda plan: plan.forks_late and plan.has_workers), ('mimalloc', 9, None))


def run_heap(room, build, seed, way):
    """Repeats a run in which a thread was killed in a stop of its own and ended unseen, so that functrace reports
    nothing. Repeats also a run in which a number looked like a pointer: this happens by chance, and at other addresses
    the number does not point to the block."""
    alike, numbers = [], set()
    for attempt in range(4):
        try:
            answer = Heap(room, build, seed, way, attempt).run()
        except NoScan:
            if attempt == 3:
                raise
            continue
        if answer.numbers & numbers:
            answer.problems += ['%s again, so that it is none by chance' % text for text in answer.alike]
        alike, numbers = alike + answer.alike, numbers | answer.numbers
        if not answer.alike or answer.problems:
            break
    answer.alike = alike
    return answer


def scenario(name, first, is_wanted):
    def run(room):
        need_attach()
        build, problems, count = Build(name), [], 0
        seed = next(n for n in itertools.count(first) if not is_wanted or is_wanted(heap_plans.Plan(n, build.features, True)))
        for way in ('live', 'end', 'core') if LONG else ('live', 'end'):
            answer = run_heap(room, build, seed, way)
            problems += answer.problems
            count += answer.blocks
        return problems, '%d blocks, seed %d' % (count, seed)
    return run


CASES = [('generated heaps [%s]' % name, scenario(name, seed, is_wanted)) for name, seed, is_wanted in IN_CHECK] if builds.processor() == 'x86_64' else []
