/* The program of a core file of tests/unit/unwind_core.c, for 32-bit ARM. An index of functions (.ARM.exidx) describes
 * its frames: in Thumb and in ARM code, with and without a frame pointer, and a signal's frame. The function that the
 * signal has interrupted keeps its return address in lr.
 *
 * ARM: gcc -O2 -nostdlib -static -mthumb -funwind-tables tests/unit/cores/indexed.c, stripped of debugging
 * information; run with ulimit -c unlimited and 7 in /proc/self/coredump_filter, so that the core file contains the
 * code, too. */
#define NOINLINE __attribute__((noinline, noclone))
#define ARM_CODE __attribute__((target("arm")))

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask[2];
};

#define SA_SIGINFO  4
#define SA_RESTORER 0x04000000

void restorer(void);

/* A restorer like the C library's. A return address in it is the only sign that the next frame is that of a function
 * which a signal has interrupted. */
__asm__(".pushsection .text\n.arm\n.globl restorer\n.type restorer, %function\nrestorer:\n.fnstart\n"
	".save {r0-r15}\n.pad #160\n"
	"nop\nmov r7, #173\nsvc 0\n.fnend\n.size restorer, .-restorer\n.popsection\n");

ARM_CODE static long set_action(long sig, const struct action *action)
{
	register long number __asm__("r7") = 174, r0 __asm__("r0") = sig, r1 __asm__("r1") = (long)action,
			     r2 __asm__("r2") = 0, r3 __asm__("r3") = 8;

	__asm__ volatile("svc #0" : "+r"(r0) : "r"(number), "r"(r1), "r"(r2), "r"(r3) : "memory");
	return r0;
}

NOINLINE int last(int n)
{
	__asm__ volatile("udf #0");
	return n + 1;
}

NOINLINE ARM_CODE int before_last(int n)
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

	__asm__ volatile("" : : "r"(room) : "memory", "r4", "r5", "r8", "d8", "d9");
	return leaf(p) + 1;
}

/* The unwinder finds the frame of this function by its frame pointer. */
NOINLINE ARM_CODE int outer(volatile int *p, int n)
{
	char *room = __builtin_alloca((unsigned)n);

	__asm__ volatile("" : : "r"(room) : "memory");
	return middle(p) + 1;
}

NOINLINE int entry(void)
{
	const struct action action = {.handler = handler, .flags = SA_RESTORER | SA_SIGINFO, .restorer = restorer};

	set_action(11, &action);
	return outer(0, 40) + 1;
}

__asm__(".pushsection .text\n.arm\n.globl _start\n.type _start, %function\n_start:\n.fnstart\n.cantunwind\n"
	"mov fp, #0\nmov lr, #0\nbl entry\nudf #1\n.fnend\n.size _start, .-_start\n.popsection\n");

/* gcc's index refers to these functions, which are never called. */
void __aeabi_unwind_cpp_pr0(void)
{
}
void __aeabi_unwind_cpp_pr1(void)
{
}
