"""functrace --scan of processes that have damaged their own heaps: functrace reports the contradictory data, and
guesses nothing."""

import re

import builds
from processes import all_sleep, wait_for
from rounds import LONG
from scans import Target, compare, of_size

CHUNK = 'a chunk has an impossible size'
CACHE = "a thread's cache is broken"
FASTBIN = 'a list of small free chunks is broken'
BIN = "a bin's list is broken"
FOOT = "a free chunk's size at its end differs from the one in its header"
TOPMOST = "the main arena's size differs from the size that it records"
RING = 'the ring of its arenas does not lead back to the first one'
REASONS = {
    'large-size': CHUNK, 'small-size': CHUNK, 'longer-size': FOOT, 'foot': FOOT, 'topmost': TOPMOST, 'topmost-less': TOPMOST,
    'mapped': "the mmapped chunks that were found differ from malloc's counts", 'cycle-in-cache': CACHE,
    'overwritten-in-cache': CACHE, 'cut-cache': CACHE, 'thread-cache': CACHE, 'cycle-in-fastbin': FASTBIN,
    'overwritten-in-fastbin': FASTBIN, 'cycle-of-unsorted': BIN, 'cycle-in-small-bin': BIN, 'overwritten-in-large-bin': BIN,
    'overwritten-bin': BIN, 'ring': RING, 'ring-in-ring': RING,
    'cycle-of-heaps': "an arena's heaps are not in order, or their size differs from the size that the arena records",
}
WORDS = (r'functrace: the heap of process %d \(damaged-%s\) is inconsistent in all 24 copies: %s%s\. No thread was running '
         r'when the copies were made: the heap is damaged, unless a signal handler has interrupted malloc and is waiting\.\n')
WITHOUT_PLACE = ('mapped', 'ring', 'ring-in-ring')
HUGE = 74 * 4096 - 16  # the size of a chunk for 300000 bytes, including its header
BUILDS = [('damaged', 'O2'), ('damaged', 'm32')]


def damaged(room, kind, variant):
    with Target(room, 'damaged', variant, kind) as target:
        # The message depends on whether a thread ran during one of the copies.
        wait_for('the threads to sleep', lambda: all_sleep(target.pid))
        done = target.scan()
        place = '' if kind in WITHOUT_PLACE else ', at 0x[0-9a-f]+'
        wanted, said = WORDS % (target.pid, variant, re.escape(REASONS[kind]), place), done.err.decode()
        problems = [] if (done.status, done.out) == (1, b'') and re.fullmatch(wanted, said) else \
            ['status %d: %s%s' % (done.status, done.out.decode()[:300], said)]
        problems += target.end()
    return ['%s: %s' % (kind, problem) for problem in problems], ''


def every_kind(room, variant):
    """Each kind of damage has a process of its own. A process with an undamaged heap is scanned normally."""
    problems = []
    for kind in list(REASONS)[::1 if LONG else 2]:
        problems += damaged(room, kind, variant)[0]
    with Target(room, 'damaged', variant, 'none') as target:
        done = target.scan()
        if done.status or not re.search(rb'still reachable: [\d,]+ bytes in [1-9]', done.out):
            problems.append('an undamaged heap: status %d: %s' % (done.status, done.err.decode()))
        problems += target.end()
    return problems, ''


def lookalikes(room, env=None):
    """Memory that looks like mmapped chunks but is not: malloc counts 40 mmapped chunks. If blocks have tags, an arena
    begins with a megabyte that contains the first three of them."""
    small, huge, mapped = (48, {HUGE: 36, 300000: 3}, 37) if builds.has_tags(env) else (56, {HUGE: 39}, 40)
    with Target(room, 'damaged', 'O2', 'lookalikes', env=env) as target:
        problems, found = target.look()
        if not problems:
            problems = compare(found, definitely_lost=(HUGE + 40 * small, 41), indirectly_lost=(0, 0), possibly_lost=(0, 0))
            if any(of_size(found, size, 'still_reachable') != count for size, count in huge.items()):
                problems.append('wrong groups: %s' % found['groups'])
            if (found['allocator']['hblks'], found['inconsistent_copies']) != (mapped, 0):
                problems.append('wrong count of mmapped chunks: %s' % found['allocator'])
        problems += target.end()
    return problems, ''


CASES = [
    ('--scan: memory that only looks like mmapped chunks is not counted', lookalikes),
    ('--scan: damaged heaps are reported and not guessed', lambda room: every_kind(room, 'O2')),
    ('--scan: damaged heaps are reported and not guessed, 32 bits', lambda room: every_kind(room, 'm32')),
]
