/* contexts [LIBRARY]: enters contexts by the context library (its own copy, or LIBRARY), and calls functions that
 * functrace marks as contexts. Some contexts are entered before the gate, so an attaching tracer has to find them. */
#include "contexts.h"
#include "../../context/context.c"
#include <setjmp.h>
#include <sys/wait.h>

static unsigned int first, second, other;

/* ---- Contexts that the program enters by the library ---- */

static pthread_barrier_t barrier;

/* Runs in a thread of its own, and enters contexts before the gate: they apply to this thread only. */
static void *in_other(void *data)
{
	context_enter(other);
	context_enter(second);
	context_exit(second);
	pthread_barrier_wait(&barrier); /* the thread is in its context */
	pthread_barrier_wait(&barrier); /* the gate was passed */
	void *p = malloc(37001);

	KEEP(p);
	context_enter(first);
	free(p);
	context_exit(other);
	p = malloc(37002);
	KEEP(p);
	context_exit(first);
	free(p);
	return data;
}

static void *in_none(void *data)
{
	void *p = malloc(37003);

	KEEP(p);
	context_enter(second);
	free(p); /* the thread ends in its context */
	return data;
}

static void threads(pthread_t waiting)
{
	pthread_t tid;

	say_alloc(37001, "other");
	say_release(37001, "first,other");
	say_alloc(37002, "first");
	say_release(37002, "-");
	pthread_barrier_wait(&barrier);
	CHECK(pthread_join(waiting, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		say_alloc(37003, "-");
		say_release(37003, "second");
		CHECK(pthread_create(&tid, NULL, in_none, NULL) == 0);
		CHECK(pthread_join(tid, NULL) == 0);
	}
	use(37004, "first");
}

static void nested(void)
{
	use(37011, "first");
	context_enter(second);
	void *p = take(37012, "first,second");
	context_enter(second); /* a second entry has no effect */
	context_exit(first);
	give(p, 37012, "second");
	use(37013, "second"); /* they overlap */
	context_enter(first);
	context_exit(second);
	use(37014, "first");
	context_exit(second);
	context_exit(0);
	context_exit(1u << 30);
	context_enter(0);
	context_enter(1u << 30); /* no context has that id */
	use(37015, "first");
	context_enter(second | other);
	context_exit(first | other);
	use(37016, "second");
	context_exit(second);
	context_enter(first);
}

static void reallocated(void)
{
	void *p = take(37021, "first");

	context_exit(first);
	say("context - 37021 -");
	say("context + 37022 -");
	expect_release(1, 37021, "realloc");
	expect_alloc(1, 37022, "realloc");
	p = realloc(p, 37022);
	KEEP(p);
	context_enter(first);
	give(p, 37022, "first");
}

/* A child begins in its parent's contexts, which have the same ids. Contexts that one of the processes enters or
 * creates later do not affect the other one. */
static void forked(void)
{
	int status;

	context_enter(second);
	say("context + 37031 first,second");
	say("context - 37031 second");
	say("expect-child + 1 37031 malloc");
	say("expect-child - 1 37031 free");
	say("context + 37032 childish");
	say("context - 37032 childish");
	say("expect-child + 1 37032 malloc");
	say("expect-child - 1 37032 free");
	const pid_t pid = fork();

	if (!pid) {
		void *p = malloc(37031);

		KEEP(p);
		context_exit(first);
		free(p);
		context_exit(second);
		context_enter(context_create("childish"));
		p = malloc(37032);
		KEEP(p);
		free(p);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	use(37033, "first,second");
	context_exit(second);
}

/* ---- Functions ---- */

static volatile int one = 1; /* a test of this variable after a call prevents a tail call */

static NOINLINE void outer(int level, const char *contexts)
{
	use(37041, contexts);
	if (level)
		outer(level - 1, contexts);
	use(37042, contexts);
}

static NOINLINE void middle(void)
{
	use(37043, "first,middle");
	outer(one, "first,middle,outer");
	use(37045, "first,middle");
}

static NOINLINE void jumping(void)
{
	take(37046, "first,jumping"); /* with optimisation this is a jump */
}

static jmp_buf back;

static NOINLINE void left_by_jump(int level)
{
	use(37051, "first,left_by_jump");
	if (level)
		left_by_jump(level - 1);
	else if (one)
		longjmp(back, 1);
	one = one + 0;
}

static NOINLINE void left(void)
{
	if (!setjmp(back))
		left_by_jump(3 * one);
	use(37052, "first");
	outer(0, "first,outer");
	use(37053, "first");
}

static void on_signal(int sig)
{
	use(37061, sig == SIGUSR1 ? "first,interrupted" : "first");
}

/* The handler runs within a call of interrupted(), on another stack if the C library's unwind tables describe the way
 * back from a handler (musl's do not). */
#ifdef __GLIBC__
#define OWN_STACK SA_ONSTACK
#else
#define OWN_STACK 0
#endif

static NOINLINE void interrupted(void)
{
	use(37062, "first,interrupted");
	raise(SIGUSR1);
	use(37062, "first,interrupted");
}

static void signals(void)
{
	static char area[64 << 10];
	const stack_t stack = {.ss_sp = area, .ss_size = sizeof(area)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = OWN_STACK};

	CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	interrupted();
	use(37063, "first");
}

/* Recurses through more frames than the unwinder reads. */
static NOINLINE void deep(unsigned level)
{
	if (level)
		deep(level - 1);
	else
		use(37071, "deepest,first");
	one = one + 0;
}

static NOINLINE void deepest(void)
{
	deep(400);
	one = one + 0;
}

/* Two coroutines that run in turn, each on a stack of its own: the context of a function applies only to the coroutine
 * that has called the function. */
#ifdef __GLIBC__
static ucontext_t scheduler, coroutines[2];
static char stacks[2][64 << 10] __attribute__((aligned(4096)));

static void give_way(int me)
{
	swapcontext(&coroutines[me], &scheduler);
}

static NOINLINE void red(void)
{
	use(37081, "first,red");
	give_way(0);
	use(37082, "first,red");
	give_way(0);
}

static NOINLINE void blue(void)
{
	use(37083, "blue,first");
	give_way(1);
	use(37084, "blue,first");
	give_way(1);
}

static void run(int me)
{
	use(37085, "first");
	if (me)
		blue();
	else
		red();
	use(37086, "first");
}

static void resume(int which)
{
	swapcontext(&scheduler, &coroutines[which]);
}

static void *resume_elsewhere(void *data)
{
	resume(0);
	use(37087, "-");
	return data;
}

static void in_coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = sizeof(stacks[i]);
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))run, 1, i);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 2; i++) {
			resume(i);
			use(37088, "first");
		}
}

