#!/usr/bin/env python3
"""Scans of heaps of musl's old malloc, compared block by block with the log of a preloaded logger, in all states that a
heap can be in: dynamic and static, one thread and several, 64-bit and 32-bit; planted lost blocks; and threads that
only allocate. tests/guest/oldmusl builds this musl in build/guests; if that fails the test is skipped, with the reason.
GLIBC_SEED chooses the blocks. Prints TAP."""

import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile

from glibcs import CC, FUNCTRACE, GUESTS, PATIENCE, TARGETS, TOP_SRCDIR, Running, Skip, at_rest, report, runs

MODES = 'one', 'threads', 'exited', 'mapped', 'aligned', 'fragments', 'blocked', 'spread', 'fork'
STATIC = 'one', 'threads', 'mapped', 'aligned', 'blocked'
WRAPPED = 'malloc', 'calloc', 'realloc', 'reallocarray', 'memalign', 'aligned_alloc', 'posix_memalign', 'valloc', 'free'
SCANS = 10


class Library:
    """A musl with its old malloc, and the programs that are built with it."""

    def __init__(self, folder, root, bits):
        self.root, self.bits = root, bits
        self.folder = os.path.join(folder, '%d' % bits)
        os.mkdir(self.folder)
        with open(os.path.join(root, 'version')) as file:
            self.version = file.read().strip()

    def __str__(self):
        return 'musl %s, old malloc, %d bits' % (self.version, self.bits)

    def build(self, name, sources, *flags):
        """Builds a program once; returns its path."""
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            return path
        more = ['-m32', '-Wl,-melf_i386'] if self.bits == 32 else []  # musl's wrapper does not pass these on
        environment = dict(os.environ, REALGCC=CC[-1])
        command = [os.path.join(self.root, 'bin', 'musl-gcc'), '-O2', '-g', '-pthread', *more, *flags, '-o', path]
        done = subprocess.run(command + [os.path.join(TARGETS, s) for s in sources], capture_output=True, text=True,
                              env=environment)
        if done.returncode:
            raise Skip('the target cannot be built for it: ' + (done.stderr.strip().split('\n') or [''])[-1])
        return path

    def program(self, name, is_static):
        """Returns its path, and an environment with the logger."""
        if is_static:
            wraps = '-Wl' + ''.join(',--wrap=' + function for function in WRAPPED)
            return self.build(name + '-static', [name + '.c', 'heaplog.c'], '-static', '-s', '-DHEAPLOG_STATIC', wraps), {}
        return self.build(name, [name + '.c']), {'LD_PRELOAD': self.build('heaplog.so', ['heaplog.c'], '-shared', '-fPIC')}


def libraries(folder):
    """Returns (the available libraries, the reasons why others are missing)."""
    found, missing = [], []
    for bits in (64, 32) if platform.machine() == 'x86_64' else (64,):
        done = subprocess.run([os.path.join(TOP_SRCDIR, 'tests/guest/oldmusl'), str(bits)], capture_output=True, text=True,
                              env=dict(os.environ, ARM_GUEST_DIR=GUESTS), timeout=3600)
        if done.returncode:
            missing.append((bits, (done.stderr.strip().split('\n') or [''])[-1]))
            continue
        library = Library(folder, done.stdout.strip(), bits)
        if runs(library):
            found.append(library)
        else:
            missing.append((bits, 'no %d-bit programs can be built or run here' % bits))
    return found, missing


class Logged(Running):
    """A process that prints at its beginning which blocks the C library has by then; its threads are at rest during
    scans."""

    def __enter__(self):
        line = self.child.stdout.readline().split()
        if len(line) != 2 or line[0] != b'base':
            self.child.kill()
            raise Skip('the target does not run: %s' % (line or self.child.stderr.read()[-200:]))
        self.pid = int(line[1])
        try:
            self.base = self.seen()[1]
        except AssertionError as problem:
            if 'there is no heap' not in str(problem):
                raise
            self.base = {}
        self.child.stdin.write(b'g')
        self.child.stdin.flush()
        return super().__enter__()


