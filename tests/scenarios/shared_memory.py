"""Tests pointers in shared memory that the process itself has not touched: either all of this memory is copied, or no
block is reported as definitely lost."""

import glob
import json
import os
import struct

import builds
import kinds
from lost import SAID
from processes import FUNCTRACE, POSTPROC
from scans import Target, gdb_core, of_core, sums, wide

BUILDS = [('sharedpages', 'O2'), ('sharedpages', 'm32')]
# The target plants blocks to which only the table points, and blocks to which nothing points.
KEPT, LOST = 1000, 10
# A setpriv option: without these capabilities the file of a mapping cannot be opened by its address range.
LESS = '-sys_admin,-checkpoint_restore'


def without_rights():
    """Returns a command prefix that drops the right to open the files that another process has mapped."""
    if os.geteuid():
        return []
    return [kinds.need('setpriv'), '--bounding-set', LESS, '--inh-caps', LESS]


class Shared(Target):
    def __init__(self, room, how, variant='O2'):
        super().__init__(room, 'sharedpages', variant, how)
        self.table = None

    def __enter__(self):
        super().__enter__()
        pid, table = self.child.stdout.readline().split()
        self.pid, self.table = int(pid), int(table, 16)
        return self

    def answer(self, prefix, *options):
        return self.room.run(prefix + [FUNCTRACE, '--scan=json', *options, '-t', str(self.pid)])


def compare(found, variant, is_known=True, kept=KEPT):
    """Returns problems unless exactly the lost blocks are reported; blocks about which shared memory is unknown are
    only possibly lost."""
    of = lambda size: {name: sum(group[name]['blocks'] for group in found['groups'] if group['size'] == wide(size, variant))
                       for name in ('definitely_lost', 'possibly_lost', 'indirectly_lost')}
    wanted = (0, LOST) if is_known else (kept, LOST)
    problems = []
    for size, count in zip((56, 40), wanted):
        name = 'definitely_lost' if is_known else 'possibly_lost'
        if of(size) != {**dict.fromkeys(of(size), 0), name: count}:
            problems.append('blocks of %d bytes: %s' % (size, of(size)))
    if not is_known and sums(found, 'definitely_lost') != (0, 0):
        problems.append('definitely lost: %s' % found['definitely_lost'])
    lacking = found['bytes_unreadable' if 'core' in found else 'bytes_of_shared_left_out']
    if (lacking == 0) != is_known or found['bytes_of_shared_left_out'] + found['bytes_unreadable'] != lacking:
        problems.append('left out: %s, unreadable: %s' % (found['bytes_of_shared_left_out'], found['bytes_unreadable']))
    return problems


def live(room, how, variant='O2', has_rights=True, is_known=True, kept=KEPT):
    with Shared(room, how, variant) as target:
        prefix = [] if has_rights else without_rights()
        problems = []
        for _ in range(2):
            done = target.answer(prefix)
            problems += compare(json.loads(done.out), variant, is_known, kept) if done.status == 0 else \
                ['status %d: %s' % (done.status, done.err.decode())]
        text = room.run(prefix + [FUNCTRACE, '--scan', '-t', str(target.pid)]).out.decode()
        said = 'bytes of shared memory that this process has not touched were not copied, and may have pointers: ' \
               'blocks that no known pointer leads to are only possibly lost'
        if (said in text) == is_known:
            problems.append(text)
        out, _ = target.child.communicate(b'')
        if target.child.returncode or (how == 'sparse' and b'sparse\n' not in out):
            problems.append('the process ended with status %d: %s' % (target.child.returncode, out))
    return ['%s: %s' % (how, problem) for problem in problems], ''


def all_ways(room, variant='O2', has_rights=True):
    problems, skipped = [], []
    for how in 'forked', 'mapping', 'written', 'dropped', 'attached', 'guarded':
        try:
            problems += live(room, how, variant, has_rights)[0]
        except builds.Skip:
            skipped.append(how)
    return problems, 'this kernel does not have: ' + ', '.join(skipped) if skipped else ''


def served(room):
    """functrace does not wait for a page that userfaultfd must provide."""
    known, _ = live(room, 'served')
    unknown, _ = live(room, 'served', has_rights=False, is_known=False, kept=0)
    return known + unknown, ''


