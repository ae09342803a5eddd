"""Generates a C or C++ program from a seed: a tree of functions that allocate and release in all ways, and that are
left and entered in ways which a tracer of calls may misunderstand (runtime.h). The same seed gives the same program."""

import random

SLOTS, COROUTINES = 16, 4
LEAVES = ('LEAVE_RETURN', 'LEAVE_JUMP', 'LEAVE_THROW', 'LEAVE_THREAD', 'LEAVE_YIELD')

# Forms of an allocation: the text, with {n} for the size and {a} for the argument of SIZE; the kind; whether the form
# needs C++
ALLOCATIONS = [
    ('malloc({n})', 'MALLOC', False), ('malloc({n})', 'MALLOC', False), ('malloc({n})', 'MALLOC', False),
    ('calloc(1, {n})', 'MALLOC', False), ('realloc(NULL, {n})', 'MALLOC', False),
    ('reallocarray(NULL, 1, {n})', 'MALLOC', False), ('posix_block(64, {n})', 'MALLOC', False),
    ('aligned_alloc(64, {n})', 'MALLOC', False), ('memalign(256, {n})', 'MALLOC', False),
    ('strdup(text_of_size({n}))', 'MALLOC', False),
    ('strndup(text_of_size({n}), {n})', 'MALLOC', False),
    ('inlined_malloc({n})', 'MALLOC', False), ('tail_malloc({n})', 'MALLOC', False),
    ('tail_twice({n})', 'MALLOC', False), ('tail_calloc({n})', 'MALLOC', False),
    ('tail_realloc(NULL, {n})', 'MALLOC', False),
    ('::operator new({n})', 'NEW', True), ('::operator new({n})', 'NEW', True),
    ('::operator new({n}, std::nothrow)', 'NEW', True), ('new block<{n}>', 'NEW', True),
    ('::operator new[]({n})', 'ARRAY', True), ('new char[{n}]', 'ARRAY', True),
    ('new (std::nothrow) char[{n}]', 'ARRAY', True),
    ('::operator new({n}, std::align_val_t(64))', 'ALIGNED', True),
    ('::operator new({n}, std::align_val_t(64), std::nothrow)', 'ALIGNED', True),
    ('::operator new[]({n}, std::align_val_t(64))', 'ALIGNED_ARRAY', True),
]

FAILING = ['malloc(huge)', 'calloc(huge, 2)', 'posix_block(64, huge)', 'posix_block(3, {n})', 'memalign(64, huge)',
           'reallocarray(NULL, huge, 16)', 'aligned_alloc(64, huge)', 'realloc(NULL, huge)', 'tail_malloc(huge)']

FAILING_NEW = [('::operator new(huge)', 'NEW', False), ('::operator new(huge)', 'NEW', False),
               ('::operator new[](huge)', 'ARRAY', False), ('::operator new(huge, std::align_val_t(64))', 'ALIGNED', False),
               ('::operator new(huge, std::nothrow)', 'NEW', True), ('::operator new[](huge, std::nothrow)', 'ARRAY', True),
               ('::operator new(huge, std::align_val_t(64), std::nothrow)', 'ALIGNED', True), ('new char[huge]', 'ARRAY', False)]

REPLACEMENTS = {
    'plain': '''NOINLINE void *operator new(size_t size)
{
	void *p = malloc(size);

	if (!p)
		throw std::bad_alloc();
	return p;
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
}

NOINLINE void operator delete(void *p, size_t) noexcept
{
	free(p);
}
''',
    'handler': '''NOINLINE void *operator new(size_t size)
{
	for (;;) {
		if (void *p = malloc(size))
			return p;
		if (!std::get_new_handler())
			throw std::bad_alloc();
		std::get_new_handler()();
	}
}

NOINLINE void *operator new[](size_t size)
{
	return ::operator new(size);
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
}

NOINLINE void operator delete[](void *p) noexcept
{
	::operator delete(p);
}
''',
}