def differences(process):
    (_, blocks), (seen, found) = at_rest(process)
    blocks, problems = dict(process.base, **blocks), []
    for what, these, those in (('missing', blocks, found), ('too many', found, blocks)):
        odd = sorted(these.keys() - those.keys())
        problems += ['%d blocks are %s: %s' % (len(odd), what, ['%s, %s' % (at, these[at]) for at in odd[:5]])] if odd else []
    odd = [at for at in blocks.keys() & found.keys() if blocks[at] != found[at]]
    problems += ['%d have another size: %s' % (len(odd), [(at, blocks[at], found[at]) for at in odd[:5]])] if odd else []
    return problems + process.end(), '%d blocks, %d of them the C library\'s own' % (len(blocks), len(process.base))


def in_mode(library, mode, seed, is_static):
    program, environment = library.program('heapmodes', is_static)
    with Logged([program, mode, str(seed)], library.folder, HEAPLOG_BASE='1', **environment) as process:
        return differences(process)


def look(pid):
    """Returns the output of one scan."""
    done = subprocess.run([FUNCTRACE, '--scan=json', '-t', str(pid)], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise AssertionError('status %d: %s' % (done.returncode, done.stderr))
    return json.loads(done.stdout)


def planted(library, threads, is_static, is_fixed=False):
    """Planted lost blocks are reported by functrace --scan. A static program that never releases anything contains no
    such malloc. If addresses are fixed, the memory of brk(2) directly follows the variables."""
    lost, linked = 1000, 2
    flags = ['-static', '-no-pie', '-Wl,-u,free'] if is_static else []
    program = library.build('planted' + '-static' * is_static, ['planted.c'], *flags)
    command = ['setarch', '-R'] * is_fixed + [program] + [str(n) for n in (threads, lost, linked)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        if child.stdout.readline() != b'ready\n':
            raise Skip('the target does not run')
        found = look(child.pid)
        child.communicate(b'', timeout=PATIENCE)
    counts = [found[name + '_lost']['blocks'] for name in ('definitely', 'indirectly', 'possibly')]
    problems = ['status %d' % child.returncode] if child.returncode else []
    problems += [] if counts == [lost, lost * linked, threads] else ['definitely, indirectly, possibly lost: %s' % counts]
    kept = found['still_reachable']['blocks']
    return problems + ([] if kept == threads * 1001 else ['still reachable: %d' % kept]), ''


def busy(library, threads, is_static):
    """Threads that only allocate: each scan has a consistent copy, and the threads run on."""
    unused, lost = 0, []
    program = library.build('busyheap' + '-static' * is_static, ['busyheap.c'], *['-static'] * is_static)
    with subprocess.Popen([program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        if child.stdout.readline() != b'ready\n':
            raise Skip('the target does not run')
        for _ in range(SCANS):
            found = look(child.pid)
            unused += found['inconsistent_copies']
            lost.append(found['definitely_lost']['blocks'])
        child.communicate(b'', timeout=PATIENCE)
    problems = ['the process ended with status %d' % child.returncode] if child.returncode else []
    # The address of a block that a thread is about to get may be in no register yet.
    problems += ['lost: %s' % lost] if max(lost) > max(threads, 1) else []
    return problems, '%d copies were not used by %d scans; lost: %s' % (unused, SCANS, lost)


def tests_of(library, seed):
    """(name, function)."""
    for mode in MODES:
        yield mode, lambda mode=mode: in_mode(library, mode, seed, False)
    for mode in STATIC:
        yield mode + ', static, stripped', lambda mode=mode: in_mode(library, mode, seed, True)
    for threads in 1, 5:
        for is_static in False, True:
            words = '%d thread%s%s' % (threads, 's' if threads > 1 else '', ', static' if is_static else '')
            yield 'planted, ' + words, lambda threads=threads, is_static=is_static: planted(library, threads, is_static)
    yield 'planted, 2 threads, static, fixed addresses', lambda: planted(library, 2, True, True)
    for threads in 0, 4:
        for is_static in False, True:
            words = '%s%s' % ('%d threads' % threads if threads else 'a thread', ', static' if is_static else '')
            yield 'busy, ' + words, lambda threads=threads, is_static=is_static: busy(library, threads, is_static)


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
        for bits, why in missing:
            number += 1
            print('ok %d - musl with its old malloc, %d bits # SKIP %s' % (number, bits, re.sub(r'\s+', ' ', why)))
    print('1..%d' % number)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
