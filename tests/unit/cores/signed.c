/* The program of core files of tests/unit/unwind_core.c: frames with signed return addresses, and a signal's frame. The
 * function that the signal has interrupted keeps its return address in x30.
 *
 * AArch64: gcc -O2 -nostdlib -static -mbranch-protection=standard -fno-omit-frame-pointer tests/unit/cores/signed.c,
 * stripped of debugging information; run on a machine that signs pointers, with ulimit -c unlimited. */
#define NOINLINE __attribute__((noinline, noclone))

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

static long set_action(long sig, const struct action *action)
{
	register long number __asm__("x8") = 134, x0 __asm__("x0") = sig, x1 __asm__("x1") = (long)action,
			     x2 __asm__("x2") = 0, x3 __asm__("x3") = 8;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

NOINLINE int last(int n)
{
	__asm__ volatile("udf #0");
	return n + 1;
}

NOINLINE int before_last(int n)
{
	return last(n) + 1;
}

NOINLINE void handler(int sig)
{
	before_last(sig);
	__asm__ volatile("");
}

NOINLINE int leaf(volatile int *p)
{
	return *p;
}

NOINLINE int middle(volatile int *p)
{
	char room[64];

	__asm__ volatile("" : : "r"(room) : "memory", "x19", "x20");
	return leaf(p) + 1;
}

NOINLINE int outer(volatile int *p)
{
	return middle(p) + 1;
}

NOINLINE int entry(void)
{
	const struct action action = {.handler = handler};

	set_action(11, &action);
	return outer(0) + 1;
}

__asm__(".globl _start\n.type _start, %function\n_start:\n.cfi_startproc\n.cfi_undefined x30\nbti c\n"
	"mov x29, xzr\nmov x30, xzr\nbl entry\nudf #1\n.cfi_endproc\n.size _start, .-_start\n");

/* careless() makes a call, although its table is that of a leaf function, which has its return address in x30. */
__asm__(".globl careless\n.type careless, %function\ncareless:\n.cfi_startproc\nbl last\nret\n.cfi_endproc\n"
	".size careless, .-careless\n");
