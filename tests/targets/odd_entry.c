/* odd_entry [no-room]: functions whose first instruction is hard to step over: each of them is a traced function that
 * the program defines itself, in assembly. (armforms.c has ARM's.) */
#include "target.h"

#define ROUNDS 40

static char block[64] __attribute__((aligned(16), used));
static char blocks[ROUNDS * 7][16];
static unsigned given;
static int zero __attribute__((used));
static unsigned loops __attribute__((used));

__attribute__((used, visibility("hidden"))) void *give(size_t size);
void *give(size_t size)
{
	(void)size;
	return blocks[given++];
}

#ifdef __x86_64__
/* clang-format off */
__asm__(".text\n"
	/* a jump to another function */
	".globl valloc\n.type valloc,@function\nvalloc:\n\tjmp give\n.size valloc,.-valloc\n"
	/* RIP-relative memory */
	".globl pvalloc\n.type pvalloc,@function\npvalloc:\n\tcmpb $0,zero(%rip)\n\tjne 1f\n\tjmp give\n1:\tud2\n"
	".size pvalloc,.-pvalloc\n"
	/* a call */
	".globl memalign\n.type memalign,@function\nmemalign:\n\t.cfi_startproc\n\tcall give\n\tret\n\t.cfi_endproc\n"
	".size memalign,.-memalign\n"
	/* endbr64, then a push of one byte */
	".globl je_malloc\n.type je_malloc,@function\nje_malloc:\n\t.cfi_startproc\n\tendbr64\n\tpush %rbx\n"
	"\t.cfi_adjust_cfa_offset 8\n\tcall give\n\tpop %rbx\n\t.cfi_adjust_cfa_offset -8\n\tret\n\t.cfi_endproc\n"
	".size je_malloc,.-je_malloc\n"
	/* the entry is the head of a loop: a jump reaches it again, which is not a call */
	".globl mi_malloc\n.type mi_malloc,@function\nmi_malloc:\n\t.cfi_startproc\n\tincl loops(%rip)\n"
	"\tdec %rsi\n\tjnz mi_malloc\n\tlea block(%rip),%rax\n\tret\n\t.cfi_endproc\n.size mi_malloc,.-mi_malloc\n"
	/* only a return */
	".globl je_free\n.type je_free,@function\nje_free:\n\tret\n.size je_free,.-je_free\n"
	/* a conditional jump */
	".globl tc_malloc\n.type tc_malloc,@function\ntc_malloc:\n\tjrcxz 2f\n\tjmp give\n2:\tjmp give\n"
	".size tc_malloc,.-tc_malloc\n"
	/* a prefix, an SSE register */
	".globl mi_calloc\n.type mi_calloc,@function\nmi_calloc:\n\tpxor %xmm0,%xmm0\n\tmovdqa %xmm0,block(%rip)\n"
	"\tjmp give\n.size mi_calloc,.-mi_calloc\n");
