/* armforms: functions of 32-bit ARM whose first instruction uses the pc or the flags, or cannot be stepped over. Each
 * function checks the effect of its first instruction. */
#include "target.h"

#include <setjmp.h>
#include <ucontext.h>

static char pool[1 << 23];
static size_t used;

/* Checks that the first instruction of the calling function, which is in assembly, has set the right number. Returns a
 * block, which that function passes on to its caller. */
void *take(size_t size, uint32_t number, uint32_t second);
NOINLINE void *take(size_t size, uint32_t number, uint32_t second)
{
	CHECK(number == 0x1234 && (second == 0x5678 || second == 0));
	used += (size + 63) & ~(size_t)63;
	CHECK(used <= sizeof(pool));
	return pool + used - ((size + 63) & ~(size_t)63);
}

/* clang-format off */
#define FUNCTIONS(prefix, state)                                                                   \
	__asm__(".syntax unified\n.text\n" state "\n"                                              \
		/* a vector register from a literal */                                             \
		".balign 8\n.globl " #prefix "calloc\n.type " #prefix "calloc, %function\n"        \
		#prefix "calloc:\n vldr d7, 1f\n mul r0, r0, r1\n vmov r1, r2, d7\n b take\n"      \
		".balign 8\n1: .word 0x1234, 0x5678\n.size " #prefix "calloc, .-" #prefix "calloc\n" \
		/* a register from a literal */                                                    \
		".balign 8\n.globl " #prefix "malloc\n.type " #prefix "malloc, %function\n"        \
		#prefix "malloc:\n ldr r1, 1f\n mov r2, #0\n b take\n"                             \
		".balign 4\n1: .word 0x1234\n.size " #prefix "malloc, .-" #prefix "malloc\n"       \
		/* depends on a flag that the caller has set: an IT block in Thumb, a condition in ARM */          \
		".balign 8\n.globl " #prefix "realloc\n.type " #prefix "realloc, %function\n"      \
		#prefix "realloc:\n itte ne\n movne r2, #0\n movwne r3, #0x1234\n movweq r3, #1\n" \
		" mov r0, r1\n mov r1, r3\n mov r2, #0\n b take\n"                                 \
		".size " #prefix "realloc, .-" #prefix "realloc\n"                                 \
		/* a jump through its argument */                                                  \
		".balign 8\n.globl " #prefix "free\n.type " #prefix "free, %function\n"            \
		#prefix "free:\n ldr pc, [r0]\n.size " #prefix "free, .-" #prefix "free\n"         \
		/* an exclusive load: no breakpoint may be hit between it and clrex */             \
		".balign 8\n.globl " #prefix "valloc\n.type " #prefix "valloc, %function\n"        \
		#prefix "valloc:\n ldrex r1, [sp]\n clrex\n movw r1, #0x1234\n mov r2, #0\n b take\n" \
		".size " #prefix "valloc, .-" #prefix "valloc\n"                                   \
		/* calls realloc with flags for which `ne` holds */                                         \
		".balign 8\n.type " #prefix "call, %function\n" #prefix "call:\n push {r4, lr}\n"  \
		" movs r4, #1\n bl " #prefix "realloc\n pop {r4, pc}\n"                            \
		".size " #prefix "call, .-" #prefix "call\n.thumb\n");                             \
	void *prefix##calloc(size_t count, size_t size);                                           \
	void *prefix##malloc(size_t size);                                                         \
	void *prefix##call(void *p, size_t size);                                                  \
	void prefix##free(void *p);                                                                \
	void *prefix##valloc(size_t size);
/* clang-format on */

FUNCTIONS(je_, ".thumb\n.thumb_func")
FUNCTIONS(mi_, ".arm")

static void nothing(void)
{
}

static sigjmp_buf back;
static volatile uintptr_t fault_pc, fault_address;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	fault_pc = ((ucontext_t *)context)->uc_mcontext.arm_pc;
	fault_address = (uintptr_t)info->si_addr;
	siglongjmp(back, sig);
}

static void work(void *(*allocate)(size_t), void *(*zeroed)(size_t, size_t), void *(*changed)(void *, size_t),
		 void (*release)(void *), size_t base)
{
	for (unsigned i = 0; i < 20; i++) {
		void **p = zeroed(1, base + 1), **q = allocate(base + 2);

		p[0] = q[0] = (void *)nothing;
		release(p);
		p = changed(q, base + 3);
		p[0] = (void *)nothing;
		release(p);
	}
	/* An invalid address: the fault is the program's own, at the function's first instruction. */
	if (!sigsetjmp(back, 1)) {
		release((void *)16);
		CHECK(!"reached");
	}
	CHECK((fault_pc | 1) == ((uintptr_t)release | 1) && fault_address == 16);
}

int main(void)
{
	const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	gate();
	CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
	work(je_malloc, je_calloc, je_call, je_free, 31000);
	work(mi_malloc, mi_calloc, mi_call, mi_free, 32000);
	CHECK(je_valloc(33001) && mi_valloc(33002));
	expect_alloc(20, 31001, "je_calloc");
	expect_alloc(20, 31002, "je_malloc");
	expect_alloc(20, 31003, "je_realloc");
	expect_release(20, 31001, "je_free");
	expect_release(20, 31002, "je_realloc");
	expect_release(20, 31003, "je_free");
	expect_alloc(20, 32001, "mi_calloc");
	expect_alloc(20, 32002, "mi_malloc");
	expect_alloc(20, 32003, "mi_realloc");
	expect_release(20, 32001, "mi_free");
	expect_release(20, 32002, "mi_realloc");
	expect_release(20, 32003, "mi_free");
	gate();
	return 0;
}
