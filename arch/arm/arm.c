/* The port for 32-bit ARM with Thumb: registers, breakpoints, the ABI (EABI). It is used by a 32-bit tracer, and by a
 * 64-bit tracer on an AArch64 machine. Instructions are in a32_decode.c, thumb_decode.c and arm_emulate.c.
 *
 * The processor has no single step, so instructions that can be neither copied nor emulated get no breakpoint.
 *
 * Breakpoints are at the starts of functions and at return addresses. Neither is inside an IT block, because a call is
 * always the last instruction of a block. So a Thumb breakpoint of two bytes can replace every instruction, and can be
 * written in one piece at any address; the second half of a longer instruction under it is never reached. An IT
 * instruction under a breakpoint is emulated. (If a symbol is wrong and a breakpoint inside a block is hit, the program
 * still runs correctly.) */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/arm/arm_insn.h"

#include <elf.h>
#include <limits.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "base/util.h"

/* PTRACE_GETREGS in a 32-bit kernel. A 64-bit kernel returns 64-bit registers for this request. */
#define REQUEST_GETREGS 12

/* Numbers of system calls. In a 64-bit build <sys/syscall.h> defines other numbers. */
enum { CALL_FORK = 2, CALL_CLONE = 120, CALL_RT_SIGACTION = 174, CALL_VFORK = 190, CALL_CLONE3 = 435 };

static uint64_t arm_pc(const struct arch_regs *regs)
{
	return regs->narrow[ARM_PC];
}

/* Sets the pc without changing the state (A32 or Thumb). */
static void arm_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->narrow[ARM_PC] = (uint32_t)pc;
}

static uint64_t arm_sp(const struct arch_regs *regs)
{
	return regs->narrow[ARM_SP];
}

static void arm_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->narrow[ARM_SP] = (uint32_t)sp;
}

static uint64_t arm_state(const struct arch_regs *regs)
{
	return regs->narrow[ARM_CPSR] & CPSR_THUMB ? 1 : 0;
}

static bool arm_is_in_block(const struct arch_regs *regs)
{
	return regs->narrow[ARM_CPSR] & CPSR_IT && regs->narrow[ARM_CPSR] & CPSR_THUMB;
}

static bool arm_frame_state(uint64_t word, uint64_t *state)
{
	*state = word & CPSR_THUMB ? 1 : 0;
	return !*state || !(word & CPSR_IT);
}

static uint64_t arm_read_result(const struct arch_regs *regs)
{
	return regs->narrow[ARM_R0];
}

static const unsigned char argument_words[] = {0, 1, 2, 3};

static bool arm_return_address(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->narrow[ARM_LR];
	return true;
}

static uint64_t arm_return_sp(const struct arch_regs *regs)
{
	return regs->narrow[ARM_SP];
}

static pid_t arm_created_tid(const struct arch_regs *regs)
{
	const uint32_t number = regs->narrow[ARM_R7], result = regs->narrow[ARM_R0];
	const bool makes = number == CALL_FORK || number == CALL_VFORK || number == CALL_CLONE || number == CALL_CLONE3;

	return makes && result && result <= INT_MAX ? (pid_t)result : 0;
}

/* Searches for movs r7, #n; svc 0 in Thumb, and for mov r7, #n; svc 0 in A32. Returns the offset of the svc, with the
 * code's state in bit 0, as in addresses. */
static long arm_find_syscall(const unsigned char *code, size_t size)
{
	for (size_t at = 0; at + 8 <= size; at += 2) {
		if (arm_half_at(code + at) >> 8 == 0x27 && arm_half_at(code + at + 2) == 0xdf00)
			return (long)at + 2 + 1;
		if (!(at & 3) && (arm_word_at(code + at) & 0xfffff000) == 0xe3a07000 &&
		    arm_word_at(code + at + 4) == 0xef000000)
			return (long)at + 4;
	}
	return -1;
}

