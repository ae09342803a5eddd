"""Tests that functrace --scan reports each planted block, and that the scanned process runs on unharmed."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import builds
from lifecycle import Held, need_attach
from processes import FUNCTRACE, PATIENCE, all_sleep, state_of, status_field, text_differences, text_of, wait_for
from rounds import LONG, rounds

BUILDS = [('planted', 'O2'), ('planted', 'static'), ('planted', 'stripped'), ('planted', 'musl'), ('planted', 'm32'),
          ('planted_types', 'O2'), ('busyheap', 'O2'), ('sleepers', 'O2'), ('besidestack', 'O2'), ('pieces', 'O2'), ('pieces', 'm32'),
          ('aligned', 'musl-static'), ('busyheap', 'musl'), ('aligned', 'O2'), ('aligned', 'm32'), ('aligned', 'musl'),
          ('planted', 'm32-static'), ('planted_types', 'm32'), ('busyheap', 'm32'), ('besidestack', 'm32'), ('emptycache', 'O0'), ('inner', 'O2'), ('inner', 'm32'), ('inner', 'no-pie'), ('timeouts', 'O2'), ('timeouts', 'm32'), ('invfork', 'O2')]
OTHER = 'libtcmalloc_minimal.so.4'


class Target:
    """A program that prints when it is ready, and ends when its standard input ends."""

    def __init__(self, room, name, variant, *arguments, env=None):
        need_attach()
        self.child = room.start([builds.target(name, variant) if variant else name] + [str(a) for a in arguments], env, stdin=subprocess.PIPE)
        self.room, self.pid = room, self.child.pid

    def __enter__(self):
        if self.child.stdout.readline() != b'ready\n':
            raise builds.Skip('the target does not run here: %s' % self.child.stderr.read()[-200:])
        self.text = text_of(self.pid)
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()

    def scan(self, *options):
        return self.room.run([FUNCTRACE, '--scan', *options, '-t', str(self.pid)])

    def look(self, *options):
        """Scans once; returns (problems, the output)."""
        done = self.room.run([FUNCTRACE, '--scan=json', *options, '-t', str(self.pid)])
        if done.status:
            return ['status %d: %s' % (done.status, done.err.decode())], None
        return [], json.loads(done.out)

    def end(self):
        """Ends the program. Returns problems (the text must be unchanged, and the program must end as if untraced), and
        the program's output."""
        problems = text_differences(self.text, text_of(self.pid))
        out, _ = self.child.communicate(b'', timeout=60 * PATIENCE)
        if self.child.returncode:
            problems.append('the process ended with status %d: %s' % (self.child.returncode, out.decode()))
        return problems


def sums(found, name):
    return found[name]['bytes'], found[name]['blocks']


def compare(found, **wanted):
    return ['%s: %s, not %s' % (name, sums(found, name), value) for name, value in wanted.items()
            if sums(found, name) != value]


def wide(size, variant='O2', env=None):
    """Returns the size of a planted block. With memory tags it is rounded up to whole tagged granules."""
    if builds.has_tags(env):
        return size + -size % 16
    return size + (4 if builds.is_narrow(variant) else 0)


def untagged(address):
    """Returns the address of a pointer, without its tag."""
    return address & (1 << 56) - 1


def of_size(found, size, name):
    """Returns the number of blocks of that size in a class."""
    return sum(group[name]['blocks'] for group in found['groups'] if group['size'] == size)


def planted(room, variant='O2', threads=4, scans=5, env=None):
    """4,000 blocks of 56 bytes without any pointer are lost, and no others. In 32-bit processes some text or number may
    look like the address of one (1 run of 150)."""
    problems, strays = [], 0
    with Target(room, 'planted', variant, threads, 4000, env=env) as target:
        for _ in range(scans):
            more, found = target.look()
            if not more and builds.is_narrow(variant):
                strays = min(1, of_size(found, wide(56, variant), 'possibly_lost'))
            lost, possible = 4000 - strays, threads * wide(104, variant, env) + strays * wide(56, variant)
            problems += more or compare(found, definitely_lost=(lost * wide(56, variant, env), lost), indirectly_lost=(0, 0),
                                        possibly_lost=(possible, threads + strays))
            if 'musl' in variant and not more:
                problems += compare(found, still_reachable=(threads * (1000 * wide(72, variant) + wide(88, variant)), threads * 1001))
            kept = of_size(found, wide(72, variant, env), 'still_reachable') if not more else threads * 1000
            if kept != threads * 1000:
                problems.append('kept blocks that are still reachable: %d' % kept)
            if not more and found['threads'] != threads + 1:
                problems.append('%d threads' % found['threads'])
        problems += target.end()
    return problems, 'a word looks like an address' if strays else ''


def led(room, variant='O2', env=None):
    """Tests blocks to which only lost blocks point."""
    lost, by_it = wide(56, variant, env), 4500 * wide(40, variant, env)
    with Target(room, 'planted', variant, 3, 900, 5, env=env) as target:
        problems, found = target.look()
        problems = problems or compare(found, definitely_lost=(900 * lost, 900), indirectly_lost=(by_it, 4500),
                                       possibly_lost=(3 * wide(104, variant, env), 3))
        group = found['groups'][0] if not problems else None
        if group and (group['size'] != lost or group['lost_by_it'] != {'bytes': by_it, 'blocks': 4500}):
            problems.append('the first group: %s' % group)
        problems += target.end()
    return problems, ''


