"""Tests which memory is a root of a scan: stacks beside a program's data, registers of a thread inside malloc, several
C libraries in one process. Each planted block must be reported, while a program runs and when it ends."""

import json
import mmap
import os
import re
import shutil

import builds
from processes import FUNCTRACE, PATIENCE, rounds, state_of, wait_for
from rounds import LONG
from scans import Target, compare, wide
from words import compiled

MODES = ('handler', 'frame', 'far', 'thread', 'left', 'context', 'between', 'block', 'deep', 'given', 'ended')
EXITS = ('O0', 'O2', 'static', 'static-pie')
BUILDS = [('stackroots', 'O2'), ('stackroots', 'm32'), ('stackroots', 'musl'), ('allocating', 'O2'), ('allocating', 'm32'),
          ('allocating', 'static'), ('namespaced', 'O2'), ('unwritten', 'O2'), ('unwritten', 'm32'), ('innerlinks', 'O2'),
          ('innerlinks', 'm32')] + [('staleexit', variant) for variant in EXITS]


def stacks(room, variant):
    """In each mode all blocks that the table points to are reachable, and the lost ones are reported."""
    problems = []
    for mode in MODES:
        with Target(room, 'stackroots', variant, mode) as target:
            more, found = target.look()
            if not more:
                more = compare(found, definitely_lost=(20 * wide(72, variant), 20), indirectly_lost=(0, 0), possibly_lost=(0, 0))
                kept = sum(group['still_reachable']['blocks'] for group in found['groups'] if group['size'] == wide(56, variant))
                more += ['kept: %d' % kept] if kept != 500 else []
            problems += ['%s: %s' % (mode, problem) for problem in more] + target.end()
    return problems, ''


LOST = re.compile(r'([\d,]+) bytes in ([\d,]+) blocks? definitely lost')


def reported(room, command, status):
    """Runs functrace --report; returns problems (a wrong status is one), and (bytes, blocks) that it shows as
    definitely lost."""
    done = room.run([FUNCTRACE, '--report', '--error-exitcode=9', '--', *command], data=b'')
    match = LOST.search(done.out.decode())
    problems = [] if done.status == status and match else \
        ['%s: status %d: %s%s' % (' '.join(command[1:]), done.status, done.out.decode(), done.err.decode())]
    return problems, tuple(int(number.replace(',', '')) for number in match.groups()) if match else None


def ends(room):
    """The same is tested at the end of the program, on the stack of each mode. valgrind must report the same if it
    knows such stacks."""
    problems, asked = [], 0
    for mode in MODES:
        command = [builds.target('stackroots', 'O2'), mode, 'end']
        more, lost = reported(room, command, 9)
        if not more and lost != (20 * 72, 20):
            more = ['%s: %s' % (mode, lost)]
        problems += more
        if shutil.which('valgrind') and mode in ('left', 'ended'):
            said = room.run(['valgrind', *command], data=b'').err.decode()
            asked += 1
            if 'definitely lost: 1,440 bytes in 20 blocks' not in said:
                problems.append('%s: valgrind: %s' % (mode, said))
    return problems, 'valgrind was asked %d times' % asked


def answers(room, target, scans):
    """Returns [definitely, indirectly, possibly lost blocks] of each scan of that target, and the problems."""
    out, problems = [], []
    for options in [[]] * (scans if LONG else 1) + [['--interval=0.01', '--count=%d' % scans]]:
        done = room.run([FUNCTRACE, '--scan=json', *options, '-t', str(target.pid)])
        if done.status:
            problems.append('status %d: %s' % (done.status, done.err.decode()))
        out += [[json.loads(line)[name]['blocks'] for name in ('definitely_lost', 'indirectly_lost', 'possibly_lost')]
                for line in done.out.splitlines()]
    return out, problems


