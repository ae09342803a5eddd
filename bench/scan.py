"""Measures leak checks of heaps of several sizes, by functrace --scan and by other tools. Each round runs every tool
once."""

import ctypes
import json
import mmap
import os
import shlex
import shutil
import subprocess
import time

from programs import FUNCTRACE, Failure, Target, built, median

MIB = 1 << 20
PIECE = 4 * MIB
HUGEPAGE = 14


class Figures:
    """whole: duration of the whole check in seconds. stopped: time for which the program was stopped, in ns. memory:
    the checker's memory in bytes, including the program's if the checker is part of the program. disk: bytes on
    disk."""

    def __init__(self, whole, stopped=None, memory=None, disk=None):
        self.whole, self.stopped, self.memory, self.disk = whole, stopped, memory, disk


def run(room, command, timeout=1800):
    """Runs a command to its end. Returns its duration in seconds, its largest memory in bytes, and its output."""
    start = time.monotonic()
    out = room.path('said')
    with open(out, 'wb') as file:
        child = subprocess.Popen(command, cwd=room.folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                 env=dict(os.environ, LC_ALL='C', DEBUGINFOD_URLS=''))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - start
    with open(out, errors='replace') as file:
        text = file.read()
    if child.returncode:
        raise Failure('%s ended with %d: %s' % (command[0], child.returncode, text[-100:]))
    return took, usage.ru_maxrss * 1024, text


def gap(program):
    program.send('')
    return int(program.line('gap', 600)[0])


# ---- The checks: of a running program that has built its heap, and of whole runs of the program ----

class Iovec(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]


class Copy:
    """The floor: copies the bytes of the heap once, into memory whose pages exist already."""

    def __init__(self):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.process_vm_readv.restype = ctypes.c_ssize_t

    def once(self, pid, buffer, start, end):
        for at in range(0, end - start, PIECE):
            size = min(PIECE, end - start - at)
            local, remote = Iovec(buffer + at, size), Iovec(start + at, size)
            if self.libc.process_vm_readv(pid, ctypes.byref(local), ctypes.c_ulong(1), ctypes.byref(remote), ctypes.c_ulong(1),
                                          ctypes.c_ulong(0)) != size:
                raise Failure('the heap cannot be copied')

    def __call__(self, room, program, size):
        with open('/proc/%d/maps' % program.child.pid) as maps:
            heap = [line for line in maps if line.rstrip().endswith('[heap]')][0]
        start, end = (int(word, 16) for word in heap.split()[0].split('-'))
        memory = mmap.mmap(-1, end - start, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(HUGEPAGE)
        buffer = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        self.once(program.child.pid, buffer, start, end)
        began = time.monotonic()
        self.once(program.child.pid, buffer, start, end)
        took = time.monotonic() - began
        return Figures(took, took * 1e9, end - start)


def scan(room, program, size):
    gap(program)
    took, memory, text = run(room, [FUNCTRACE, '--scan=json', '-t', str(program.child.pid)])
    found = json.loads(text)
    blocks = size * MIB // 96
    if found['still_reachable']['blocks'] < blocks or found['definitely_lost']['blocks']:
        raise Failure('functrace does not find the blocks')
    return Figures(took, gap(program), memory)


def gcore(room, program, size):
    path = room.path('core')
    gap(program)
    took, memory, _ = run(room, ['gdb', '-q', '-nx', '-batch', '-p', str(program.child.pid), '-ex', 'generate-core-file ' + path])
    disk = os.stat(path).st_blocks * 512
    os.unlink(path)
    return Figures(took, gap(program), memory, disk)


def alone(room, size):
    return Figures(*run(room, [built('targets/blocks'), str(size)])[:1])


def valgrind(room, size):
    took, memory, text = run(room, ['valgrind', '--leak-check=full', '--show-leak-kinds=definite', built('targets/blocks'), str(size)])
    if 'still reachable' not in text:
        raise Failure('valgrind printed: ' + text[-100:])
    return Figures(took, None, memory)


def sanitized(room):
    """Compiles the program with LeakSanitizer, unless this was done before. Returns its path."""
    path = room.path('blocks-lsan')
    if not os.path.exists(path):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'targets', 'blocks.c')
        run(room, shlex.split(os.environ.get('CC', 'cc')) + ['-O2', '-fsanitize=leak', '-D_GNU_SOURCE', '-o', path, source])
    return path


def lsan(room, size):
    took, memory, _ = run(room, [sanitized(room), str(size)])
    return Figures(took, None, memory)


ATTACHED = [('one copy, warm (the floor)', Copy(), None), ('functrace --scan', scan, None), ('gdb generate-core-file (gcore)', gcore, 'gdb')]
WHOLE = [('the program alone', alone, None), ('valgrind --leak-check=full', valgrind, 'valgrind'), ('-fsanitize=leak', lsan, None)]


def taken(room, size, rounds):
    """Returns {name: [Figures]}; instead of the list, a text that says why a check is not possible."""
    figures = {name: [] for name, _, _ in ATTACHED + WHOLE}
    program = Target(room, [built('targets/blocks'), str(size), '--ask'])
    try:
        for _ in range(rounds):
            for name, take, needs in ATTACHED + WHOLE:
                if isinstance(figures[name], str):
                    continue
                try:
                    if needs and not shutil.which(needs):
                        raise Failure('%s is not installed' % needs)
                    figures[name].append(take(room, program, size) if (name, take, needs) in ATTACHED else take(room, size))
                except Failure as failure:
                    figures[name] = str(failure)
    finally:
        program.close()
    return figures


def middle(figures, name, field):
    values = [getattr(one, field) for one in figures[name]]
    return median(values) if values and None not in values else None


def words(value, form):
    return '' if value is None else form % value


def show(room, sizes, rounds):
    """Prints a table for each size. Returns {size: (pause of functrace --scan in ms per MiB, its ratio to the
    floor)}."""
    result = {}
    for size in sizes:
        figures = taken(room, size, rounds)
        base = middle(figures, 'functrace --scan', 'whole') if not isinstance(figures['functrace --scan'], str) else None
        print('%d MiB, %d blocks' % (size, size * MIB // 96))
        print('  %-32s %12s %10s %9s %12s %9s' % ('', 'stopped, ms', 'whole, s', 'x scan', 'memory, MiB', 'disk, MiB'))
        for name, found in figures.items():
            if isinstance(found, str):
                print('  %-32s %s' % (name, found[:80]))
                continue
            whole = middle(figures, name, 'whole')
            stopped, memory, disk = (middle(figures, name, field) for field in ('stopped', 'memory', 'disk'))
            print('  %-32s %12s %10.3f %9s %12s %9s' % (
                name, words(stopped and stopped / 1e6, '%.1f'), whole, words(base and whole / base, '%.1f'),
                words(memory and memory / MIB, '%.0f'), words(disk and disk / MIB, '%.0f')), flush=True)
        pauses, floors = figures['functrace --scan'], figures['one copy, warm (the floor)']
        if isinstance(pauses, list) and isinstance(floors, list):
            result[size] = (middle(figures, 'functrace --scan', 'stopped') / 1e6 / size,
                            median([one.stopped / other.stopped for one, other in zip(pauses, floors)]))
            print('  functrace: the program is stopped for %.2f ms per MiB, %.2f x the floor' % result[size])
    return result
