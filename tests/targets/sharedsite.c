/* A return site that is also reached without a call, thousands of times: the place after a call of malloc is the head
 * of a loop. The breakpoint there must have no effect. */
#include "target.h"

#if defined __x86_64__ || defined __aarch64__ || defined __arm__
#define HAS_CODE
/* Calls malloc once, then executes the code at the call's return site `times` times; *block gets the block. */
unsigned shared_site(unsigned times, void **block);

/* clang-format off */
#if defined __x86_64__
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
#elif defined __aarch64__
__asm__(".text\n.globl shared_site\n.type shared_site,@function\nshared_site:\n"
	"\t.cfi_startproc\n\thint #34\n" /* bti c */
	"\tstp x29, x30, [sp, #-48]!\n\t.cfi_def_cfa_offset 48\n\t.cfi_offset 29, -48\n\t.cfi_offset 30, -40\n"
	"\tstp x19, x20, [sp, #16]\n\t.cfi_offset 19, -32\n\t.cfi_offset 20, -24\n"
	"\tstr x21, [sp, #32]\n\t.cfi_offset 21, -16\n"
	"\tmov w19, w0\n\tmov x20, x1\n\tmov w21, wzr\n"
	"\tmov w0, #37201\n\tbl malloc\n"
	"1:\tadd w21, w21, #1\n\tcmp w21, w19\n\tb.lo 1b\n"
	"\tstr x0, [x20]\n\tmov w0, w21\n"
	"\tldr x21, [sp, #32]\n\tldp x19, x20, [sp, #16]\n\tldp x29, x30, [sp], #48\n\tret\n"
	"\t.cfi_endproc\n.size shared_site,.-shared_site\n");
#else
__asm__(".text\n.syntax unified\n"
#ifdef __thumb__
	".thumb\n.thumb_func\n"
#else
	".arm\n.align 2\n"
#endif
	".globl shared_site\n.type shared_site,%function\nshared_site:\n\t.fnstart\n"
	"\tpush {r4, r5, r6, lr}\n\t.save {r4, r5, r6, lr}\n"
	"\tmov r4, r0\n\tmov r5, r1\n\tmov r6, #0\n"
	"\tmovw r0, #37201\n\tbl malloc(PLT)\n"
	"1:\tadd r6, r6, #1\n\tcmp r6, r4\n\tblo 1b\n"
	"\tstr r0, [r5]\n\tmov r0, r6\n\tpop {r4, r5, r6, pc}\n\t.fnend\n"
	".size shared_site,.-shared_site\n");
#endif
/* clang-format on */
#endif

int main(void)
{
	const unsigned rounds = 10, times = 20000;

	gate();
#ifdef HAS_CODE
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