def allocating(room, threads, modes, scans, variant='O2'):
    """Blocks that are being allocated or released are not reported as lost, and they keep no other block from being
    reported."""
    problems, count = [], 0
    scans = rounds(scans) if PATIENCE == 1 else 3
    # If the heap has low addresses, a number may look like a pointer into a lost block: 0x20000005 in each static
    # program's data, or the letters of an environment variable in a program for 32 bits, whose heap often begins at
    # 0x56 to 0x58, which are letters, too. Without randomised addresses, the heap for 32 bits is below most of these;
    # random numbers (stack protector, AT_RANDOM) remain, so that the program is started again up to three times.
    narrow = builds.is_narrow(variant)
    runs = 4 if narrow or variant == 'static' else 1
    fixed = ['setarch', '-R'] if narrow and room.run(['setarch', '-R', 'true']).status == 0 else []
    command = [*fixed, builds.target('allocating', variant), threads]
    for mode in modes:
        for run in range(1, runs + 1):
            with Target(room, command[0], None, *command[1:], mode) as target:
                found, more = answers(room, target, scans)
                if threads:
                    more += target.end()
            count += len(found)
            wrong = [seen for seen in found if seen != [520, 80, 0]]
            by_chance = run < runs and not more and all(seen[2] <= 5 and seen == [520 - seen[2], 80, seen[2]] for seen in wrong)
            if not wrong or not by_chance:
                problems += ['%s: %s' % (mode, problem) for problem in more + wrong]
                break
    return problems, '%d scans' % count


def namespaced(room):
    """The figures are the sum of both heaps. Blocks that the second C library has allocated for the dynamic linker are
    not counted here."""
    problems = []
    with Target(room, 'namespaced', 'O2') as target:
        for _ in range(3):
            more, found = target.look('--top=99')
            problems += more
            if more:
                continue
            problems += compare(found, definitely_lost=(80 * 56 + 200008, 81), indirectly_lost=(0, 0))
            for size, count in (120, 600), (300008, 1):
                kept = sum(group['still_reachable']['blocks'] for group in found['groups'] if group['size'] == size)
                problems += ['%d blocks of %d are kept' % (kept, size)] if kept != count else []
            if found['allocator']['arenas'] < 2:
                problems.append('%s' % found['allocator'])
        problems += target.end()
    # A trace has only the calls of the first C library, because functions are found by name in the program's namespace.
    more, lost = reported(room, [builds.target('namespaced', 'O2'), 'end'], 9)
    if not more and (not lost or lost[1] < 40):
        more = ['at the end: %s' % (lost,)]
    return problems + more, ''


def stale_exit(room):
    """Old words in the frames of exit() and in registers keep no block reachable; the variables of exit()'s caller
    do."""
    problems = []
    for variant in EXITS if LONG else ('O2', 'static'):
        program = builds.target('staleexit', variant)
        for mode, status in ('lost', 9), ('kept', 0):
            more, lost = reported(room, [program, mode], status)
            if not more and lost != ((24, 1) if status else (0, 0)):
                more = ['%s, %s: %s' % (variant, mode, lost)]
            problems += more
    if LONG and shutil.which('valgrind'):
        program = builds.target('staleexit', 'O2')
        for mode, said in ('lost', 'definitely lost: 24 bytes in 1 blocks'), ('kept', 'definitely lost: 0 bytes in 0 blocks'):
            done = room.run(['valgrind', program, mode], data=b'').err.decode()
            if said not in done and 'no leaks are possible' not in done:
                problems.append('valgrind: ' + done)
    return problems, ''


def unwritten(room, variant='O2'):
    """Words that malloc's lists have left in memory which the program has not written point to few blocks; if malloc
    fills its memory (mallopt(3): M_PERTURB), to nearly none."""
    problems, remarks = [], []
    for env, most in (None, 8), ({'MALLOC_PERTURB_': '170'}, 50):
        with Target(room, 'unwritten', variant, 8, env=env) as target:
            lost, alive = (int(word) for word in target.child.stdout.readline().split())
            more, found = target.look()
            if not more:
                seen = {name: found[name]['blocks'] for name in ('definitely_lost', 'indirectly_lost', 'possibly_lost', 'still_reachable')}
                # Some of the live blocks may be the C library's own, and some lost blocks may be reachable by a pointer
                # to their start.
                if seen['possibly_lost'] * most > lost or seen['definitely_lost'] * 4 < 3 * lost or \
                        not 0 <= seen['still_reachable'] - alive <= 40:
                    more = ['%s lost, %s alive: %s' % (lost, alive, seen)]
                remarks.append('%d of %d possibly' % (seen['possibly_lost'], lost))
            problems += more + target.end()
    return problems, ', '.join(remarks)


