/* Functions and types that all generated programs share (see program.py), in C and C++. A struct context is the state
 * of a stack (main's, a thread's or a coroutine's), with the blocks in its slots (struct slot). The functions leave and
 * enter other functions in ways that a tracer of calls might misunderstand.
 *
 * All actions of a program follow from its seed and its contexts, so that every run does the same in each thread.
 *
 * Sizes of blocks are 128 * n + 53. No library requests such sizes, so a trace can be compared with the log of another
 * run by the program's own blocks alone. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include "target.h"
#include <alloca.h>
#include <dlfcn.h>
#include <malloc.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#ifdef __cplusplus
#include <exception>
#include <new>
#include <stdexcept>
#endif

#define SIZE(n)       ((size_t)(n)*128 + 53)
#define SLOTS         16
#define COROUTINES    4
#define STACK_SIZE    ((size_t)128 << 10)
#define MARK          4000 /* a block of SIZE(MARK) is allocated at the beginning and the end of a partial trace */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __cplusplus
#define EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

static volatile size_t huge = (size_t)PTRDIFF_MAX - 4096; /* no allocator can provide a block of this size */

enum kind { KIND_NONE, KIND_MALLOC, KIND_NEW, KIND_ARRAY, KIND_ALIGNED, KIND_ALIGNED_ARRAY };

/* How a handler or a callback is left. */
enum leave { LEAVE_RETURN, LEAVE_JUMP, LEAVE_THROW, LEAVE_THREAD, LEAVE_YIELD };

struct context;
typedef void function(struct context *c, int depth);

struct slot {
	void *p;
	size_t size;
	int kind;
};

struct context {
	struct slot slots[SLOTS];
	struct coroutine *coroutines[COROUTINES];
	sigjmp_buf *out;     /* the innermost place to which a jump may go */
	int catches;         /* number of active try statements that catch all exceptions thrown here */
	int held;            /* > 0: in a handler of an exception; the program must not jump, yield or end the thread */
	int no_exit;         /* > 0: the thread must not end here (e.g. nothrow new would swallow the unwinding) */
	int no_yield;        /* > 0: on a stack that the next signal will reuse */
	int keeps_alternate; /* a signal handler has resumed this coroutine and may be on the alternate stack */
	int is_thread, waits_for_cancel;
	volatile int waiting;
	int fuel, forks, processes;
	unsigned dice;
	unsigned long done, failed;
	/* the action of the next handler or callback */
	function *inner;
	enum leave leave;
	int handled; /* number of calls of operator new's handler */
	int rounds, lifts_limit;
	ucontext_t self, *back; /* a coroutine's context, and the one that has resumed it */
};

struct coroutine {
	struct context context;
	function *body;
	void *stack;
	int is_mapped, has_ended;
};

static __thread struct context *current;
static int in_child;         /* this process was forked and prints nothing */
static volatile int threads; /* number of threads besides the first */
static pthread_key_t key;

NOINLINE static struct context *here(void)
{
	return current;
}

NOINLINE static void set_here(struct context *c)
{
	current = c;
}

static int roll(struct context *c, unsigned sides)
{
	c->dice = c->dice * 1103515245 + 12345;
	return (c->dice >> 16) % sides == 0;
}

/* Allocates memory for a context. The memory is not on the heap, because a context must not be one of the program's
 * blocks. */
static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* ---- Slots ---- */

static void put(struct context *c, int i, void *p, size_t size, int kind)
{
	KEEP(p);
	c->done++;
	c->failed += !p;
	if (!p)
		return;
	((char *)p)[0] = (char)i;
	((char *)p)[size - 1] = (char)i;
	c->slots[i] = (struct slot){p, size, kind};
}

NOINLINE static void drop(struct context *c, int i)
{
	struct slot *s = &c->slots[i];
	void *p = s->p;

	s->p = NULL;
	c->done++;
	if (s->kind == KIND_MALLOC)
		free(p);
#ifdef __cplusplus
	else if (s->kind == KIND_NEW && roll(c, 2))
		::operator delete(p);
	else if (s->kind == KIND_NEW && roll(c, 2))
		::operator delete(p, std::nothrow);
	else if (s->kind == KIND_NEW)
		::operator delete(p, s->size);
	else if (s->kind == KIND_ARRAY && roll(c, 2))
		::operator delete[](p);
	else if (s->kind == KIND_ARRAY)
		::operator delete[](p, s->size);
	else if (s->kind == KIND_ALIGNED && roll(c, 2))
		::operator delete(p, std::align_val_t(64));
	else if (s->kind == KIND_ALIGNED)
		::operator delete(p, s->size, std::align_val_t(64));
	else if (s->kind == KIND_ALIGNED_ARRAY)
		::operator delete[](p, std::align_val_t(64));
#endif
}

