"""Tests core files with contents that no kernel writes: --scan of such a file ends soon, with a message, and needs
little memory."""

import struct

import builds
from processes import FUNCTRACE

MEMORY_MAX = 3 << 20  # KiB of address space that functrace may use
READ, WRITE = 4, 2
TOP = 1 << 64
GIB = 1 << 30
VARIABLES = 0x600000000000
COOKIE = 0x1122334455667788


def note(kind, data, name=b'CORE\0\0\0\0'):
    return struct.pack('<III', 5, len(data), kind) + name + data + b'\0' * (-len(data) % 4)


def mapped_files(files):
    """Returns a note NT_FILE for a list of (start, end, path)."""
    data = struct.pack('<QQ', len(files), 4096)
    data += b''.join(struct.pack('<QQQ', start, end, 0) for start, end, _ in files)
    return note(0x46494c45, data + b''.join(path + b'\0' for _, _, path in files))


def write_core(path, segments, notes=b''):
    """Writes a core file of x86-64. A segment is (address, size in memory, the bytes in the file); all are writable."""
    at = 64 + 56 * (len(segments) + 1)
    headers, data = struct.pack('<IIQQQQQQ', 4, 0, at, 0, 0, len(notes), 0, 4), notes
    at += len(notes)
    for address, size, held in segments:
        headers += struct.pack('<IIQQQQQQ', 1, READ | WRITE, at, address % TOP, 0, len(held), size, 4096)
        data += held
        at += len(held)
    start = b'\x7fELF\2\1\1' + bytes(9)
    start += struct.pack('<HHIQQQIHHHHHH', 4, 62, 1, 0, 64, 0, 0, 64, 56, len(segments) + 1, 0, 0, 0)
    with open(path, 'wb') as file:
        file.write(start + headers + data)


def put(data, *words):
    for at, word in words:
        struct.pack_into('<Q', data, at, word % TOP)


def mimalloc_segment(address, slices):
    """Returns the first pages of a mimalloc segment. Its header states this number of slices of 64 KiB, all of which
    are one unused span."""
    data = bytearray(8192)
    put(data, (216, COOKIE ^ address), (224, slices), (232, 1), (248, min(slices, 512)), (256, 1))
    struct.pack_into('<II', data, 264, 1, 0)
    struct.pack_into('<I', data, 264 + 80, 511)
    return bytes(data)


def mimalloc(path, address, slices, behind):
    """Writes a core file with mimalloc's main heap in a program's variables, a segment, and memory after the segment
    that the file does not contain."""
    heap = bytearray(8192)
    put(heap, (0, VARIABLES + 4096), (2864, COOKIE), (2848, 1), (4096 + 16, VARIABLES))
    segments = [(VARIABLES, 8192, bytes(heap)), (address, 8192, mimalloc_segment(address, slices))]
    if behind:
        segments.append((address + 8192, behind, b''))
    write_core(path, segments, mapped_files([(VARIABLES, VARIABLES + 8192, b'/bin/program')]))


def holes(path, count, are_files):
    """Writes a core file with this number of mappings of 64 GiB, whose bytes it does not contain."""
    segments = [(0x10000 + 64 * GIB * i, 64 * GIB, b'') for i in range(count)]
    files = [(start, start + size, b'/nonexistent/%d' % i) for i, (start, size, _) in enumerate(segments)]
    write_core(path, segments, mapped_files(files) if are_files else b'')


def headed(path, **fields):
    """Writes a valid core file and then changes words of its headers: (place, struct format, value)."""
    write_core(path, [(0x10000, 4096, bytes(4096))])
    with open(path, 'r+b') as file:
        for place, form, value in fields.values():
            file.seek(place)
            file.write(struct.pack(form, value))


NOTES, LOAD = 64, 64 + 56  # offsets of the program headers
TRUNCATED = b'is truncated: by its headers it should have %s bytes, but it has 4,272.'
NO_HEAP = b'has no heap that functrace can read'
NO_MEMORY = b'it contains no memory of the process'
SEGMENT = 0x7e0000000000