static bool arm_at_syscall(const struct arch_regs *regs, const unsigned char *code, long *number)
{
	*number = (long)regs->narrow[7];
	return regs->narrow[ARM_CPSR] & CPSR_THUMB ? arm_half_at(code) == 0xdf00 : arm_word_at(code) == 0xef000000;
}

static long arm_find_restorer(const unsigned char *code, size_t size)
{
	return arch_find_restorer(EM_ARM, code, size, 2);
}

/* A signal frame consists of a siginfo (missing if the handler does not use it) and a ucontext: flags, link, stack,
 * then the trap's number, its error code and the mask, then r0 to r15. */
#define SIGINFO_SIZE  128
#define CONTEXT_R0    32
#define CONTEXT_MAGIC 0x5ac3c35au /* value of the flags in a frame without siginfo */

static int arm_signal_frame(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at)
{
	unsigned char first[4];
	const int error = memory->read(memory->context, sp, first, sizeof(first));

	if (error)
		return error;
	const uint64_t context = arm_word_at(first) == CONTEXT_MAGIC ? sp : sp + SIGINFO_SIZE;

	*pc_at = context + CONTEXT_R0 + 4 * ARM_PC;
	*sp_at = context + CONTEXT_R0 + 4 * ARM_SP;
	return 0;
}

static void arm_set_syscall(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args)
{
	const uint32_t cpsr = regs->narrow[ARM_CPSR] & ~(CPSR_IT | CPSR_THUMB);

	for (unsigned i = 0; i < 6; i++)
		regs->narrow[i] = (uint32_t)args[i];
	regs->narrow[ARM_R7] = (uint32_t)number;
	regs->narrow[ARM_ORIG_R0] = UINT32_MAX; /* so that the kernel restarts no system call */
	regs->narrow[ARM_PC] = (uint32_t)insn & ~1u;
	regs->narrow[ARM_CPSR] = insn & 1 ? cpsr | CPSR_THUMB : cpsr;
}

/* Sets the bytes of a breakpoint, which is an undefined instruction for which the kernel raises SIGTRAP. */
static unsigned arm_breakpoint(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX])
{
	static const unsigned char a32[] = {0xf0, 0x01, 0xf0, 0xe7}, thumb[] = {0x01, 0xde};

	if (address & 1) {
		memcpy(bytes, thumb, sizeof(thumb));
		return sizeof(thumb);
	}
	memcpy(bytes, a32, sizeof(a32));
	return sizeof(a32);
}

static uint64_t arm_breakpoint_address(uint64_t pc)
{
	return pc;
}

static uint64_t arm_entry(uint64_t function, const unsigned char *code, size_t size)
{
	(void)code, (void)size;
	return function;
}

/* Returns false. Only in prologues do compilers set sp to a value other than sp plus a constant, and the unwind rules
 * of ARM are valid only after the prologue. */
static bool arm_sets_sp(const unsigned char *code, size_t size, bool *ever)
{
	(void)code, (void)size;
	*ever = false;
	return false;
}

static uint64_t arm_dwarf_get(const struct arch_regs *regs, unsigned dwarf_register)
{
	return dwarf_register <= ARM_PC ? regs->narrow[dwarf_register] : 0;
}

#define IS_32_BIT (sizeof(long) == 4)