static ALWAYS_INLINE void empty(struct context *c, int i)
{
	if (c->slots[i].p)
		drop(c, i);
}

static void drop_all(struct context *c)
{
	for (int i = 0; i < SLOTS; i++)
		empty(c, i);
}

/* ---- Forms of calls ---- */

static ALWAYS_INLINE void *inlined_malloc(size_t size)
{
	return malloc(size);
}

static ALWAYS_INLINE void inlined_free(void *p)
{
	free(p);
}

NOINLINE static void *tail_malloc(size_t size)
{
	return malloc(size);
}

NOINLINE static void *tail_twice(size_t size)
{
	return tail_malloc(size);
}

NOINLINE static void *tail_realloc(void *p, size_t size)
{
	return realloc(p, size);
}

NOINLINE static void tail_free(void *p)
{
	free(p);
}

NOINLINE static void *tail_calloc(size_t size)
{
	return calloc(1, size);
}

static void *posix_block(size_t alignment, size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, alignment, size) ? NULL : p;
}

static char text[5000];

__attribute__((constructor)) static void fill_text(void)
{
	memset(text, 'x', sizeof(text) - 1);
}

/* Returns a text of `size` bytes, including the terminating NUL. */
static const char *text_of_size(size_t size)
{
	CHECK(size <= sizeof(text));
	return text + sizeof(text) - size;
}

static char *read_line(size_t size)
{
	static char lines[] = "one line\nanother line\n";
	FILE *file = fmemopen(lines, sizeof(lines) - 1, "r");
	char *line = NULL;
	size_t room = 0;

	CHECK(file && getline(&line, &room, file) == 9 && room >= size);
	fclose(file);
	return line;
}

/* ---- Leaving ---- */

struct saved {
	sigjmp_buf *out;
	int catches, held, no_exit, no_yield;
};

static struct saved save(const struct context *c)
{
	return (struct saved){c->out, c->catches, c->held, c->no_exit, c->no_yield};
}

static void restore(struct context *c, const struct saved *s)
{
	c->out = s->out;
	c->catches = s->catches;
	c->held = s->held;
	c->no_exit = s->no_exit;
	c->no_yield = s->no_yield;
	c->inner = NULL;
	c->leave = LEAVE_RETURN;
	c->lifts_limit = 0;
	c->rounds = 0;
}

#ifdef __cplusplus
struct failure {
	char text[100];
};

/* Releases the block of a slot when the function that declares the guard is left, also by an exception. */
struct guard {
	struct context *c;
	int i;
	guard(struct context *context, int slot) : c(context), i(slot)
	{
	}
	~guard()
	{
		empty(c, i);
	}
};
#endif

static void yield(struct context *c)
{
	if (c->back && !c->held && !c->no_yield)
		swapcontext(&c->self, c->back);
}

static void jump(struct context *c)
{
	if (c->out && !c->held)
		siglongjmp(*c->out, 1);
}

static void leave_thread(struct context *c)
{
	if (c->is_thread && !c->held && !c->no_exit)
		pthread_exit(NULL);
}

/* Waits until another thread cancels this one. Does nothing in a child of fork, where that thread may not exist. */
static void wait_for_cancel(struct context *c)
{
	if (in_child || !c->waits_for_cancel || c->held || c->no_exit)
		return;
	c->waiting = 1;
	for (;;)
		pause();
}

/* Called by the program's handlers and callbacks: does once what the context says (`inner`, then `leave`). */
static void act(struct context *c, int in_signal)
{
	function *inner = c->inner;
	const enum leave leave = c->leave;

	c->inner = NULL;
	c->leave = LEAVE_RETURN;
	if (inner)
		inner(c, 1);
	if (leave == LEAVE_JUMP)
		jump(c);
#ifdef __cplusplus
	if (leave == LEAVE_THROW && c->catches && !in_signal)
		throw failure();
#endif
	if (leave == LEAVE_THREAD && !in_signal)
		leave_thread(c);
	if (leave == LEAVE_YIELD && !in_signal)
		yield(c);
}

static int compare(const void *a, const void *b)
{
	struct context *c = here();

	if (c->inner || c->leave)
		act(c, 0);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	const int error = errno;
	struct context *c = here();
	const struct saved s = save(c);

	(void)number;
	c->catches = 0; /* raise() throws nothing */
	c->no_exit++;
	c->no_yield++;
	act(c, 1);
	restore(c, &s);
	errno = error;
}

static void limit_memory(int is_limited)
{
	struct rlimit limit;

	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = is_limited ? 0 : limit.rlim_max;
	setrlimit(RLIMIT_AS, &limit);
}

#ifdef __cplusplus
#define HANDLED_MAX 50

