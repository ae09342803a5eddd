/* Functions whose first instruction is hard to get past: each of these is a traced function that
 * the program defines itself, in assembly. x86-64 only; elsewhere it says so and passes. */
#include "target.h"

static char block[64] __attribute__((aligned(16)));
static int zero __attribute__((used));
static unsigned loops __attribute__((used));

__attribute__((used, visibility("hidden"))) void *give(size_t size);
void *give(size_t size)
{
	(void)size;
	return block;
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

void *je_malloc(size_t size);
void *mi_malloc(size_t size, long times);
void *mi_calloc(size_t count, size_t size);
void *tc_malloc(size_t size);
void je_free(void *p);
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);

int main(void)
{
	const unsigned rounds = 40;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		CHECK(valloc(37101) == block);
		CHECK(pvalloc(36864) == block);
		CHECK(memalign(64, 37103) == block);
		CHECK(je_malloc(37104) == block);
		CHECK(mi_malloc(37105, 5) == block);
		CHECK(tc_malloc(37106) == block);
		CHECK(mi_calloc(1, 37107) == block);
		je_free(block);
	}
	CHECK(loops == rounds * 5);
	expect_alloc(rounds, 37101, "valloc");
	expect_alloc(rounds, 36864, "pvalloc");
	expect_alloc(rounds, 37103, "memalign");
	expect_alloc(rounds, 37104, "je_malloc");
	expect_alloc(rounds, 37105, "mi_malloc");
	expect_alloc(rounds, 37106, "tc_malloc");
	expect_alloc(rounds, 37107, "mi_calloc");
	expect_release(rounds, 37107, "je_free");
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
