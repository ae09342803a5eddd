/* The interface of a port: one table, struct arch, describes everything that differs between processors.
 *
 * A port defines a struct arch, in one file or a few, and is listed in arch/local.mk, configure.ac and
 * tests/unit/arch.mk. Code outside arch/ names no register and no instruction, and does not check for which
 * processor it was compiled. The table for a process is selected by its program's ELF machine and class, so a 32-bit
 * process has its own table under a 64-bit tracer. Addresses and register values are 64 bits wide everywhere. */
#ifndef FT_ARCH_ARCH_H
#define FT_ARCH_ARCH_H

#include "arch/arch_code.h"
#include "arch/arch_insns.h"
#include "arch/arch_layouts.h"
#include "arch/arch_memory.h"
#include "arch/arch_registers.h"
#include "arch/arch_signal.h"
#include "arch/arch_stack.h"
#include "arch/arch_syscalls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What functrace needs to know about probes in the kernel (src/uprobe). */
#define ARCH_TRAMPOLINE_WORDS 3

struct arch_uprobe {
	/* Finds the first instruction of a function that the kernel emulates under a probe, and up to which the first
	 * `arguments` arguments, sp and the flow of control are unchanged. `code`: the function, of `size` bytes.
	 * Returns false if there is none. NULL: this processor has no probes in the kernel. */
	bool (*site)(const unsigned char *code, size_t size, unsigned arguments, size_t *offset);
	/* Returns true if the kernel can probe the function's first instruction, although it does not emulate it: it
	 * executes it out of line, which takes some ten times as long. */
	bool (*can_step)(const unsigned char *code, size_t size);
	/* To be called when the kernel raises a signal in its trampoline. Gives the registers, except pc, the values
	 * that they have when the function returns. was_called: the trampoline's system call was made. top: the words
	 * at sp. */
	void (*leave_trampoline)(struct arch_regs *regs, uint64_t trampoline, bool was_called,
				 const uint64_t top[ARCH_TRAMPOLINE_WORDS]);
	/* Indexes, in struct arch_regs, of the registers in a struct uprobe_copy, and of the result. */
	const unsigned char *words;
	unsigned char result_word;
};

struct arch_abi; /* arch/abi.h */

struct arch {
	const char *name; /* name of the processor, as `uname -m` prints it, and as traces contain it */
	uint16_t elf_machine;
	unsigned char elf_class; /* ELFCLASS32 or ELFCLASS64 */
	unsigned char pointer_size;
	bool big_endian;
	/* The processor's bit in enum processor of modules/module.h, which selects the values of kernel constants
	 * that differ between processors. 0: only constants that are the same on all processors get names. */
	unsigned char constants;
	uint64_t address_max; /* the highest user address */

	/* The locations of arguments and results of all types, and of a thread's variables. */
	const struct arch_abi *abi;

	struct arch_relocs relocs;
	struct arch_registers registers;
	struct arch_convention convention;
	struct arch_syscalls syscalls;
	struct arch_signal signal;
	struct arch_shadow_stack shadow_stack;
	struct arch_code_state code_state;
	struct arch_breakpoint breakpoint;
	struct arch_insns insns;
	struct arch_code code;
	struct arch_stack stack;
	struct arch_unwind unwind;
	struct arch_dwarf dwarf;
	struct arch_tags tags;
	struct arch_core core;
	struct arch_malloc malloc;
	struct arch_tls tls;
	struct arch_uprobe uprobe;
};

/* Finds the instruction of a function that gets the kernel's probe: as uprobe.site does, else the first one, if the
 * kernel can probe it. */
bool arch_uprobe_place(const struct arch *arch, const unsigned char *code, size_t size, unsigned arguments,
		       size_t *offset);

/* Returns the address of code without the bits for the code's state. */
static inline uint64_t arch_text_address(const struct arch *arch, uint64_t code)
{
	return code & ~arch->code_state.bits;
}

/* Returns the address in a data pointer, without the tag that the pointer may contain. */
static inline uint64_t arch_data_address(const struct arch *arch, uint64_t pointer)
{
	return pointer & UINT64_MAX >> arch->tags.bits;
}

/* Returns a register by its index in struct arch_regs. */
static inline uint64_t arch_register(const struct arch *arch, const struct arch_regs *regs, unsigned word)
{
	return arch->pointer_size == sizeof(uint32_t) ? regs->narrow[word] : regs->words[word];
}

/* Finds the call before a return address, as follows_call does. If not all of the ARCH_CALL_BYTES before it can be
 * read, because the call is at the start of a mapping, uses only those in the same page. Uses only read() of `code`.
 * Returns 0, or the -errno of read() with *call unchanged. */
int arch_call_before(const struct arch *arch, uint64_t return_address, const struct arch_memory *code,
		     enum arch_call *call);

/* Returns the pointer that these bytes of the target's memory contain. */
static inline uint64_t arch_pointer(const struct arch *arch, const void *bytes)
{
	uint64_t wide;
	uint32_t narrow;

	if (arch->pointer_size == sizeof(narrow)) {
		memcpy(&narrow, bytes, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, bytes, sizeof(wide));
	return wide;
}

/* Returns the address of code from an address in an ELF file or on a stack, without the bits for the processor's state
 * (ARM's Thumb bit). Works for any ELF machine, because traces are also read on machines with other processors. */
uint64_t arch_code_address(uint16_t elf_machine, uint64_t value);
/* Returns true if functions in an ELF file with these header flags get floating point arguments in integer
 * registers, although the processor has floating point registers. Works for any ELF machine. */
bool arch_is_soft_float(uint16_t elf_machine, uint32_t elf_flags);
/* Returns true if the code begins like code to which signal handlers return. Works for any ELF machine. */
bool arch_is_restorer(uint16_t elf_machine, const unsigned char *code, size_t size);
/* Returns the offset of the first code to which signal handlers return; -1 if there is none. Searches at each multiple
 * of `step` bytes. */
long arch_find_restorer(uint16_t elf_machine, const unsigned char *code, size_t size, size_t step);

/* Returns a port of this build by its index, from 0 on, or NULL after the last one. The first port is arch_native(). */
const struct arch *arch_known(size_t i);
/* Return the port for a register set of this size, the port for an ELF machine and class, and the port for the
 * processor for which this build was compiled; NULL if this build lacks the port. */
const struct arch *arch_for_regset(size_t size);
const struct arch *arch_for_elf(uint16_t machine, unsigned char elf_class);
const struct arch *arch_native(void);

#endif