/* Called within operator new. */
static void on_no_memory()
{
	struct context *c = here();

	/* The handler may run out of memory and be called again: HANDLED_MAX ends this before the stack is full. */
	if (++c->handled > HANDLED_MAX)
		throw std::bad_alloc();
	if (c->lifts_limit) {
		limit_memory(0);
		c->lifts_limit = 0;
		act(c, 0);
		return;
	}
	if (c->inner || c->leave)
		act(c, 0);
	if (c->rounds-- <= 0)
		throw std::bad_alloc();
}
#endif

/* Calls qsort() for `count` numbers, or bsearch() if `count` is 0. The comparison calls inner(). If there are many
 * numbers, qsort() allocates memory. */
NOINLINE static void sort(struct context *c, function *inner, enum leave leave, int count)
{
	static const int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
	int *many = (int *)alloca(sizeof(int) * (size_t)(count + 1));
	const int wanted = 5;

	c->inner = inner;
	c->leave = leave;
	if (!count) {
		bsearch(&wanted, numbers, 8, sizeof(int), compare);
		return;
	}
	for (int i = 0; i < count; i++)
		many[i] = (i * 7919) % 1009;
	qsort(many, (size_t)count, sizeof(int), compare);
}

static void raise_signal(struct context *c, function *inner, enum leave leave, int number)
{
	c->inner = inner;
	c->leave = leave;
	raise(c->keeps_alternate ? SIGUSR1 : number);
}

/* ---- Contexts with stacks of their own ---- */

static struct context *context_init(struct context *c, const struct context *parent)
{
	c->fuel = parent->fuel > 12 ? 12 : parent->fuel;
	c->dice = parent->dice ^ 0x5a5a;
	c->forks = c->processes = 1;
	return c;
}

static void coroutine_start(unsigned low, unsigned high)
{
	struct coroutine *k = (struct coroutine *)((uintptr_t)low | (uintptr_t)high << 32);

	k->body(&k->context, 2);
	k->has_ended = 1;
	for (;;)
		swapcontext(&k->context.self, k->context.back);
}

NOINLINE static void coroutine_resume(struct context *c, struct coroutine *k)
{
	ucontext_t back;

	k->context.back = &back;
	k->context.keeps_alternate = c->keeps_alternate || c->no_yield;
	set_here(&k->context);
	swapcontext(&back, &k->context.self);
	set_here(c);
	k->context.back = NULL;
}

/* Releases a coroutine, which may be suspended anywhere. */
static void coroutine_end(struct context *c, int i)
{
	struct coroutine *k = c->coroutines[i];

	if (!k)
		return;
	c->coroutines[i] = NULL;
	c->done += k->context.done;
	drop_all(&k->context);
	for (int j = 0; j < COROUTINES; j++)
		coroutine_end(&k->context, j);
	if (k->is_mapped)
		munmap(k->stack, STACK_SIZE);
	else
		free(k->stack);
}

static void coroutine_begin(struct context *c, int i, function *body, int is_mapped)
{
	coroutine_end(c, i);
	struct coroutine *k = (struct coroutine *)map(sizeof(*k));

	context_init(&k->context, c);
	k->body = body;
	k->is_mapped = is_mapped;
	k->stack = is_mapped ? map(STACK_SIZE) : malloc(SIZE(STACK_SIZE / 128));
	CHECK(k->stack);
	getcontext(&k->context.self);
	k->context.self.uc_stack.ss_sp = k->stack;
	k->context.self.uc_stack.ss_size = STACK_SIZE;
	k->context.self.uc_link = NULL;
	makecontext(&k->context.self, (void (*)(void))coroutine_start, 2, (unsigned)(uintptr_t)k,
		    (unsigned)((uintptr_t)k >> 32));
	c->coroutines[i] = k;
	coroutine_resume(c, k);
}

static void coroutine_go_on(struct context *c, int i)
{
	if (c->coroutines[i] && !c->coroutines[i]->has_ended)
		coroutine_resume(c, c->coroutines[i]);
}

static void *resume_elsewhere(void *data)
{
	struct coroutine *k = (struct coroutine *)data;
	struct context *c = context_init((struct context *)map(sizeof(*c)), &k->context);

	coroutine_resume(c, k);
	return NULL;
}

/* Resumes coroutine i once, on a thread that is created for this. */
static void coroutine_move(struct context *c, int i)
{
	pthread_t thread;

	if (!c->coroutines[i] || c->coroutines[i]->has_ended)
		return;
	threads++;
	CHECK(!pthread_create(&thread, NULL, resume_elsewhere, c->coroutines[i]));
	pthread_join(thread, NULL);
	threads--;
}

struct thread {
	struct context context;
	function *body;
	pthread_t id;
};

static void drop_slot_1(void *data)
{
	empty((struct context *)data, 1);
}

