/* A return site that is also reached without a call, thousands of times: the place behind a call of
 * malloc is the head of a loop. It must be as if nothing were there. x86-64 only. */
#include "target.h"

#ifdef __x86_64__
/* Allocates once, then passes the return site `times` times; *block gets the block. */
unsigned shared_site(unsigned times, void **block);

/* clang-format off */
__asm__(".text\n.globl shared_site\n.type shared_site,@function\nshared_site:\n"
	"\t.cfi_startproc\n"
	"\tpush %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset rbx,0\n"
	"\tpush %r12\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset r12,0\n"
	"\tpush %r13\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset r13,0\n"
	"\tmov %edi,%ebx\n\tmov %rsi,%r12\n\txor %r13d,%r13d\n"
	"\tmov $37201,%edi\n\tcall malloc@PLT\n"
	"1:\tinc %r13d\n\tcmp %ebx,%r13d\n\tjb 1b\n"
	"\tmov %rax,(%r12)\n\tmov %r13d,%eax\n"
	"\tpop %r13\n\t.cfi_adjust_cfa_offset -8\n\tpop %r12\n\t.cfi_adjust_cfa_offset -8\n"
	"\tpop %rbx\n\t.cfi_adjust_cfa_offset -8\n\tret\n"
	"\t.cfi_endproc\n.size shared_site,.-shared_site\n");
/* clang-format on */
#endif

int main(void)
{
	const unsigned rounds = 10, times = 20000;

	gate();
#ifdef __x86_64__
	for (unsigned i = 0; i < rounds; i++) {
		void *p = NULL;

		CHECK(shared_site(times, &p) == times && p);
		free(p);
	}
	expect_alloc(rounds, 37201, "malloc");
	expect_release(rounds, 37201, "free");
	say("expect stack 37201 shared_site main");
#else
	(void)rounds;
	(void)times;
#endif
	gate();
	return 0;
}
