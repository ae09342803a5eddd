/* Tests the unwinding rules that functrace derives from code that no table describes. The code is either bytes as
 * assemblers generate them for each processor, or a library with tables; then each rule is compared with the table.
 *
 * By hand: code_rules FILE [DEBUG_FILE [N]] compares the rules after all calls of a file with its .eh_frame and with
 * the .debug_frame of DEBUG_FILE (of FILE if there is no DEBUG_FILE), and prints how many are exact, unknown and wrong.
 * With N, it compares the rules for each Nth instruction instead, as if a signal had interrupted it. */
#include "config.h"
#include "unit_test.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "unwind/code_rule.h"

extern const struct arch arch_arm, arch_aarch64;

/* ---- Bytes ---- */

#define PLACE  0x10000u /* address of the first byte */
#define BEFORE 32       /* number of 0xcc bytes that precede the function */
#define LATER  8        /* number of following rows of a table that are searched */
#define EVERY  97       /* the test checks every 97th instruction of a library */

struct bytes {
	unsigned char data[512];
	size_t size;
};

static size_t read_bytes(void *context, uint64_t address, unsigned char *data, size_t size)
{
	const struct bytes *bytes = context;

	if (address < PLACE || address - PLACE >= bytes->size)
		return 0;
	if (size > bytes->size - (address - PLACE))
		size = bytes->size - (address - PLACE);
	memcpy(data, bytes->data + (address - PLACE), size);
	return size;
}

/* Writes a rule as text. "=7+32 ra-8 3-16": the caller's sp is register 7's value plus 32, and the return address and
 * register 3 are at these offsets from the caller's sp; "link": the return address is in its register; "-": there is no
 * rule. */
static void describe(const struct arch *arch, const struct code_rule *rule, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "=%u%+d ", rule->base, rule->cfa);

	if (rule->pc.kind == PATH_REGISTER)
		used += (size_t)snprintf(text + used, size - used, "link");
	else
		used += (size_t)snprintf(text + used, size - used, "ra%+d", rule->pc.offset - rule->cfa);

	for (unsigned i = 0; i < PATH_REGISTERS; i++)
		if (arch->dwarf.preserved >> i & 1 && rule->registers[i].kind == PATH_MEMORY)
			used += (size_t)snprintf(text + used, size - used, " %u%+d", i,
						 rule->registers[i].offset - rule->cfa);
}

static void take_hex(const char *text, struct bytes *bytes)
{
	unsigned byte;
	int used;

	memset(bytes->data, 0xcc, BEFORE);
	for (bytes->size = BEFORE; sscanf(text, " %2x%n", &byte, &used) == 1; text += used)
		bytes->data[bytes->size++] = (unsigned char)byte;
}

/* Compares the rule at a place in the code with the expected text. sp: NULL at a call; otherwise a signal has
 * interrupted the code, and *sp is the stack pointer. */
static void check_rule(const struct arch *arch, unsigned pc, const unsigned *sp, const char *hex, const char *expected)
{
	struct bytes bytes;
	const struct code_reader reader = {read_bytes, &bytes};
	const uint64_t at = PLACE + BEFORE + pc;
	struct code_rule rule;
	char text[256] = "-";

	if (!arch)
		return; /* this build has no port for the processor */
	take_hex(hex, &bytes);
	if (sp ? code_rule_find_interrupted(arch, at, *sp, &reader, &rule) : code_rule_find(arch, at, &reader, &rule))
		describe(arch, &rule, text, sizeof(text));
	if (strcmp(text, expected) != 0)
		fail_msg("%s %s: %s, not %s", arch->name, hex, text, expected);
}