def beside_a_stack(room, variant='O2'):
    """Tests mmapped chunks, one of which is in a mapping that the kernel has merged with a thread's stack."""
    with Target(room, 'besidestack', variant) as target:
        address, count = target.child.stdout.readline().split()
        with open('/proc/%d/maps' % target.pid) as maps:
            ranges = [[int(word, 16) for word in line.split()[0].split('-')] for line in maps]
        if not any(start <= int(address, 16) - 100000 and int(address, 16) < end for start, end in ranges):
            raise builds.Skip('this kernel does not merge a stack with the next mapping')
        problems, found = target.look()
        if not problems:
            lost = [group for group in found['groups'] if group['definitely_lost']['blocks']]
            header = 8 if builds.processor() == 'arm' else 16
            problems += ['lost: %s' % lost] if [group['size'] for group in lost] != [503808 - header] else []
            if of_size(found, 303104 - header, 'still_reachable') != int(count):
                problems.append('reachable: %s' % found['groups'])
        problems += target.end()
    return problems, ''


def in_pieces(room, variant='O2'):
    """Between the pieces of the main arena is memory that the program took by sbrk, or malloc has mapped some of the
    pieces. In 32-bit processes a word may look like a pointer to a lost block, but not in each of three runs."""
    for _ in range(3 if builds.is_narrow(variant) else 1):
        problems = pieces_once(room, variant)
        if not problems:
            break
    return problems, ''


def pieces_once(room, variant):
    problems = []
    for how in 'sbrk', 'blocked', 'both':
        with Target(room, 'pieces', variant, how) as target:
            figures = [int(word) for word in target.child.stdout.readline().split()]
            more, found = target.look()
            if not more:
                more += compare(found, indirectly_lost=(0, 0))
                # A block is 8 or 16 bytes larger if the rest of its free chunk was too small for another chunk.
                for size, count, name in (56, 500, 'definitely_lost'), (120, 30000, 'still_reachable'), \
                                         (1000, how != 'blocked', 'still_reachable'):
                    seen = sum(of_size(found, wide(size, variant) + rest, name) for rest in (0, 8, 16))
                    more += ['%d blocks of %d' % (seen, size)] if seen != count else []
                if found['definitely_lost']['blocks'] != 500:
                    more.append('lost: %s' % found['definitely_lost'])
                said = [found['allocator'][name] for name in ('arena', 'ordblks', 'uordblks', 'fordblks')]
                more += ['the allocator has %s, and says %s' % (said, figures)] if said != figures else []
            problems += ['%s: %s' % (how, problem) for problem in more] + target.end()
    return problems


def sizes(room, variant, env=None):
    """Blocks are allocated by all functions, with many sizes and alignments: the reported addresses and sizes are those
    that malloc itself uses."""
    with Target(room, 'aligned', variant, env=env) as target:
        blocks = [line.split() for line in iter(target.child.stdout.readline, b'end\n')]
        done = target.scan(*['--why=' + address.decode() for address, _ in blocks])
        problems = ['status %d: %s' % (done.status, done.err)] if done.status else []
        said = re.findall(rb'(?m)^  (?:-> )?(0x[0-9a-f]+), ([\d,]+) bytes', done.out)
        said = [(int(address, 16), size.replace(b',', b'')) for address, size in said]
        problems += ['%s has %s bytes, and that is not said' % (address, size) for address, size in blocks
                     if (untagged(int(address, 16)), size) not in said]
        if any(int(address, 16) != untagged(int(address, 16)) for address, _ in blocks) != builds.has_tags(env):
            problems.append('tags: %s' % blocks[:3])
        if len(blocks) < 80:
            problems.append('%d blocks' % len(blocks))
        problems += target.end()
    return problems, '%d blocks' % len(blocks)


TEXT = r'''planted-O2 \(\d+\): 3 threads stopped for [\d.]+ ms, [\d,]+ bytes copied
(  .*not used.*
)?
  definitely lost: %(lost)s bytes in 10 blocks
  indirectly lost: %(by)s bytes in 20 blocks
    possibly lost: %(half)s bytes in 2 blocks
  still reachable: [\d,]+ bytes in [\d,]+ blocks

Definitely lost, by size and type, with the blocks indirectly lost through them:
 +bytes +blocks +size  type \(a block\)
 +%(both)s +10 +%(one)d  \? \((0x[0-9a-f]+)\)

Possibly lost, by size and type:
 +bytes +blocks +size  type \(a block\)
 +%(half)s +2 +%(whole)d  \? \((0x[0-9a-f]+)\)

Reachable and possibly lost blocks, by the first root that was found to lead to them:
 +bytes +blocks  root
 +%(kept)s +2,000  planted-O2: lists
(?: .*\n)* +%(half)s +2  planted-O2: halves
'''


NEXT = (b'The source lines that allocate', b'What keeps a block')


def what_is_next(done, *wanted):
    """Returns problems unless exactly these commands are recommended, the first one after an empty line."""
    lines = done.out.split(b'\n')
    found = [line.decode() for line in lines if line.startswith(NEXT)]
    if found != list(wanted):
        return ['what to run next: %s, not %s' % (found, list(wanted))]
    return [] if not wanted or lines[lines.index(wanted[0].encode()) - 1] == b'' else ['no empty line before what to run next']


