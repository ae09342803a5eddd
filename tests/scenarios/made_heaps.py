"""Heaps of programs that a seed makes (tests/generate/heap_plans.py), in the builds of several compilers, C libraries and
allocators: the class of each block is what follows from what the program itself says of its pointers."""

import itertools
import json
import os
import re
import subprocess

import builds
import heap_plans
import heap_model
import kinds
from lifecycle import need_attach
from processes import FUNCTRACE, POSTPROC, Failure

THIRTY_TWO = builds.THIRTY_TWO
HAS_REGISTERS = builds.processor() in ('x86_64', 'i386')
MUSL = {'allocator': 'musl', 'contexts': False, 'second': False}
STATIC = {'libraries': False, 'second': False}

# name: (compiler, flags, the library that is loaded first, what heap_plans.Features says)
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
    """One way to build the program."""

    def __init__(self, name):
        compiler, flags, preload, features = BUILDS_OF_HEAPS[name]
        self.name, self.is_32_bit = name, '-m32' in flags
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


class NoScan(Failure):
    """Of a trace that says nothing of what is lost, nor why not."""


class Heap:
    """A plan, run by a build of the program: what is said of its blocks."""

    def __init__(self, room, build, seed, is_live, attempt=0):
        self.room, self.build, self.is_live = room, build, is_live
        self.title = '%s, seed %s, %s' % (build.name, seed, 'running' if is_live else 'at its end')
        self.plan = heap_plans.Plan(seed, build.features, is_live)
        tag = '%s-%d-%d' % (seed, is_live, attempt)
        self.plan_path, self.log_path, self.trace = (room.path(name + tag) for name in ('plan', 'log', 'trace'))
        with open(self.plan_path, 'w') as file:
            file.write(self.plan.text)
        self.command = [build.program, self.plan_path, self.log_path] + build.library
        self.pid, self.log, self.ways = None, None, {}

    def read_log(self):
        with open(self.log_path) as file:
            return heap_model.Log(file.read())

    def ready(self, line):
        if not re.fullmatch(rb'ready \d{10}\n', line):
            raise Failure('%s: it says %r' % (self.title, line))
        self.pid = int(line.split()[1])

    def look(self):
        """{address: class}, of the program that is running."""
        child = self.room.start(self.command, self.build.env, stdin=subprocess.PIPE)
        try:
            self.ready(child.stdout.readline())
            self.log = self.read_log()
            whys = ['--why=%#x' % address for address in self.log.starts]
            done = self.room.run([FUNCTRACE, '--scan=json', *whys, '-t', str(self.pid)])
            if done.status:
                raise Failure('%s: status %d: %s' % (self.title, done.status, done.err.decode()))
            said = json.loads(done.out)
            if said['bytes_unreadable'] or said['bytes_left_out'] or said['bytes_of_shared_left_out']:
                raise Failure('%s: not all is copied: %s' % (self.title, {k: v for k, v in said.items() if 'bytes_' in k}))
            end = self.room.finish(child, data=b'')
            if end.status:
                raise Failure('%s: it ended with %d: %s' % (self.title, end.status, end.out))
        finally:
            self.room.kill(child)
        self.ways = {int(why['address'], 16): why['path'] for why in said['why']}
        return {int(why['address'], 16): why['class'] for why in said['why']}

    def look_at_end(self):
        """The same of one that has ended; None: it is not known, which is said."""
        os.makedirs(self.trace)
        done = self.room.run([FUNCTRACE, '--scan', '-e', 'memory', '-f', 'text', '-b', '0', '-o', self.trace, '--', *self.command],
                             self.build.env)
        self.ready(done.out)
        self.log = self.read_log()
        found = dict.fromkeys(self.log.starts, heap_model.REACHABLE)
        paths = [name for name in os.listdir(self.trace) if name.startswith('%d-' % self.pid)]
        if len(paths) != 1:
            raise Failure('%s: traces: %s' % (self.title, os.listdir(self.trace)))
        text = self.room.run([POSTPROC, '-q', os.path.join(self.trace, paths[0])]).out.decode()
        # Threads that do nothing but allocate are inside malloc when they end; that is said.
        if self.plan.has_churn and '\n## scan <1> a thread is in the midst of malloc\n' in text:
            return None
        if text.count('\n## scan <1>\n') != 1:
            raise NoScan('%s: there is no scan: %s%s' % (self.title, done.err.decode(), text[-300:]))
        for address, name in re.findall(r'^## lost <1> (0x[0-9a-f]+) (\w+)$', text, re.M):
            found[int(address, 16)] = name + '_lost'
        return found

    def way(self, block):
        """How it is reached, if it is and that was asked for."""
        steps = [step.get('root') or '%s (%s)' % (step['address'], step['size']) if 'left_out' not in step else '...'
                 for step in self.ways.get(block) or ()]
        return '; way: ' + ' -> '.join(steps) if steps else ''

    def run(self):
        """What is wrong, and how many blocks there are."""
        found = self.look() if self.is_live else self.look_at_end()
        if found is None:
            return [], 0
        if self.build.features.allocator == 'jemalloc':
            self.log.know_slabs()
        if self.build.features.allocator == 'glibc':
            self.log.know_headers(2 * self.build.features.word)
        right = heap_model.allowed(self.log)
        # A thread that is inside malloc has addresses of headers and of blocks there, which count: none is lost by mistake.
        if self.plan.has_churn:
            right = {block: names | {heap_model.POSSIBLY, heap_model.REACHABLE} for block, names in right.items()}
        wrong = ['%s: %s, not %s: %s%s' % (self.title, found.get(block), ' or '.join(sorted(right[block])),
                                           heap_model.describe(self.log, block, self.plan.words), self.way(block))
                 for block in self.log.starts if found.get(block) not in right[block]]
        return wrong, len(right)


# The first seed, from a number on, whose plan for a running program is of that kind. musl keeps the variables of main's thread
# in a block when a library has some, too; in a child jemalloc counts the caches of threads that are not there.
IN_CHECK = (('gcc -O2', 1, None), ('gcc -O0', 2, None), ('clang -O3', 3, None), ('g++ -O2', 4, None), ('gcc -O2 -static', 5, None),
            ('gcc -O2 -m32', 6, None), ('musl -O2', 3, lambda plan: heap_plans.TLS in plan.kinds() and heap_plans.LIBRARY_TLS in plan.kinds()),
            ('jemalloc', 8, lambda plan: plan.forks_late and plan.has_workers), ('mimalloc', 9, None))


def run_heap(room, build, seed, is_live):
    """A thread that is killed in a stop of its own can end unseen, and then it is said that nothing is known: again."""
    for attempt in range(4):
        try:
            return Heap(room, build, seed, is_live, attempt).run()
        except NoScan:
            if attempt == 3:
                raise
    return None


def scenario(name, first, is_wanted):
    def run(room):
        need_attach()
        build, problems, count = Build(name), [], 0
        seed = next(n for n in itertools.count(first) if not is_wanted or is_wanted(heap_plans.Plan(n, build.features, True)))
        for is_live in (True, False):
            wrong, blocks = run_heap(room, build, seed, is_live)
            problems += wrong
            count += blocks
        return problems, '%d blocks, seed %d' % (count, seed)
    return run


CASES = [('made heaps [%s]' % name, scenario(name, seed, is_wanted)) for name, seed, is_wanted in IN_CHECK] if builds.processor() == 'x86_64' else []
