/* The port for AArch64: registers, breakpoints, the ABI. Instructions are in aarch64_insn.c. Constants of the kernel's
 * interface are written as numbers, because tests compile this file for other processors, too.
 *
 * functrace writes code only through /proc/PID/mem and ptrace. The kernel then updates the instruction caches
 * (copy_to_user_page), so this port does not update them. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/aarch64/aarch64.h"

#include <elf.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/syscall.h>
#include <ucontext.h>
#endif

#include "base/util.h"

#define ADDRESS_BITS 52 /* the largest number of bits in a user address, on any machine */

#define CALL_CLONE     220
#define CALL_CLONE3    435
#define CALL_SIGACTION 134

#define HWCAP_GUARDED_STACKS (1ull << 32) /* HWCAP_GCS */
#define HWCAP2_MEMORY_TAGS   (1ull << 18) /* HWCAP2_MTE */
#define SEGMENT_MEMORY_TAGS  0x70000002u  /* PT_AARCH64_MEMTAG_MTE; kernels before 6.2 use another number */

#define SIGINFO_BRKPT 1 /* TRAP_BRKPT */

/* Offset of x0 in struct rt_sigframe, which is a siginfo_t followed by a ucontext. The last member of the ucontext, the
 * mcontext, begins with a fault address, and x0 is after it. */
#define FRAME_REGISTERS (128 + 176 + 8)

#ifdef __aarch64__
_Static_assert(offsetof(ucontext_t, uc_mcontext.regs) == FRAME_REGISTERS - 128, "the registers in a signal's frame");
_Static_assert(offsetof(ucontext_t, uc_mcontext.pc) == FRAME_REGISTERS - 128 + A64_PC * 8, "the pc there");
_Static_assert(SYS_clone == CALL_CLONE && SYS_clone3 == CALL_CLONE3 && SYS_rt_sigaction == CALL_SIGACTION,
	       "numbers of system calls");
#endif

static uint64_t aarch64_pc(const struct arch_regs *regs)
{
	return regs->words[A64_PC];
}

static uint64_t aarch64_sp(const struct arch_regs *regs)
{
	return regs->words[A64_SP];
}

static void aarch64_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->words[A64_SP] = sp;
}

static uint64_t aarch64_read_result(const struct arch_regs *regs)
{
	return regs->words[A64_X0];
}

/* The integer argument registers. The address of a struct that is returned in memory is in x8, which is not one of
 * them. */
static const unsigned char argument_words[] = {0, 1, 2, 3, 4, 5, 6, 7};

static bool aarch64_return_address(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->words[A64_LR];
	return true;
}

static uint64_t aarch64_return_sp(const struct arch_regs *regs)
{
	return regs->words[A64_SP];
}

static pid_t aarch64_created_tid(const struct arch_regs *regs)
{
	const uint64_t number = regs->words[A64_X8];
	const int64_t result = (int64_t)regs->words[A64_X0];
	const bool makes = number == CALL_CLONE || number == CALL_CLONE3;

	return makes && result > 0 && result <= INT_MAX ? (pid_t)result : 0;
}

/* Returns the offset of the first svc #0 in `code`, which begins at the start of an instruction; -1 if there is
 * none. */
static long aarch64_find_syscall(const unsigned char *code, size_t size)
{
	for (size_t i = 0; i + A64_INSN_SIZE <= size; i += A64_INSN_SIZE)
		if (a64_get(code + i) == A64_SVC_0)
			return (long)i;
	return -1;
}

static bool aarch64_at_syscall(const struct arch_regs *regs, const unsigned char *code, long *number)
{
	*number = (long)regs->words[A64_X8];
	return a64_get(code) == A64_SVC_0;
}

/* Returns the offset of the first code to which signal handlers return: mov x8, #139 (rt_sigreturn); svc #0. Returns -1
 * if there is none. The kernel's vdso, musl and Go contain such code. */
static long aarch64_find_restorer(const unsigned char *code, size_t size)
{
	return arch_find_restorer(EM_AARCH64, code, size, A64_INSN_SIZE);
}

static void aarch64_set_syscall(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args)
{
	for (unsigned i = 0; i < 6; i++)
		regs->words[A64_X0 + i] = args[i];
	regs->words[A64_X8] = number;
	a64_set_pc(regs, insn);
}

static int aarch64_signal_frame(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at)
{
	(void)memory;
	*pc_at = sp + FRAME_REGISTERS + (uint64_t)A64_PC * 8;
	*sp_at = sp + FRAME_REGISTERS + (uint64_t)A64_SP * 8;
	return 0;
}

static unsigned aarch64_breakpoint(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX])
{
	(void)address;
	a64_put(bytes, 0xd4200000); /* brk #0 */
	return A64_INSN_SIZE;
}

static uint64_t aarch64_breakpoint_address(uint64_t pc)
{
	return pc;
}

/* Returns the address of the function, or of its second instruction if the first is a bti. paciasp is a landing pad,
 * too, but is not skipped, because it signs the return address. */
static uint64_t aarch64_entry(uint64_t function, const unsigned char *code, size_t size)
{
	return size >= A64_INSN_SIZE && a64_is_bti(a64_get(code)) ? function + A64_INSN_SIZE : function;
}

static uint64_t aarch64_dwarf_get(const struct arch_regs *regs, unsigned dwarf_register)
{
	return dwarf_register <= A64_PC ? regs->words[dwarf_register] : 0;
}