static void test_rules_of_assembled_code_are_found(void **state)
{
	const struct arch *const x86_64 = arch_for_elf(EM_X86_64, ELFCLASS64), *const x86_32 =
										       arch_for_elf(EM_386, ELFCLASS32);
	const struct {
		const struct arch *arch;
		unsigned pc; /* odd: Thumb */
		const char *hex, *rule;
	} codes[] = {
		/* push {r4, r5, lr}; sub sp, #12; bl; movs r0, #0; add sp, #12; pop {r4, r5, pc} */
		{&arch_arm, 9, "30b5 83b0 fff7fcff 0020 03b0 30bd", "=13+24 ra-4 4-12 5-8"},
		/* push {r0-r3}; push {r4, r5, lr}; sub sp, #4; bl; add sp, #4; pop {r4, r5}; ldr.w lr, [sp], #20; bx */
		{&arch_arm, 11, "0fb4 30b5 81b0 fff7fcff 01b0 30bc 5df814eb 7047", "=13+32 ra-20 4-28 5-24"},
		/* str lr, [sp, #-4]!; vpush {d8, d9}; sub.w sp, #516; blx r3; add.w; vpop; ldr pc, [sp], #4 */
		{&arch_arm, 15, "4df804ed 2ded048b adf5017d 9847 0df5017d bdec048b 5df804fb", "=13+536 ra-4"},
		/* the same with sub.w sp, #520, after which sp is not aligned as at calls */
		{&arch_arm, 15, "4df804ed 2ded048b adf5027d 9847 0df5027d bdec048b 5df804fb", "-"},
		/* push {r4, r7, lr}; sub sp, #12; add r7, sp, #8; sub.w sp, sp, r3; bl; adds r7, #4; mov sp, r7; pop */
		{&arch_arm, 15, "90b5 83b0 02af adeb030d fff7e1ff 0437 bd46 90bd", "=7+16 ra-4 4-12 7-8"},
		/* push {r0-r3}; push {r4, lr}; bl; ldmia.w sp!, {r4, lr}; add sp, #16; bx lr */
		{&arch_arm, 9, "0fb4 10b5 fff7d4ff bde81040 04b0 7047", "=13+24 ra-20 4-24"},
		/* stmdb sp!, {r4-r8, lr}; bl; cbz; it ne; ldmiane.w sp!, {r4-r8, pc}; ldmia.w sp!, {r4-r8, lr}; b.w */
		{&arch_arm, 9, "2de9f041 fff7ccff 10b1 18bf bde8f081 bde8f041 fff7c4bf",
		 "=13+24 ra-4 4-24 5-20 6-16 7-12 8-8"},
		/* push {r3, lr}; bl; nop; the next function: push {r4-r6, lr}; pop {r4-r6, pc} */
		{&arch_arm, 7, "08b5 fff7bdff 00bf 70b5 70bd", "-"},
		/* push {r4-r6, lr}; bl; constants that look like pop {r4, pc} */
		{&arch_arm, 7, "70b5 fff7b5ff 10bd 10bd", "-"},
		/* push {r4, r5, r11, lr}; add r11, sp, #12; sub sp, #16; bl; sub sp, r11, #12; pop {r4, r5, r11, pc} */
		{&arch_arm, 16, "30482de9 0cb08de2 10d04de2 fbffffeb 0cd04be2 3088bde8", "=11+4 ra-4 4-16 5-12 11-8"},
		/* str lr, [sp, #-4]!; vpush {d8}; sub sp, #4; blx r3; add sp, #4; vldm sp!, {d8}; cmp r0, #0;
		 * ldreq pc, [sp],
		 * #4; ldr lr, [sp], #4; bx lr */
		{&arch_arm, 16,
		 "04e02de5 028b2ded 04d04de2 33ff2fe1 04d08de2 028bbdec 000050e3 04f09d04 04e09de4 1eff2fe1",
		 "=13+16 ra-4"},
		/* push {r4, lr}; sub sp, #8; mov lr, r0; str lr, [sp, #4]; bl; add sp; pop {r4, pc}: the stored lr is
		 * another value */
		{&arch_arm, 15, "10b5 82b0 8646 cdf804e0 fff7fcff 02b0 10bd", "=13+16 ra-4 4-8"},
		/* stmfd sp!, {r4-r6, lr}; bl; mov r0, #0; ldmfd sp!, {r4-r6, lr}; b */
		{&arch_arm, 8, "70402de9 edffffeb 0000a0e3 7040bde8 eaffffea", "=13+16 ra-4 4-16 5-12 6-8"},
		/* stp x29, x30, [sp, #-48]!; mov x29, sp; stp x19, x20, [sp, #16]; str x21, [sp, #32]; bl; cbz;
		 * ldr x21; ldp;
		 * ldp x29, x30, [sp], #48; ret */
		{&arch_aarch64, 20,
		 "fd7bbda9 fd030091 f35301a9 f51300f9 fcffff97 400000b4 f51340f9 f35341a9 fd7bc3a8 c0035fd6",
		 "=31+48 ra-40 19-32 20-24 29-48"},
		/* sub sp, #64; stp x29, x30, [sp, #32]; add x29, sp, #32; str x19, [sp, #48]; blr x3; ldr x19; ldp;
		 * add sp; b */
		{&arch_aarch64, 20, "ff0301d1 fd7b02a9 fd830091 f31b00f9 60003fd6 f31b40f9 fd7b42a9 ff030191 eeffff17",
		 "=31+64 ra-24 19-16 29-32"},
		/* paciasp; stp x29, x30, [sp, #-16]!; mov x29, sp; sub sp, sp, x1; bl; mov sp, x29; ldp; autiasp;
		 * ret */
		{&arch_aarch64, 20, "3f2303d5 fd7bbfa9 fd030091 ff6321cb e9ffff97 bf030091 fd7bc1a8 bf2303d5 c0035fd6",
		 "=29+16 ra-8 29-16"},
		/* stp x29, x30, [sp, #-16]!; bl; the next function: stp x29, x30, [sp, #-32]!; ldp; ret */
		{&arch_aarch64, 8, "fd7bbfa9 e3ffff97 fd7bbea9 fd7bc2a8 c0035fd6", "-"},
		/* stp x29, x30, [sp, #-16]!; stgp xzr, xzr, [sp, #-32]!; bl; st2g sp, [sp], #32; ldp x29, x30, [sp],
		 * #16; ret */
		{&arch_aarch64, 12, "fd7bbfa9 ff7fbf69 fcffff97 ff27a0d9 fd7bc1a8 c0035fd6", "=31+48 ra-8 29-16"},
		/* stp x29, x30, [sp, #-16]!; bl; ldp x29, x30, [sp]; stgp xzr, xzr, [sp], #16; ret */
		{&arch_aarch64, 8, "fd7bbfa9 fcffff97 fd7b40a9 ffff8068 c0035fd6", "=31+16 ra-8 29-16"},
		/* push rbp; mov rbp, rsp; push rbx; sub rsp, 24; call; mov [rbp-24], rax; add rsp, 24; pop rbx;
		 * pop rbp; ret */
		{x86_64, 14, "55 4889e5 53 4883ec18 e8f2ffffff 488945e8 4883c418 5b 5d c3", "=7+48 ra-8 3-24 6-16"},
		/* push r12; push rbx; sub rsp, 8; call [rax]; test; je; add rsp, 8; pop rbx; pop r12; ret; call; ud2 */
		{x86_64, 9, "4154 53 4883ec08 ff10 85c0 7408 4883c408 5b 415c c3 e8c6ffffff 0f0b",
		 "=7+32 ra-8 3-24 12-16"},
		/* push rbp; mov rbp, rsp; push r14; push rbx; sub rsp, rax; call; lea rsp, [rbp-16]; pop rbx;
		 * pop r14; pop rbp;
		 * ret */
		{x86_64, 15, "55 4889e5 4156 53 4829c4 e8b1ffffff 488d65f0 5b 415e 5d c3",
		 "=6+16 ra-8 3-32 6-16 14-24"},
		/* nop; mov rbp, rax; push r14; push rbx; sub rsp, rax; call; sub rsp, rax; pop rbx; pop r14; pop rbp;
		 * ret: sp is unknown */
		{x86_64, 15, "90 4889c5 4156 53 4829c4 e8b1ffffff 4829c4 5b 415e 5d c3 90", "-"},
		/* push rbp; mov rbp, rsp; sub rsp, 32; call; leave; ret 16 */
		{x86_64, 13, "55 4889e5 4883ec20 e893ffffff c9 c21000", "=6+32 ra-24 6-32"},
		/* lea rbp, [rsp-0x80000000]; call; leave; ret: no frame is that large */
		{x86_64, 13, "488dac2400000080 e893ffffff c9 c3", "-"},
		/* lea rbp, [rsp+0x7ffffff0]; call; leave; ret */
		{x86_64, 13, "488dac24f0ffff7f e893ffffff c9 c3", "-"},
		/* sub rsp, 8; call; nop; the next function: push rbx; mov rbx, rdi; pop rbx; ret */
		{x86_64, 9, "4883ec08 e877ffffff 0f1f8000000000 53 4889fb 5b c3", "-"},
		/* sub rsp, 24; call; add rsp, 24; jmp rax: a tail call. Without the add, jmp rax is the jump of a
		 * switch. */
		{x86_64, 9, "4883ec18 e857ffffff 4883c418 ffe0", "=7+32 ra-8"},
		{x86_64, 9, "4883ec18 e857ffffff ffe0", "-"},
		/* push ebp; mov ebp, esp; push ebx; sub esp, 20; sub esp, 12; push eax; call; add esp, 16;
		 * mov ebx, [ebp-4];
		 * leave; ret */
		{x86_32, 16, "55 89e5 53 83ec14 83ec0c 50 e8f0ffffff 83c410 8b5dfc c9 c3", "=5+8 ra-4 3-12 5-8"},
		/* endbr32; push esi; push ebx; sub esp, 20; call; add esp, 20; pop ebx; pop esi; ret 4 */
		{x86_32, 14, "f30f1efb 56 53 83ec14 e8d2ffffff 83c414 5b 5e c20400", "=4+36 ra-8 3-16 6-12"},
		/* endbr32; push ebx; sub esp, 8; nop; call; call; add esp, 8; pop ebx; ret: the first call returns to
		 * an aligned address, where a function could begin */
		{x86_32, 21, "f30f1efb 53 83ec08 909090 e8f0ffffff e8f0ffffff 83c408 5b c3", "=4+16 ra-4 3-8"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		check_rule(codes[i].arch, codes[i].pc, NULL, codes[i].hex, codes[i].rule);
}

/* Tests rules for instructions that a signal has interrupted, where sp may not be aligned as at calls. */
static void test_rules_of_interrupted_code_are_found(void **state)
{
	const struct arch *const x86_64 = arch_for_elf(EM_X86_64, ELFCLASS64), *const x86_32 =
										       arch_for_elf(EM_386, ELFCLASS32);
	const struct {
		const struct arch *arch;
		unsigned pc, sp; /* odd: Thumb */
		const char *hex, *rule;
	} codes[] = {
		/* push rbx; push rbp; mov eax, [rdi]; pop rbp; pop rbx; ret */
		{x86_64, 2, 8, "53 55 8b07 5d 5b c3", "=7+24 ra-8 3-16 6-24"},
		{x86_64, 5, 0, "53 55 8b07 5d 5b c3", "=7+16 ra-8 3-16"},
		{x86_64, 2, 0, "53 55 8b07 5d 5b c3", "-"}, /* after two pushes sp cannot have this alignment */
		/* sub rsp, 24; mov [rsp+8], rbx; mov rbx, rdi; mov rbx, [rsp+8]; add rsp, 24; ret: rbx is saved from pc
		 * 9 on */
		{x86_64, 4, 0, "4883ec18 48895c2408 4889fb 488b5c2408 4883c418 c3", "=7+32 ra-8"},
		{x86_64, 9, 0, "4883ec18 48895c2408 4889fb 488b5c2408 4883c418 c3", "=7+32 ra-8 3-24"},
		/* push rbx; push rbp; jmp rax: this may be the jump of a switch, or a tail call */
		{x86_64, 2, 8, "53 55 ffe0", "-"},
		/* mov eax, 62; syscall; test eax, eax; js; ret; call; ret: the path that returns without a call is
		 * certain */
		{x86_64, 7, 8, "b83e000000 0f05 85c0 7801 c3 e8f0ffffff c3", "=7+8 ra-8"},
		/* ret; nops; sub rsp, 8; syscall; call; add rsp, 8; ret: because of the call, a prologue before the pc
		 * must confirm the rule */
		{x86_64, 6, 0, "c3 909090909090909090909090909090 4883ec08 0f05 e8f0ffffff 4883c408 c3", "-"},
		{x86_64, 22, 0, "c3 909090909090909090909090909090 4883ec08 0f05 e8f0ffffff 4883c408 c3", "=7+16 ra-8"},
		/* mov eax, 60; syscall; the next function: ret. exit does not return; mov eax, 39 (getpid) does */
		{x86_64, 0, 8, "b83c000000 0f05 c3", "-"},
		{x86_64, 0, 8, "b827000000 0f05 c3", "=7+8 ra-8"},
		/* mov eax, N; call gs:[16] or int 0x80; the next function: ret. exit (1) does not return; getpid (20)
		 * does */
		{x86_32, 0, 12, "b801000000 65ff1510000000 c3", "-"},
		{x86_32, 0, 12, "b801000000 cd80 c3", "-"},
		{x86_32, 0, 12, "b814000000 cd80 c3", "=4+4 ra-4"},
		{x86_32, 0, 12, "b814000000 65ff1510000000 c3", "=4+4 ra-4"},
		/* call gs:[16]; xchg ebx, edx; mov [esp+4], eax; ret: at this call sp is not aligned as at others */
		{x86_32, 7, 12, "65ff1510000000 87d3 89442404 c3", "=4+4 ra-4"},
		/* push {r4, lr}; cbz; nop; bl; pop {r4, pc}, at the nop */
		{&arch_arm, 5, 0, "10b5 00b1 00bf fff7fcff 10bd", "=13+8 ra-4 4-8"},
		/* movs r7, #N; svc #0; bx lr, and the same in ARM state. exit (1) and rt_sigreturn (173) do not return;
		 * getpid (20) does */
		{&arch_arm, 1, 0, "0127 00df 7047", "-"},
		{&arch_arm, 1, 0, "1427 00df 7047", "=13+0 link"},
		{&arch_arm, 0, 0, "ad70a0e3 000000ef 1eff2fe1", "-"},
		{&arch_arm, 0, 0, "1470a0e3 000000ef 1eff2fe1", "=13+0 link"},
		/* mov x8, #N; svc #0; ret: exit (93) does not return; kill (129) does */
		{&arch_aarch64, 0, 0, "a80b80d2 010000d4 c0035fd6", "-"},
		{&arch_aarch64, 0, 0, "281080d2 010000d4 c0035fd6", "=31+0 link"},
		/* syscall; call; the next function: ret */
		{x86_64, 2, 0, "0f05 e8f0ffffff c3", "-"},
		/* push {r4, r5}; ldr r3, [r0]; pop {r4, r5}; bx lr */
		{&arch_arm, 3, 0, "30b4 0368 30bc 7047", "=13+8 link 4-8 5-4"},
		{&arch_arm, 1, 0, "30b4 0368 30bc 7047", "=13+0 link"},
		/* push {r4, r5}; bx r3: this may be the jump of a switch, or a tail call */
		{&arch_arm, 3, 0, "30b4 1847", "-"},
		/* mov ip, sp; stmdb.w sp!, {r4-r7}; svc #0; pop {r4-r7}; bx lr: musl's code for system calls that wait
		 */
		{&arch_arm, 9, 0, "ec46 2de9f000 00df f0bc 7047", "=13+16 link 4-16 5-12 6-8 7-4"},
		/* push {r4, lr}; sub sp, #24; bl; constants. The next function: mov r4, r1; push {r4, r7, lr}; sub sp,
		 * #28; mov r7, sp; bl; cbz; add r7, #28; mov sp, r7; pop {r4, r7, pc}; bl; constants that look like
		 * add sp, #64; pop {r4, pc}, which would agree with the first function's prologue */
		{&arch_arm, 13, 0,
		 "10b5 86b0 fff7fcff 00000000 0c46 90b5 87b0 6f46 fff7f0ff 10b1 1c37 bd46 90bd fff7ecff 0000 10b0 10bd",
		 "=13+0 link"},
		/* sub sp, #16; str r4, [sp, #4]; ldr r4, [r0]; ldr r4, [sp, #4]; add sp, #16; bx lr: r4 is saved from
		 * pc 5 on */
		{&arch_arm, 3, 0, "84b0 0194 0468 019c 04b0 7047", "=13+16 link"},
		{&arch_arm, 5, 0, "84b0 0194 0468 019c 04b0 7047", "=13+16 link 4-12"},
		/* sub sp, #16; it ne; strne r4, [sp, #4]; ldr r4, [r0]; ldr r4, [sp, #4]; add sp; bx lr: r4 is perhaps
		 * saved */
		{&arch_arm, 3, 0, "84b0 18bf 0194 0468 019c 04b0 7047", "=13+16 link"},
		/* mov x8, #129; svc #0; ret */
		{&arch_aarch64, 8, 0, "281080d2 010000d4 c0035fd6", "=31+0 link"},
		/* svc #0; bl; ret: the return address was saved before */
		{&arch_aarch64, 4, 0, "010000d4 fcffff97 c0035fd6", "-"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		check_rule(codes[i].arch, codes[i].pc, &codes[i].sp, codes[i].hex, codes[i].rule);
}

/* Tests that the search ends, whatever the bytes are. */
static void test_search_ends_in_random_code(void **state)
{
	const struct arch *arch;
	uint32_t seed = 1;

	for (unsigned round = 0; round < 3000; round++) {
		struct bytes bytes = {.size = sizeof(bytes.data)};
		const struct code_reader reader = {read_bytes, &bytes};
		struct code_rule rule;
		const unsigned which = round % 4;

		for (size_t i = 0; i < bytes.size; i++) {
			seed = seed * 1103515245 + 12345;
			bytes.data[i] = (unsigned char)(seed >> 16);
		}
		arch = which < 2 ? &arch_arm : which == 2 ? &arch_aarch64 : arch_native();
		code_rule_find(arch, PLACE + 256 + (which == 1), &reader, &rule);
		code_rule_find_interrupted(arch, PLACE + 256 + (which == 1), round, &reader, &rule);
	}
}

/* ---- Files with tables ---- */

struct file {
	Elf *elf, *symbols;
	Dwarf *dwarf;
	Dwarf_CFI *debug, *eh;
	const struct arch *arch;
	const char *image;
	size_t size;
	struct hash done, targets;
	struct mapping *mappings; /* mapping symbols of ARM's assemblers, sorted by address */
	size_t mapping_count;
	unsigned long exact, unknown, wrong, other, registers, registers_wrong;
	unsigned every; /* every Nth instruction is tested as if interrupted; 0: the code after calls is tested */
	unsigned long instructions;
};

static size_t read_object(void *context, uint64_t address, unsigned char *data, size_t size)
{
	const struct file *file = context;
	GElf_Phdr phdr;
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) ||
		    address < phdr.p_vaddr || address - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		const uint64_t left = phdr.p_filesz - (address - phdr.p_vaddr);

		if (size > left)
			size = left;
		memcpy(data, file->image + phdr.p_offset + (address - phdr.p_vaddr), size);
		return size;
	}
	return 0;
}

/* ---- Which bytes are code ---- */

/* A mapping symbol: the bytes up to the next one are constants, or code. */
struct mapping {
	uint64_t address;
	bool is_data;
};

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static void take_mapping(struct file *file, const GElf_Sym *symbol, const char *name)
{
	if (!name || name[0] != '$' || !name[1] || !strchr("adtx", name[1]) || (name[2] && name[2] != '.'))
		return;
	if (!(file->mapping_count & (file->mapping_count - 1))) {
		const size_t capacity = file->mapping_count ? 2 * file->mapping_count : 1;

		file->mappings = realloc(file->mappings, capacity * sizeof(*file->mappings));
		assert_non_null(file->mappings);
	}
	file->mappings[file->mapping_count++] = (struct mapping){symbol->st_value, name[1] == 'd'};
}

static bool is_constant(const struct file *file, uint64_t address)
{
	size_t low = 0, high = file->mapping_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (file->mappings[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && file->mappings[low - 1].is_data;
}

/* Returns true if the code begins with an instruction that compilers use as padding. */
static bool is_padding(const struct file *file, uint64_t address, const unsigned char *code, size_t size)
{
	static const struct {
		const struct arch *arch; /* NULL: x86's */
		unsigned state, size;
		unsigned char bytes[4];
	} padding[] = {
		{&arch_arm, 1, 2, {0x00, 0xbf}},
		{&arch_arm, 1, 4, {0xaf, 0xf3, 0x00, 0x80}},
		{&arch_arm, 0, 4, {0x00, 0xf0, 0x20, 0xe3}},
		{&arch_arm, 0, 4, {0x00, 0x00, 0xa0, 0xe1}},
		{&arch_aarch64, 0, 4, {0x1f, 0x20, 0x03, 0xd5}},
		{NULL, 0, 1, {0x90}},
		{NULL, 0, 2, {0x66, 0x90}},
		{NULL, 0, 2, {0x0f, 0x1f}},
		{NULL, 0, 3, {0x66, 0x0f, 0x1f}},
		{NULL, 0, 4, {0x66, 0x2e, 0x0f, 0x1f}},
		{NULL, 0, 2, {0x66, 0x66}},
		{NULL, 0, 3, {0x8d, 0x76, 0x00}},
		{NULL, 0, 4, {0x8d, 0x74, 0x26, 0x00}},
		{NULL, 0, 3, {0x8d, 0xb4, 0x26}},
		{NULL, 0, 3, {0x8d, 0xb6, 0x00}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(padding); i++)
		if ((padding[i].arch ? file->arch == padding[i].arch : !file->arch->dwarf.link) &&
		    (address & file->arch->code_state.bits) == padding[i].state && size >= padding[i].size &&
		    !memcmp(code, padding[i].bytes, padding[i].size))
			return true;
	return false;
}

/* ---- Comparing ---- */

static Dwarf_Frame *frame_at(const struct file *file, uint64_t address)
{
	Dwarf_Frame *frame = NULL;

	if ((file->debug && !dwarf_cfi_addrframe(file->debug, address, &frame)) ||
	    (file->eh && !dwarf_cfi_addrframe(file->eh, address, &frame)))
		return frame;
	return NULL;
}

#define SAME  INT64_MAX
#define OTHER (INT64_MAX - 1)

/* Returns the offset from the CFA at which the register is saved according to the tables; SAME if it is not saved,
 * OTHER if the tables say something else. */
static int64_t saved_at(Dwarf_Frame *frame, unsigned reg)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &count))
		return OTHER;
	if (!count)
		return SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return OTHER;
	return count == 2 ? (int64_t)ops[1].number : 0;
}

/* Returns true if the tables say only some instructions later that the register is at this offset from the CFA. Tables
 * of gcc for AArch64 do this if the prologue is mixed with other code. */
static bool is_in_later_rows(const struct file *file, uint64_t pc, unsigned reg, int64_t place)
{
	int64_t at = SAME;
	Dwarf_Addr start, end = arch_text_address(file->arch, pc);
	Dwarf_Frame *frame;
	bool signal;

	for (unsigned rows = 0; at == SAME && rows < LATER && (frame = frame_at(file, end)); rows++) {
		dwarf_frame_info(frame, &start, &end, &signal);
		at = saved_at(frame, reg);
		free(frame);
	}
	return at == place;
}

static void compare_registers(struct file *file, uint64_t pc, Dwarf_Frame *frame, const struct code_rule *rule,
			      int64_t cfa)
{
	for (unsigned i = 0; i < file->arch->dwarf.registers; i++) {
		const struct path_value value = rule->registers[i];
		const int64_t at = saved_at(frame, i);

		if (!(file->arch->dwarf.preserved >> i & 1) || value.kind == PATH_UNKNOWN || at == OTHER)
			continue;
		if (file->every && value.kind == PATH_REGISTER && at != SAME)
			continue; /* an epilogue has restored the register, but tables do not say this */
		if (value.kind == PATH_REGISTER ? at == SAME
		    : at == SAME                ? is_in_later_rows(file, pc, i, value.offset - cfa)
						: cfa + at == value.offset)
			file->registers++;
		else
			file->registers_wrong++;
	}
}

static bool is_offset_of(const Dwarf_Op *op, unsigned reg)
{
	return (op->atom == DW_OP_bregx ? op->number : (uint64_t)op->atom - DW_OP_breg0) == reg;
}

static int64_t offset_of(const Dwarf_Op *op)
{
	return (int64_t)(op->atom == DW_OP_bregx ? op->number2 : op->number);
}

/* Returns true if the rule and the table describe the same frame. On a processor without a link register, only the
 * place of the return address is compared, because a function that removes its arguments leaves sp above the CFA. */
static bool is_same_frame(const struct arch *arch, const struct code_rule *rule, int64_t cfa, int64_t ra)
{
	return ra != SAME && ra != OTHER && cfa + ra == rule->pc.offset && (cfa == rule->cfa || !arch->dwarf.link);
}

static void compare(struct file *file, uint64_t pc)
{
	const struct code_reader reader = {read_object, file};
	const uint64_t place = arch_text_address(file->arch, pc);
	Dwarf_Frame *frame = frame_at(file, place - 1);
	Dwarf_Addr start, end;
	struct code_rule rule;
	Dwarf_Op *ops;
	size_t count;
	bool signal;

	if (!frame)
		return;
	if (!code_rule_find(file->arch, pc, &reader, &rule)) {
		file->unknown++;
	} else if (!dwarf_frame_cfa(frame, &ops, &count) && count == 1 && is_offset_of(ops, rule.base)) {
		const int64_t cfa = offset_of(ops);
		const int64_t ra = saved_at(frame, (unsigned)dwarf_frame_info(frame, &start, &end, &signal));

		if (is_same_frame(file->arch, &rule, cfa, ra)) {
			file->exact++;
			compare_registers(file, pc, frame, &rule, cfa);
		} else {
			file->wrong++;
			printf("# 0x%llx: sp%+lld return address at %+lld, read as %+d and %+d\n",
			       (unsigned long long)place, (long long)cfa, (long long)(cfa + ra), rule.cfa,
			       rule.pc.offset);
		}
	} else {
		file->other++; /* the tables compute the CFA from another register, or by an expression */
	}
	free(frame);
}

/* Compares the rule for an instruction with the tables, as if a signal had interrupted the program there. The search
 * gets an sp with which the CFA is aligned. If the rule says that the return address is in its register, only the CFA
 * is compared, because after an epilogue has loaded the register, tables still name the place on the stack. */
static void compare_interrupted(struct file *file, uint64_t pc)
{
	const struct code_reader reader = {read_object, file};
	const struct arch *arch = file->arch;
	Dwarf_Frame *frame = frame_at(file, arch_text_address(arch, pc));
	Dwarf_Addr start, end;
	struct code_rule rule;
	Dwarf_Op *ops;
	size_t count;
	bool signal;

	if (!frame)
		return;
	if (dwarf_frame_cfa(frame, &ops, &count) || count != 1 || !is_offset_of(ops, arch->dwarf.sp)) {
		file->other++;
		free(frame);
		return;
	}
	const int64_t cfa = offset_of(ops);
	const unsigned link = (unsigned)dwarf_frame_info(frame, &start, &end, &signal);
	const int64_t ra = saved_at(frame, link);

	if (!code_rule_find_interrupted(arch, pc, PLACE - (uint64_t)cfa, &reader, &rule)) {
		file->unknown++;
	} else if (rule.base != arch->dwarf.sp) {
		file->other++;
	} else if (rule.pc.kind == PATH_REGISTER ? cfa == rule.cfa
		   : ra == SAME ? cfa == rule.cfa && is_in_later_rows(file, pc, link, rule.pc.offset - cfa)
				: is_same_frame(arch, &rule, cfa, ra)) {
		file->exact++;
		compare_registers(file, pc, frame, &rule, cfa);
	} else if (!signal && ra != OTHER) {
		file->wrong++;
		printf("# 0x%llx: interrupted, sp%+lld return address at %+lld, read as %+d and %+d\n",
		       (unsigned long long)arch_text_address(arch, pc), (long long)cfa,
		       ra == SAME ? -1 : (long long)(cfa + ra), rule.cfa,
		       rule.pc.kind == PATH_REGISTER ? -1 : rule.pc.offset);
	}
	free(frame);
}

/* Compares the rules after the calls of a function, or for every Nth instruction. `address` includes the bits of
 * code_state. */
static void compare_function(struct file *file, uint64_t address, uint64_t size)
{
	const struct arch *arch = file->arch;
	const uint64_t state = address & arch->code_state.bits, end = arch_text_address(arch, address) + size;
	const unsigned least = arch->code_state.bits ? 2 : arch->dwarf.link ? 4 : 1;

	bool is_live = true; /* true: the previous instruction or a jump leads here, so this is code and no padding */
	bool is_behind_call = false;

	for (uint64_t at = arch_text_address(arch, address); at < end;) {
		unsigned char code[ARCH_INSN_MAX];
		struct path_state path;
		struct path_step step;
		const size_t got = read_object(file, at, code, sizeof(code));

		path_begin(&path, arch, at | state, true);
		if (is_constant(file, at) || !got || !arch->code.follow(&path, code, got, &step)) {
			at += least;
			is_live = is_behind_call = false;
			continue;
		}
		const uint64_t next = arch_text_address(arch, path.address);
		const size_t length = next - at;
		/* After a call, register 2 is unknown, because no processor's functions preserve it. */
		const bool is_call = step.next == PATH_NEXT && path.registers[2].kind == PATH_UNKNOWN &&
				     arch->code.follows_call(path.address, code, length) != CALL_NONE;

		/* A call before padding does not return. */
		is_live = (is_live && !(is_behind_call && is_padding(file, at | state, code, got))) ||
			  hash_get(&file->targets, at | state);
		is_behind_call = is_call;
		if (is_live && file->every && file->instructions++ % file->every == 0)
			compare_interrupted(file, at | state);
		if (is_live && (step.next == PATH_JUMP || step.next == PATH_BRANCH))
			hash_set(&file->targets, step.target, 1);
		is_live = is_live && step.next != PATH_JUMP && step.next != PATH_RETURN && step.next != PATH_END;
		at = next;
		if (!file->every && is_call && hash_set(&file->done, path.address, 1))
			compare(file, path.address);
	}
}

/* Visits all symbols of functions, or all mapping symbols, which say where constants are. */
static void each_symbol(struct file *file, bool are_mappings)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Sym symbol;

	while ((section = elf_nextscn(file->symbols, section))) {
		if (!gelf_getshdr(section, &shdr) || (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM) ||
		    !shdr.sh_entsize)
			continue;
		for (size_t i = 0; i < shdr.sh_size / shdr.sh_entsize; i++)
			if (!gelf_getsym(elf_getdata(section, NULL), (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
				continue;
			else if (are_mappings)
				take_mapping(file, &symbol, elf_strptr(file->symbols, shdr.sh_link, symbol.st_name));
			else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
				compare_function(file, symbol.st_value, symbol.st_size);
	}
}

static void compare_functions(struct file *file)
{
	if (file->arch->dwarf.link)
		each_symbol(file, true);
	if (file->mapping_count)
		qsort(file->mappings, file->mapping_count, sizeof(*file->mappings), compare_mappings);
	each_symbol(file, false);
	free(file->mappings);
}

static bool compare_file(struct file *file, const char *path, const char *debug, unsigned every)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC), debug_fd = debug ? open(debug, O_RDONLY | O_CLOEXEC) : fd;
	GElf_Ehdr ehdr;

	*file = (struct file){.every = every};
	elf_version(EV_CURRENT);
	file->elf = elf_begin(fd, ELF_C_READ, NULL);
	file->symbols = debug ? elf_begin(debug_fd, ELF_C_READ, NULL) : file->elf;
	if (!file->elf || !file->symbols || !gelf_getehdr(file->elf, &ehdr))
		return false;
	file->image = elf_rawfile(file->elf, &file->size);
	file->dwarf = dwarf_begin(debug_fd, DWARF_C_READ);
	file->debug = file->dwarf ? dwarf_getcfi(file->dwarf) : NULL;
	file->eh = dwarf_getcfi_elf(file->elf);
	file->arch = ehdr.e_machine == EM_ARM ? &arch_arm
		     : ehdr.e_machine == EM_AARCH64
			     ? &arch_aarch64
			     : arch_for_elf(ehdr.e_machine, (unsigned char)gelf_getclass(file->elf));
	if (file->arch)
		compare_functions(file);
	hash_free(&file->done);
	hash_free(&file->targets);
	if (file->eh)
		dwarf_cfi_end(file->eh);
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (debug)
		elf_end(file->symbols);
	elf_end(file->elf);
	close(fd);
	if (debug)
		close(debug_fd);
	printf("# %s%s: %lu exact, %lu unknown, %lu wrong, %lu from another register; registers: %lu, %lu wrong\n",
	       path, every ? ", interrupted" : "", file->exact, file->unknown, file->wrong, file->other,
	       file->registers, file->registers_wrong);
	return file->arch;
}

static int take_library(struct dl_phdr_info *info, size_t size, void *paths)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.so") || strstr(info->dlpi_name, "/libdw"))
		snprintf(((char(*)[4096])paths)[strstr(info->dlpi_name, "/libdw") != NULL], 4096, "%s",
			 info->dlpi_name);
	return 0;
}

/* Compares the rules for the code of this machine's C library and libdw with the tables of these libraries. */
static void compare_libraries(unsigned every)
{
	static char paths[2][4096];
	unsigned long exact = 0;
	struct file file;

	dl_iterate_phdr(take_library, paths);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!*paths[i] || !compare_file(&file, paths[i], NULL, every))
			continue;
		assert_int_equal(file.wrong, 0);
		assert_int_equal(file.registers_wrong, 0);
		exact += file.exact;
	}
	if (!exact)
		skip(); /* ARM's libraries have an index, which is no table of this kind */
}

static void test_rules_agree_with_tables_after_calls(void **state)
{
	compare_libraries(0);
}

static void test_rules_agree_with_tables_at_interruptions(void **state)
{
	compare_libraries(EVERY);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_of_assembled_code_are_found),
		cmocka_unit_test(test_rules_of_interrupted_code_are_found),
		cmocka_unit_test(test_search_ends_in_random_code),
		cmocka_unit_test(test_rules_agree_with_tables_after_calls),
		cmocka_unit_test(test_rules_agree_with_tables_at_interruptions),
	};
	struct file file;

	if (argc > 1)
		return !compare_file(&file, argv[1], argc > 2 ? argv[2] : NULL,
				     argc > 3 ? (unsigned)atoi(argv[3]) : 0) ||
		       file.wrong;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
