/* Declarations that the ports for x86 share: modes, and the handling of instructions. */
#ifndef FT_ARCH_X86_X86_INSN_H
#define FT_ARCH_X86_X86_INSN_H

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "arch/x86/x86_registers.h"

/* Returns true if a code segment is a 64-bit one. The kernel has one such segment (__USER_CS; Xen's own under Xen
 * PV), and programs cannot create others (write_ldt()). */
static inline bool x86_segment_is_64(uint64_t cs)
{
	return cs == 0x33 || cs == 0xe033;
}

/* The highest user address with five levels of page tables. */
#define X86_64_ADDRESS_MAX 0x00ffffffffffefffu

extern const struct arch arch_x86_64, arch_i386;

/* A mode in which code runs: 32 bits or 64 bits. */
struct x86_mode {
	ZydisMachineMode machine;
	ZydisStackWidth stack;
	unsigned bits;        /* width of registers, addresses and return addresses in bits */
	uint64_t address_max; /* the highest user address that all processors accept; addresses wrap around at `bits` */
	ZydisRegister sp;
	bool has_bases; /* true if the register set contains the bases of fs and gs */
};

extern const struct x86_mode x86_mode_64, x86_mode_32;

/* The index in arch_regs.words of each general register, in the order of the processor's numbers. */
extern const unsigned char x86_register_words[16];

/* For the contracts see the functions with these names in struct arch. Registers have x86-64's layout, with zeros
 * above `bits`. */
bool x86_decode(const struct x86_mode *mode, uint64_t address, const unsigned char *code, size_t size,
		bool shadow_stack, struct insn *insn);
bool x86_call_slot(const struct x86_mode *mode, uint64_t return_address, uint64_t got, const struct arch_memory *code,
		   uint64_t *slot);
bool x86_sets_sp(const struct x86_mode *mode, const unsigned char *code, size_t size, bool *ever);
bool x86_follow(const struct x86_mode *mode, struct path_state *state, const unsigned char *code, size_t size,
		struct path_step *step);
bool x86_may_begin(uint64_t address, const unsigned char *code, size_t size);
bool x86_64_may_begin(uint64_t address, const unsigned char *code, size_t size);
int x86_relocate(const struct x86_mode *mode, const struct insn *insn, uint64_t slot, struct insn_copy *copy);
int x86_emulate(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		const struct arch_memory *mem);
enum arch_call x86_follows_call(uint64_t address, const unsigned char *code, size_t size);
enum arch_call i386_follows_call(uint64_t address, const unsigned char *code, size_t size);
unsigned x86_breakpoint(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX]);
uint64_t x86_breakpoint_address(uint64_t pc);

/* struct arch's uprobe.site: x86_uprobe.c. */
bool x86_64_uprobe_site(const unsigned char *code, size_t size, unsigned arguments, size_t *offset);
/* struct arch's uprobe.can_step: x86_uprobe.c. */
bool x86_64_uprobe_can_step(const unsigned char *code, size_t size);
/* struct arch's uprobe.leave_trampoline: x86_uprobe.c. */
void x86_64_leave_trampoline(struct arch_regs *regs, uint64_t trampoline, bool was_called,
			     const uint64_t top[ARCH_TRAMPOLINE_WORDS]);

#endif
