"""Plans that tests/targets/heaps.c follows, so that the contents of its heap are known. A seed chooses blocks, the
blocks to which they point, their keepers (the roots that point to blocks), and the program's end.

    plan = Plan(seed, features)     features: see Features
    plan.text                       the plan, which the program reads
    plan.words                      {keeper's number: its description, for reports of wrong blocks}
"""

import random

HOWS = ('malloc', 'calloc', 'realloc, grown', 'realloc, shrunk', 'memalign', 'posix_memalign', 'aligned_alloc', 'strdup',
        'a second C library', 'new', 'new[]', 'new of a derived class')
MALLOC, SECOND, NEW, NEW_ARRAY, NEW_DERIVED = 0, 8, 9, 10, 11
ALIGNED = (4, 5, 6)
PLACES = ('bss', 'data', 'TLS', 'library', 'library TLS', 'anonymous', 'shared', 'memfd', 'System V', 'file', 'private file', 'sbrk',
          'sparse', 'private memfd')
BSS, DATA, TLS, LIBRARY, LIBRARY_TLS, ANONYMOUS, SHARED, MEMFD, SYSTEM_V, FILE, PRIVATE_FILE, BREAK, SPARSE, PRIVATE_MEMFD = \
    range(len(PLACES))
MAPPED = (ANONYMOUS, SHARED, MEMFD, SYSTEM_V, FILE, PRIVATE_FILE, PRIVATE_MEMFD)
STORES = ('directly', 'by a child', 'by a second mapping', 'by pwrite')
STORES_OF = {SHARED: (0, 1), SYSTEM_V: (0, 1, 2), MEMFD: (0, 1, 2, 3), FILE: (0, 1, 2, 3)}
READ_ONLY, NO_ACCESS, DONT_NEED = 1, 2, 3
AFTERS = ('', ', read-only', ', no access', ', MADV_DONTNEED')
WHERES = ('stack', 'own TLS', "own TLS of a library", 'key', 'register', 'vector register', 'red zone', 'below the red zone')
ON_STACK, OWN_TLS, OWN_LIBRARY_TLS, KEY, REGISTER, VECTOR, RED_ZONE, BELOW_RED_ZONE = range(len(WHERES))
STACKS = ("the C library's", 'mapped, guarded', 'mapped beside data', 'an array', "the C library's, no guard")
OF_LIBRARY, GUARDED, BESIDE, ARRAY, UNGUARDED, FIRST_BLOCK = range(6)
WAITS = ('pauses', 'spins', 'waits for a lock', 'has returned', 'has ended by pthread_exit')
SPINS, FIRST_ENDED = 1, 3
LINKS = ('frame', 'handler', 'context', 'thread', 'thread when the first one has ended')
FRAME, HANDLER, CONTEXT, THREAD, LEADERLESS = range(5)
STAYS, RETURN, EXIT, EXIT_AT_ONCE, ABORT, QUICK_EXIT, FIRST_SIGNAL = range(7)
ENDS = ('stays', 'return', 'exit', '_exit', 'abort', 'quick_exit')
SIGNALS = (9, 11, 15)
ARRAYS_MAX, HOLDS_MAX, CONTEXTS_MAX, CLEARS_MAX, SLOTS = 4, 8, 3, 8, 64
STACK_SIZE = 64 << 10
END = -1  # the offset of a pointer to one past the end


class Features:
    """The features that a build of the program supports."""

    def __init__(self, word=8, allocator='glibc', cxx=False, contexts=True, libraries=True, second=True, general=6, vectors=8,
                 has_tables=True):
        self.word, self.allocator, self.cxx, self.contexts = word, allocator, cxx, contexts
        self.libraries, self.second, self.general, self.vectors = libraries, second, general, vectors
        # whether functrace recognises tables of virtual functions in this build
        self.has_tables = has_tables


class Block:
    def __init__(self, number, how, size, shape=None):
        self.number, self.how, self.size, self.shape = number, how, size, shape
        self.used = set()  # the words of the block that have pointers
        self.inside = None  # the offset of an interior pointer to the block, and whether this pointer surely counts


