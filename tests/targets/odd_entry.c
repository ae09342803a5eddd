/* Functions whose first instruction is hard to get past: each of these is a traced function that
 * the program defines itself, in assembly. x86-64 only; elsewhere it says so and passes. */
#include "target.h"

#define ROUNDS 40

static char block[64] __attribute__((aligned(16)));
static char blocks[ROUNDS * 6][16];
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
	/* the entry is the head of a loop: reached again by a jump, which is no call */
	".globl mi_malloc\n.type mi_malloc,@function\nmi_malloc:\n\t.cfi_startproc\n\tincl loops(%rip)\n"
	"\tdec %rsi\n\tjnz mi_malloc\n\tlea block(%rip),%rax\n\tret\n\t.cfi_endproc\n.size mi_malloc,.-mi_malloc\n"
	/* nothing but a return */
	".globl je_free\n.type je_free,@function\nje_free:\n\tret\n.size je_free,.-je_free\n"
	/* a conditional jump */
	".globl tc_malloc\n.type tc_malloc,@function\ntc_malloc:\n\tjrcxz 2f\n\tjmp give\n2:\tjmp give\n"
	".size tc_malloc,.-tc_malloc\n"
	/* a prefix, an SSE register */
	".globl mi_calloc\n.type mi_calloc,@function\nmi_calloc:\n\tpxor %xmm0,%xmm0\n\tmovdqa %xmm0,block(%rip)\n"
	"\tjmp give\n.size mi_calloc,.-mi_calloc\n");
/* clang-format on */

/* Under other names here: the compiler knows too much about what valloc gives. */
void *jump_first(size_t size) __asm__("valloc");
void *relative_first(size_t size) __asm__("pvalloc");
void *call_first(size_t alignment, size_t size) __asm__("memalign");
void *push_first(size_t size) __asm__("je_malloc");
void *loop_first(size_t size, long times) __asm__("mi_malloc");
void *branch_first(size_t size) __asm__("tc_malloc");
void *vector_first(size_t count, size_t size) __asm__("mi_calloc");
void return_first(void *p) __asm__("je_free");

int main(void)
{
	const unsigned rounds = ROUNDS;

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