def named_next(room):
    """A scan recommends the commands that find the allocating lines and the pointers that keep a block. The last one of
    several scans recommends them; with --why the second one is not recommended."""
    with Target(room, 'planted', 'O2', 2, 10, 2) as target:
        where = 'The source lines that allocate, while the process runs on: functrace -t %d --report --duration=60' % target.pid
        why = 'What keeps a block: functrace --scan -t %d --why=ADDRESS' % target.pid
        problems = what_is_next(target.scan(), where, why)
        problems += what_is_next(target.scan('--count=3', '--interval=0.1'), where, why)
        problems += what_is_next(target.scan('--why=0x10'), where)
        if shutil.which('gdb'):
            path = gdb_core(room, target.pid)
            core = 'The source lines that allocate: functrace --report PROGRAM, from its start'
            problems += what_is_next(room.run([FUNCTRACE, '--scan', '--core=' + path]), core)
            os.unlink(path)
        problems += target.end()
    return problems, '' if shutil.which('gdb') else 'gdb is not installed'


def text(room):
    """Tests the output for people, and --why for a reachable block."""
    with Target(room, 'planted', 'O2', 2, 10, 2) as target:
        done = target.scan('--error-exitcode=9', '--top=9')
        out = done.out.decode()
        match = re.match(TEXT % {
            'lost': format(10 * wide(56), ','), 'by': format(20 * wide(40), ','), 'both': format(10 * wide(56) + 20 * wide(40), ','),
            'half': format(2 * wide(104), ','), 'kept': format(2000 * wide(72), ','), 'one': wide(56), 'whole': wide(104)}, out)
        if done.status != 9 or not match:
            return ['status %d: %s%s' % (done.status, out, done.err.decode())], ''
        lost, half = match.group(2), match.group(3)
        problems = []
        for words in ('from the system, for all arenas (arena)', 'free in the arenas (fordblks)'):
            if words not in out:
                problems.append('no "%s": %s' % (words, out))
        for address, wanted in ((lost, r'  %s, %d bytes\n  nothing: it is definitely lost\n' % (lost, wide(56))),
                                (half, r'  planted-O2: halves(\+[48])?\n  -> %s, %d bytes\n' % (half, wide(104))),
                                ('0x10', r'  no block of the heap is there now\n')):
            out = target.scan('--why=' + address).out.decode()
            if not re.search(r'What keeps %s:\n%s' % (address, wanted), out):
                problems.append('why %s: %s' % (address, out[-300:]))
        problems += target.end()
    with Target(room, 'planted', 'O2', 1, 0) as target:
        done = target.scan('--error-exitcode=9')
        if done.status or b'definitely lost: 0 bytes in 0 blocks' not in done.out:
            problems.append('nothing is lost: %d, %s' % (done.status, done.out.decode()))
    return problems, ''


def again(room):
    """If a block is lost in one of several scans, it is lost in each later scan."""
    with Target(room, 'planted', 'O2', 2, 100) as target:
        done = room.run([FUNCTRACE, '--scan=json', '--interval=0.1', '--count=3', '--error-exitcode=5', '-t', str(target.pid)])
        found = [json.loads(line) for line in done.out.splitlines()]
        problems = [] if done.status == 5 and [f['scan'] for f in found] == [1, 2, 3] else \
            ['status %d: %s' % (done.status, done.err)]
        for one in found[1:]:
            problems += compare(one, still_lost=(100 * wide(56), 100), definitely_lost=(100 * wide(56), 100))
        problems += target.end()
    return problems, ''


def types(room, variant='O2'):
    with Target(room, 'planted_types', variant) as target:
        problems, found = target.look()
        wanted = {'drawing::Circle': 20, '-> operations': 5}
        if not problems:
            seen = {group['type']: group['definitely_lost']['blocks'] for group in found['groups'] if group['type'] in wanted}
            problems = [] if seen == wanted else ['%s' % seen]
            odd = [group['type'] for group in found['groups'] if 300 <= group['size'] < 320 or 400 <= group['size'] < 420]
            problems += [] if odd == [None, None] else ['counts of groups without objects: %s' % odd]
        problems += target.end()
    return problems, ''


OBJECTS = '''
import ctypes, sys
libc, word = ctypes.CDLL(None), ctypes.c_size_t
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
def plant(size, *words):
    at = libc.malloc(size)
    ctypes.memset(at, 0x11, size)
    for i, value in enumerate(words):
        word.from_address(at + i * ctypes.sizeof(word)).value = value
def lose(made):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
variable = ctypes.addressof(word.in_dll(ctypes.pythonapi, "PyExc_OSError"))
kind, record = id(bytes), id(dict)
plant(30008, 0, kind, 29900)         # released
plant(30088, id(sys), kind, 30000)   # a pointer in the place of the references
plant(30168, 1, kind, 50000)         # longer than the block
plant(30248, 1, kind, 10)           # too short for it
plant(30328, 1, variable, 30200)     # no type
plant(30408, 0, 0, 1, record)       # a block that is too large for one
plant(30488, 1, kind, 30400)         # as it has to be
lose(bytes(35000))
lose((None,) * 5000)
lose(1 << 400000)
print("ready", flush=True)
sys.stdin.read()
'''


