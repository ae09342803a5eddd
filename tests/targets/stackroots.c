/* Stacks that share their memory with a program's data: stackroots MODE [end].
 *
 * Only a table, whose place depends on MODE, points to 500 blocks of 56 bytes; 20 of 72 bytes are lost. Prints "ready"
 * and ends with the standard input; with "end" it ends at once by exit(3), on the stack of the mode.
 *
 *   handler   a signal handler runs on an alternate stack, above the table in one mapping
 *   frame     the alternate stack is a local array; the table is in a frame below it, which the signal interrupts
 *   far       the same; the handler has a larger frame than the alternate stack of the other modes
 *   thread    a thread runs on a stack that it was given, above the table in one mapping, after a page without access
 *   left      such a thread has ended, and its stack still has its control block
 *   context   makecontext(3), above the table in one mapping
 *   between   the same; between that stack and the thread's control block is an mmapped chunk
 *   block     makecontext(3) in a block of 512 KiB, whose first words are the table
 *   deep      makecontext(3) in a block of 256 KiB, with the table in a frame there
 *   given     a thread runs on such a block, to which only its attributes had a pointer
 *   ended     a thread that has ended leaves old pointers to lost blocks on its stack */
#include "target.h"
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define KEPT    500
#define LOST    20
#define BYTES   (256u << 10)
#define SIZE(n) ((n) + 8 - sizeof(void *))

/* For the compiler this reads and writes the array. */
#define USED(array) __asm__ volatile("" : : "r"(array) : "memory")

static ucontext_t first, second;
static int is_end;
void **kept, *block, *between;

static NOINLINE void rest(void)
{
	wipe_stack();
	if (is_end)
		exit(0);
	say("ready");
	wait_for_input_end();
	_exit(0);
}

static NOINLINE void fill(void **table)
{
	for (unsigned i = 0; i < KEPT; i++)
		table[i] = memset(malloc(SIZE(56)), 0x11, SIZE(56));
}

static NOINLINE void lose(void)
{
	for (unsigned i = 0; i < LOST; i++) {
		void *p = memset(malloc(SIZE(72)), 0x22, SIZE(72));

		KEEP(p);
	}
}

/* Maps two parts after a page without access. The lower one is for the table. */
static unsigned char *map(void)
{
	unsigned char *p = mmap(NULL, 2 * BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED && mprotect(p, 4096, PROT_NONE) == 0);
	return p + 4096;
}

static void handler(int number)
{
	(void)number;
	rest();
}

static void raise_on(void *stack, size_t size)
{
	const stack_t given = {.ss_sp = stack, .ss_size = size};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	CHECK(sigaltstack(&given, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	raise(SIGUSR1);
}

static NOINLINE void interrupted(void *stack)
{
	void *table[KEPT];

	fill(table);
	USED(table);
	raise_on(stack, BYTES);
	USED(table);
}

static NOINLINE void far_handler(int number)
{
	unsigned char large[2 * BYTES];

	USED(large);
	handler(number);
	USED(large);
}

static NOINLINE void far_below(void)
{
	void *table[KEPT];

	fill(table);
	USED(table);
	raise(SIGUSR1);
	USED(table);
}

static NOINLINE void far(void)
{
	unsigned char stack[3 * BYTES];
	struct sigaction action = {.sa_handler = far_handler, .sa_flags = SA_ONSTACK};

	USED(stack);
	CHECK(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL) == 0);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	far_below();
	USED(stack);
}

static NOINLINE void frame(void)
{
	unsigned char stack[BYTES];

	USED(stack);
	interrupted(stack);
	USED(stack);
}

static void *waits(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void *returns(void *argument)
{
	return argument;
}

static void *loses(void *argument)
{
	void *volatile last[LOST];

	for (unsigned i = 0; i < LOST; i++)
		last[i] = memset(malloc(SIZE(72)), 0x22, SIZE(72));
	USED(last);
	return argument;
}

static void give(void *stack, void *(*work)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(!stack || pthread_attr_setstack(&attributes, stack, BYTES) == 0);
	CHECK(pthread_create(&thread, &attributes, work, NULL) == 0);
	if (work == waits)
		sleep_ms(20);
	else
		CHECK(pthread_join(thread, NULL) == 0);
}

static void deep(void)
{
	void *table[KEPT];

	fill(table);
	USED(table);
	rest();
	USED(table);
}

static void run_in(void *stack, size_t size, void (*function)(void))
{
	CHECK(getcontext(&second) == 0);
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = size;
	second.uc_link = &first;
	makecontext(&second, function, 0);
	swapcontext(&first, &second);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	is_end = argc > 2;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	wipe_stack(); /* by now the linker has resolved all calls, and saves no register again */
	if (strcmp(mode, "ended") != 0)
		lose();
	wipe_stack();
	if (!strcmp(mode, "far"))
		far();
	if (!strcmp(mode, "frame"))
		frame();
	if (!strcmp(mode, "deep")) {
		block = malloc(BYTES);
		run_in(block, BYTES, deep);
	}
	if (!strcmp(mode, "given")) {
		void *stack = malloc(BYTES);

		give(stack, waits);
		stack = NULL;
		KEEP(stack);
		kept = (void **)map();
		fill(kept);
		rest();
	}
	if (!strcmp(mode, "between"))
		between = malloc(3 * BYTES);
	kept = !strcmp(mode, "block") ? block = malloc(2 * BYTES) : (void *)map();
	fill(kept);
	unsigned char *const stack = (unsigned char *)kept + BYTES;

	if (!strcmp(mode, "handler"))
		raise_on(stack, BYTES);
	else if (!strcmp(mode, "context") || !strcmp(mode, "between") || !strcmp(mode, "block"))
		run_in(stack, BYTES, rest);
	else if (!strcmp(mode, "thread"))
		give(stack, waits);
	else if (!strcmp(mode, "left"))
		give(stack, returns);
	else if (!strcmp(mode, "ended"))
		give(NULL, loses);
	else
		return 2;
	rest();
}
