#!/usr/bin/env python3
"""Scans of heaps of several versions of glibc, in all states that a heap can be in: the blocks are compared with the
log of a preloaded logger, the figures with the process's own mallinfo; and planted lost blocks. Tests the installed C
library, and those that tests/guest/glibc fetches into build/guests; if that fails the test is skipped, with the reason.
GLIBC_SEED chooses the blocks. Prints TAP."""

import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

TOP_SRCDIR = os.path.abspath(os.environ.get('TOP_SRCDIR', os.path.join(os.path.dirname(__file__), '..', '..')))
TOP_BUILDDIR = os.path.abspath(os.environ.get('TOP_BUILDDIR', '.'))
FUNCTRACE = os.environ.get('FUNCTRACE', os.path.join(TOP_BUILDDIR, 'functrace'))
GUESTS = os.environ.get('ARM_GUEST_DIR', os.path.join(TOP_BUILDDIR, 'guests'))
HEAP_LIST = os.path.join(TOP_BUILDDIR, 'tests', 'unit', 'heap_list')
TARGETS = os.path.join(TOP_SRCDIR, 'tests', 'targets')
CC = os.environ.get('CC', 'gcc').split()
SUITES = 'oldoldstable', 'oldstable', 'stable', 'testing', 'unstable'
MODES = 'one', 'threads', 'exited', 'mapped', 'aligned', 'fragments', 'sbrk', 'blocked', 'both', 'spread', 'fork'
# (mode, tunables, the version that introduced them)
TUNED = [
    ('threads', 'hugetlb=1', (2, 35)), ('spread', 'hugetlb=1', (2, 35)), ('threads', 'hugetlb=2', (2, 35)),
    ('spread', 'hugetlb=2', (2, 35)), ('one', 'hugetlb=2', (2, 35)), ('threads', 'tcache_count=0', (2, 26)),
    ('threads', 'tcache_count=200', (2, 26)), ('exited', 'tcache_count=200', (2, 26)), ('fork', 'tcache_count=200', (2, 26)),
    ('threads', 'tcache_max=200000', (2, 42)), ('threads', 'arena_max=2', (2, 26)), ('threads', 'perturb=165', (2, 26)),
    ('threads', 'mxfast=0', (2, 30)), ('mapped', 'mmap_threshold=70000', (2, 26)), ('one', 'mmap_max=5', (2, 26))]
PATIENCE = 300  # seconds
PYTHON = '''
import sys, threading
kept = {number: [str(number)] * 3 for number in range(3000)}
done = threading.Semaphore(0)
hold = threading.Event()
def work():
    mine = [str(number) * 5 for number in range(2000)]
    del mine[::2]
    done.release()
    hold.wait()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    done.acquire()
print('ready', __import__('posix').getpid(), flush=True)
sys.stdin.read()
__import__('posix')._exit(0)
'''


class Skip(Exception):
    """A test cannot run here; the text is the reason."""


class Library:
    """A C library, and the programs that are built for it. root: the folder with its files; None: the installed one."""

    def __init__(self, folder, root=None, bits=64):
        self.root, self.bits = root, bits
        self.name = os.path.basename(root) if root else 'installed'
        self.folder = os.path.join(folder, '%s-%d' % (self.name, bits))
        os.mkdir(self.folder)
        if root:
            with open(os.path.join(root, 'version')) as file:
                said = file.read()
            # In Debian's folders the name of the processor is a part of the path.
            self.libraries = os.path.join(root, 'usr', 'lib32' if bits == 32 else 'lib/%s-linux-gnu' % platform.machine())
            loaders = [name for name in os.listdir(self.libraries) if re.fullmatch(r'ld-linux[\w-]*\.so\.\d', name)]
            self.loader = os.path.join(self.libraries, loaders[0])
        else:
            said = subprocess.run(['getconf', 'GNU_LIBC_VERSION'], capture_output=True, text=True, check=True).stdout.split()[1]
        self.version = tuple(int(word) for word in said.split('-')[0].split('.')[:2])

    def __str__(self):
        return 'glibc %d.%d%s (%s)' % (*self.version, '' if self.bits == 64 else ', 32 bits', self.name)

    def build(self, name, sources, *flags):
        """Builds a program once; returns its path."""
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            return path
        more = ['-m32'] if self.bits == 32 else []
        if self.root:
            more += ['--sysroot=' + self.root, '-B' + self.libraries, '-L' + self.libraries,
                     '-Wl,--dynamic-linker=' + self.loader, '-Wl,-rpath,' + self.libraries]
            # Functions that the machine's libgcc refers to and that are never called there.
            more += ['-Wl,--defsym=_dl_find_object=abort'] if '-static' in flags and self.version < (2, 35) else []
        more += ['-idirafter', (self.root or '') + '/usr/include/%s-linux-gnu' % platform.machine()]
        command = CC + ['-O2', '-g', '-pthread', *more, *flags, '-o', path] + [os.path.join(TARGETS, s) for s in sources]
        done = subprocess.run(command + ['-ldl'], capture_output=True, text=True)
        if done.returncode:
            raise Skip('the target cannot be built for it: ' + (done.stderr.strip().split('\n') or [''])[-1])
        return path

    def logger(self):
        return self.build('heaplog.so', ['heaplog.c'], '-shared', '-fPIC')

    def python(self):
        """The command of a python3 that runs with this library."""
        if self.bits == 32:
            raise Skip('there is no 32-bit python3')
        if not self.root:
            return [sys.executable]
        folder = os.path.join(self.root, 'usr', 'bin')
        names = [name for name in os.listdir(folder) if re.fullmatch(r'python3\.\d+', name)]
        return [self.loader, '--library-path', self.libraries, os.path.join(folder, names[0])]


