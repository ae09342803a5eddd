"""functrace --scan of programs whose allocator is a library: jemalloc or mimalloc. (tests/unit/heap_allocators.c tests
how their blocks are read.)"""

import json
import os
import shutil
import signal
import socket
import subprocess

import builds
import kinds
import lost
import scans
from lifecycle import need_attach
from processes import FUNCTRACE, Failure, rounds, wait_for
from scans import Target, compare, of_size

JEMALLOC, MIMALLOC = 'libjemalloc.so.2', 'libmimalloc.so.2.0'
BUILDS = [('planted', 'O2'), ('busyheap', 'O2'), ('aligned', 'O2')]


def preloaded(library):
    return {'LD_PRELOAD': kinds.find_library(library)}


def need_processor():
    if builds.processor() != 'x86_64':
        raise builds.Skip('functrace reads heaps of jemalloc and mimalloc on x86-64 only')


def check_planted(target, threads, count):
    """Both allocators round 56 bytes up to 64, 40 bytes to 48, and 72 bytes to 80. Of some blocks the target has only a
    pointer to the middle; a register may still have a pointer to such a block's start."""
    problems, found = target.look()
    if not problems:
        problems = compare(found, definitely_lost=(count * 64, count), indirectly_lost=(0, 0))
        halves = of_size(found, 112, 'possibly_lost') + of_size(found, 112, 'still_reachable')
        if halves != threads or found['possibly_lost']['blocks'] > threads:
            problems.append('%d halves, %s' % (halves, found['possibly_lost']))
        if of_size(found, 80, 'still_reachable') < threads * 1000:
            problems.append('only %d bytes of the kept blocks are still reachable' % of_size(found, 80, 'still_reachable'))
    return problems


def planted(room, library, threads=4):
    need_processor()
    problems = []
    with Target(room, 'planted', 'O2', threads, 4000, env=preloaded(library)) as target:
        for _ in range(3):
            problems += check_planted(target, threads, 4000)
        done = target.scan()
        if b'The allocator (%s):' % library[3:11].encode() not in done.out:
            problems.append('wrong allocator: %s' % done.out[-400:].decode())
        problems += target.end()
    return problems, ''


def large(room, library):
    """A lost block of 3 GiB. The allocators remember for each thread the GiB that it used last, and that number is also
    an address inside the block."""
    need_processor()
    with Target(room, 'largelost', 'O2', env=preloaded(library)) as target:
        problems, found = target.look()
        problems = problems or compare(found, definitely_lost=(3 << 30, 1), possibly_lost=(0, 0))
        problems += target.end()
    return problems, ''


def led(room, library):
    need_processor()
    with Target(room, 'planted', 'O2', 3, 900, 5, env=preloaded(library)) as target:
        problems, found = target.look()
        problems = problems or compare(found, definitely_lost=(900 * 64, 900), indirectly_lost=(4500 * 48, 4500))
        problems += target.end()
    return problems, ''


def linked(room):
    """A program that is linked with jemalloc."""
    need_processor()
    archive, program = kinds.find_library('libjemalloc.a'), room.path('linked')
    done = room.run([*builds.CC, '-O2', '-D_GNU_SOURCE', '-pthread', '-I', os.path.join(builds.TOP_SRCDIR, 'src'), '-I', builds.TOP_BUILDDIR,
                     '-o', program, os.path.join(builds.SOURCES, 'planted.c'), archive, '-lm'])
    if done.status:
        raise builds.Skip('the program cannot be linked: %s' % done.err[-200:].decode())
    problems = []
    with Target(room, program, None, 4, 4000) as target:
        for _ in range(3):
            problems += check_planted(target, 4, 4000)
        problems += target.end()
    return problems, ''


def busy(room, library, threads, count):
    need_processor()
    problems, unused = [], 0
    with Target(room, 'busyheap', 'O2', threads, env=preloaded(library)) as target:
        for _ in range(count):
            more, found = target.look()
            problems += more or compare(found, definitely_lost=(0, 0), indirectly_lost=(0, 0), possibly_lost=(0, 0))
            unused += found['inconsistent_copies'] if found else 0
        problems += target.end()
    return problems, '%d copies were not used' % unused


def let_go(room, library):
    """When functrace detaches, threads are stopped at the entries of the allocator's functions, but are not yet inside
    these."""
    need_processor()
    return lost.busy(room, 2, preloaded(library))