def inner_links(room, variant='O2'):
    """Pointers of the program that look like malloc's lists: no block is lost to which only they point."""
    problems = []
    for seed in range(1, 13 if LONG else 5):
        with Target(room, 'innerlinks', variant, seed) as target:
            nodes = int(target.child.stdout.readline())
            more, found = target.look()
            if not more:
                more = compare(found, definitely_lost=(0, 0), indirectly_lost=(0, 0))
                if found['possibly_lost']['blocks'] + found['still_reachable']['blocks'] < nodes:
                    more.append('%d nodes: %s' % (nodes, found['possibly_lost']))
            problems += ['%d: %s' % (seed, problem) for problem in more] + target.end()
    return problems, ''


ZEROS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define BYTES (1l << 30)
char *volatile kept, *volatile lost;
int main(void)
{
	long sum = 0;
	kept = calloc(BYTES, 1);
	for (long i = 0; i < BYTES; i += 4096)
		sum += kept[i];
	char **const between = (char **)(kept + BYTES / 2);
	*between = memset(malloc(4321), 0, 4321);
	lost = memset(malloc(1234), 0, 1234);
	lost = NULL;
	puts("ready");
	fflush(stdout);
	getchar();
	return sum != 0;
}
"""


def has_page_of_zeros():
    """Returns true if the kernel maps its page of zeros when memory is only read. This page does not count as resident
    memory of the process."""
    def resident():
        with open('/proc/self/statm') as file:
            return int(file.read().split()[1])
    pages = 4096
    with mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        before = resident()
        for page in range(pages):
            memory[page * mmap.PAGESIZE]
        return resident() - before < pages // 2


def read_only_zeros(room):
    """A table was read everywhere, and written in one place. Its pages of zeros are not copied, the written page
    between them is."""
    if not has_page_of_zeros():
        raise builds.Skip('this kernel has no page of zeros: memory that is read gets pages of its own')
    if tuple(int(word) for word in os.uname().release.split('.')[:2]) < (6, 7):
        raise builds.Skip('before Linux 6.7 the kernel does not report pages of zeros')
    problems = []
    for env in {}, {'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1'}:
        target = Target(room, compiled(room, 'zeros', ZEROS, '-w'), None, env=env)
        with target:
            wait_for('the program to wait', lambda: state_of(target.pid) == 'S')
            more, found = target.look()
            problems += more
            if found and found['copied_bytes'] > 16 << 20:
                problems.append('%s: %d bytes were copied' % (env, found['copied_bytes']))
            if found and found['definitely_lost']['blocks'] != 1:
                problems.append('%s: %s' % (env, found['definitely_lost']))
            problems += target.end()
    return problems, ''


CASES = [
    ('--scan: pages of zeros that were only read are not copied', read_only_zeros),
    ('--report: old words in the frames of exit()', stale_exit),
    ('--scan: memory that the program has not written', unwritten),
    ('--scan: memory that the program has not written, 32 bits', lambda room: unwritten(room, 'm32')),
    ("--scan: pointers that look like malloc's keep blocks reachable", inner_links),
    ("--scan: pointers that look like malloc's keep blocks reachable, 32 bits", lambda room: inner_links(room, 'm32')),
    ('--scan: stacks beside data', lambda room: stacks(room, 'O2')),
    ('--scan: stacks beside data, 32 bits', lambda room: stacks(room, 'm32')),
    ('--scan: stacks beside data, at the end', ends),
    ('--scan: 4 threads that allocate', lambda room: allocating(room, 4, ('some', 'realloc', 'large', 'small', 'aligned', 'calloc', 'shared'), 27)),
    ('--scan: a thread that allocates', lambda room: allocating(room, 0, ('some', 'realloc', 'large', 'small', 'aligned', 'calloc'), 27)),
    ('--scan: 4 threads that allocate, static', lambda room: allocating(room, 4, ('some', 'small'), 27, 'static')),
    ('--scan: 4 threads that allocate, 32 bits', lambda room: allocating(room, 4, ('some', 'small', 'large'), 27, 'm32')),
    ('--scan: the heaps of two C libraries are summed', namespaced),
]
