/* A program that stops itself with stacks of all kinds. Before the stop, each function has recorded its return address
 * and CFA: these are the frames that an unwinder must find. The program is built with several sets of options. */
#include "unwind_target.h"

#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef TARGET_UNWIND
#include <unwind.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))
#if defined(__x86_64__) || defined(__i386__)
#define STOP() __asm__ volatile("int3" ::: "memory")
#elif defined(__aarch64__)
/* tkill(gettid(), SIGTRAP), because the pc does not advance over a brk. */
#define STOP()                                                                                                         \
	__asm__ volatile("mov x8, #178\n\tsvc #0\n\tmov x1, #5\n\tmov x8, #130\n\tsvc #0" ::                           \
				 : "x0", "x1", "x8", "memory")
#else
#define STOP() raise(SIGTRAP)
#endif
/* TRAP() raises a signal other than SIGTRAP, which __builtin_trap() would raise on AArch64. */
#ifdef __aarch64__
#define TRAP() __asm__ volatile("udf #0")
#else
#define TRAP() __builtin_trap()
#endif

static struct target_report *report;
volatile int sink;

static void note(void *pc, void *cfa, int is_signal)
{
	const uint64_t n = report->count++;

	report->frames[n] = (struct target_frame){(uintptr_t)pc, (uintptr_t)cfa, (uint64_t)is_signal};
}

/* ENTER() is at the beginning of each function, LEAVE() at its end. LEAVE() also prevents that the call before it
 * becomes a tail call. */
#define ENTER() note(__builtin_return_address(0), __builtin_dwarf_cfa(), 0)
#define LEAVE()                                                                                                        \
	do {                                                                                                           \
		report->count--;                                                                                       \
		__asm__ volatile("" ::: "memory");                                                                     \
	} while (0)

NOINLINE void stop_here(void)
{
	ENTER();
	STOP();
	LEAVE();
}

/* ---- plain ---- */

NOINLINE void recursion(int depth, void (*then)(void))
{
	ENTER();
	if (depth)
		recursion(depth - 1, then);
	else
		then();
	LEAVE();
}

static void scenario_plain(void)
{
	ENTER();
	recursion(9, stop_here);
	LEAVE();
}

static void scenario_deep(void)
{
	ENTER();
	recursion(400, stop_here);
	LEAVE();
}

/* A leaf without a frame: with optimisation it stops before anything is pushed. */
NOINLINE void leaf_stops(void)
{
	STOP();
}

NOINLINE void leaf_caller(void)
{
	ENTER();
	note(NULL, NULL, 0); /* the return address of leaf_stops(), which this function does not know */
	leaf_stops();
	LEAVE();
	LEAVE();
}

static void scenario_leaf(void)
{
	ENTER();
	recursion(2, leaf_caller);
	LEAVE();
}

/* ---- variable frames ---- */

NOINLINE void with_alloca(size_t size)
{
	ENTER();
	char *p = alloca(size);

	memset(p, 0x5a, size);
	sink += p[size / 2];
	recursion(2, stop_here);
	sink += p[0];
	LEAVE();
}

NOINLINE void with_vla(int n)
{
	ENTER();
	int array[n];

	for (int i = 0; i < n; i++)
		array[i] = i;
	with_alloca((size_t)array[n - 1] * 3);
	sink += array[n / 3];
	LEAVE();
}

static void scenario_alloca(void)
{
	ENTER();
	with_vla(333);
	LEAVE();
}

/* gcc restores sp from a saved copy of the argument pointer: the CFA is *(rbp - 8). */
NOINLINE void realigned(int a, int b, int c, int d, int e, int f, int g, int h)
{
	note(__builtin_return_address(0), NULL, 0); /* here gcc's CFA is not the caller's sp */
	_Alignas(64) volatile char buffer[256];
	char *p = alloca((size_t)(a + 64));

	buffer[0] = p[0] = (char)(a + b + c + d + e + f + g + h);
	recursion(2, stop_here);
	sink += buffer[0] + p[0];
	LEAVE();
}

static void scenario_realigned(void)
{
	ENTER();
	realigned(1, 2, 3, 4, 5, 6, 7, 8);
	LEAVE();
}

/* These frames need more than 64 KiB of stack. */
NOINLINE void big_frames(int depth)
{
	ENTER();
	volatile char buffer[5000];

	buffer[depth] = 1;
	if (depth)
		big_frames(depth - 1);
	else
		stop_here();
	sink += buffer[depth];
	LEAVE();
}

static void scenario_big(void)
{
	ENTER();
	big_frames(60);
	LEAVE();
}

/* ---- signals ---- */