def python_types(room):
    """The type of a Python object is shown only if the references and the size of the block fit an object."""
    if builds.processor() != 'x86_64':
        raise builds.Skip('the sizes are those of 64 bits')
    with Target(room, sys.executable, None, '-c', OBJECTS) as target:
        problems, found = target.look()
        if not problems:
            seen = {group['size']: group['type'] for group in found['groups']}
            if 'PyTuple_Type' not in seen.values():
                raise builds.Skip('this python has no names for its types')
            planted = [seen.get(size) for size in range(30008, 30489, 80)]
            real = [{seen[size] for size in seen if low <= size < low + 32} for low in (35032, 40032, 53350)]
            if planted != [None] * 6 + ['PyBytes_Type']:
                problems.append('planted: %s' % planted)
            if real != [{'PyBytes_Type'}, {'PyTuple_Type'}, {'PyLong_Type'}]:
                problems.append('real: %s' % real)
        target.end()
    return problems, ''


def empty_cache(room):
    """An empty block of the size of a cached chunk, to which a stack points, is not reported as cached."""
    problems = []
    for _ in range(3):
        with Target(room, 'emptycache', 'O0') as target:
            more, found = target.look()
            problems += more
            if found and found['definitely_lost']['blocks']:
                problems.append('%s' % found['groups'])
            problems += target.end()
    return problems, ''


def inner(room, variant='O2'):
    """Tests interior pointers: those that C++ and libraries use, which valgrind recognises, and others. In a program
    that is not relocated the tables of virtual functions are among other constants."""
    with Target(room, 'inner', variant) as target:
        lines = [line.split() for line in iter(target.child.stdout.readline, b'end\n')]
        problems, found = target.look('--top=99')
        wanted = [int(address, 16) for kind, address in lines if kind == b'possibly' or kind == b'base' and variant == 'no-pie']
        if not problems:
            groups = [group for group in found['groups'] if group['possibly_lost']['blocks']]
            if found['possibly_lost']['blocks'] != len(wanted) or found['definitely_lost']['blocks'] or \
                    not all(untagged(int(group['example'], 16)) in wanted for group in groups) or len(lines) != 8:
                problems.append('%s: %s' % (lines, groups))
        problems += target.end()
    valgrind = LONG and variant == 'O2' and shutil.which('valgrind')
    if valgrind and not problems:
        said = room.run([valgrind, builds.target('inner', variant)], data=b'').err
        if b'possibly lost: 9,064 bytes in %d blocks' % len(wanted) not in said or b'definitely lost: 0 bytes' not in said:
            problems.append('valgrind: %s' % said.decode())
    return problems, '' if valgrind else 'without valgrind'


def busy(room, threads, scans, variant='O2', env=None):
    """The threads only allocate: each scan has a consistent copy, and no thread gets a trap. Because of glibc's locks,
    the first copy is consistent in nearly all scans."""
    problems, unused = [], 0
    # on a slow machine more threads get too little of a processor
    threads = min(threads, 2) if PATIENCE > 1 else threads
    with Target(room, 'busyheap', variant, threads, env=env) as target:
        for _ in range(scans):
            more, found = target.look()
            problems += more
            unused += found['inconsistent_copies'] if found else 0
        if unused > 2 * scans and threads and 'musl' not in variant:
            problems.append('%d copies were not used' % unused)
        problems += target.end()
    return problems, '%d copies were not used' % unused


def beside_children(room):
    """A thread creates children by vfork, which allocate in its memory: no wake-up of a waiting thread is lost."""
    problems = []
    with Target(room, 'busyheap', 'O2', 2, 'vfork', env={'MALLOC_ARENA_MAX': '1'}) as target:
        for _ in range(rounds(15)):
            problems += target.look()[0]
        problems += target.end()
    return problems, ''


def killed(room):
    """functrace is killed at any moment of a scan: no thread waits for ever for a lock that functrace has marked as
    waited for."""
    caught, chance = 0, random.Random(7)
    with Target(room, 'busyheap', 'O2', 4, env={'MALLOC_ARENA_MAX': '1'}) as target:
        for _ in range(rounds(80)):
            # It scans again and again, so that it cannot end before it is killed.
            scan = room.start([FUNCTRACE, '--scan', '--interval=0.001', '--count=1000000', '-t', str(target.pid)],
                              stdout=subprocess.DEVNULL)
            wait_for('the scan to begin', lambda: scan.poll() is not None or status_field(target.pid, 'TracerPid') != '0')
            time.sleep(chance.uniform(0, 0.01))
            scan.kill()
            caught += room.finish(scan).status == -signal.SIGKILL
        problems = [] if caught else ['no scan was killed']
        more, _ = target.look()
        problems += more + target.end()
    return problems, '%d scans were killed' % caught


def stopped_inside_malloc(room):
    """SIGSTOP and SIGCONT come during scans. A process that is stopped for a long time inside malloc is not scanned,
    and the message says why."""
    problems, chance = [], random.Random(8)
    with Target(room, 'busyheap', 'O2', 4, env={'MALLOC_ARENA_MAX': '1'}) as target:
        for _ in range(rounds(30)):
            scan = room.start([FUNCTRACE, '--scan=json', '-t', str(target.pid)])
            for sent in signal.SIGSTOP, signal.SIGCONT:
                time.sleep(chance.uniform(0, 0.02))
                os.kill(target.pid, sent)
            done = room.finish(scan)
            if done.status and not (done.status == 1 and b'A signal has stopped the process inside malloc' in done.err):
                problems.append('status %d: %s' % (done.status, done.err.decode()))
        problems += target.end()
    return problems, ''


