"""Computes the classes of all blocks from the log of tests/targets/heaps.c, by their definitions alone
(man/functrace-scan.7). If the documentation leaves open whether a pointer counts, both answers are allowed."""

import bisect
import copy
import itertools

REACHABLE, POSSIBLY, DEFINITELY, INDIRECTLY = 'still_reachable', 'possibly_lost', 'definitely_lost', 'indirectly_lost'
DOUBTFUL_MAX = 12  # this many pointers between lost blocks have 4,096 choices


class Log:
    """The blocks and pointers that exist at the end of a plan."""

    def __init__(self, text):
        self.blocks, self.asked, self.numbers, self.edges, self.roots = {}, {}, {}, {}, []
        self.addresses, self.slots = {}, {}
        for line in text.split('\n')[:-1]:
            what, *words = line.split()
            getattr(self, '_' + what)(*(int(word, 16) for word in words))
        self.starts = sorted(self.blocks)

    def _b(self, address, size, number):
        self.blocks[address], self.numbers[address], self.addresses[number] = size, number, address

    def _s(self, asked, _inside, number):
        self.asked[self.addresses[number]] = asked

    def _f(self, address, _, _number):
        del self.blocks[address], self.numbers[address], self.asked[address]
        for at in [at for at, (source, _, _) in self.edges.items() if source == address]:
            del self.edges[at]

    def _edge(self, what, at, word, _number):
        self.edges[at, word] = self.find_slowly(at), what, word

    def find_slowly(self, at):
        source = max((start for start in self.blocks if start <= at < start + self.blocks[start]), default=None)
        assert source is not None, 'a pointer at %x is in no block' % at
        return source

    def _w(self, *numbers):
        self._edge('r', *numbers)

    def _K(self, *numbers):
        self._edge('k', *numbers)

    def _M(self, *numbers):
        self._edge('m', *numbers)

    def _O(self, *numbers):
        self._edge('o', *numbers)

    def _P(self, *numbers):
        self._edge('p', *numbers)

    def __getattr__(self, name):
        # "v": a pointer that counts only for valgrind, if doubting() says so.
        if name not in ('_r', '_k', '_m', '_o', '_p', '_v'):
            raise AttributeError(name)
        return lambda word, _number, keeper: self.roots.append((name[1], word, keeper))

    def _z(self, word, address, _):
        """A word of the dynamic linker, which may or may not count because it may be an old value."""
        self.roots.append(('o', word, 'the dynamic linker, at %#x' % address))

    def know_slabs(self):
        """Adds pointers that may or may not count: jemalloc keeps the address of each slab, which is also the address
        of the slab's first block, at many places."""
        self.roots += [('o', block, 'the address of a slab') for block in self.starts if block % 4096 == 0]

    def know_headers(self, bytes_of_header):
        """A pointer to one past the end of a block may be the address of the next block's header. The pointer keeps the
        next block reachable if a thread waits for a futex that may be a lock of glibc's malloc."""
        self.roots += [('o', word + bytes_of_header, 'the address of its header') for what, word, _ in self.roots
                       if what != 'v' and word + bytes_of_header in self.blocks]

    def doubting(self, is_doubtful):
        """Returns a copy of the log in which pointers at doubtful places may or may not count. An interior pointer that
        keeps its block reachable still does so if it counts."""
        log = copy.copy(self)
        log.roots = [(('p' if what in 'kmp' else 'o') if is_doubtful(keeper) else what, word, keeper)
                     for what, word, keeper in self.roots]
        return log

    def without(self, blocks):
        """Returns a copy of the log in which these blocks are ordinary memory of the program, so that all words in them
        count."""
        log = copy.copy(self)
        log.blocks = {block: size for block, size in self.blocks.items() if block not in blocks}
        log.starts = sorted(log.blocks)
        log.edges = {at: edge for at, edge in self.edges.items() if edge[0] not in blocks}
        log.roots = self.roots + [(what if what in 'kmop' else 'r', word, 'what was block %d' % self.numbers[source])
                                  for source, what, word in self.edges.values() if source in blocks]
        return log

    def know_lookalike(self, word, at):
        """Adds a number or a text that is by chance an address in a block."""
        self.roots.append(('o', word, 'what looks like a pointer, at %#x' % at))

    def know_slots(self, slots, paddings, insides):
        """Adds the slots of mimalloc's pages in which blocks begin later, {block: the slot's start}. The memory before
        the block is padding, which has old words, {address: word}. As functrace does not know where in its slot a block
        begins, all of the slot counts as the block. insides: as Block.inside of the plan, {block: inside}."""
        self.slots = slots
        for at, word in paddings.items():
            source, target = self.find(at), self.find(word)
            if target is not None:
                offset, is_sure = insides.get(target) or (None, False)
                self.edges[at, word] = source, 'r' if word - target != offset else 'k' if is_sure else 'm', word

    def know_alignment(self):
        """An interior pointer to the first multiple of a power of two in a slot keeps the block reachable if mimalloc
        has aligned any block of the page."""
        def letter(what, word):
            block = self.find(word)
            is_first = block is not None and word - self.slots.get(block, block) < (word & -word)
            return {'r': 'm', 'o': 'p'}.get(what, what) if is_first else what

        self.roots = [(letter(what, word), word, keeper) for what, word, keeper in self.roots]
        self.edges = {at: (source, letter(what, word), word) for at, (source, what, word) in self.edges.items()}

    def find(self, word):
        """Returns the block that contains an address, or None."""
        at = bisect.bisect_right(self.starts, word)
        if at < len(self.starts) and self.slots.get(self.starts[at], word + 1) <= word:
            return self.starts[at]
        return self.starts[at - 1] if at and word < self.starts[at - 1] + self.blocks[self.starts[at - 1]] else None

    def is_start(self, word, block):
        """Returns whether a pointer points to the first byte of a block, or of its slot."""
        return word in (block, self.slots.get(block))