/* The coroutine continues in another thread: it is still in the context of the function, but not in those that the
 * first thread has entered. */
static NOINLINE void green(void)
{
	use(37091, "first,green");
	give_way(0);
	use(37092, "green");
}

static void run_green(void)
{
	green();
	use(37095, "-");
}

static void moved(void)
{
	pthread_t tid;

	getcontext(&coroutines[0]);
	coroutines[0].uc_stack.ss_sp = stacks[0];
	coroutines[0].uc_stack.ss_size = sizeof(stacks[0]);
	coroutines[0].uc_link = &scheduler;
	makecontext(&coroutines[0], run_green, 0);
	resume(0);
	use(37093, "first");
	CHECK(pthread_create(&tid, NULL, resume_elsewhere, NULL) == 0);
	CHECK(pthread_join(tid, NULL) == 0);
	use(37094, "first");
}
#else
static void in_coroutines(void)
{
}

static void moved(void)
{
}
#endif

int main(int argc, char **argv)
{
	pthread_t waiting;

	context_create = sp_context_create;
	context_enter = sp_context_enter;
	context_exit = sp_context_exit;
	if (argc > 1)
		use_library(argv[1]);
	first = context_create("first");
	second = context_create("second");
	other = context_create("other");
	CHECK(first == 1 && second == 2 && other == 4);
	CHECK(context_create("second") == second && !context_create("") && !context_create(NULL));
	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(pthread_create(&waiting, NULL, in_other, NULL) == 0);
	pthread_barrier_wait(&barrier);
	context_enter(first);
	gate();
	threads(waiting);
	nested();
	reallocated();
	forked();
	middle();
	jumping();
	left();
	signals();
	deepest();
	in_coroutines();
	moved();
	gate();
	return 0;
}