def runs(library):
    """Returns true if programs for the library can be built, and run on this machine; most kernels run no 32-bit ones."""
    try:
        subprocess.run([library.build('heapmodes', ['heapmodes.c'])], capture_output=True, timeout=PATIENCE)
    except (OSError, Skip):
        return False
    return True


def libraries(folder):
    """Returns (the available libraries, the reasons why others are missing)."""
    found, missing = [], []
    for suite in (None,) + SUITES:
        root = None
        if suite:
            done = subprocess.run([os.path.join(TOP_SRCDIR, 'tests/guest/glibc'), suite], capture_output=True, text=True,
                                  env=dict(os.environ, ARM_GUEST_DIR=GUESTS), timeout=3600)
            if done.returncode:
                missing.append((suite, (done.stderr.strip().split('\n') or [''])[-1]))
                continue
            root = done.stdout.strip()
        library = Library(folder, root)
        if all(library.version != other.version for other in found):
            found.append(library)
            narrow = Library(folder, root, 32) if platform.machine() == 'x86_64' else None
            if narrow and runs(narrow):
                found.append(narrow)
            elif narrow:
                missing.append(('%s, 32 bits' % narrow.name, 'no 32-bit programs can be built or run here'))
    return found, missing


class Running:
    """A process whose threads are at rest, and which lists its own heap."""

    def __init__(self, command, folder, **environment):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=dict(os.environ, HEAPLOG=self.folder, **environment))

    def __enter__(self):
        line = self.child.stdout.readline().split()
        if len(line) != 2 or line[0] != b'ready':
            self.child.kill()
            raise Skip('the target does not run: %s' % (line or self.child.stderr.read()[-200:]))
        self.pid = int(line[1])
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()

    def own(self):
        """(figures, {address: size}) as the process lists them."""
        path = os.path.join(self.folder, str(self.pid))
        if os.path.exists(path):
            os.unlink(path)
        os.kill(self.pid, signal.SIGUSR1)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if self.child.poll() is not None or time.monotonic() > end:
                raise AssertionError('it does not say what it has: %s' % self.child.poll())
            time.sleep(0.01)
        with open(path) as file:
            lines = file.read().split('\n')
        assert lines[-2] == 'end', lines[-2]
        return lines[0], dict(line.split() for line in lines[1:-2])

    def seen(self):
        """The same from a scan, or the reason why there is none."""
        done = subprocess.run([HEAP_LIST, str(self.pid)], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise AssertionError('%s%s' % (done.stdout[:200], done.stderr))
        lines = done.stdout.strip().split('\n')
        return lines[0], dict(line.split()[:2] for line in lines[1:])

    def end(self):
        self.child.communicate(b'', timeout=PATIENCE)
        return ['the process ended with status %d' % self.child.returncode] if self.child.returncode else []


def at_rest(process):
    """Returns the process's own list and that of a scan, when the process's list is the same before and after the
    scan."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        before, seen, behind = process.own(), process.seen(), process.own()
        if before == behind:
            return before, seen
    raise AssertionError('it does not come to rest')


def differences(process, library):
    (figures, blocks), (seen, found) = at_rest(process)
    of, seen_of = figures.split(), seen.split()
    if library.version >= (2, 43):
        # hblkhd: malloc's sum is not the size of its mappings: 48 bytes may remain when there is no such block any
        # more.
        of[4] = seen_of[4]
    problems = [] if seen_of == of else ['the figures are %s, and not %s' % (seen, figures)]
    for what, these, those in (('missing', blocks, found), ('too many', found, blocks)):
        odd = sorted(these.keys() - those.keys())
        problems += ['%d blocks are %s: %s' % (len(odd), what, ['%s, %s' % (at, these[at]) for at in odd[:5]])] if odd else []
    odd = [at for at in blocks.keys() & found.keys() if blocks[at] != found[at]]
    problems += ['%d have another size: %s' % (len(odd), [(at, blocks[at], found[at]) for at in odd[:5]])] if odd else []
    return problems + process.end(), '%d blocks' % len(blocks)


def in_mode(library, mode, seed, tunables=None):
    environment = {'GLIBC_TUNABLES': ':'.join('glibc.malloc.' + word for word in tunables.split(':'))} if tunables else {}
    with Running([library.build('heapmodes', ['heapmodes.c']), mode, str(seed)], library.folder, LD_PRELOAD=library.logger(),
                 **environment) as process:
        return differences(process, library)


def static(library, mode, seed):
    program = library.build('heapmodes-static', ['heapmodes.c', 'heaplog.c'], '-static', '-s', '-DHEAPLOG_STATIC', '-Wl,-z,muldefs')
    with Running([program, mode, str(seed)], library.folder) as process:
        return differences(process, library)


def python(library):
    with Running(library.python() + ['-S', '-c', PYTHON], library.folder, LD_PRELOAD=library.logger(), PYTHONMALLOC='malloc') as process:
        return differences(process, library)


def planted(library):
    """Planted lost blocks are reported by functrace --scan."""
    threads, lost, linked = 5, 1000, 2
    with subprocess.Popen([library.build('planted', ['planted.c'])] + [str(n) for n in (threads, lost, linked)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        if child.stdout.readline() != b'ready\n':
            raise Skip('the target does not run')
        done = subprocess.run([FUNCTRACE, '--scan=json', '-t', str(child.pid)], capture_output=True, text=True, timeout=PATIENCE)
        child.communicate(b'', timeout=PATIENCE)
    if done.returncode or child.returncode:
        return ['status %d, %d: %s' % (done.returncode, child.returncode, done.stderr)], ''
    found = json.loads(done.stdout)
    counts = [found[name + '_lost']['blocks'] for name in ('definitely', 'indirectly', 'possibly')]
    return [] if counts == [lost, lost * linked, threads] else ['definitely, indirectly, possibly lost: %s' % counts], ''


def tests_of(library, seed):
    """(name, function)."""
    for mode in MODES:
        yield mode, lambda mode=mode: in_mode(library, mode, seed)
    for mode, tunables, since in TUNED:
        def tuned(mode=mode, tunables=tunables, since=since):
            if library.version < since:
                raise Skip('it needs glibc %d.%d or later' % since)
            return in_mode(library, mode, seed, tunables)
        yield '%s, %s' % (mode, tunables), tuned
    for mode in 'one', 'threads', 'mapped':
        yield mode + ', static, stripped', lambda mode=mode: static(library, mode, seed)
    yield 'python3', lambda: python(library)
    yield 'planted', lambda: planted(library)


def report(number, name, function):
    """Prints a line of TAP; returns true if the test has not failed."""
    try:
        problems, remark = function()
    except Skip as skip:
        problems, remark = [], 'SKIP %s' % skip
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        problems, remark = [str(problem)], ''
    print('%s %d - %s%s' % ('not ok' if problems else 'ok', number, name, ' # ' + remark if remark else ''), flush=True)
    for problem in problems:
        print('# ' + problem.replace('\n', '\n# '), flush=True)
    return not problems


def main():
    seed = int(os.environ.get('GLIBC_SEED', random.randrange(100000)))
    only = sys.argv[1:]
    number = failed = 0
    print('# GLIBC_SEED=%d' % seed)
    with tempfile.TemporaryDirectory() as folder:
        found, missing = libraries(folder)
        for library in found:
            for name, function in tests_of(library, seed):
                whole = '%s: %s' % (library, name)
                if all(word in whole for word in only):
                    number += 1
                    failed += not report(number, whole, function)
        for suite, why in missing:
            number += 1
            print('ok %d - glibc of %s # SKIP %s' % (number, suite, why))
    print('1..%d' % number)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