/* clang-format on */
#elif defined __aarch64__
/* clang-format off */
__asm__(".text\n"
	/* a jump to another function */
	".globl valloc\n.type valloc,@function\nvalloc:\n\tb give\n.size valloc,.-valloc\n"
	/* an address that is relative to the pc */
	".globl pvalloc\n.type pvalloc,@function\npvalloc:\n\tadrp x1, zero\n\tldr w1, [x1, :lo12:zero]\n"
	"\tcbnz w1, 1f\n\tb give\n1:\tudf #0\n.size pvalloc,.-pvalloc\n"
	/* a literal */
	".globl memalign\n.type memalign,@function\n.p2align 3\nmemalign:\n\tldr x2, 1f\n\tcmp x2, #0x123\n\tb.ne 2f\n"
	"\tb give\n2:\tudf #0\n\t.p2align 3\n1:\t.quad 0x123\n.size memalign,.-memalign\n"
	/* bti c, then registers on the stack */
	".globl je_malloc\n.type je_malloc,@function\nje_malloc:\n\t.cfi_startproc\n\thint #34\n"
	"\tstp x29, x30, [sp, #-16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 29, -16\n\t.cfi_offset 30, -8\n"
	"\tbl give\n\tldp x29, x30, [sp], #16\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore 29\n\t.cfi_restore 30\n"
	"\tret\n\t.cfi_endproc\n.size je_malloc,.-je_malloc\n"
	/* the entry is the head of a loop: a jump reaches it again, which is not a call */
	".globl mi_malloc\n.type mi_malloc,@function\nmi_malloc:\n\t.cfi_startproc\n\tadrp x2, loops\n"
	"\tldr w3, [x2, :lo12:loops]\n\tadd w3, w3, #1\n\tstr w3, [x2, :lo12:loops]\n"
	"\tsubs x1, x1, #1\n\tb.ne mi_malloc\n\tadrp x0, block\n\tadd x0, x0, :lo12:block\n"
	"\tret\n\t.cfi_endproc\n.size mi_malloc,.-mi_malloc\n"
	/* only a return */
	".globl je_free\n.type je_free,@function\nje_free:\n\tret\n.size je_free,.-je_free\n"
	/* a conditional jump */
	".globl tc_malloc\n.type tc_malloc,@function\ntc_malloc:\n\tcbz x0, 2f\n\tb give\n2:\tb give\n"
	".size tc_malloc,.-tc_malloc\n"
	/* a vector register */
	".globl mi_calloc\n.type mi_calloc,@function\nmi_calloc:\n\tmovi v0.2d, #0\n\tadrp x2, block\n"
	"\tadd x2, x2, :lo12:block\n\tstr q0, [x2]\n\tb give\n.size mi_calloc,.-mi_calloc\n"
	/* an exclusive load, whose store fails if a stop comes in between */
	".globl tc_valloc\n.type tc_valloc,@function\ntc_valloc:\n\tldxr w2, [x1]\n\tadd w2, w2, #1\n"
	"\tstxr w3, w2, [x1]\n\tcbnz w3, tc_valloc\n\tb give\n.size tc_valloc,.-tc_valloc\n");
/* clang-format on */
#endif

#if defined __x86_64__ || defined __aarch64__
/* By other names, because the compiler knows the properties of valloc's result. */
void *jump_first(size_t size) __asm__("valloc");
void *relative_first(size_t size) __asm__("pvalloc");
void *call_first(size_t alignment, size_t size) __asm__("memalign"); /* AArch64: of a literal */
void *push_first(size_t size) __asm__("je_malloc");
void *loop_first(size_t size, long times) __asm__("mi_malloc");
void *branch_first(size_t size) __asm__("tc_malloc");
void *vector_first(size_t count, size_t size) __asm__("mi_calloc");
void return_first(void *p) __asm__("je_free");
#ifdef __aarch64__
void *watched_first(size_t size, unsigned *count) __asm__("tc_valloc");
static unsigned watched;
#endif

int main(int argc, char **argv)
{
	const unsigned rounds = ROUNDS;

	(void)argc, (void)argv;
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		CHECK(jump_first(37101) == blocks[i * 6 + 0]);
		CHECK(relative_first(36864) == blocks[i * 6 + 1]);
		CHECK(call_first(64, 37103) == blocks[i * 6 + 2]);
		CHECK(push_first(37104) == blocks[i * 6 + 3]);
		CHECK(loop_first(37105, 5) == block);
		return_first(block);
		CHECK(branch_first(37106) == blocks[i * 6 + 4]);
		CHECK(vector_first(1, 37107) == blocks[i * 6 + 5]);
	}
#ifdef __aarch64__
	for (unsigned i = 0; i < rounds; i++)
		CHECK(watched_first(37108, &watched) == blocks[rounds * 6 + i]);
	CHECK(watched == rounds);
	if (argc == 1) /* with no-room tc_valloc is not traced, because the stop of a step would make stxr fail */
		expect_alloc(rounds, 37108, "tc_valloc");
#endif
	CHECK(loops == rounds * 5);
	expect_alloc(rounds, 37101, "valloc");
	expect_alloc(rounds, 36864, "pvalloc");
	expect_alloc(rounds, 37103, "memalign");
	expect_alloc(rounds, 37104, "je_malloc");
	expect_alloc(rounds, 37105, "mi_malloc");
	expect_alloc(rounds, 37106, "tc_malloc");
	expect_alloc(rounds, 37107, "mi_calloc");
	expect_release(rounds, 37105, "je_free");
	gate();
	return 0;
}
#else
int main(void)
{
	gate();
	gate();
	return 0;
}
#endif
