/* Declarations that the ports of x86 share: modes, and the handling of instructions. */
#ifndef FT_ARCH_X86_X86_INSN_H
#define FT_ARCH_X86_X86_INSN_H

#include <Zydis/Zydis.h>

#include "arch/arch.h"
#include "arch/x86/x86_registers.h"

/* Whether a code segment is a 64-bit one. The kernel has one such segment (__USER_CS; under Xen PV it is Xen's), and
 * programs cannot make others (write_ldt()). */
static inline bool x86_segment_is_64(uint64_t cs)
{
	return cs == 0x33 || cs == 0xe033;
}

/* The highest user address if page tables have five levels. */
#define X86_64_ADDRESS_MAX 0x00ffffffffffefffu

extern const struct arch arch_x86_64, arch_i386;

/* The width of the code. */
struct x86_mode {
	ZydisMachineMode machine;
	ZydisStackWidth stack;
	unsigned bits;        /* width of registers, addresses and return addresses */
	uint64_t address_max; /* the highest user address on all processors; addresses wrap around at `bits` */
	ZydisRegister sp;
	bool has_bases; /* the register set contains the bases of fs and gs */
};

extern const struct x86_mode x86_mode_64, x86_mode_32;

/* The index in arch_regs.words of each general register, by the processor's numbers. */
extern const unsigned char x86_register_words[16];

/* The contracts are those of the functions of struct arch with these names. Registers are laid out as x86-64's, with
 * zeros above `bits`. */
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

#endif