CORES = [
    ('a segment at the end of the address space',
     lambda path: write_core(path, [(TOP - 4096, 4095, bytes(16))]), 1, NO_MEMORY),
    ('a segment in the last 32 MiB',
        lambda path: write_core(path, [(0x10000, 4096, bytes(4096)), (TOP - (32 << 20) + 4096, 8192, bytes(8192))]), 1, NO_HEAP),
    ('a segment below the first page', lambda path: write_core(path, [(0x10, 0x100, bytes(16))]), 1, NO_MEMORY),
    ('a segment in the first page',
     lambda path: write_core(path, [(0, 4096, bytes(4096)), (0x10000, 4096, bytes(4096))]), 1, NO_HEAP),
    ('a segment after the end of the file',
     lambda path: headed(path, offset=(LOAD + 8, '<Q', 1 << 20)), 1, TRUNCATED % b'1,052,672'),
    ('a segment that ends one byte after the end of the file',
     lambda path: headed(path, held=(LOAD + 32, '<Q', 4097)), 1, TRUNCATED % b'4,273'),
    ('a segment whose offset and size overflow',
     lambda path: headed(path, offset=(LOAD + 8, '<Q', TOP - 1), held=(LOAD + 32, '<Q', TOP - 1)), 1,
     TRUNCATED % b'18,446,744,073,709,551,615'),
    ('notes after the end of the file',
     lambda path: headed(path, held=(NOTES + 32, '<Q', 1 << 20)), 1, TRUNCATED % b'1,048,752'),
    ('an empty segment after the end of the file',
     lambda path: headed(path, offset=(LOAD + 8, '<Q', TOP - 1), held=(LOAD + 32, '<Q', 0)), 1, NO_MEMORY),
    ('program headers after the end of the file',
     lambda path: headed(path, place=(32, '<Q', 1 << 20)), 1, TRUNCATED % b'1,048,688'),
    ('more program headers than the file has room for',
     lambda path: headed(path, count=(56, '<H', 1000)), 1, TRUNCATED % b'56,064'),
    ('the number of program headers after the end of the file',
     lambda path: headed(path, count=(56, '<H', 0xffff), sections=(40, '<Q', 1 << 30), size=(58, '<H', 64)), 1,
     TRUNCATED % b'1,073,741,888'),
    ('a mapping of 64 GiB without bytes', lambda path: holes(path, 1, False), 1, NO_HEAP),
    ('a mapped file of 64 GiB', lambda path: holes(path, 1, True), 1, NO_HEAP),
    ('1000 mapped files of 64 GiB', lambda path: holes(path, 1000, True), 1, NO_HEAP),
    ('1000 mappings of 64 GiB without bytes', lambda path: holes(path, 1000, False), 1, NO_HEAP),
    ('mimalloc, a segment', lambda path: mimalloc(path, SEGMENT, 512, 32 << 20), 0, b'33,554,432 bytes  free in the arenas'),
    ('mimalloc, a segment of a terabyte', lambda path: mimalloc(path, SEGMENT, 1 << 24, 1 << 40), 0, b'1,099,511,627,776 bytes  free in the arenas'),
    ('mimalloc, a segment of 64 terabytes', lambda path: mimalloc(path, SEGMENT, 1 << 30, 1 << 46), 0, b'70,368,744,177,664 bytes  free in the arenas'),
    ('mimalloc, a segment beyond all addresses', lambda path: mimalloc(path, SEGMENT, (1 << 32) - 1, 32 << 20), 1, b'a segment has less memory than it says'),
    ('mimalloc, a segment at the end of all addresses', lambda path: mimalloc(path, TOP - (1 << 32), (1 << 32) - 1, 0), 1, NO_HEAP),
]


def limited(program, *arguments):
    with open(program, 'rb') as file:
        needs_all = b'__asan_init' in file.read()
    return ([] if needs_all else ['sh', '-c', 'ulimit -v %d; exec "$@"' % MEMORY_MAX, 'sh']) + [program, *arguments]


def hostile(room):
    if builds.processor() != 'x86_64':
        raise builds.Skip('the core files are of x86-64')
    problems = []
    for what, make, status, said in CORES:
        path = room.path('core')
        make(path)
        done = room.run(limited(FUNCTRACE, '--scan', '--core=' + path))
        if done.status != status or said not in (done.err if status else done.out):
            problems.append('%s: status %d: %s%s' % (what, done.status, done.out.decode(), done.err.decode()))
    return problems, '%d core files' % len(CORES)


CASES = [('--scan: core files with impossible contents', hostile)]
BUILDS = []
