/* Threads of heaps.c that keep pointers, in registers and on stacks of all kinds; and suspended contexts. */
#ifndef HEAPS_THREADS_H
#define HEAPS_THREADS_H

#include "heaps_places.h"

#define ITEMS_MAX  8
#define HOLDS_MAX  32
#define STACK_SIZE (64u << 10)
#define GENERAL    6
#define VECTORS    8

/* In the order of WHERES in tests/generate/heap_plans.py. */
enum where { ON_STACK, IN_OWN_TLS, IN_OWN_LIBRARY_TLS, IN_KEY, IN_REGISTER, IN_VECTOR, IN_RED_ZONE, BELOW_RED_ZONE };
/* In the order of STACKS in heap_plans.py. Larger values: FIRST_BLOCK plus the number of the block that is the
 * stack. */
enum stack { OF_LIBRARY, MAPPED_GUARDED, MAPPED_BESIDE, IN_ARRAY, OF_LIBRARY_UNGUARDED, FIRST_BLOCK };
/* WAITS there. */
enum wait_how { PAUSES, SPINS, WAITS_FOR_LOCK, ENDS, ENDS_BY_EXIT };

struct item {
	enum where where;
	unsigned slot, number;
	long offset;
};

static struct frozen_process {
	struct item items[ITEMS_MAX];
	unsigned count;
	enum wait_how how;
	enum stack stack;
	unsigned place; /* MAPPED_BESIDE: number of the place whose upper part is the stack */
} holds[HOLDS_MAX];

static unsigned hold_count;
static volatile unsigned holding;
static unsigned char array_stacks[4][STACK_SIZE] __attribute__((aligned(64)));
static unsigned array_stack_count;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

/* ---- Stacks ---- */

static NOINLINE unsigned char *stack_memory(enum stack stack, unsigned place)
{
	unsigned char *p;

	switch (stack) {
	case MAPPED_GUARDED:
		p = (unsigned char *)mmap(NULL, STACK_SIZE + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
					  -1, 0);
		CHECK(p != MAP_FAILED && mprotect(p, 4096, PROT_NONE) == 0);
		return p + 4096;
	case MAPPED_BESIDE:
		return (unsigned char *)places[place].words + BYTES;
	case IN_ARRAY:
		CHECK(array_stack_count < 4);
		return array_stacks[array_stack_count++];
	case OF_LIBRARY:
	case OF_LIBRARY_UNGUARDED:
		return NULL;
	default:
		return (unsigned char *)shown(stack - FIRST_BLOCK, 0);
	}
}

/* ---- Registers ---- */

/* The value that hold_in_registers() loads into each register is 16 * sixteenth + rest. */
struct held {
	uintptr_t sixteenth, rest;
};

#if defined(__x86_64__)
#define TAKE(n, r)        "mov " #n "(%%rdi), %%" #r "\n shl $4, %%" #r "\n add " #n "+8(%%rdi), %%" #r "\n"
#define TAKE_VECTOR(n, r) TAKE(n, rax) "movq %%rax, %%xmm" #r "\n"
#define HAS_REGISTERS     1
/* Loads pointers into six registers and eight vectors (every second one in the upper half), and stores one at 64 and
 * one at 256 bytes below the stack pointer. Then waits for ever. */