static void *thread_start(void *data)
{
	struct thread *t = (struct thread *)data;

	set_here(&t->context);
	if (roll(&t->context, 2))
		pthread_setspecific(key, malloc(SIZE(17)));
	pthread_cleanup_push(drop_slot_1, &t->context);
	t->body(&t->context, 2);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Starts a thread that takes over the blocks of some slots; thread_end() moves the remaining blocks back. */
static struct thread *thread_begin(struct context *c, function *body, int is_cancelled)
{
	struct thread *t = (struct thread *)map(sizeof(*t));

	context_init(&t->context, c);
	t->body = body;
	t->context.is_thread = 1;
	t->context.waits_for_cancel = is_cancelled;
	for (int i = 0; i < SLOTS; i += 3) {
		t->context.slots[i] = c->slots[i];
		c->slots[i].p = NULL;
	}
	threads++;
	CHECK(!pthread_create(&t->id, NULL, thread_start, t));
	return t;
}

static void thread_end(struct context *c, struct thread *t)
{
	int is_joined = 0;

	while (t->context.waits_for_cancel && !t->context.waiting && !is_joined) {
		is_joined = !pthread_tryjoin_np(t->id, NULL);
		sched_yield();
	}
	if (t->context.waiting)
		pthread_cancel(t->id);
	if (!is_joined)
		pthread_join(t->id, NULL);
	threads--;
	c->done += t->context.done;
	for (int i = 0; i < SLOTS; i++) {
		if (!t->context.slots[i].p)
			continue;
		empty(c, i);
		c->slots[i] = t->context.slots[i];
	}
	for (int i = 0; i < COROUTINES; i++)
		coroutine_end(&t->context, i);
}

/* ---- Processes ---- */

static void wait_child(struct context *c, pid_t pid)
{
	int status;

	CHECK(pid > 0);
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	c->done += (unsigned long)status;
}

enum child { CHILD_LEAVES, CHILD_EXITS, CHILD_GOES_ON };

/* Forks a child that calls body(). Both processes first release their copies of the blocks in the slots 0 to 2. */
static void fork_child(struct context *c, function *body, enum child what)
{
	if (in_child || c->forks-- <= 0)
		return;
	const pid_t pid = fork();

	for (int i = 0; i < 3; i++)
		empty(c, i);
	if (pid) {
		wait_child(c, pid);
		return;
	}
	in_child = 1;
	c->forks = 0;
	body(c, 2);
	if (what == CHILD_LEAVES)
		_exit(5);
	if (what == CHILD_EXITS)
		exit(6);
}

/* Runs this program again in a child, and waits for it; the new run does less. */
static void execute(struct context *c, const char *number, int spawns)
{
	extern char **environ;
	char program[] = "/proc/self/exe", word[] = "exec", what[] = "0";
	char *const args[] = {program, word, what, NULL};
	pid_t pid = 0;

	what[0] = *number;
	if (in_child || c->processes-- <= 0)
		return;
	if (spawns)
		CHECK(!posix_spawn(&pid, program, NULL, NULL, args, environ));
	else if (!(pid = vfork())) {
		execv(program, args);
		_exit(127);
	}
	wait_child(c, pid);
}

#ifdef LIBRARY
static void with_library(struct context *c, const char *name, function *callback, int is_lazy)
{
	void *library = dlopen(LIBRARY, is_lazy ? RTLD_LAZY : RTLD_NOW);

	CHECK(library);
	void (*call)(struct context *, function *) = (void (*)(struct context *, function *))dlsym(library, name);

	CHECK(call);
	call(c, callback);
	dlclose(library);
}
#endif

/* ---- The whole program ---- */

static void mark(void)
{
	void *p = malloc(SIZE(MARK));

	KEEP(p);
	free(p);
}

static void runtime_init(struct context *c, int fuel)
{
	struct sigaction action;
	stack_t alternate;

	memset(&action, 0, sizeof(action));
	memset(&alternate, 0, sizeof(alternate));
	alternate.ss_size = STACK_SIZE;
	alternate.ss_sp = map(STACK_SIZE);
	sigaltstack(&alternate, NULL);
	action.sa_handler = on_signal;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_NODEFER | SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	pthread_key_create(&key, free);
#ifdef __cplusplus
	std::set_new_handler(on_no_memory);
#endif
	c->fuel = fuel;
	c->forks = c->processes = 2;
	c->dice = 1;
	set_here(c);
}

static void runtime_say(const struct context *c)
{
	size_t live = 0, blocks = 0;

	for (int i = 0; i < SLOTS; i++) {
		blocks += c->slots[i].p != NULL;
		live += c->slots[i].p ? c->slots[i].size : 0;
	}
	if (!in_child)
		say("%lu done, %lu failed, %zu blocks, %zu bytes", c->done, c->failed, blocks, live);
}

#endif