def core(room, library):
    need_processor()
    if not shutil.which('gdb'):
        raise builds.Skip('gdb is not installed')
    path = room.path('gcore')
    with Target(room, 'planted', 'O2', 1, 900, 5, env=preloaded(library)) as target:
        room.run(['gdb', '-batch', '-p', str(target.pid), '-ex', 'generate-core-file ' + path])
        problems, found = scans.of_core(room, path)
        problems = problems or compare(found, definitely_lost=(900 * 64, 900), indirectly_lost=(4500 * 48, 4500))
        problems += target.end() + scans.damaged(room, path)
    os.unlink(path)
    return problems, ''


def redis(room):
    """Debian's redis-server, which uses jemalloc, is scanned again and again under load: no request fails, and no block
    is reported as lost."""
    need_attach()
    need_processor()
    server_path, bench = kinds.need('redis-server'), kinds.need('redis-benchmark')
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    server = room.start([server_path, '--port', str(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no',
                         '--dir', room.folder], stdout=subprocess.DEVNULL)

    def listening():
        if server.poll() is not None:
            raise Failure('redis-server ended with status %d' % server.returncode)
        with socket.socket() as s:
            return s.connect_ex(('127.0.0.1', port)) == 0
    wait_for('redis-server to listen', listening)
    with open('/proc/%d/maps' % server.pid) as maps:
        if JEMALLOC not in maps.read():
            raise builds.Skip('this redis-server has another allocator')
    load = room.start([bench, '-h', '127.0.0.1', '-p', str(port), '-t', 'set,get,lpush,lpop,sadd,hset,zadd,incr', '-l', '-c', '8',
                       '-r', '1000', '-d', '100', '-q', '-n', '20000'], stdout=subprocess.DEVNULL)
    problems, unused = [], 0
    for _ in range(rounds(20)):
        done = room.run([FUNCTRACE, '--scan=json', '-t', str(server.pid)])
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
            continue
        found = json.loads(done.out)
        unused += found['inconsistent_copies']
        # The pointer to a block that was just allocated may be in a register of malloc only.
        if found['definitely_lost']['blocks'] > 2 or not found['still_reachable']['blocks']:
            problems.append('lost: %s' % found['definitely_lost'])
    if load.poll() is not None:
        problems.append('redis-benchmark ended with status %d: %s' % (load.returncode, load.stderr.read()))
    room.kill(load)
    done = room.run([bench, '-h', '127.0.0.1', '-p', str(port), '-t', 'set,get', '-q', '-n', '2000'])
    if done.status or b'rror' in done.out + done.err:
        problems.append('redis-benchmark afterwards: status %d, %r' % (done.status, (done.out + done.err)[-300:]))
    server.send_signal(signal.SIGTERM)
    if room.finish(server).status:
        problems.append('redis-server ended with status %d' % server.returncode)
    return problems, '%d copies were not used' % unused


CASES = [
    ('--scan: planted blocks, jemalloc', lambda room: planted(room, JEMALLOC)),
    ('--scan: planted blocks, jemalloc, 16 threads', lambda room: planted(room, JEMALLOC, 16)),
    ('--scan: planted blocks, mimalloc', lambda room: planted(room, MIMALLOC)),
    ('--scan: planted blocks, mimalloc, 16 threads', lambda room: planted(room, MIMALLOC, 16)),
    ('--scan: planted blocks, a program linked with jemalloc', linked),
    ('--scan: a lost block of 3 GiB, jemalloc', lambda room: large(room, JEMALLOC)),
    ('--scan: blocks that lost blocks point to, jemalloc', lambda room: led(room, JEMALLOC)),
    ('--scan: blocks that lost blocks point to, mimalloc', lambda room: led(room, MIMALLOC)),
    ('--scan: a busy thread, jemalloc', lambda room: busy(room, JEMALLOC, 0, 8)),
    ('--scan: 4 busy threads, jemalloc', lambda room: busy(room, JEMALLOC, 4, 5)),
    ('--scan: a busy thread, mimalloc', lambda room: busy(room, MIMALLOC, 0, 8)),
    ('--scan: 2 busy threads, mimalloc', lambda room: busy(room, MIMALLOC, 2, 5)),
    ('lost at the end: detached from, 2 busy threads, jemalloc', lambda room: let_go(room, JEMALLOC)),
    ('--scan: sizes and alignments, jemalloc', lambda room: scans.sizes(room, 'O2', preloaded(JEMALLOC))),
    ('--scan: core files, jemalloc', lambda room: core(room, JEMALLOC)),
    ('--scan: core files, mimalloc', lambda room: core(room, MIMALLOC)),
    ('--scan: redis-server under load', redis),
]