/* Returns the number of bits in an address. The bits above them contain the signature of a return address. The kernel
 * chooses the number for all programs: 52 means that a signature is only in the bits above these 52, even in a program
 * with addresses of 48 bits. The number is found with xpaclri, which clears the bits of the signature in a word whose
 * bits 0 to 54 are set (bit 55 distinguishes user from kernel addresses). Without pointer authentication xpaclri is a
 * nop, and only a tag in the top byte must be removed. */
unsigned a64_address_bits(uint64_t of_ones)
{
	const unsigned bits = of_ones ? 64u - (unsigned)__builtin_clzll(of_ones) : ADDRESS_BITS;

	return bits < ADDRESS_BITS ? bits : ADDRESS_BITS;
}

static unsigned address_bits(void)
{
#ifdef __aarch64__
	static unsigned bits;

	if (!bits) {
		register uint64_t ones __asm__("x30") = ((uint64_t)1 << 55) - 1;

		__asm__("hint #7" : "+r"(ones)); /* xpaclri */
		bits = a64_address_bits(ones);
	}
	return bits;
#else
	return 48;
#endif
}

uint64_t a64_strip(uint64_t return_address, unsigned bits)
{
	return return_address & (((uint64_t)1 << bits) - 1);
}

static uint64_t aarch64_strip(uint64_t return_address)
{
	return a64_strip(return_address, address_bits());
}

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.pointer_size = 8,
	.big_endian = false,
	.constants = 4, /* ON_AARCH64 */
	.address_max = ((uint64_t)1 << ADDRESS_BITS) - 1,
	.abi = &abi_aarch64,
	.relocs.irelative = R_AARCH64_IRELATIVE,
	.relocs.jump_slot = R_AARCH64_JUMP_SLOT,
	.relocs.glob_dat = R_AARCH64_GLOB_DAT,
	.registers.size = A64_WORDS * 8,
	.registers.pc_offset = -1,
	.registers.pc = aarch64_pc,
	.registers.set_pc = a64_set_pc,
	.registers.sp = aarch64_sp,
	.registers.set_sp = aarch64_set_sp,
	.convention.result = aarch64_read_result,
	.convention.argument_words = argument_words,
	.convention.argument_registers = ARRAY_SIZE(argument_words),
	.convention.return_address = aarch64_return_address,
	.convention.return_sp = aarch64_return_sp,
	.syscalls.interrupted = aarch64_at_syscall,
	.syscalls.find = aarch64_find_syscall,
	.syscalls.set = aarch64_set_syscall,
	.syscalls.rt_sigaction = CALL_SIGACTION,
	.syscalls.created_tid = aarch64_created_tid,
	.syscalls.clone = {CALL_CLONE, CALL_CLONE3, CALL_CLONE3},
	.syscalls.heap = {214, 222, 215, 216, 233, 226, 167}, /* brk, mmap, munmap, mremap, madvise, mprotect, prctl */
	.syscalls.futex = {98},
	/* epoll_pwait, epoll_pwait2, semop, semtimedop, rt_sigtimedwait, io_getevents, io_pgetevents, accept,
	 * accept4, connect, recvfrom, recvmsg, recvmmsg, sendto, sendmsg, sendmmsg */
	.syscalls.eintr = {22, 441, 193, 192, 137, 4, 292, 202, 242, 203, 207, 212, 243, 206, 211, 269},
	.syscalls.resize = {214, 226, 233},
	.syscalls.exit = 93,
	.signal.find_restorer = aarch64_find_restorer,
	.signal.kernel_action =
		{.size = 32, .handler = 0, .flags = 8, .restorer = 16, .mask = 24, .word = 8, .flags_size = 8},
	.signal.libc_action = {.size = 140, .handler = 0, .mask = 8, .flags = 136, .word = 8, .flags_size = 4},
	.signal.frame_has_registers = true,
	.signal.frame = aarch64_signal_frame,
	.shadow_stack.hwcap = HWCAP_GUARDED_STACKS,
	.breakpoint.hit_code = SIGINFO_BRKPT,
	.breakpoint.encode = aarch64_breakpoint,
	.breakpoint.hit_address = aarch64_breakpoint_address,
	.breakpoint.entry = aarch64_entry,
	.breakpoint.is_constant = a64_is_constant,
	.insns.decode = a64_decode,
	.insns.relocate = a64_relocate,
	.insns.emulate = a64_emulate,
	.code.follows_call = a64_follows_call,
	.code.call_slot = a64_call_slot,
	.code.sets_sp = a64_sets_sp,
	.code.follow = a64_follow,
	.stack.alignment = 16,
	.unwind.strip = aarch64_strip,
	.dwarf.registers = A64_PC + 1,
	.dwarf.get = aarch64_dwarf_get,
	.dwarf.sp = A64_SP,
	.dwarf.pc = A64_PC,
	.dwarf.frames = 1u << 29 | 1u << A64_SP,
	.dwarf.preserved = 0x7ffu << 19, /* x19 to x29 */
	.dwarf.link = A64_LR,
	.tags.bits = 8,
	.tags.hwcap2 = HWCAP2_MEMORY_TAGS,
	.tags.core_segment = SEGMENT_MEMORY_TAGS,
	.core = {.thread_note = NT_ARM_TLS},
	.malloc = {.word = 8, .align = 16, .fastbins = 10, .heap_size = 64ull << 20},
	.tls = {.is_below_variables = true, .head = 16},
};