static void (*after_signal)(void);

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	note(info->si_addr, NULL, 1);
	ENTER();
	after_signal();
	_exit(0);
}

static void catch_traps(int flags)
{
	static char alternate[65536];
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER | flags};

	sigaltstack(&stack, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

NOINLINE void traps(void)
{
	ENTER();
	TRAP();
}

static void plain_stop_under_handler(void)
{
	ENTER();
	recursion(3, stop_here);
	LEAVE();
}

static void scenario_signal(void)
{
	ENTER();
	catch_traps(0);
	after_signal = plain_stop_under_handler;
	recursion(2, traps);
	LEAVE();
}

static void scenario_altstack(void)
{
	ENTER();
	catch_traps(SA_ONSTACK);
	after_signal = plain_stop_under_handler;
	recursion(2, traps);
	LEAVE();
}

static void trap_again(void)
{
	ENTER();
	after_signal = plain_stop_under_handler;
	recursion(1, traps);
	LEAVE();
}

static void scenario_nested(void)
{
	ENTER();
	catch_traps(SA_ONSTACK);
	after_signal = trap_again;
	recursion(2, traps);
	LEAVE();
}

#ifdef __x86_64__
/* The signal interrupts a function at its first instruction: pc - 1 belongs to another function, whose frame is
 * different. */
__asm__(".text\n"
	".type big_frame_before, @function\n"
	"big_frame_before:\n"
	".cfi_startproc\n"
	"sub $4096, %rsp\n"
	".cfi_adjust_cfa_offset 4096\n"
	"ud2\n"
	".cfi_endproc\n"
	".type first_instruction, @function\n"
	"first_instruction:\n"
	".cfi_startproc\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n");
void first_instruction(void);

NOINLINE void first_caller(void)
{
	ENTER();
	note(NULL, NULL, 0);
	first_instruction();
	LEAVE();
	LEAVE();
}

static void scenario_first(void)
{
	ENTER();
	catch_traps(0);
	after_signal = stop_here;
	recursion(1, first_caller);
	LEAVE();
}

/* ---- hand-written assembly ---- */

/* Like _dl_runtime_resolve: the CFA is rbx + 16 while rsp is realigned, and other registers are used. */
__asm__(".text\n"
	".type cfa_in_rbx, @function\n"
	"cfa_in_rbx:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbx, 0\n"
	"mov %rsp, %rbx\n"
	".cfi_def_cfa_register %rbx\n"
	"and $-64, %rsp\n"
	"sub $512, %rsp\n"
	"call *%rdi\n"
	"mov %rbx, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %rbx\n"
	"ret\n"
	".cfi_endproc\n"
	/* The caller's sp is in memory: CFA = *(r12 + 8). An expression restores r12. */
	".type cfa_deref, @function\n"
	"cfa_deref:\n"
	".cfi_startproc\n"
	"push %r12\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %r12, 0\n"
	"lea 16(%rsp), %rax\n"
	"sub $4096, %rsp\n"
	".cfi_adjust_cfa_offset 4096\n"
	"mov %rsp, %r12\n"
	"mov %rax, 8(%r12)\n"
	".cfi_escape 0x0f, 3, 0x7c, 8, 0x06\n"                 /* CFA: breg12 8, deref */
	".cfi_escape 0x10, 12, 5, 0x7c, 8, 0x06, 0x40, 0x1c\n" /* r12 at: breg12 8, deref, lit16,
								  minus */
	"call *%rdi\n"
	"add $4096, %rsp\n"
	".cfi_def_cfa %rsp, 16\n"
	".cfi_offset %r12, -16\n"
	"pop %r12\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %r12\n"
	"ret\n"
	".cfi_endproc\n"
	/* This function keeps its return address in a callee-saved register. */
	".type ra_in_register, @function\n"
	"ra_in_register:\n"
	".cfi_startproc\n"
	"push %r13\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %r13, 0\n"
	"mov 8(%rsp), %r13\n"
	".cfi_register %rip, %r13\n"
	"movq $0, 8(%rsp)\n"
	"sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"call *%rdi\n"
	"add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"mov %r13, 8(%rsp)\n"
	".cfi_offset %rip, -8\n"
	"pop %r13\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %r13\n"
	"ret\n"
	".cfi_endproc\n");
void cfa_in_rbx(void (*)(void)), cfa_deref(void (*)(void)), ra_in_register(void (*)(void));

#define ASSEMBLY_CALLER(name, callee, then)                                                                            \
	NOINLINE void name(void)                                                                                       \
	{                                                                                                              \
		ENTER();                                                                                               \
		note(NULL, NULL, 0);                                                                                   \
		callee(then);                                                                                          \
		LEAVE();                                                                                               \
		LEAVE();                                                                                               \
	}
ASSEMBLY_CALLER(calls_ra_in_register, ra_in_register, stop_here)
ASSEMBLY_CALLER(calls_cfa_deref, cfa_deref, stop_here)
ASSEMBLY_CALLER(calls_cfa_in_rbx, cfa_in_rbx, calls_cfa_deref)

static void scenario_assembly(void)
{
	ENTER();
	recursion(1, calls_cfa_in_rbx);
	LEAVE();
}

static void scenario_register(void)
{
	ENTER();
	recursion(1, calls_ra_in_register);
	LEAVE();
}

/* Code like an entry of the PLT, with its CFI: CFA = rsp + 8 + ((rip & 15) >= 11) * 8. A signal interrupts plt_before()
 * before the push, and plt_behind() after it. */
#define PLT_CFI ".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
__asm__(".text\n"
	".p2align 4\n"
	".type plt_before, @function\n"
	"plt_before:\n"
	".cfi_startproc\n" PLT_CFI "ud2; nop; nop; nop; nop\n"
	"push $0x12345678\n"
	"ud2\n"
	".cfi_endproc\n"
	".p2align 4\n"
	".type plt_behind, @function\n"
	"plt_behind:\n"
	".cfi_startproc\n" PLT_CFI "nop; nop; nop; nop; nop; nop\n"
	"push $0x12345678\n"
	"ud2\n"
	".cfi_endproc\n");
void plt_before(void (*)(void)), plt_behind(void (*)(void));
ASSEMBLY_CALLER(calls_plt_before, plt_before, NULL)
ASSEMBLY_CALLER(calls_plt_behind, plt_behind, NULL)

static void plt_stops(void)
{
	ENTER();
	after_signal = plain_stop_under_handler;
	calls_plt_behind();
	LEAVE();
}

static void scenario_plt(void)
{
	ENTER();
	catch_traps(0);
	after_signal = plt_stops;
	calls_plt_before();
	LEAVE();
}

/* Calls a function in a page of code that has no call frame information. */
static void scenario_jit(void)
{
	ENTER();
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
					     0xff, 0xd7,             /* call *%rdi */
					     0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
					     0xc3};
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, code, sizeof(code));
	report->extra = (uintptr_t)page + 6;
	((void (*)(void (*)(void)))page)(plain_stop_under_handler);
	LEAVE();
}