const struct arch arch_arm = {
	.name = "armv7l",
	.elf_machine = EM_ARM,
	.elf_class = ELFCLASS32,
	.pointer_size = 4,
	.big_endian = false,
	.constants = 8, /* ON_ARM */
	.address_max = 0xffffefff,
	.abi = &abi_arm,
	.relocs.irelative = R_ARM_IRELATIVE,
	.relocs.jump_slot = R_ARM_JUMP_SLOT,
	.relocs.glob_dat = R_ARM_GLOB_DAT,
	.registers.size = ARM_WORDS * 4,
	/* For 32-bit tasks of a 64-bit tracer, the kernel supports neither PTRACE_GETREGS nor PTRACE_POKEUSER. A tracer
	 * on a 32-bit kernel could write the pc alone. It writes all registers nevertheless, so that a jump through
	 * the PLT, which changes ip and the state, can be emulated, too. */
	.registers.getregs = IS_32_BIT ? REQUEST_GETREGS : 0,
	.registers.pc_offset = -1,
	.registers.pc = arm_pc,
	.registers.set_pc = arm_set_pc,
	.registers.sp = arm_sp,
	.registers.set_sp = arm_set_sp,
	.convention.result = arm_read_result,
	.convention.argument_words = argument_words,
	.convention.argument_registers = ARRAY_SIZE(argument_words),
	.convention.argument_stack = 0,
	.convention.return_address = arm_return_address,
	.convention.return_sp = arm_return_sp,
	/* NULL, because the kernel handles the call's result before the task stops. If the tracer set the pc back to
	 * the call, a signal that arrives after that would no longer make the call fail with EINTR. */
	.syscalls.restart = NULL,
	.syscalls.has_timeout = NULL,
	.syscalls.interrupted = arm_at_syscall,
	.syscalls.find = arm_find_syscall,
	.syscalls.set = arm_set_syscall,
	.syscalls.rt_sigaction = CALL_RT_SIGACTION,
	.syscalls.created_tid = arm_created_tid,
	.syscalls.clone = {CALL_VFORK, CALL_CLONE, CALL_CLONE3},
	.syscalls.heap = {45, 192, 91, 163, 220, 125, 172}, /* brk, mmap2, munmap, mremap, madvise, mprotect, prctl */
	.syscalls.futex = {240, 422},
	/* epoll_wait, epoll_pwait, epoll_pwait2, semop, semtimedop (both widths of time), rt_sigtimedwait (both),
	 * io_getevents, io_pgetevents (both), accept, accept4, connect, recv, recvfrom, recvmsg,
	 * recvmmsg (both), sendto, sendmsg, sendmmsg */
	.syscalls.eintr = {252, 346, 441, 298, 312, 420, 177, 421, 245, 399, 416,
			   285, 366, 283, 291, 292, 297, 365, 417, 290, 296, 374},
	.syscalls.resize = {45, 125, 220},
	.syscalls.exit = 1,
	.signal.find_restorer = arm_find_restorer,
	.signal.kernel_action =
		{.size = 20, .handler = 0, .flags = 4, .restorer = 8, .mask = 12, .word = 4, .flags_size = 4},
	.signal.libc_action = {.size = 136, .handler = 0, .mask = 4, .flags = 132, .word = 4, .flags_size = 4},
	.signal.action_flags = 0, /* no restorer is set: the kernel has one for each kind of frame */
	.signal.frame = arm_signal_frame,
	.signal.frame_has_registers = true,
	.signal.frame_state = arm_frame_state,
	.code_state.bits = 1,
	.code_state.get = arm_state,
	.code_state.is_in_block = arm_is_in_block,
	.breakpoint.hit_code = TRAP_BRKPT,
	.breakpoint.encode = arm_breakpoint,
	.breakpoint.hit_address = arm_breakpoint_address,
	.breakpoint.entry = arm_entry,
	.breakpoint.is_constant = arm_is_constant,
	.insns.cannot_step = true,
	.insns.decode = arm_decode,
	.insns.relocate = arm_relocate,
	.insns.emulate = arm_emulate,
	.code.follows_call = arm_follows_call,
	.code.call_slot = arm_call_slot,
	.code.sets_sp = arm_sets_sp,
	.code.follow = arm_follow,
	.stack.alignment = 8,
	.unwind.index_segment = PT_ARM_EXIDX,
	.dwarf.registers = 16,
	.dwarf.get = arm_dwarf_get,
	.dwarf.sp = ARM_SP,
	.dwarf.pc = ARM_PC,
	.dwarf.frames = 1u << 7 | 1u << 11 | 1u << ARM_SP,
	.dwarf.preserved = 0xffu << 4, /* r4 to r11 */
	.dwarf.link = ARM_LR,
	.core = {.thread_note = NT_ARM_TLS},
	.malloc = {.word = 4, .align = 8, .fastbins = 10, .heap_size = 1ull << 20},
	.tls = {.is_below_variables = true, .head = 8},
};
