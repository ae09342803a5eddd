"""Tests the model of generated heaps (tests/generate/heap_model.py) on small heaps: it allows exactly the classes that
occur when each pointer that may or may not count is once present and once absent."""

import itertools
import random

import heap_model
from heap_model import DEFINITELY, INDIRECTLY, POSSIBLY, REACHABLE

SIZE = 64
HEAPS = 400


def start(number):
    return 0x10000 + number * SIZE


def made_log(rng):
    """Returns the log of a heap of up to 6 blocks, with up to 5 pointers that may or may not count."""
    count, doubtful = rng.randint(2, 6), rng.randint(1, 5)
    lines = ['b %x %x %x' % (start(number), SIZE, number) for number in range(count)]
    for i in range(rng.randint(0, 2 * count) + doubtful):
        # A capital: a pointer in a block; see link_blocks() and log_root() in tests/targets.
        letter, target = rng.choice('OPoo' if i < doubtful else 'wwwwwwKr'), rng.randrange(count)
        word = start(target) + rng.choice((0, 0, 0, 8))
        if letter in 'rop':
            lines.append('%s %x %x 0' % (letter, word, target))
        else:
            lines.append('%s %x %x %x' % (letter, start(rng.randrange(count)) + 8 * (i % 8), word, target))
    return heap_model.Log('\n'.join(lines) + '\n')


def classes(starts, edges, roots):
    """Returns {address: class} by the definitions in man/functrace-scan.7. edges: (source, does the pointer keep its
    block, target); roots: (does it keep, target)."""
    found = {}

    def spread(work, name):
        while work:
            for source, keeps, target in edges:
                if source == work[0] and name == REACHABLE and keeps and found.get(target) != REACHABLE:
                    found[target] = REACHABLE
                    work.append(target)
                elif source == work[0] and target not in found and name == POSSIBLY:
                    found[target] = POSSIBLY
                    work.append(target)
            del work[0]

    found.update((target, REACHABLE) for keeps, target in roots if keeps)
    spread(list(found), REACHABLE)
    inner = [target for _, target in roots] + [target for source, _, target in edges if found.get(source) == REACHABLE]
    inner = [target for target in inner if target not in found]
    found.update((target, POSSIBLY) for target in inner)
    spread(inner, POSSIBLY)
    lost = [block for block in starts if block not in found]
    for leader in lost:
        if leader in found:
            continue
        found[leader], work = DEFINITELY, [leader]
        while work:
            source = work.pop()
            for target in [target for at, _, target in edges if at == source and target in lost]:
                if target != leader and found.get(target) != INDIRECTLY:
                    found[target] = INDIRECTLY
                    work.append(target)
    return found


def occurring(log):
    """Returns {address: the classes that occur}."""
    edges = [(what in 'op', (source, what in 'kp' or word == log.find(word), log.find(word)))
             for source, what, word in log.edges.values()]
    roots = [(what in 'op', (what in 'kp' or word == log.find(word), log.find(word))) for what, word, _ in log.roots]
    doubtful = sum(is_doubtful for is_doubtful, _ in edges + roots)
    out = {block: set() for block in log.starts}
    for choice in itertools.product((False, True), repeat=doubtful):
        counts = iter(choice)
        chosen = [[pointer for is_doubtful, pointer in pointers if not is_doubtful or next(counts)] for pointers in (edges, roots)]
        for block, name in classes(log.starts, *chosen).items():
            out[block].add(name)
    return out


def the_model(_room):
    problems, rng, several = [], random.Random(1), 0
    for number in range(HEAPS):
        log = made_log(rng)
        allowed, right = heap_model.allowed(log), occurring(log)
        for block in log.starts:
            several += len(right[block]) > 1
            # The model also lets a pointer to a block's start count as an interior one.
            if right[block] != allowed[block] and right[block] | ({POSSIBLY} if REACHABLE in right[block] else set()) != allowed[block]:
                problems.append('heap %d, block %d: %s, the model allows %s' % (
                    number, log.numbers[block], sorted(right[block]), sorted(allowed[block])))
    return problems[:20], '%d heaps, %d blocks with several classes' % (HEAPS, several)


def a_slot(_room):
    """Block 0 begins 0x20 bytes after its slot's start. A word of the padding points to block 1."""
    problems = []
    for root, classes in ((None, {DEFINITELY}), (0x10240, {REACHABLE}), (0x10220, {REACHABLE}), (0x10248, {POSSIBLY}),
                          # the first multiple of 128 in the slot
                          (0x10280, {POSSIBLY, REACHABLE}), (0x102c0, {POSSIBLY}), (0x10228, {POSSIBLY}), (0x102c8, {POSSIBLY})):
        log = heap_model.Log('b 10240 c0 0\nb 20000 40 1\n' + ('r %x 0 0\n' % root if root else ''))
        log.know_slots({0x10240: 0x10220}, {0x10220: 0x20000, 0x10228: 1}, {})
        log.know_alignment()
        right = {0x10240: classes, 0x20000: {INDIRECTLY} if not root else classes}
        if heap_model.allowed(log) != right:
            problems.append('%s: the model allows %s' % (root and hex(root), heap_model.allowed(log)))
    return problems, ''


CASES = [("the model's classes of blocks are those that occur", the_model),
         ('the model counts pointers in and to the slot of an aligned block', a_slot)]