def stopped(room):
    """A process that a signal has stopped stays stopped."""
    with Target(room, 'planted', 'O2', 2, 100) as target:
        os.kill(target.pid, signal.SIGSTOP)
        wait_for('the process to stop', lambda: state_of(target.pid) == 'T')
        problems = []
        for _ in range(3):
            more, found = target.look()
            problems += more or compare(found, definitely_lost=(100 * wide(56), 100))
            if found and not found['was_stopped']:
                problems.append('the output does not say that the process was stopped')
            wait_for('the process to be stopped again', lambda: state_of(target.pid) == 'T')
        os.kill(target.pid, signal.SIGCONT)
        problems += target.end()
    return problems, ''


def ends(room):
    """The process is killed between scans, or during one."""
    with Target(room, 'planted', 'O2', 4, 100) as target:
        scans = room.start([FUNCTRACE, '--scan=json', '--interval=0.001', '--count=1000000', '-t', str(target.pid)])
        for _ in range(5):
            scans.stdout.readline()
        target.child.kill()
        done = room.finish(scans)
    if done.status != 1 or not re.fullmatch(rb'functrace: process \d+ \(planted-O2\) has ended after \d+ scans\.\n', done.err):
        return ['status %d: %s' % (done.status, done.err.decode())], ''
    return [], ''


def asleep(room, variant='O2'):
    """Threads in all system calls that sleep do not notice the scan (on AArch64 and ARM they see EINTR)."""
    if builds.processor() not in ('x86_64', 'i386'):
        raise builds.Skip('only x86 restarts such calls')
    with Held(room, [builds.target('sleepers', variant)]) as held:
        wait_for('the target to sleep at its gate', lambda: all_sleep(held.child.pid))
        before = status_field(held.child.pid, 'voluntary_ctxt_switches')
        held.gate.open()
        # If a thread were inside malloc, a scan would make a second copy; if that one came late, it would not restart
        # epoll_wait() again. The first thread has passed its gate when it has gone to sleep once more.
        wait_for('the threads to sleep', lambda: status_field(held.child.pid, 'voluntary_ctxt_switches') != before and
                 all_sleep(held.child.pid))
        for _ in range(5):
            done = room.run([FUNCTRACE, '--scan', '-t', str(held.child.pid)])
            if done.status:
                return ['status %d: %s' % (done.status, done.err.decode())], ''
        held.gate.open()
        end = room.finish(held.child)
    problems = [] if end.status == 0 else ['the process ended with status %d' % end.status]
    return problems + ['functrace says %r' % line for line in end.out.splitlines()
                       if not line.endswith((b'slept to its end', b'woken')) and not line.startswith(b'expect ')], ''


def timed(room, variant='O2'):
    """A wait with a timeout ends although scans come more often than the timeout, because the wait is restarted only
    once."""
    child = room.start([builds.target('timeouts', variant)])
    if child.stdout.readline() != b'ready\n':
        raise builds.Skip('the target does not run here')
    scans = room.start([FUNCTRACE, '--scan=json', '--interval=0.05', '--count=100000', '-t', str(child.pid)], stdout=subprocess.DEVNULL)
    end = room.finish(child)
    done = room.finish(scans)
    if (end.status, done.status) != (0, 1) or not re.fullmatch(rb'interrupted [1-9]\d* times\n', end.out):
        return ['status %d, %d: %s, %s' % (end.status, done.status, end.out, done.err)], ''
    return [], end.out.decode().strip()