def reached(log, has_all):
    """Returns {address: class} of the blocks that are not lost. If has_all, pointers that may or may not count do
    count."""
    out, found = {}, {}
    for source, what, word in log.edges.values():
        if what in ('o', 'p') and not has_all:
            continue
        out.setdefault(source, []).append((what, word))

    def keeps(what, word, target):
        return log.is_start(word, target) or what in ('k', 'p') or (what == 'm' and has_all)

    def spread(work, name):
        while work:
            source = work.pop()
            for what, word in out.get(source, ()):
                target = log.find(word)
                if target is None or found.get(target) == REACHABLE:
                    continue
                if name == REACHABLE and keeps(what, word, target):
                    found[target] = REACHABLE
                    work.append(target)
                elif target not in found:
                    found[target] = POSSIBLY
                    inner.append(target)

    inner = []
    for what, word, _ in log.roots:
        target = log.find(word)
        if target is None or what == 'v' or (what in ('o', 'p') and not has_all):
            continue
        if keeps(what, word, target):
            found[target] = REACHABLE
            spread([target], REACHABLE)
        elif target not in found:
            found[target] = POSSIBLY
            inner.append(target)
    spread([block for block in inner if found[block] == POSSIBLY], POSSIBLY)
    while inner:
        block = inner.pop()
        if found[block] == POSSIBLY:
            spread([block], POSSIBLY)
    return found


def led(targets, blocks):
    """Returns {lost block: class}. targets: {block: the blocks to which it points}. In a cycle of lost blocks the block
    with the lowest address is definitely lost."""
    found = {}
    for leader in blocks:
        if leader in found:
            continue
        found[leader], work = DEFINITELY, [leader]
        while work:
            for target in targets.get(work.pop(), ()):
                if target != leader and found.get(target) != INDIRECTLY:
                    found[target] = INDIRECTLY
                    work.append(target)
    return found


def lost(log, blocks):
    """Returns {address: the allowed classes} of blocks, each of which counts as lost here: the classes by each choice
    among the pointers between lost blocks that may or may not count."""
    among, surely, maybe = set(blocks), set(), set()
    for source, what, word in log.edges.values():
        target = log.find(word)
        if source in among and target in among and target != source:
            (maybe if what in ('o', 'p') else surely).add((source, target))
    maybe = sorted(maybe - surely)
    assert len(maybe) <= DOUBTFUL_MAX, '%d pointers between lost blocks may or may not count' % len(maybe)
    out = {block: set() for block in blocks}
    for choice in itertools.product((False, True), repeat=len(maybe)):
        targets = {}
        for source, target in surely.union(itertools.compress(maybe, choice)):
            targets.setdefault(source, []).append(target)
        for block, name in led(targets, blocks).items():
            out[block].add(name)
    return out


def allowed(log):
    """Returns {address: the allowed classes}. Each pointer that may or may not count may do so, or only if it is an
    interior one, whatever the others do. A block that is lost if none of them counts may be lost as long as they do not
    reach it, while they decide which lost blocks lead to it."""
    without, with_all = reached(log, False), reached(log, True)
    out = lost(log, [block for block in log.starts if block not in without])
    for block, name in with_all.items():
        out.setdefault(block, set()).update({name, without.get(block, POSSIBLY)})
    return out


def describe(log, block, words):
    """Describes a block whose class is wrong."""
    keepers = [words[keeper] if isinstance(keeper, int) else keeper for _, word, keeper in log.roots if log.find(word) == block]
    leads = ['block %d' % log.numbers[source] for source, _, word in log.edges.values() if log.find(word) == block]
    return 'block %d at %#x, %d bytes (asked for %d), led to by %s' % (
        log.numbers[block], block, log.blocks[block], log.asked[block], '; '.join(keepers + leads) or 'nothing')