static NOINLINE void hold_in_registers(const struct held *held, volatile unsigned *ready, int spins)
{
	/* clang-format off */
	__asm__ volatile(TAKE(0, rbx) TAKE(16, r12) TAKE(32, r13) TAKE(48, r14) TAKE(64, r15) TAKE(80, r10)
		TAKE_VECTOR(96, 8) TAKE_VECTOR(112, 9) "pslldq $8, %%xmm9\n"
		TAKE_VECTOR(128, 10) TAKE_VECTOR(144, 11) "pslldq $8, %%xmm11\n"
		TAKE_VECTOR(160, 0) TAKE_VECTOR(176, 1) "pslldq $8, %%xmm1\n"
		TAKE_VECTOR(192, 15) TAKE_VECTOR(208, 14) "pslldq $8, %%xmm14\n"
		TAKE(224, rax) "mov %%rax, -64(%%rsp)\n" TAKE(240, rax) "mov %%rax, -256(%%rsp)\n"
		"xor %%eax, %%eax\n mov %%rsi, %%rcx\n mov %%edx, %%edi\n"
		"xor %%esi, %%esi\n xor %%ebp, %%ebp\n xor %%edx, %%edx\n"
		"xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r11d, %%r11d\n"
		"lock incl (%%rcx)\n test %%edi, %%edi\n jz 2f\n 1: pause\n jmp 1b\n"
		"2: xor %%edi, %%edi\n mov $34, %%eax\n syscall\n jmp 2b\n"
		: : "D"(held), "S"(ready), "d"(spins) : "memory");
	/* clang-format on */
	__builtin_unreachable();
}
#elif defined(__i386__)
#define TAKE(n, r)               "mov " #n "(%%eax), %%" #r "\n shl $4, %%" #r "\n add " #n "+4(%%eax), %%" #r "\n"
#define TAKE_VECTOR(n, r, shift) TAKE(n, ebx) "movd %%ebx, %%xmm" #r "\n pslldq $" #shift ", %%xmm" #r "\n"
#define HAS_REGISTERS            1
/* Like the function above, with three registers and eight vectors, and nothing below the stack pointer. */
static NOINLINE void hold_in_registers(const struct held *held, volatile unsigned *ready, int spins)
{
	/* clang-format off */
	__asm__ volatile("push %%edx\n" TAKE_VECTOR(48, 0, 0) TAKE_VECTOR(56, 1, 8) TAKE_VECTOR(64, 2, 4)
		TAKE_VECTOR(72, 3, 12) TAKE_VECTOR(80, 4, 0) TAKE_VECTOR(88, 5, 8) TAKE_VECTOR(96, 6, 0)
		TAKE_VECTOR(104, 7, 4) TAKE(0, ebx) TAKE(8, esi) TAKE(16, edi)
		"xor %%ebp, %%ebp\n pop %%edx\n lock incl (%%ecx)\n xor %%eax, %%eax\n xor %%ecx, %%ecx\n"
		"test %%edx, %%edx\n jz 2f\n 1: pause\n jmp 1b\n 2: mov $29, %%eax\n int $0x80\n jmp 2b\n"
		: : "a"(held), "c"(ready), "d"(spins) : "memory");
	/* clang-format on */
	__builtin_unreachable();
}
#else
#define HAS_REGISTERS 0
static void hold_in_registers(const struct held *held, volatile unsigned *ready, int spins)
{
	(void)held;
	__atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		if (!spins)
			pause();
}
#endif

static struct held held_in[HOLDS_MAX][GENERAL + VECTORS + 2];

static NOINLINE void prepare_registers(const struct frozen_process *hold, struct held *held)
{
	for (unsigned i = 0; i < hold->count; i++) {
		const struct item *item = &hold->items[i];
		const unsigned base = item->where == IN_REGISTER ? 0
				      : item->where == IN_VECTOR ? GENERAL
								 : GENERAL + VECTORS;
		const unsigned slot = base + (item->where == BELOW_RED_ZONE ? 1
					      : item->where == IN_RED_ZONE  ? 0
									    : item->slot);

		if (item->where < IN_REGISTER)
			continue;
		held[slot].sixteenth = sixteenths[item->number];
		held[slot].rest = item->offset < 0 ? sizes[item->number] : (uintptr_t)item->offset;
	}
}

/* ---- Threads ---- */

static NOINLINE void store_own(const struct frozen_process *hold)
{
	for (unsigned i = 0; i < hold->count; i++) {
		const struct item *item = &hold->items[i];

		if (item->where == IN_OWN_TLS)
			in_tls[item->slot] = shown(item->number, item->offset);
		else if (item->where == IN_OWN_LIBRARY_TLS)
			library_thread_variables()[item->slot] = shown(item->number, item->offset);
		else if (item->where == IN_KEY)
			store_key(item->slot, item->number, item->offset);
	}
}

static NOINLINE void wait_in(const struct frozen_process *hold)
{
	struct held *held = held_in[hold - holds];

	if (hold->how == WAITS_FOR_LOCK) {
		__atomic_add_fetch(&holding, 1, __ATOMIC_SEQ_CST);
		pthread_mutex_lock(&never);
	}
	if (hold->how >= ENDS)
		return;
	prepare_registers(hold, held);
	wipe();
	hold_in_registers(held, &holding, hold->how == SPINS);
}