def in_vfork(room):
    """A process that waits in vfork cannot be stopped: the message says so, and the process is unharmed."""
    child = room.start([builds.target('invfork', 'O2')], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise builds.Skip('the target does not run here')
    done = room.run([FUNCTRACE, '--scan', '-t', str(child.pid)])
    child.stdin.write(b'\n')
    end = room.finish(child)
    said = b'cannot scan process %d: none of its threads can be stopped, because they wait deep in the kernel' % child.pid
    if (done.status, end.status) != (1, 0) or said not in done.err:
        return ['status %d, %d: %s' % (done.status, end.status, done.err)], ''
    return [], ''


def beside_process(room):
    """Another process uses the memory, and its registers are unknown: no block is definitely lost. The part of the stack on
    which it sleeps is in use."""
    problems = []
    with Target(room, 'invfork', 'O2', 'beside') as target:
        child = int(target.child.stdout.readline())
        # Of a process that is not stopped, functrace knows the stack pointer only while it sleeps.
        wait_for('both processes to sleep', lambda: state_of(target.pid) == state_of(child) == 'S')
        for pid in target.pid, child:
            done = room.run([FUNCTRACE, '--scan=json', '-t', str(pid)])
            found = json.loads(done.out) if done.status == 0 else None
            said = found and (of_size(found, 56, 'still_reachable'), of_size(found, 40, 'possibly_lost'), sums(found, 'definitely_lost'),
                              found['threads_not_stopped'], found['processes_not_stopped'])
            if said != (50, 10, (0, 0), 0, 1):
                problems.append('status %d, %s: %s' % (done.status, done.err.decode(), said))
        problems += target.end()
    return problems, ''


def refused(room):
    """If the heap is of an unknown allocator, functrace prints a message and ends with status 1."""
    problems, skipped = [], []
    for variant, env, said in (('O2', {'LD_PRELOAD': OTHER}, b"no heap of glibc's, musl's, jemalloc's or mimalloc's malloc"),):
        try:
            with Target(room, 'planted', variant, 2, 10, env=env) as target:
                if env and OTHER not in open('/proc/%d/maps' % target.pid).read():
                    raise builds.Skip('%s is not installed' % OTHER)
                done = target.scan()
                if done.status != 1 or said not in done.err:
                    problems.append('%s: status %d: %s' % (variant, done.status, done.err.decode()))
                problems += target.end()
        except builds.Skip as skip:
            skipped.append(str(skip))
    done = room.run([FUNCTRACE, '--scan', '-t', '2'])
    if done.status != 1 or b'kernel' not in done.err and b'no such process' not in done.err:
        problems.append('a kernel thread: status %d: %s' % (done.status, done.err.decode()))
    return problems, '; '.join(skipped)


def of_core(room, path):
    """Returns (problems, the output of a scan of the core file)."""
    done = room.run([FUNCTRACE, '--scan=json', '--core=' + path])
    if done.status:
        return ['status %d: %s' % (done.status, done.err.decode())], None
    return [], json.loads(done.out)


def same(live, core):
    """Returns problems if the figures of a process and of its core file differ."""
    return ['%s: %s, of the core file %s' % (key, live[key], core[key]) for key in live
            if key not in ('time', 'pause_ns', 'copied_bytes') and live[key] != core[key]]


def kernel_core(room, target):
    """Kills a target; returns the path of the core file that the kernel writes."""
    with open('/proc/sys/kernel/core_pattern') as file:
        pattern = file.read().strip()
    if '/' in pattern or pattern.startswith('|') or '%' in pattern:
        raise builds.Skip('core files are named ' + pattern)
    resource.prlimit(target.pid, resource.RLIMIT_CORE, (1 << 30, 1 << 30))
    os.kill(target.pid, signal.SIGSEGV)
    target.child.communicate(timeout=60 * PATIENCE)
    cores = [name for name in os.listdir(room.folder) if name.startswith('core')]
    if not cores:
        raise builds.Skip('the kernel writes no core file here')
    return room.path(cores[0])


def gdb_core(room, pid):
    if not shutil.which('gdb'):
        raise builds.Skip('gdb is not installed')
    path = room.path('gcore')
    room.run(['gdb', '-batch', '-p', str(pid), '-ex', 'generate-core-file ' + path])
    return path


def what_was_found(text):
    """Returns the output for a process or a core file, without the first line and the last part, which recommends
    commands."""
    return [line for line in text.split(b'\n')[1:] if not line.startswith(NEXT)]


def core_as_live(room, name, *arguments, variant='O2', by_kernel=False):
    """A core file has the same output as the process: groups with their types and addresses, owners, paths."""
    with Target(room, name, variant, *arguments) as target:
        problems, live = target.look()
        whys = ['--why=' + group['example'] for group in live['groups']] if live else []
        lines = what_was_found(target.scan('--top=99', *whys).out)
        path = kernel_core(room, target) if by_kernel else gdb_core(room, target.pid)
        more, found = of_core(room, path)
        problems += more or same(live, found)
        said = what_was_found(room.run([FUNCTRACE, '--scan', '--top=99', '--core=' + path, *whys]).out)
        if not lines or said != lines:
            problems.append('%s, of the core file %s' % (lines, said))
        if name == 'planted_types' and b'drawing::Circle (0x' not in b'\n'.join(said):
            problems.append('no type: %s' % said)
        problems += target.end() if not by_kernel else []
    os.unlink(path)
    return problems, '%d groups, %d owners' % (len(live['groups']), len(live['owners'])) if live else ''


def core_of_another(room):
    """The file at the program's path is not the one that the process had: no name is taken from it. If the right file
    is under another folder, names are shown."""
    program, folder, nowhere, problems = room.path('program'), room.path('root'), room.path('nowhere'), []
    os.makedirs(nowhere)
    types = lambda found: sorted(str(group['type']) for group in found['groups'] if group['definitely_lost']['blocks'])
    owners = lambda found: {owner['root'] for owner in found['owners']}
    shutil.copy(builds.target('planted_types', 'O2'), program)
    child = room.start([program], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise builds.Skip('the target does not run here')
    path = gdb_core(room, child.pid)
    child.communicate(b'', timeout=60 * PATIENCE)
    named = (['-> operations', 'None', 'None', 'drawing::Circle'], 'program: kept')
    os.makedirs(folder + os.path.dirname(program))
    os.rename(program, folder + program)
    for what, root, wanted, said in (
            (None, None, None, b'/program, which the process had mapped, is not here. Addresses'), (builds.target('planted', 'O2'), None, None, b'is not the file that the process had mapped'),
            (builds.target('planted', 'O2'), folder, named, b''), (None, folder, named, b''),
            (folder + program, nowhere, named, b''),
            (builds.target('planted', 'O2'), nowhere, None, b'is not the file that the process had mapped'),
            (folder + program, None, named, b'')):
        if os.path.exists(program):
            os.unlink(program)
        if what:
            shutil.copy(what, program)
        done = room.run([FUNCTRACE, '--scan=json', '--core=' + path] + (['--sysroot=' + root] if root else []))
        found = json.loads(done.out)
        is_named = types(found) == named[0] and named[1] in owners(found)
        is_blank = types(found) == ['None'] * 4 and any(owner.startswith('program: 0x') for owner in owners(found))
        if not (is_named if wanted else is_blank) or (said not in done.err if said else done.err):
            problems.append('%s, %s: %s, %s, %s' % (what, root, types(found), owners(found), done.err))
    return problems, ''


def core_without_build_id(room):
    """Without a build-id no name is taken from a file that is newer than the core file."""
    program, problems = room.path('program'), []
    shutil.copy(builds.target('planted_types', 'O2'), program)
    with open(program, 'r+b') as file:
        data = file.read()
        note = data.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0')
        file.seek(note + 8)
        file.write(b'\x63')
    os.utime(program, (1e9, 1e9))
    child = room.start([program], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        raise builds.Skip('the target does not run here')
    path = gdb_core(room, child.pid)
    child.communicate(b'', timeout=60 * PATIENCE)
    for seconds, wanted in (1e9, True), (os.stat(path).st_mtime + 10, False):
        os.utime(program, (seconds, seconds))
        done = room.run([FUNCTRACE, '--scan', '--core=' + path])
        if (b'drawing::Circle (' in done.out) != wanted or (b'it is newer, and the core file has no build-id' in done.err) == wanted:
            problems.append('%s: %s%s' % (wanted, done.out.decode(), done.err.decode()))
    return problems, ''


def damaged(room, path):
    """If a core file is truncated or damaged, the scan ends with a message or with figures."""
    problems = []
    with open(path, 'rb') as file:
        whole = file.read()
    chance = random.Random(1)
    for number in range(12 if LONG else 4):
        data = bytearray(whole[:chance.randrange(len(whole))] if number % 4 == 0 else whole)
        for _ in range(number % 4 * 4):
            data[chance.randrange(min(len(data), 16384 if number % 8 < 4 else len(data)))] = chance.randrange(256)
        broken = room.path('broken')
        with open(broken, 'wb') as file:
            file.write(data)
        done = room.run([FUNCTRACE, '--scan', '--core=' + broken])
        if done.status not in (0, 1) or (done.status and not done.err.startswith(b'functrace: ')):
            problems.append('damage %d: status %d: %s' % (number, done.status, done.err.decode()))
    return problems


def core(room, variant='O2'):
    """Scans core files that gdb writes of a process that runs on, and that the kernel writes of a killed process."""
    problems, skipped = [], []
    wanted = {'definitely_lost': (900 * wide(56, variant), 900), 'indirectly_lost': (4500 * wide(40, variant), 4500)}
    if shutil.which('gdb'):
        path = room.path('gcore')
        with Target(room, 'planted', variant, 1, 900, 5) as target:
            room.run(['gdb', '-batch', '-p', str(target.pid), '-ex', 'generate-core-file ' + path])
            more, found = of_core(room, path)
            problems += more or compare(found, possibly_lost=(wide(104, variant), 1), **wanted)
            if not more and (found['pid'], found['threads']) != (target.pid, 2):
                problems.append('process %d, %d threads' % (found['pid'], found['threads']))
            problems += target.end() + damaged(room, path)
        os.unlink(path)
    else:
        skipped.append('gdb is not installed')
    with open('/proc/sys/kernel/core_pattern') as file:
        pattern = file.read().strip()
    if '/' in pattern or pattern.startswith('|') or '%' in pattern:
        return problems, '; '.join(skipped + ['core files are named ' + pattern])
    folder = room.path('folder')
    os.mkdir(folder)
    child = room.start(['sh', '-c', 'cd "$1" && ulimit -c unlimited && shift && exec "$@"', 'sh', folder,
                        builds.target('planted', variant), '1', '900', '5'], stdin=subprocess.PIPE)
    if child.stdout.readline() != b'ready\n':
        problems.append('the target does not run')
    child.send_signal(signal.SIGSEGV)
    child.communicate(timeout=60 * PATIENCE)
    cores = [name for name in os.listdir(folder) if name.startswith('core')]
    if not cores:
        return problems, '; '.join(skipped + ['the kernel writes no core file here'])
    more, found = of_core(room, os.path.join(folder, cores[0]))
    problems += more or ['the kernel\'s core file: %s' % said for said in compare(found, **wanted)]
    return problems, '; '.join(skipped)


PYTHON = '''
import sys, threading
kept = {number: [str(number)] * 3 for number in range(20000)}
def work():
    while True:
        [str(number) for number in range(1000)]
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
print('ready', flush=True)
sys.stdin.read()
print(sum(len(value) for value in kept.values()))
'''


def python(room):
    """A Python program with busy threads is scanned: it runs on, and its data is unchanged."""
    need_attach()
    child = room.start([sys.executable, '-c', PYTHON], stdin=subprocess.PIPE)
    problems = [] if child.stdout.readline() == b'ready\n' else ['it does not run']
    for _ in range(5):
        done = room.run([FUNCTRACE, '--scan', '-t', str(child.pid)])
        if done.status or b'still reachable' not in done.out:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
    out, err = child.communicate(b'', timeout=60 * PATIENCE)
    if child.returncode or out != b'60000\n':
        problems.append('the process ended with status %d: %s%s' % (child.returncode, out, err))
    return problems, ''


CASES = [
    ('--scan: planted blocks', planted),
    ('--scan: planted blocks, 16 threads', lambda room: planted(room, threads=16, scans=2)),
    ('--scan: planted blocks, static', lambda room: planted(room, 'static', scans=2)),
    ('--scan: planted blocks, stripped', lambda room: planted(room, 'stripped', scans=2)),
    ('--scan: blocks that lost blocks point to', led),
    ('--scan: lost blocks in a main arena in pieces', in_pieces),
    ('--scan: lost blocks in a main arena in pieces, 32 bits', lambda room: in_pieces(room, 'm32')),
    ('--scan: an mmapped chunk merged with a stack', beside_a_stack),
    ('--scan: an mmapped chunk merged with a stack, 32 bits', lambda room: beside_a_stack(room, 'm32')),
    ('--scan: planted blocks, musl', lambda room: planted(room, 'musl', scans=3)),
    ('--scan: sizes and alignments, musl, static', lambda room: sizes(room, 'musl-static')),
    ('--scan: blocks that lost blocks point to, musl', lambda room: led(room, 'musl')),
    ('--scan: 4 busy threads, musl', lambda room: busy(room, 4, 8 if LONG else 3, 'musl')),
    ('--scan: a busy thread, musl', lambda room: busy(room, 0, 8, 'musl')),
    ('--scan: sizes and alignments', lambda room: sizes(room, 'O2')),
    ('--scan: sizes and alignments, 32 bits', lambda room: sizes(room, 'm32')),
    ('--scan: sizes and alignments, musl', lambda room: sizes(room, 'musl')),
    ('--scan: planted blocks, 32 bits', lambda room: planted(room, 'm32', scans=3)),
    ('--scan: planted blocks, 32 bits, static', lambda room: planted(room, 'm32-static', scans=2)),
    ('--scan: blocks that lost blocks point to, 32 bits', lambda room: led(room, 'm32')),
    ('--scan: C++ objects have the names of their types, 32 bits', lambda room: types(room, 'm32')),
    ('--scan: 4 busy threads, 32 bits', lambda room: busy(room, 4, 8, 'm32')),
    ('--scan: the text output, and why a block is reachable', text),
    ('--scan: recommended commands', named_next),
    ('--scan: a lost block is lost in each later scan', again),
    ('--scan: C++ objects have the names of their types', types),
    ("--scan: Python's objects have the names of their types", python_types),
    ("--scan: an empty block of a cached chunk's size is not taken for cached", empty_cache),
    ('--scan: interior pointers', inner),
    ('--scan: interior pointers, 32 bits', lambda room: inner(room, 'm32')),
    ('--scan: interior pointers, no-pie', lambda room: inner(room, 'no-pie')),
    ('--scan: one busy thread', lambda room: busy(room, 0, 15)),
    ('--scan: 8 busy threads', lambda room: busy(room, 8, 8)),
    ('--scan: 8 busy threads, one arena', lambda room: busy(room, 8, 8 if LONG else 3, env={'MALLOC_ARENA_MAX': '1'})),
    ('--scan: busy threads lose no wake-up of vfork children in their memory', beside_children),
    ('--scan: no thread waits for ever after functrace is killed', killed),
    ('--scan: a process that is stopped inside malloc is not scanned', stopped_inside_malloc),
    ('--scan: a stopped process stays stopped', stopped),
    ('--scan: the process is killed between scans or during one', ends),
    ('--scan: threads in sleeping system calls do not notice it', asleep),
    ('--scan: threads in sleeping system calls do not notice it, 32 bits', lambda room: asleep(room, 'm32')),
    ('--scan: waits with a timeout end in time', timed),
    ('--scan: a process that waits in vfork cannot be scanned', in_vfork),
    ('--scan: another process in the same memory', beside_process),
    ('--scan: waits with a timeout end in time, 32 bits', lambda room: timed(room, 'm32')),
    ('--scan: core files', core),
    ('--scan: core files, musl', lambda room: core(room, 'musl')),
    ('--scan: core files, 32 bits', lambda room: core(room, 'm32')),
    ('--scan: a core file has the output of the process', lambda room: core_as_live(room, 'planted_types')),
    ('--scan: a core file has the output of the process, threads',
     lambda room: core_as_live(room, 'planted', 4, 100, 2)),
    ('--scan: a core file has the output of the process, musl',
     lambda room: core_as_live(room, 'planted', 2, 100, 2, variant='musl')),
    ('--scan: a core file has the output of the process, 32 bits',
     lambda room: core_as_live(room, 'planted_types', variant='m32')),
    ('--scan: a core file has the output of the process, static',
     lambda room: core_as_live(room, 'planted', 2, 100, 2, variant='static')),
    ("--scan: the kernel's core file has the output of the process",
     lambda room: core_as_live(room, 'planted_types', by_kernel=True)),
    ("--scan: a core file gets no names from another program's file", core_of_another),
    ('--scan: a core file without build-ids gets no names from a newer file', core_without_build_id),
    ('--scan: heaps of unknown allocators are refused', refused),
    ('--scan: python3 with busy threads', python),
]
