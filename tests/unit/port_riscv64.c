/* An example port, for 64-bit RISC-V: it has the registers, the thread pointer and malloc's layout, and no
 * instructions, so that no function can be traced. No build of functrace contains it. */
#include "config.h"
#include "port_riscv64.h"
#include "arch/abi.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>

static uint64_t riscv64_pc(const struct arch_regs *regs)
{
	return regs->words[RISCV_PC];
}

static void riscv64_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->words[RISCV_PC] = pc;
}

static uint64_t riscv64_sp(const struct arch_regs *regs)
{
	return regs->words[RISCV_SP];
}

static void riscv64_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->words[RISCV_SP] = sp;
}

static uint64_t riscv64_result(const struct arch_regs *regs)
{
	return regs->words[RISCV_A0];
}

static bool riscv64_return_address(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->words[RISCV_RA];
	return true;
}

static uint64_t riscv64_dwarf_get(const struct arch_regs *regs, unsigned dwarf_register)
{
	return dwarf_register && dwarf_register < RISCV_WORDS ? regs->words[dwarf_register] : 0;
}

/* ---- Unsupported functions ---- */

static long riscv64_find_syscall(const unsigned char *code, size_t size)
{
	(void)code, (void)size;
	return -1;
}

static void riscv64_set_syscall(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args)
{
	(void)regs, (void)insn, (void)number, (void)args;
}

static int riscv64_signal_frame(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at)
{
	(void)sp, (void)memory, (void)pc_at, (void)sp_at;
	return -ENOSYS;
}

static unsigned riscv64_breakpoint(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX])
{
	(void)address;
	bytes[0] = 0x02, bytes[1] = 0x90; /* c.ebreak */
	return 2;
}

static uint64_t riscv64_breakpoint_address(uint64_t pc)
{
	return pc;
}

static uint64_t riscv64_entry(uint64_t function, const unsigned char *code, size_t size)
{
	(void)code, (void)size;
	return function;
}

static enum arch_call riscv64_follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	(void)address, (void)code, (void)size;
	return CALL_NONE;
}

static bool riscv64_sets_sp(const unsigned char *code, size_t size, bool *ever)
{
	(void)code, (void)size;
	*ever = true;
	return true;
}

static bool riscv64_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step)
{
	(void)state, (void)code, (void)size, (void)step;
	return false;
}

static bool riscv64_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack,
			   struct insn *insn)
{
	(void)address, (void)code, (void)size, (void)shadow_stack, (void)insn;
	return false;
}

static int riscv64_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	(void)insn, (void)slot, (void)copy;
	return -ENOSYS;
}

static int riscv64_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem)
{
	(void)insn, (void)regs, (void)mem;
	return -ENOSYS;
}

/* ---- Arguments ---- */

static void riscv64_arguments(const struct abi_function *function, struct abi_place *places)
{
	for (size_t i = 0; i < function->count; i++)
		places[i].is_known = false;
}

static void riscv64_result_place(const struct abi_function *function, struct abi_place *place)
{
	(void)function;
	place->is_known = false;
}

static uint64_t riscv64_argument(const struct arch_regs *regs, unsigned index)
{
	return index < 8 ? regs->words[RISCV_A0 + index] : 0;
}

static unsigned riscv64_argument_dwarf(unsigned index)
{
	return index < 8 ? RISCV_A0 + index : UINT32_MAX;
}

static int riscv64_float_at(unsigned dwarf_register)
{
	return dwarf_register >= 32 && dwarf_register < 64 ? 8 * ((int)dwarf_register - 32) : -1;
}

static bool riscv64_thread_pointer(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->words[RISCV_TP];
	return *value != 0;
}

static bool riscv64_thread_field(const unsigned char *code, size_t size, uint64_t state, int64_t *offset)
{
	(void)code, (void)size, (void)state, (void)offset;
	return false;
}

static const struct arch_abi abi_riscv64 = {
	.floats_set = NT_PRFPREG,
	.arguments = riscv64_arguments,
	.result = riscv64_result_place,
	.argument_register = riscv64_argument,
	.result_register = riscv64_argument,
	.argument_dwarf = riscv64_argument_dwarf,
	.float_at = riscv64_float_at,
	.thread_pointer = riscv64_thread_pointer,
	.reloc_tpoff = R_RISCV_TLS_TPREL64,
	.thread_field = riscv64_thread_field,
};

const struct arch arch_riscv64 = {
	.name = "riscv64",
	.elf_machine = EM_RISCV,
	.elf_class = ELFCLASS64,
	.pointer_size = 8,
	.address_max = ((uint64_t)1 << 56) - 1,
	.abi = &abi_riscv64,
	.relocs.irelative = R_RISCV_IRELATIVE,
	.relocs.jump_slot = R_RISCV_JUMP_SLOT,
	.relocs.glob_dat = R_RISCV_64,
	.registers.size = RISCV_WORDS * 8,
	.registers.pc_offset = -1,
	.registers.pc = riscv64_pc,
	.registers.set_pc = riscv64_set_pc,
	.registers.sp = riscv64_sp,
	.registers.set_sp = riscv64_set_sp,
	.convention.result = riscv64_result,
	.convention.return_address = riscv64_return_address,
	.convention.return_sp = riscv64_sp,
	.syscalls.find = riscv64_find_syscall,
	.syscalls.set = riscv64_set_syscall,
	.signal.frame = riscv64_signal_frame,
	.breakpoint.hit_code = TRAP_BRKPT,
	.breakpoint.encode = riscv64_breakpoint,
	.breakpoint.hit_address = riscv64_breakpoint_address,
	.breakpoint.entry = riscv64_entry,
	.insns.cannot_step = true,
	.insns.decode = riscv64_decode,
	.insns.relocate = riscv64_relocate,
	.insns.emulate = riscv64_emulate,
	.code.follows_call = riscv64_follows_call,
	.code.sets_sp = riscv64_sets_sp,
	.code.follow = riscv64_follow,
	.stack.alignment = 16,
	.dwarf.registers = RISCV_WORDS,
	.dwarf.get = riscv64_dwarf_get,
	.dwarf.sp = RISCV_SP,
	.dwarf.pc = RISCV_RA,
	.dwarf.link = RISCV_RA,
	.malloc = {.word = 8, .align = 16, .fastbins = 10, .heap_size = 64ull << 20},
	.tls = {.is_below_variables = true, .dtv_word = -2},
};