/* ---- where a stack cannot be followed ---- */

/* Like Go's asmcgocall, this function continues on another stack, which no CFI describes. Above on that stack are
 * return addresses of calls that are over. */
__asm__(".text\n"
	".type switches_stack, @function\n"
	"switches_stack:\n"
	".cfi_startproc\n"
	"mov %rsp, %rdx\n"
	"mov %rsi, %rsp\n"
	"sub $64, %rsp\n"
	"and $-16, %rsp\n"
	"mov %rdx, 40(%rsp)\n"
	"call *%rdi\n"
	".globl switched_return\n"
	"switched_return:\n"
	"mov 40(%rsp), %rsp\n"
	"ret\n"
	".cfi_endproc\n"
	/* This function pushes a return address as no call does. */
	".type pushes_address, @function\n"
	"pushes_address:\n"
	".cfi_startproc\n"
	"push %rsi\n"
	".cfi_adjust_cfa_offset 8\n"
	"jmp *%rdi\n"
	"nop; nop; nop; nop; nop; nop; nop; nop\n"
	".globl not_called\n"
	"not_called:\n"
	"ud2\n"
	".cfi_endproc\n");
void switches_stack(void (*)(void), void *), pushes_address(void (*)(void), const void *);
extern const char switched_return[], not_called[];

static void scenario_switched(void)
{
	ENTER();
	static void *stack[8192];

	for (size_t i = 0; i < sizeof(stack) / sizeof(*stack); i++)
		stack[i] = __builtin_return_address(0);
	report->extra = (uintptr_t)switched_return;
	switches_stack(plain_stop_under_handler, stack + 6144);
	LEAVE();
}

NOINLINE void stops_last(void)
{
	ENTER();
	report->extra = (uintptr_t)__builtin_return_address(0);
	STOP();
	LEAVE();
}

NOINLINE void returns_nowhere(void)
{
	note(NULL, NULL, 0);
	stops_last();
	_exit(0);
}

static void scenario_pushed(void)
{
	ENTER();
	pushes_address(returns_nowhere, not_called);
}

/* A word on the stack looks like a return address, because the bytes before the address look like a call; but it is
 * data. */