class Plan:
    def __init__(self, seed, features, is_live, only=None):
        self.random, self.features, self.is_live = random.Random('%s %s' % (seed, is_live)), features, is_live
        self.lines, self.words, self.blocks, self.sizes = [], [], [], set()
        self.places, self.used_slots, self.used_stacks = [], set(), set()
        self.arrays = self.keys = self.contexts = self.holds = self.clears = 0
        self.has_workers, self.stack_blocks = False, []
        self.make()
        self.text = '\n'.join(self.lines) + '\n'

    def alone(self):
        """Returns the plan's text without the lines for forking and for the thread that allocates at the same time."""
        return ''.join(line + '\n' for line in self.lines if line[0] not in 'ic')

    # ---- Words of the plan ----

    def put(self, operation, *numbers):
        self.lines.append(' '.join([operation] + [str(n) for n in numbers + (0,) * (5 - len(numbers))]))

    def chance(self, share):
        return self.random.random() < share

    def keeper(self, words):
        self.words.append(words)
        return len(self.words) - 1

    def root(self, block, offset, words, what=None, is_sure=True):
        """Records that a root has the pointer; if not is_sure, that it may have it."""
        self.put('r', ord(what or self.kind(block, offset, 'rkm' if is_sure else 'opp')), self.keeper(words), block.number, 0, offset)

    @staticmethod
    def kind(block, offset, letters):
        """Returns the letter, one of three, for a pointer to an offset in a block."""
        if block.inside and offset == block.inside[0]:
            return letters[1 if block.inside[1] else 2]
        return letters[0]

    # ---- Blocks ----

    def size(self, least, most):
        while True:
            size = self.random.randint(least, most)
            if size not in self.sizes:
                self.sizes.add(size)
                return size

    def new_block(self, how=None, size=None):
        f, r = self.features, self.random
        hows = [h for h in range(len(HOWS)) if (h != SECOND or f.second) and (h < NEW or f.cxx)]
        how = r.choice(hows + [MALLOC] * 8) if how is None else how
        if size is None:
            # In 32-bit processes any number is soon the address of something in a large block.
            size = self.size(*r.choice([(24, 3000), (24, 200)] * 3 + [(4000, 60000), (140000, 600000)] if f.word == 8 else
                                       [(24, 3000), (24, 200)] * 8 + [(4000, 9000), (132000, 150000)]))
        if how == NEW_ARRAY:
            size = size // 16 * 16 + f.word
        if how == NEW_DERIVED:
            size = 8 * f.word
        block = Block(len(self.blocks), how, size)
        self.blocks.append(block)
        if how == NEW_ARRAY:
            block.inside, block.shape = (f.word, False), 0
        elif how == NEW_DERIVED:
            block.inside, block.shape = (4 * f.word, f.has_tables), 3
        thread = r.choice((0, 0, 0, 1, 2, 3))
        self.has_workers |= thread > 0
        self.put('b', thread, block.number, how, size)
        if how < NEW and self.chance(0.12) and size >= 64:
            self.shape(block)
        return block

    def shape(self, block):
        f = self.features
        block.shape = self.random.randrange(3)
        offset = (f.word, 3 * f.word, 8)[block.shape]
        # The size of an array is less certain than in glibc's blocks, because other allocators' blocks may be much
        # larger than requested.
        block.inside = offset, block.shape != 0 and block.how not in ALIGNED and f.allocator == 'glibc'
        self.put('x', block.number, block.shape)

    def free_word(self, block):
        """Returns an unused word of a block for a pointer, or None."""
        first = 4 if block.shape is not None else 0
        last = block.size // self.features.word - 1
        if block.shape == 3 or last < first:
            return None
        for _ in range(8):
            word = self.random.choice((first, last, self.random.randint(first, last), self.random.randint(first, min(last, first + 8))))
            if word not in block.used:
                block.used.add(word)
                return word * self.features.word
        return None

    def offset(self, block):
        """Returns the offset in a block to which a pointer points."""
        roll = self.random.random()
        if block.inside and roll < 0.6:
            return block.inside[0]
        if roll < 0.75:
            return 0
        if roll < 0.85:
            return END
        # This offset is after the header that a library may put at the start.
        return self.random.randint(min(8, block.size // 16 + 3), block.size // 8) * 8 if block.size >= 64 else 0

    def link(self, source, target, offset=None):
        at = self.free_word(source)
        if at is not None:
            offset = self.offset(target) if offset is None else offset
            self.put('l', ord(self.kind(target, offset, 'wKM')), source.number, at, target.number, offset)

    def structure(self):
        """Makes blocks that point to each other. A keeper will point to the first one."""
        r = self.random
        shape = r.choice(('one', 'one', 'chain', 'tree', 'cycle', 'table', 'web'))
        count = 1 if shape == 'one' else r.randint(2, 7)
        blocks = [self.new_block() for _ in range(count)]
        for i, block in enumerate(blocks[1:], 1):
            source = {'chain': i - 1, 'tree': (i - 1) // 2, 'cycle': i - 1, 'table': 0}.get(shape, r.randrange(i))
            self.link(blocks[source], block, 0 if self.chance(0.8) else None)
        if shape == 'cycle':
            self.link(blocks[-1], blocks[0], 0)
        if shape == 'web':
            for _ in range(count):
                self.link(r.choice(blocks), r.choice(blocks))
        return blocks

    # ---- Keepers ----

    def make_places(self):
        f, r = self.features, self.random
        # musl's sbrk(3) always fails.
        kinds = [k for k in range(len(PLACES)) if (f.libraries or k not in (LIBRARY, LIBRARY_TLS)) and
                 (f.allocator != 'musl' or k != BREAK)]
        for kind in [BSS] + r.sample(kinds, 6):
            after = 0
            if kind in MAPPED:
                after = r.choice((0, 0, 0, READ_ONLY, NO_ACCESS, DONT_NEED if kind in STORES_OF else 0))
            # There is one file, and one set of the program's own variables.
            if kind in (p[0] for p in self.places) and kind != ANONYMOUS:
                continue
            if {kind} | {p[0] for p in self.places} >= {FILE, PRIVATE_FILE}:
                continue
            self.put('p', len(self.places), kind)
            self.places.append((kind, after))

    def kinds(self):
        """Returns the kinds of places that the plan uses."""
        return [kind for kind, _ in self.places]

    def slot(self, place):
        while True:
            slot = self.random.randrange(SLOTS)
            if (place, slot) not in self.used_slots:
                self.used_slots.add((place, slot))
                return slot

    def keep_in_place(self, block):
        place = self.random.randrange(len(self.places))
        kind, after = self.places[place]
        how, slot, offset = self.random.choice(STORES_OF.get(kind, (0,))), self.slot(place), self.offset(block)
        self.put('k', place, slot, how, block.number, offset)
        if after in (READ_ONLY, NO_ACCESS):
            return
        if self.clears < CLEARS_MAX and kind in (BSS, DATA, ANONYMOUS, SHARED) and self.chance(0.3):
            self.clears += 1
            self.put('h', place, slot)
            if self.end in (RETURN, EXIT):
                return
        # glibc releases a thread's variables of a library when another thread has joined it. musl may have the first
        # thread's variables in a block: when the first thread has ended, there are only interior pointers to this
        # block.
        is_given_up = self.is_leaderless and (kind == LIBRARY_TLS or (kind == TLS and self.features.allocator == 'musl'))
        self.root(block, offset, '%s, %s%s' % (PLACES[kind], STORES[how], AFTERS[after]),
                  is_sure=not is_given_up)

    def keep_by_key(self, block):
        offset = self.offset(block)
        self.put('y', self.keys, 0, 0, block.number, offset)
        # A thread that ends loses its values of pthread keys.
        if not self.is_leaderless:
            self.root(block, offset, 'key %d of main' % self.keys)
        self.keys += self.random.choice((1, 1, 2, 20)) if self.keys < 30 else 1

    def stack(self, is_thread):
        """Returns (stack, place, the block that contains the stack). Memory that a parent shares with its child is not
        used, because both would use the stack."""
        free = [i for i, (kind, after) in enumerate(self.places) if kind in MAPPED and after not in (READ_ONLY, NO_ACCESS) and
                i not in self.used_stacks and not (self.forks_late and kind in STORES_OF)]
        choices = [GUARDED, 'block', 'block'] + [BESIDE] * (2 if free else 0) + [ARRAY] * (self.arrays < ARRAYS_MAX) + \
            [OF_LIBRARY, OF_LIBRARY, UNGUARDED] * is_thread
        stack = self.random.choice(choices)
        if stack == 'block':
            # For a thread that does not exist in the child, words of the C library may remain.
            block = self.stack_blocks.pop() if self.stack_blocks and not (is_thread and self.forks_late) else None
            return (FIRST_BLOCK + block.number, 0, block) if block else (GUARDED, 0, None)
        if stack == BESIDE:
            place = self.random.choice(free)
            self.used_stacks.add(place)
            return stack, place, None
        self.arrays += stack == ARRAY
        return stack, 0, None

    def stack_words(self, stack, place, block):
        if block:
            return 'a block of %d' % block.size
        return STACKS[stack] + (' (%s)' % PLACES[self.places[place][0]] if stack == BESIDE else '')

    def keep_in_thread(self, blocks):
        f, r = self.features, self.random
        how = r.choice((0, 0, 0, 2, SPINS if self.spins < 1 else 0, 3, 4))
        self.spins += how == SPINS
        ended = how >= FIRST_ENDED
        wheres = [ON_STACK, ON_STACK, OWN_TLS, KEY] + [OWN_LIBRARY_TLS] * (LIBRARY_TLS in (k for k, _ in self.places))
        if how in (0, SPINS) and f.general:
            wheres += [REGISTER, REGISTER, VECTOR, VECTOR] + [RED_ZONE, BELOW_RED_ZONE] * (f.word == 8)
        stack, place, of_block = self.stack(True)
        # Libraries leave unknown words on a stack without a guard page, and functrace may take it for memory of the
        # program.
        how = 0 if ended and stack == UNGUARDED else how
        ended = how >= FIRST_ENDED
        items, words = [], '%s, stack %s' % (WAITS[how], self.stack_words(stack, place, of_block))
        taken = set()
        for block in blocks:
            where = r.choice(wheres)
            slot = {OWN_TLS: 64, OWN_LIBRARY_TLS: 64, KEY: 40, REGISTER: f.general, VECTOR: f.vectors}.get(where, 1)
            slot = r.randrange(slot)
            if where != ON_STACK and (where, slot) in taken:
                where, slot = ON_STACK, 0
            taken.add((where, slot))
            items.append((where, slot, block, self.offset(block)))
        self.lines.append(' '.join(str(n) for n in ['t', how, stack, place, len(items)] + [
            n for where, slot, block, offset in items for n in (where, slot, block.number, offset)]))
        # When a thread has ended, the stack that the program has allocated for it is cleared. The C library keeps the
        # stacks that it allocates, with thread-local variables of libraries. Valgrind reads all of such a stack.
        if ended:
            for where, _, block, offset in items if stack == OF_LIBRARY else ():
                self.root(block, offset, '%s of a thread that %s' % (WHERES[where], words),
                          None if where == OWN_LIBRARY_TLS else 'v', is_sure=False)
            return
        for where, _, block, offset in items:
            # Words below a stack pointer count unless the memory is known to be only that stack. The red zone of a thread
            # that waits in the program's own system call counts, too; in a static program functrace cannot tell that call
            # from one of the C library.
            is_below = where == BELOW_RED_ZONE or (where == RED_ZONE and how != SPINS and not f.libraries)
            if (is_below and stack in (OF_LIBRARY, UNGUARDED) and not self.forks_late) or (self.forks_late and where in (REGISTER, VECTOR)):
                continue
            self.hold(block, offset, '%s of a thread that %s' % (WHERES[where], words), of_block if where not in (REGISTER, VECTOR) else None,
                      not self.forks_late and not is_below)
        if of_block:
            self.root(of_block, 0, 'the stack of a thread', 'p' if self.forks_late else 'k')

    def hold(self, block, offset, words, of_block, is_sure=True):
        """Records that a word in the block of_block, or a root if of_block is None, points to the block."""
        if of_block:
            self.put('l', ord(self.kind(block, offset, 'wKM' if is_sure else 'OPP')), of_block.number, -1, block.number, offset)
        else:
            self.root(block, offset, words, is_sure=is_sure)

    def keep_in_context(self, block):
        stack, place, of_block = self.stack(False)
        offset = self.offset(block)
        self.contexts += 1
        self.put('u', stack, place, 0, block.number, offset)
        self.hold(block, offset, 'the stack of a context, %s' % self.stack_words(stack, place, of_block), of_block)
        if of_block:
            self.root(of_block, 0, "a context's own word")

    # ---- The whole plan ----

    def draw_end(self):
        if self.is_live:
            self.end = STAYS
        else:
            self.end = self.random.choice((RETURN, RETURN, EXIT, EXIT, EXIT_AT_ONCE, ABORT, QUICK_EXIT) + tuple(
                FIRST_SIGNAL + s for s in SIGNALS))
        self.forks_late = self.is_live and self.chance(0.15)
        self.forks_early = not self.forks_late and self.chance(0.15)
        self.has_churn = not self.forks_late and self.chance(0.2)
        # With musl 1.2.3 the first thread of a fork's child that ends in this way never reaches its end.
        self.is_leaderless = not self.forks_late and self.end != RETURN and self.chance(0.12) and not (
            self.forks_early and self.features.allocator == 'musl')
        self.spins = 0

    def make_chain(self, heads):
        """Plans the chain of functions, contexts and threads that are active when the program reaches its end."""
        r, kinds, stacks, held = self.random, [], [], None
        if self.end == RETURN:
            return
        for number in range(max(r.randint(0, 5), self.is_leaderless)):
            kind = r.choice([FRAME, FRAME, HANDLER] + [CONTEXT] * self.features.contexts + [THREAD] * (not self.forks_late))
            kind = LEADERLESS if self.is_leaderless and not number else kind
            if kind in (HANDLER, THREAD) and kind in kinds:
                continue
            kinds.append(kind)
            if kind == FRAME:
                if heads:
                    block = heads.pop()
                    offset = self.offset(block)
                    self.lines.append('n %d 0 0 %d %d' % (FRAME, block.number, offset))
                    self.hold(block, offset, 'a frame, after %s' % ', '.join(LINKS[k] for k in kinds[:-1]), held)
                continue
            stack, place, held = self.stack(kind in (THREAD, LEADERLESS))
            self.lines.append('n %d %d %d 0 0' % (kind, stack, place))
            stacks.append((kind, held))
        for i, (kind, block) in enumerate(stacks):
            is_last = i + 1 == len(stacks) or stacks[i + 1][0] == THREAD
            if block and is_last:
                self.root(block, 0, 'the stack of a thread', 'k')
            elif block and kind == CONTEXT:
                self.root(block, 0, "a context's own word")
            elif block:
                # The saved stack pointer points into this stack, and the C library may have more pointers to it.
                self.root(block, STACK_SIZE // 2, 'a stack that was left', 'm')

    def free_some(self, blocks):
        for block in blocks:
            # In a child jemalloc counts blocks as in use that are in the caches of threads which do not exist there.
            is_cleared = self.chance(0.5) or self.has_churn or (self.forks_late and self.features.allocator == 'jemalloc')
            self.put('f', self.random.choice((0, 0, 1, 2)), block.number, int(is_cleared))

    def make_blocks(self):
        """Plans the first blocks of structures, and the blocks that are released again."""
        r, heads, freed = self.random, [], []
        for _ in range(r.randint(12, 26)):
            blocks = self.structure()
            heads.append(blocks[0])
            if self.chance(0.5):
                other = self.new_block()
                freed.append(other)
                if self.chance(0.5):
                    self.link(other, r.choice(blocks))
            if self.chance(0.2) and len(heads) > 1:
                self.link(r.choice(blocks), r.choice(heads))
        self.stack_blocks = [self.new_block(r.choice((0, 0, 1, 9 if self.features.cxx else 0)),
                                            self.size(STACK_SIZE + 200, STACK_SIZE + 30000) if self.chance(0.5) else
                                            self.size(180000, 300000)) for _ in range(r.randint(0, 3))]
        r.shuffle(freed)
        self.free_some(freed)
        return heads

    def make(self):
        r = self.random
        self.draw_end()
        if self.forks_early:
            self.put('i')
        # This comes before all blocks, because otherwise the dynamic linker's blocks would contain old words.
        if self.features.second:
            self.put('o')
        self.make_places()
        heads = self.make_blocks()
        self.put('q', r.randint(1, 3))
        r.shuffle(heads)
        # A third of the structures have no keeper.
        heads = heads[len(heads) // 3:]
        for_chain = [heads.pop() for _ in range(min(2, len(heads)))]
        while heads:
            roll = r.random()
            if roll < 0.25 and self.holds < HOLDS_MAX:
                self.holds += 1
                count = min(len(heads), r.randint(1, 5))
                self.keep_in_thread([heads.pop() for _ in range(count)])
            elif roll < 0.33 and self.features.contexts and self.contexts < CONTEXTS_MAX:
                self.keep_in_context(heads.pop())
            elif roll < 0.42 and self.keys < 60:
                self.keep_by_key(heads.pop())
            else:
                self.keep_in_place(heads.pop())
        for place, (_, after) in enumerate(self.places):
            if after:
                self.put('a', place, after)
        if self.has_churn:
            self.put('c', r.randint(1, 1000))
        self.make_chain(for_chain)
        if self.forks_late:
            self.put('j')
        self.put('e', self.end)