def at_exit(room):
    """The same holds when a program ends. A baseline is taken without shared memory."""
    problems = []
    for how in 'mapping', 'written', 'dropped', 'attached':
        path = room.path('trace-' + how)
        done = room.run([FUNCTRACE, '--scan', '-e', 'memory', '-o', path, '--', builds.target('sharedpages', 'O2'), how], data=b'')
        said = SAID.findall(room.run([POSTPROC, '-q', path]).out)
        if done.status or said != [b'definitely'] * LOST:
            problems.append('%s: status %d: %s, %d lost' % (how, done.status, done.err.decode(), len(said)))
    path = room.path('trace-wide')
    done = room.run(without_rights() + [FUNCTRACE, '--scan', '-e', 'memory', '-o', path, '--', builds.target('sharedpages', 'O2'), 'wide'], data=b'')
    said = SAID.findall(room.run([POSTPROC, '-q', path]).out)
    if done.status or set(said) != {b'possibly'} or len(said) < KEPT + LOST or b'are only possibly lost' not in done.err:
        problems.append('wide: status %d: %s, %d lost' % (done.status, done.err.decode(), len(said)))
    return problems, ''


def of_a_core(room):
    """gdb's core file contains the shared memory; if a core file lacks some, no block is definitely lost."""
    with Shared(room, 'dropped') as target:
        path = gdb_core(room, target.pid)
        problems, found = of_core(room, path)
        problems += compare(found, 'O2') if found else []
        target.child.communicate(b'')
    with open(path, 'r+b') as file:
        start, size, count = struct.unpack('<32xQ14xHH', file.read(58))
        for at in range(start, start + size * count, size):
            file.seek(at)
            address, held = struct.unpack('<16xQ8xQ', file.read(40))
            if address <= target.table < address + held:
                file.seek(at + 32)
                file.write(bytes(8))
    more, found = of_core(room, path)
    return problems + (more or compare(found, 'O2', is_known=False)), ''


def of_a_core_without_file(room, how):
    """gdb's core file names a shared mapping of a file, but has neither its bytes nor its permissions."""
    with Shared(room, how) as target:
        problems, found = of_core(room, gdb_core(room, target.pid))
        problems += compare(found, 'O2', is_known=False) if found else []
        target.child.communicate(b'')
    return problems, ''


def of_a_core_with_constants(room):
    """gdb leaves out a file that the process only reads. The file shows that it has no pointers, unless it is missing,
    or may have changed after the core file."""
    with Shared(room, 'constant') as target:
        with open('/proc/%d/coredump_filter' % target.pid, 'w') as chosen:
            chosen.write('0x23')
        bare = room.path('bare')
        os.rename(gdb_core(room, target.pid), bare)
        with open('/proc/%d/coredump_filter' % target.pid, 'w') as chosen:
            chosen.write('0x33')
        path = gdb_core(room, target.pid)
        target.child.communicate(b'')
    file, = glob.glob(room.path('sharedpages.*'))
    root, problems = room.path('root'), []
    os.makedirs(root + os.path.dirname(file))
    file_time = os.stat(file).st_ctime

    def look(what, status, *options, core=path):
        done = room.run([FUNCTRACE, '--scan=json', '--error-exitcode=9', '--core=' + core, *options])
        more = ['status %d: %s' % (done.status, done.err.decode())] if done.status != status else []
        more += compare(json.loads(done.out), 'O2', is_known=status == 9, kept=0)
        problems.extend('%s: %s' % (what, problem) for problem in more)

    os.utime(path, (file_time, file_time))
    look('of the same second', 0)
    for core in path, bare:
        os.utime(core, (file_time + 10, file_time + 10))
    look('as it was', 9)
    look('without ELF headers', 9, core=bare)
    os.utime(file, (file_time + 20, file_time + 20))
    look('newer', 0)
    os.utime(path, (1e9, 1e9))
    os.utime(file, (1e9 - 10, 1e9 - 10))
    look('put here later, with an old time', 0)
    os.rename(file, root + file)
    look('missing', 0)
    look('below the folder', 9, '--sysroot=' + root)
    return problems, ''


CASES = [
    ('--scan: shared memory that is not touched', all_ways),
    ('--scan: shared memory that is not touched, without rights', lambda room: all_ways(room, has_rights=False)),
    ('--scan: shared memory that is not touched, 32 bits', lambda room: all_ways(room, 'm32')),
    ('--scan: sparse shared memory', lambda room: live(room, 'sparse')),
    ('--scan: sparse shared memory, without rights', lambda room: live(room, 'sparse', has_rights=False, is_known=False)),
    ('--scan: too much shared memory', lambda room: live(room, 'wide', has_rights=False, is_known=False)),
    ('--scan: shared memory that userfaultfd serves', served),
    ('--scan: shared memory, at the end of the program', at_exit),
    ('--scan: shared memory in a core file', of_a_core),
    ('--scan: shared memory of a file, in a core file of gdb', lambda room: of_a_core_without_file(room, 'written')),
    ('--scan: shared memory beside a changed page of the file, in a core file of gdb', lambda room: of_a_core_without_file(room, 'beside')),
    ('--scan: a file that is only read, in a core file of gdb', of_a_core_with_constants),
]