class Program:
    """
    seed       seed of all choices
    without    numbers of statements that are left out, to find out which ones cause a failure
    language   'c' or 'c++'; `source`, `library` (or None): the text
    flags      options of the compiler; `compiler`: 'gcc' or 'clang'
    build      'dynamic', 'static' or 'static-libstdc++'
    replaces   whether the program has its own operator new
    """

    def __init__(self, seed, without=()):
        self.seed, self.without = seed, set(without)
        self.random = random.Random(seed)
        self.count = 0
        choose = self.random.choice
        self.language = choose(('c', 'c++', 'c++'))
        self.compiler = choose(('gcc', 'gcc', 'gcc', 'clang'))
        self.build = choose(('dynamic',) * 7 + ('static',) + (('static-libstdc++',) if self.cxx else ('static',)))
        self.flags = [choose(('-O0', '-O1', '-O2', '-O2', '-O3'))]
        self.flags += choose(([], ['-fomit-frame-pointer'], ['-fno-omit-frame-pointer'], ['-fno-plt'], ['-fcf-protection=full'],
                              ['-Wl,-z,now'], ['-Wl,-z,lazy']))
        if not self.cxx:
            self.flags += choose(([], ['-fno-exceptions'], ['-fexceptions']))
        self.replaces = choose((None, None, None, 'plain', 'handler')) if self.cxx else None
        self.has_library = self.build == 'dynamic' and self.chance(3)
        self.has_coroutines = self.cxx and self.compiler == 'gcc' and self.chance(3)
        self.functions = self.random.randint(6, 14)
        self.fuel = self.random.randint(40, 120)
        self.end = choose(('return 0;', 'return 0;', 'exit(3);', '_exit(4);', 'pthread_exit(NULL);', 'EXECUTE'))
        self.in_library = False
        self.library = self.make_library() if self.has_library else None
        self.source = self.make_source()

    @property
    def cxx(self):
        return self.language == 'c++'

    def chance(self, sides):
        return self.random.randrange(sides) == 0

    # ---- Pieces of text ----

    def size(self):
        n = self.random.choice((0, 0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 200, 1030, 2050))
        return n * 128 + 53

    def slot(self):
        return self.random.randrange(SLOTS)

    def later(self, level):
        """Returns the name of a function that a function of this level may call."""
        return 'f%d' % self.random.randrange(min(level + 1, self.functions - 1), self.functions)

    def leave(self):
        leaves = [x for x in LEAVES if self.cxx or x != 'LEAVE_THROW']
        return self.random.choice(leaves + ['LEAVE_RETURN'])

    def inner(self, level):
        if self.in_library:
            return 'NULL'
        return self.later(level) if self.chance(2) else 'NULL'

    @staticmethod
    def indented(lines):
        return ['\t' + line for line in lines]

    @staticmethod
    def guarded(lines):
        """Wraps lines so that the context is restored, however the lines are left."""
        return ['{', '\tconst struct saved s = save(c);', ''] + ['\t' + line for line in lines] + ['\trestore(c, &s);', '}']

    # ---- Statements: each function returns lines ----

    def allocate(self, level):
        text, kind, _ = self.random.choice([a for a in ALLOCATIONS if self.cxx or not a[2]])
        i, n = self.slot(), self.size()
        if 'text_of_size' in text:
            n = min(n, 31 * 128 + 53)
        return ['empty(c, %d);' % i, 'put(c, %d, %s, %d, KIND_%s);' % (i, text.format(n=n), n, kind)]

    def allocate_line(self, level):
        i = self.slot()
        if self.chance(2):
            return ['empty(c, %d);' % i, 'put(c, %d, read_line(10), 10, KIND_MALLOC);' % i]
        n = self.size() % 5000 // 128 * 128 + 53
        return ['{', '\tchar *made = NULL;', '', '\tempty(c, %d);' % i,
                '\tCHECK(asprintf(&made, "%%s", text_of_size(%d)) == %d);' % (n, n - 1),
                '\tput(c, %d, made, %d, KIND_MALLOC);' % (i, n), '}']

    def release(self, level):
        i = self.slot()
        way = self.random.choice(('drop', 'free', 'inlined_free', 'tail_free', 'nothing', 'all'))
        if way == 'drop':
            return ['empty(c, %d);' % i]
        if way == 'nothing':
            return ['free(NULL);'] if not self.cxx else ['free(NULL);', '::operator delete(nullptr);']
        if way == 'all':
            return ['for (int i = %d; i < %d; i++)' % (i // 2, i), '\tempty(c, i);']
        return ['if (c->slots[%d].p && c->slots[%d].kind == KIND_MALLOC) {' % (i, i), '\tvoid *p = c->slots[%d].p;' % i, '',
                '\tc->slots[%d].p = NULL;' % i, '\t%s(p);' % way, '}']

    def reallocate(self, level):
        i, n = self.slot(), self.size()
        way = self.random.choice(('realloc(s->p, {n})', 'reallocarray(s->p, {n}, 1)', 'tail_realloc(s->p, {n})',
                                  'realloc(s->p, huge)', 'realloc(s->p, 0)', 'reallocarray(s->p, huge, 9)'))
        lines = ['{', '\tstruct slot *s = &c->slots[%d];' % i, '', '\tif (s->p && s->kind == KIND_MALLOC) {']
        if way == 'realloc(s->p, 0)':
            lines += ['\t\tvoid *p = s->p;', '', '\t\ts->p = NULL;', '\t\tCHECK(!realloc(p, 0));']
        else:
            lines += ['\t\tvoid *p = %s;' % way.format(n=n), '', '\t\tif (p) {', '\t\t\ts->p = NULL;',
                      '\t\t\tput(c, %d, p, %d, KIND_MALLOC);' % (i, n), '\t\t}']
        return lines + ['\t}', '}']

    def fail(self, level):
        return ['{', '\tvoid *p = %s;' % self.random.choice(FAILING).format(n=self.size()), '', '\tKEEP(p);',
                '\tCHECK(!p);', '}']

    def fail_new(self, level):
        if not self.cxx:
            return self.fail(level)
        text, kind, nothrow = self.random.choice(FAILING_NEW)
        i = self.slot()
        lines = ['c->inner = %s;' % self.inner(level), 'c->leave = %s;' % self.leave(), 'c->rounds = %d;' % self.random.choice((0, 0, 1, 3)),
                 'empty(c, %d);' % i]
        if nothrow:
            lines.append('c->no_exit++;')
        call = 'put(c, %d, %s, 1, KIND_%s);' % (i, text, kind)
        if self.chance(4) and not nothrow:
            return self.guarded(lines + ['if (c->catches)', '\t' + call])
        lines += ['try {', '\t' + call, '} catch (const std::bad_alloc &) {', '\trestore(c, &s);', '\tc->failed++;']
        if self.chance(3):
            lines += ['\tc->held++;'] + ['\t' + line for line in self.allocate(level)]
        return self.guarded(lines + ['}'])

    def lift_limit(self, level):
        """An allocation by operator new that succeeds at the second attempt, after the new-handler has run other
        statements."""
        if not self.cxx or self.replaces == 'plain':
            return self.allocate(level)
        i, n = self.slot(), 128 * 2000000 + 53
        text, kind = self.random.choice((('::operator new({n})', 'NEW'), ('::operator new[]({n})', 'ARRAY'),
                                         ('::operator new({n}, std::nothrow)', 'NEW')))
        lines = ['if (!threads) {', '\tempty(c, %d);' % i, '\tc->inner = %s;' % self.inner(level), '\tc->lifts_limit = 1;', '\tc->no_exit++;',
                 '\tlimit_memory(1);', '\ttry {', '\t\tput(c, %d, %s, %d, KIND_%s);' % (i, text.format(n=n), n, kind),
                 '\t} catch (const std::bad_alloc &) {', '\t\tc->failed++;', '\t}', '\tlimit_memory(0);', '}']
        return self.guarded(lines)

    def call(self, level):
        return ['%s(c, depth);' % self.later(level)]

    def recurse(self, level):
        if self.in_library:
            return ['if (callback)', '\tcallback(c, 1);']
        return ['if (depth > 0)', '\tf%d(c, depth - 1);' % level]

    def block(self, level, nesting):
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(level, nesting + 1)
        return lines or [';']

    def loop(self, level, nesting):
        return ['for (int i = 0; i < %d; i++) {' % self.random.randint(2, 4)] + self.indented(self.block(level, nesting)) + ['}']

    def condition(self, level, nesting):
        lines = ['if (roll(c, %d)) {' % self.random.randint(2, 3)] + self.indented(self.block(level, nesting))
        if self.chance(2):
            lines += ['} else {'] + self.indented(self.block(level, nesting))
        return lines + ['}']

    def same_site(self, level):
        """Lines that are reached both with and without the call before them."""
        n = self.size()
        return ['for (int i = 0; i < 6; i++) {', '\tvoid *p = NULL;', '', '\tif (i %% %d == 0)' % self.random.randint(2, 3),
                '\t\tp = malloc(%d);' % n, '\tKEEP(p);', '\tif (p)', '\t\tfree(p);', '}']

    def jumps(self, level, nesting):
        return self.guarded(['sigjmp_buf here_again;', '', 'if (!sigsetjmp(here_again, %d)) {' % self.random.randrange(2),
                             '\tc->out = &here_again;'] + self.indented(self.block(level, nesting)) + ['}'])

    def jump(self, level):
        return ['if (roll(c, %d))' % self.random.randint(1, 3), '\tjump(c);']

    def tries(self, level, nesting):
        if not self.cxx:
            return self.jumps(level, nesting)
        lines = ['c->catches++;', 'try {'] + self.indented(self.block(level, nesting))
        for what in ('const failure &', 'const std::exception &', 'int'):
            lines += ['} catch (%s) {' % what, '\trestore(c, &s);', '\tc->held++;']
            if self.chance(3):
                lines += self.indented(self.block(level, nesting))
            if self.chance(4):
                lines += ['\trestore(c, &s);', '\tif (c->catches)', '\t\tthrow;']
        return self.guarded(lines + ['}'])

    def throw(self, level):
        if not self.cxx:
            return self.jump(level)
        what = self.random.choice(('failure()', 'std::runtime_error("what went wrong, in a text that is long")', '7', 'std::bad_alloc()'))
        return ['if (c->catches && roll(c, %d))' % self.random.randint(1, 3), '\tthrow %s;' % what]

    def guard(self, level):
        return ['guard keeper%d(c, %d);' % (self.count, self.slot())] if self.cxx else self.release(level)

    def sort(self, level):
        count = self.random.choice((0, 8, 20, 400))
        return self.guarded(['sort(c, %s, %s, %d);' % (self.inner(level), self.leave(), count)])

    def signal(self, level):
        leave = self.random.choice(('LEAVE_RETURN', 'LEAVE_RETURN', 'LEAVE_JUMP'))
        return self.guarded(['raise_signal(c, %s, %s, %s);' % (self.inner(level), leave, self.random.choice(('SIGUSR1', 'SIGUSR2')))])

    def coroutine(self, level):
        i = self.random.randrange(COROUTINES)
        return self.random.choice((
            ['coroutine_begin(c, %d, %s, %d);' % (i, self.later(level), self.random.randrange(2))],
            ['coroutine_begin(c, %d, %s, %d);' % (i, self.later(level), self.random.randrange(2))],
            ['coroutine_go_on(c, %d);' % i], ['coroutine_go_on(c, %d);' % i], ['coroutine_move(c, %d);' % i],
            ['coroutine_end(c, %d);' % i]))

    def yields(self, level):
        return ['yield(c);']

    def thread(self, level):
        lines = ['struct thread *t = thread_begin(c, %s, %d);' % (self.later(level), self.chance(3)), '']
        for _ in range(self.random.randint(0, 3)):
            lines += self.random.choice((self.allocate, self.release, self.reallocate))(level)
        return ['{'] + self.indented(lines + ['thread_end(c, t);']) + ['}']

    def ends_thread(self, level):
        return self.random.choice((['if (roll(c, 2))', '\tleave_thread(c);'], ['wait_for_cancel(c);']))

    def process(self, level):
        if self.chance(3):
            return ['execute(c, "%d", %d);' % (self.random.randrange(4), self.random.randrange(2))]
        what = self.random.choice(('CHILD_LEAVES', 'CHILD_EXITS', 'CHILD_GOES_ON'))
        return ['fork_child(c, %s, %s);' % (self.later(level), what)]

    def loads(self, level):
        if not self.has_library:
            return self.call(level)
        return self.guarded(['with_library(c, "library_%d", %s, %d);' % (
            self.random.randrange(3), self.later(level), self.random.randrange(2))])

    def resumes(self, level):
        """A C++20 coroutine, whose frame operator new allocates."""
        if not self.has_coroutines:
            return self.coroutine(level)
        return ['if (!c->held) {', '\tstackless s = g%d(c, depth);' % self.random.randrange(3), ''] + \
            ['\ts.resume();'] * self.random.randint(0, 3) + ['}']

    def mismatched(self, level):
        """A wrong release, which is harmless with glibc."""
        n = self.size()
        return ['{', '\tvoid *p = ::operator new(%d);' % n, '', '\tKEEP(p);', '\tfree(p);', '}'] if self.cxx and self.chance(3) \
            else self.allocate(level)

    PLAIN = (['allocate'] * 10 + ['allocate_line'] * 2 + ['release'] * 5 + ['reallocate'] * 4 + ['fail'] * 2 + ['fail_new'] * 5 +
             ['lift_limit', 'recurse', 'recurse', 'same_site', 'jump', 'jump', 'throw', 'throw', 'throw', 'guard', 'mismatched',
              'yields', 'yields', 'ends_thread'])
    CALLING = ['call'] * 8 + ['sort'] * 3 + ['signal'] * 3 + ['coroutine'] * 4 + ['thread'] * 2 + ['process'] + ['loads'] + ['resumes']
    NESTING = ['loop', 'condition', 'condition', 'jumps', 'jumps', 'tries', 'tries', 'tries']

    def statement(self, level, nesting=0):
        self.count += 1
        number, is_kept = self.count, self.count not in self.without
        names = list(self.PLAIN)
        if level < self.functions - 1 and not self.in_library:
            names += self.CALLING + self.CALLING[:8]
        if nesting < 3:
            names += self.NESTING
        name = self.random.choice(names)
        lines = getattr(self, name)(level, nesting) if name in self.NESTING else getattr(self, name)(level)
        return ['/* %d */' % number] + lines if is_kept else []

    # ---- Functions and files ----

    def body(self, level):
        lines = []
        for _ in range(self.random.randint(3, 7)):
            lines += self.statement(level)
        return lines

    def function(self, level):
        frame = self.random.choice((None, None, 'char room[%d]' % (16 << self.random.randrange(8)),
                                    'char *room = (char *)alloca(%d)' % (16 << self.random.randrange(8))))
        lines = ['if (c->fuel-- <= 0)', '\treturn;']
        if frame:
            lines = [frame + ';', 'char *seen = room;', '', 'KEEP(seen);', 'seen[0] = 1;'] + lines
        attribute = self.random.choice(('', '', 'NOINLINE '))
        return ['%sstatic void f%d(struct context *c, int depth)' % (attribute, level), '{'] + \
            self.indented(lines + self.body(level)) + ['}', '']

    def stackless(self, i):
        """A function that is a coroutine in C++20: its frame is on the heap, so it has no alloca and no setjmp."""
        lines = []
        for _ in range(self.random.randint(2, 4)):
            lines += self.random.choice((
                ['co_await std::suspend_always{};'], ['%s(c, depth);' % self.later(1)],
                ['empty(c, %d);' % (i + 3), 'put(c, %d, malloc(%d), %d, KIND_MALLOC);' % (i + 3, i * 128 + 53, i * 128 + 53)]))
        return ['static stackless g%d(struct context *c, int depth)' % i, '{'] + self.indented(lines + ['co_return;']) + ['}', '']

    def make_source(self):
        lines = ['/* Made from seed %d. */' % self.seed]
        lines += ['#include "runtime.h"'] + (['#include "stackless.h"'] if self.has_coroutines else []) + ['']
        if self.cxx:
            lines += ['template <int N> struct block {', '\tchar bytes[N];', '};', '']
        if self.replaces:
            lines += REPLACEMENTS[self.replaces].rstrip('\n').split('\n') + ['']
        lines += ['static void f%d(struct context *c, int depth);' % i for i in range(self.functions)] + ['']
        if self.has_coroutines:
            for i in range(3):
                lines += self.stackless(i)
        for level in range(self.functions):
            lines += self.function(level)
        return '\n'.join(lines + self.main()) + '\n'

    def main(self):
        parts = ['f%d' % self.random.randrange(self.functions * 2 // 3) for _ in range(self.random.randint(3, 5))]
        with_atexit = self.chance(2)
        lines = ['static struct context first;', '', 'static void at_exit(void)', '{', '\tset_here(&first);', '\tfirst.fuel = 5;',
                 '\tf%d(&first, 1);' % self.random.randrange(self.functions), '}', '',
                 'static void run(int count)', '{', '\tstatic function *const parts[] = {%s};' % ', '.join(parts), '',
                 '\tfor (int i = 0; i < count; i++)', '\t\tparts[i](&first, 3);', '\tfor (int i = 0; i < COROUTINES; i++)',
                 '\t\tcoroutine_end(&first, i);', '\truntime_say(&first);', '}', '',
                 'int main(int argc, char **argv)', '{', '\tif (argc > 2) {', '\t\truntime_init(&first, 8);', '\t\tfirst.forks = first.processes = 0;',
                 '\t\tin_child = 1;', '\t\trun(argv[2][0] - \'0\');', '\t\treturn 7;', '\t}',
                 '\truntime_init(&first, %d);' % self.fuel, '\tgate();', '\tmark();']
        if with_atexit:
            lines += ['\tatexit(at_exit);']
        lines += ['\trun(%d);' % len(parts), '\tif (!in_child) {', '\t\tmark();', '\t\tgate();', '\t}']
        if self.end == 'EXECUTE':
            end = ['\tchar program[] = "/proc/self/exe", word[] = "exec", what[] = "1";',
                   '\tchar *const args[] = {program, word, what, NULL};', '', '\texecv(program, args);', '\treturn 9;']
        else:
            end = ['\t' + self.end] + ([] if self.end.startswith('return') else ['\treturn 9;'])
        return lines + end + ['}']

    def make_library(self):
        self.in_library = True
        lines = ['/* Made from seed %d: loaded and unloaded by the program. */' % self.seed, '#include "runtime.h"', '']
        if self.cxx:
            lines += ['template <int N> struct block {', '\tchar bytes[N];', '};', '']
        lines += ['static void *kept;', '', '__attribute__((constructor)) static void begin(void)', '{', '\tkept = malloc(SIZE(3));', '}', '',
                  '__attribute__((destructor)) static void end(void)', '{', '\tfree(kept);', '}', '']
        for i in range(3):
            head = 'EXPORTED void library_%d(struct context *c, function *callback)' % i
            lines += [head, '{', '\tconst int depth = 1;', '', '\t(void)depth;', '\tset_here(c);'] + \
                self.indented(self.body(0)) + ['}', '']
        self.in_library = False
        return '\n'.join(lines)