static NOINLINE void *hold_in_thread(void *data)
{
	const struct frozen_process *hold = (const struct frozen_process *)data;
	void *volatile frame[ITEMS_MAX];

	for (unsigned i = 0; i < ITEMS_MAX; i++)
		frame[i] = NULL;
	wipe();
	store_own(hold);
	for (unsigned i = 0; i < hold->count; i++)
		if (hold->items[i].where == ON_STACK)
			frame[i] = shown(hold->items[i].number, hold->items[i].offset);
	wipe();
	wait_in(hold);
	USED(frame);
	if (hold->how == ENDS_BY_EXIT)
		pthread_exit(NULL);
	return NULL;
}

/* Starts a thread on the stack `memory`; if it is NULL the C library allocates the stack. */
static NOINLINE void start_thread(pthread_t *thread, enum stack stack, unsigned char *memory, void *(*work)(void *),
				  void *data)
{
	pthread_attr_t attributes;

	CHECK(pthread_attr_init(&attributes) == 0);
	if (stack == OF_LIBRARY_UNGUARDED)
		CHECK(pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
		      pthread_attr_setguardsize(&attributes, 0) == 0);
	else if (memory)
		CHECK(pthread_attr_setstack(&attributes, memory, STACK_SIZE) == 0);
	CHECK(pthread_create(thread, &attributes, work, data) == 0);
	pthread_attr_destroy(&attributes);
}

static NOINLINE void start_hold(struct frozen_process *hold)
{
	const unsigned before = holding;
	unsigned char *memory = stack_memory(hold->stack, hold->place);
	pthread_t thread;

	start_thread(&thread, hold->stack, memory, hold_in_thread, hold);
	if (hold->how >= ENDS) {
		CHECK(pthread_join(thread, NULL) == 0);
		/* Overwrite the unknown words that the thread, and the libraries that it has called, have left on its
		 * stack. */
		if (memory)
			memset(memory, 1, STACK_SIZE);
	}
	while (hold->how < ENDS && holding == before)
		sleep_ms(1);
	if (hold->how == WAITS_FOR_LOCK)
		sleep_ms(5);
}

/* Allocates and releases blocks for ever, in a thread of its own. None of these blocks is in the plan. */
static void *churn(void *data)
{
	unsigned seed = (unsigned)(uintptr_t)data;
	void *volatile some[32] = {NULL};

	for (unsigned i = 0;; i++) {
		seed = seed * 1103515245 + 12345;
		free(some[i % 32]);
		some[i % 32] = calloc(1, 16 + (seed >> 16) % 2000);
		if (i % 64 == 63)
			sleep_ms(1);
	}
	return NULL;
}

/* ---- Contexts ---- */

#ifndef NO_CONTEXTS
#define CONTEXTS_MAX 8
static ucontext_t contexts[CONTEXTS_MAX], resumer;
static struct item context_items[CONTEXTS_MAX];
static unsigned context_count;

static NOINLINE void hold_in_context(void)
{
	const unsigned own = context_count;
	void *volatile frame = shown(context_items[own].number, context_items[own].offset);

	wipe();
	swapcontext(&contexts[own], &resumer);
	USED(&frame);
}

static NOINLINE void make_context(ucontext_t *context, enum stack stack, unsigned place, void (*function)(void))
{
	CHECK(getcontext(context) == 0);
	context->uc_stack.ss_sp = stack_memory(stack, place);
	context->uc_stack.ss_size = STACK_SIZE;
	context->uc_link = NULL;
	makecontext(context, function, 0);
}

static NOINLINE void start_context(enum stack stack, unsigned place, unsigned number, long offset)
{
	CHECK(context_count < CONTEXTS_MAX);
	context_items[context_count].number = number;
	context_items[context_count].offset = offset;
	make_context(&contexts[context_count], stack, place, hold_in_context);
	CHECK(swapcontext(&resumer, &contexts[context_count]) == 0);
	context_count++;
}
#else
#define start_context(stack, place, number, offset) CHECK(0)
#endif

#endif