static void scenario_data(void)
{
	ENTER();
	static const unsigned char call[] = {0xe8, 0x10, 0x20, 0x30, 0x40};
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, call, sizeof(call));
	pushes_address(returns_nowhere, page + sizeof(call));
}

/* ---- lazy binding ---- */
#ifndef TARGET_STATIC

/* The library contains this indirect function, whose resolver stops. */
void lazy_function(void (*then)(void));
void (*lazy_resolver_hook)(void);

static void lazy_then(void)
{
	STOP();
}

/* Makes the same call twice. The first stop is in the resolver of the first call, which _dl_runtime_resolve has called.
 * The second stop is in lazy_then(), which the library's function has called. */
NOINLINE void lazy_caller(void)
{
	ENTER();
	for (int i = 0; i < 2; i++)
		lazy_function(lazy_then);
	LEAVE();
}

static void lazy_stop(void)
{
	STOP();
}

static void scenario_lazy(void)
{
	ENTER();
	lazy_resolver_hook = lazy_stop;
	recursion(1, lazy_caller);
	LEAVE();
}
#endif
#endif

/* ---- threads, contexts ---- */

static void *thread_main(void *unused)
{
	(void)unused;
	report->count = 0;
	ENTER();
	recursion(3, stop_here);
	LEAVE();
	return NULL;
}

static void scenario_thread(void)
{
	ENTER();
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	LEAVE();
}

#ifdef __GLIBC__
static void context_main(void)
{
	report->count = 0;
	note(__builtin_return_address(0), NULL, 0);
	recursion(3, stop_here);
	_exit(0);
}

static void scenario_context(void)
{
	ENTER();
	static char stack[65536];
	static ucontext_t context, back;

	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = &back;
	makecontext(&context, context_main, 0);
	swapcontext(&back, &context);
	LEAVE();
}
#endif

/* ---- cleanups of an exception ---- */

#ifdef TARGET_UNWIND
NOINLINE static void cleanup(int *unused)
{
	ENTER();
	(void)unused;
	stop_here();
	LEAVE();
}

static _Unwind_Reason_Code keep_on(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				   struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *unused)
{
	(void)version, (void)class, (void)exception, (void)context, (void)unused;
	if (actions & _UA_END_OF_STACK)
		_exit(0);
	return _URC_NO_REASON;
}

NOINLINE void forces_unwinding(void)
{
	static struct _Unwind_Exception exception;

	_Unwind_ForcedUnwind(&exception, keep_on, NULL);
}

NOINLINE void has_cleanup(void)
{
	ENTER();
	__attribute__((cleanup(cleanup))) int guard = 1;

	forces_unwinding();
	sink += guard;
}

static void scenario_cleanup(void)
{
	ENTER();
	recursion(2, has_cleanup);
	LEAVE();
}
#endif

/* Calls into the vdso. */
static void scenario_vdso(void)
{
	ENTER();
	struct timespec now;

	STOP();
	clock_gettime(CLOCK_MONOTONIC, &now);
	STOP();
	LEAVE();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"plain", scenario_plain},       {"deep", scenario_deep},           {"leaf", scenario_leaf},
	{"alloca", scenario_alloca},     {"realigned", scenario_realigned}, {"big", scenario_big},
	{"signal", scenario_signal},     {"altstack", scenario_altstack},   {"nested", scenario_nested},
#ifdef __x86_64__
	{"first", scenario_first},       {"assembly", scenario_assembly},   {"jit", scenario_jit},
	{"switched", scenario_switched}, {"pushed", scenario_pushed},       {"data", scenario_data},
	{"plt", scenario_plt},           {"register", scenario_register},
#ifndef TARGET_STATIC
	{"lazy", scenario_lazy},
#endif
#endif
	{"thread", scenario_thread},
#ifdef __GLIBC__
	{"context", scenario_context},
#endif

	{"vdso", scenario_vdso},
#ifdef TARGET_UNWIND
	{"cleanup", scenario_cleanup},
#endif
};

/* main() realigns its stack, as a main() with AVX locals does. */
int main(int argc, char **argv)
{
	_Alignas(64) volatile char buffer[128];
	extern char _start[];

	buffer[0] = 1;
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED, 100, 0);
	if (argc < 2 || report == MAP_FAILED)
		return 2;
	report->start = (uintptr_t)_start;
	report->start_end = (uintptr_t)_start + 64;
#ifdef __i386__
	note(__builtin_return_address(0), NULL, 0); /* as in realigned() */
#else
	ENTER();
#endif
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(argv[1], scenarios[i].name)) {
			if (argc > 2)
				STOP();
			scenarios[i].run();
			LEAVE();
			return buffer[0] - 1;
		}
	return 2;
}
