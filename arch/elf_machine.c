/* Properties of ELF machines that do not depend on the ports of this build. They are in a file of their own, so that
 * programs that only read traces do not link the ports. */
#include "config.h"
#include "arch/arch.h"

#include <elf.h>

uint64_t arch_code_address(uint16_t elf_machine, uint64_t value)
{
	/* The lowest bit is set in symbols of Thumb functions, and in return addresses in Thumb code. */
	return elf_machine == EM_ARM ? value & ~(uint64_t)1 : value;
}

/* Returns true only for 32-bit ARM, if the flag of the hard-float ABI is not set ("ELF for the Arm Architecture"
 * 5.2.1). */
bool arch_is_soft_float(uint16_t elf_machine, uint32_t elf_flags)
{
	return elf_machine == EM_ARM && !(elf_flags & EF_ARM_ABI_FLOAT_HARD);
}

/* A pattern of bytes. The bits of `any` are ignored. */
struct code_address_pattern {
	uint16_t machine;
	unsigned char size;
	unsigned char bytes[12], any[12];
};

bool arch_is_restorer(uint16_t elf_machine, const unsigned char *code, size_t size)
{
	static const struct code_address_pattern patterns[] = {
		/* mov $15 (rt_sigreturn), %rax or %eax; syscall */
		{EM_X86_64, 9, {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}, {0}},
		{EM_X86_64, 7, {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05}, {0}},
		/* mov $173 (rt_sigreturn), %eax; int $0x80. pop %eax; mov $119 (sigreturn), %eax; int $0x80 */
		{EM_386, 7, {0xb8, 0xad, 0, 0, 0, 0xcd, 0x80}, {0}},
		{EM_386, 8, {0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}, {0}},
		/* mov x8, #139 (rt_sigreturn); svc #0 */
		{EM_AARCH64, 8, {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}, {0}},
		/* In Thumb: movs r7, #173 or #119; svc 0. The same with mov.w, as in musl. Then in A32, where svc
		 * itself may also contain the number plus 0x900000, as in the old ABI. */
		{EM_ARM, 4, {0xad, 0x27, 0, 0xdf}, {0}},
		{EM_ARM, 4, {0x77, 0x27, 0, 0xdf}, {0}},
		{EM_ARM, 6, {0x4f, 0xf0, 0xad, 0x07, 0, 0xdf}, {0}},
		{EM_ARM, 6, {0x4f, 0xf0, 0x77, 0x07, 0, 0xdf}, {0}},
		{EM_ARM, 8, {0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}, {0, 0, 0, 0, 0xff, 0, 0x90, 0}},
		{EM_ARM, 8, {0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef}, {0, 0, 0, 0, 0xff, 0, 0x90, 0}},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct code_address_pattern *pattern = &patterns[i];
		size_t at = 0;

		if (pattern->machine != elf_machine || size < pattern->size)
			continue;
		while (at < pattern->size && (code[at] & ~pattern->any[at]) == pattern->bytes[at])
			at++;
		if (at == pattern->size)
			return true;
	}
	return false;
}

long arch_find_restorer(uint16_t elf_machine, const unsigned char *code, size_t size, size_t step)
{
	for (size_t at = 0; at < size; at += step)
		if (arch_is_restorer(elf_machine, code + at, size - at))
			return (long)at;
	return -1;
}
