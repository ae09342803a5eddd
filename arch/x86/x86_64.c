/* The port for x86-64: registers and the ABI. Instructions are in x86_insn.c. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/x86/x86_insn.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/util.h"

static uint64_t x86_64_pc(const struct arch_regs *regs)
{
	return regs->words[X86_RIP];
}

static void x86_64_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->words[X86_RIP] = pc;
}

static uint64_t x86_64_sp(const struct arch_regs *regs)
{
	return regs->words[X86_RSP];
}

static void x86_64_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->words[X86_RSP] = sp;
}

static uint64_t x86_64_read_result(const struct arch_regs *regs)
{
	return regs->words[X86_RAX];
}

static bool x86_64_other_mode(const struct arch_regs *regs)
{
	return !x86_segment_is_64(regs->words[X86_CS]);
}

static const unsigned char argument_words[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};
static const unsigned char uprobe_words[] = {X86_RIP, X86_RSP, X86_RBP, X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15};

static bool x86_64_return_address(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->words[X86_RSP];
	return false;
}

static uint64_t x86_64_return_sp(const struct arch_regs *regs)
{
	return regs->words[X86_RSP] + 8;
}

/* Calls that return EINTR if a signal is pending or the tracer interrupts them, even if no handler runs. All other
 * calls return one of the ERESTART codes, which the kernel handles itself. Source: signal(7), "Interruption of
 * system calls and library functions by stop signals", and the kernel: fs/eventpoll.c, ipc/sem.c, kernel/signal.c,
 * fs/aio.c, io_uring/, mm/shmem.c, and sock_intr_errno() for sockets with SO_RCVTIMEO or SO_SNDTIMEO (through read
 * and write, too).
 * A call that returns EINTR has transferred and changed nothing, so it can be made again. Its timeout then starts
 * again. */
static const unsigned short eintr_calls[] = {
	SYS_epoll_wait,      SYS_epoll_pwait,
#ifdef SYS_epoll_pwait2
	SYS_epoll_pwait2,
#endif
	SYS_rt_sigtimedwait, SYS_semop,       SYS_semtimedop, SYS_io_getevents,
#ifdef SYS_io_pgetevents
	SYS_io_pgetevents,
#endif
#ifdef SYS_io_uring_enter
	SYS_io_uring_enter,
#endif
	SYS_accept,          SYS_accept4,     SYS_connect,    SYS_read,         SYS_readv,
	SYS_recvfrom,        SYS_recvmsg,     SYS_recvmmsg,   SYS_write,        SYS_writev,
	SYS_sendto,          SYS_sendmsg,     SYS_sendmmsg,   SYS_fallocate,
};

/* An error code inside the kernel, which no user header defines. If a system call has this result, the kernel makes the
 * call again, unless a handler runs; then the call returns EINTR. */
#define ERESTARTNOHAND 514

/* Changes the call's result to ERESTARTNOHAND, but not the pc. If the pc were set back to the `syscall` here, and a
 * signal arrived before the task continues, its handler would return to the call, which would not return EINTR:
 *
 *   tracer: pc - 2 | SIGUSR1 arrives | the handler sets a flag | epoll_wait sleeps for ever */
static bool x86_64_restart_syscall(struct arch_regs *regs)
{
	if (regs->words[X86_RAX] != (uint64_t)-EINTR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(eintr_calls); i++)
		if (eintr_calls[i] == regs->words[X86_ORIG_RAX]) {
			regs->words[X86_RAX] = (uint64_t)-ERESTARTNOHAND;
			return true;
		}
	return false; /* also false if the task is in no system call, because orig_rax is -1 then */
}

static bool x86_64_has_timeout(const struct arch_regs *regs)
{
	switch (regs->words[X86_ORIG_RAX]) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return regs->words[X86_RAX] == (uint64_t)-EINTR && (int32_t)regs->words[X86_R10] > 0;
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
		return regs->words[X86_RAX] == (uint64_t)-EINTR && regs->words[X86_R10];
#endif
	default:
		return false;
	}
}

static bool x86_64_core_syscall(const struct arch_regs *regs, long *number)
{
	*number = (long)regs->words[X86_ORIG_RAX];
	return (int64_t)regs->words[X86_ORIG_RAX] >= 0;
}

static pid_t x86_64_created_tid(const struct arch_regs *regs)
{
	const uint64_t number = regs->words[X86_ORIG_RAX];
	const int64_t result = (int64_t)regs->words[X86_RAX];
	const bool makes = number == SYS_fork || number == SYS_vfork || number == SYS_clone || number == SYS_clone3;

	return makes && result > 0 && result <= INT_MAX ? (pid_t)result : 0;
}

static long x86_64_find_syscall(const unsigned char *code, size_t size)
{
	/* syscall; ret, as in the stubs of glibc and musl. With the ret, the bytes are not part of another
	 * instruction. */
	static const unsigned char stub[] = {0x0f, 0x05, 0xc3};
	const unsigned char *found = memmem(code, size, stub, sizeof(stub));

	return found ? found - code : -1;
}

static long x86_64_find_restorer(const unsigned char *code, size_t size)
{
	return arch_find_restorer(EM_X86_64, code, size, 1);
}

static void x86_64_set_syscall(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args)
{
	static const unsigned char words[] = {X86_RDI, X86_RSI, X86_RDX, X86_R10, X86_R8, X86_R9};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		regs->words[words[i]] = args[i];
	regs->words[X86_RAX] = number;
	regs->words[X86_ORIG_RAX] = UINT64_MAX; /* so that the kernel restarts no system call */
	regs->words[X86_RIP] = insn;
}

/* Finds the pc and sp in a struct rt_sigframe, which contains the return address, then a ucontext. */
static int x86_64_signal_frame(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at)
{
	(void)memory;
	*pc_at = sp + 8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]);
	*sp_at = sp + 8 + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]);
	return 0;
}

#define FROM_PC(greg) ((greg)-REG_RIP)
static const signed char x86_64_frame_registers[] = {
	FROM_PC(REG_RAX), FROM_PC(REG_RDX), FROM_PC(REG_RCX), FROM_PC(REG_RBX), FROM_PC(REG_RSI), FROM_PC(REG_RDI),
	FROM_PC(REG_RBP), FROM_PC(REG_RSP), FROM_PC(REG_R8),  FROM_PC(REG_R9),  FROM_PC(REG_R10), FROM_PC(REG_R11),
	FROM_PC(REG_R12), FROM_PC(REG_R13), FROM_PC(REG_R14), FROM_PC(REG_R15), FROM_PC(REG_RIP),
};

static uint64_t x86_64_entry(uint64_t function, const unsigned char *code, size_t size)
{
	return function + x86_landing_pad(code, size, true);
}

/* Returns a register by its DWARF number (System V ABI, figure 3.36; 16 is the return address); 0 for an unknown
 * number. */
static uint64_t x86_64_dwarf_get(const struct arch_regs *regs, unsigned dwarf_register)
{
	static const unsigned char words[] = {
		X86_RAX, X86_RDX, X86_RCX, X86_RBX, X86_RSI, X86_RDI, X86_RBP, X86_RSP, X86_R8,
		X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15, X86_RIP,
	};

	return dwarf_register < ARRAY_SIZE(words) ? regs->words[words[dwarf_register]] : 0;
}

static bool x86_64_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack,
			  struct insn *insn)
{
	return x86_decode(&x86_mode_64, address, code, size, shadow_stack, insn);
}

static int x86_64_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	return x86_relocate(&x86_mode_64, insn, slot, copy);
}

static int x86_64_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem)
{
	return x86_emulate(&x86_mode_64, insn, regs, mem);
}

static bool x86_64_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot)
{
	return x86_call_slot(&x86_mode_64, return_address, got, code, slot);
}

static bool x86_64_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step)
{
	return x86_follow(&x86_mode_64, state, code, size, step);
}

static bool x86_64_sets_sp(const unsigned char *code, size_t size, bool *ever)
{
	return x86_sets_sp(&x86_mode_64, code, size, ever);
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.pointer_size = 8,
	.big_endian = false,
	.constants = 1, /* ON_X86_64 */
	.address_max = X86_64_ADDRESS_MAX,
	.abi = &abi_x86_64,
	.relocs.irelative = R_X86_64_IRELATIVE,
	.relocs.jump_slot = R_X86_64_JUMP_SLOT,
	.relocs.glob_dat = R_X86_64_GLOB_DAT,
	.registers.size = X86_64_WORDS * 8,
	.registers.getregs = PTRACE_GETREGS,
	.registers.pc_offset = X86_RIP * 8,
	.registers.pc = x86_64_pc,
	.registers.set_pc = x86_64_set_pc,
	.registers.sp = x86_64_sp,
	.registers.set_sp = x86_64_set_sp,
	.registers.other_mode = x86_64_other_mode,
	.convention.result = x86_64_read_result,
	.convention.argument_words = argument_words,
	.convention.argument_registers = ARRAY_SIZE(argument_words),
	.convention.argument_stack = 8, /* above the return address */
	.convention.return_address = x86_64_return_address,
	.convention.return_sp = x86_64_return_sp,
	.syscalls.restart = x86_64_restart_syscall,
	.syscalls.has_timeout = x86_64_has_timeout,
	.syscalls.find = x86_64_find_syscall,
	.syscalls.set = x86_64_set_syscall,
	.syscalls.rt_sigaction = SYS_rt_sigaction,
	.syscalls.created_tid = x86_64_created_tid,
	.syscalls.clone = {SYS_vfork, SYS_clone, SYS_clone3},
	.syscalls.heap = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect, SYS_prctl},
	.syscalls.futex = {SYS_futex},
	.syscalls.resize = {SYS_brk, SYS_mprotect, SYS_madvise},
	.syscalls.exit = SYS_exit,
	.signal.find_restorer = x86_64_find_restorer,
	.signal.kernel_action =
		{.size = 32, .handler = 0, .flags = 8, .restorer = 16, .mask = 24, .word = 8, .flags_size = 8},
	.signal.libc_action = {.size = 140, .handler = 0, .mask = 8, .flags = 136, .word = 8, .flags_size = 4},
	.signal.action_flags = 0x04000000, /* SA_RESTORER */
	.signal.frame = x86_64_signal_frame,
	.signal.frame_registers = x86_64_frame_registers,
	.signal.frame_return_size = 8,
	.shadow_stack.line = "x86_Thread_features",
	.shadow_stack.word = "shstk",
	.breakpoint.hit_code = SI_KERNEL,
	.breakpoint.second = 0xf1, /* int1 */
	.breakpoint.second_code = TRAP_BRKPT,
	.breakpoint.encode = x86_breakpoint,
	.breakpoint.hit_address = x86_breakpoint_address,
	.breakpoint.entry = x86_64_entry,
	.insns.decode = x86_64_decode,
	.insns.relocate = x86_64_relocate,
	.insns.emulate = x86_64_emulate,
	.code.follows_call = x86_follows_call,
	.code.call_slot = x86_64_call_slot,
	.code.sets_sp = x86_64_sets_sp,
	.code.follow = x86_64_follow,
	.code.may_begin = x86_64_may_begin,
	.code.pc_thunk = "__x86.get_pc_thunk.",
	.stack.alignment = 16,
	.stack.red_zone = 128,
	.dwarf.registers = 17,
	.dwarf.get = x86_64_dwarf_get,
	.dwarf.sp = 7,
	.dwarf.frame = 6, /* rbp */
	.dwarf.pc = 16,
	.dwarf.frames = 1u << 6 | 1u << 7,
	.dwarf.preserved = 1u << 3 | 1u << 6 | 0xfu << 12, /* rbx, rbp, r12 to r15 */
	.core = {.in_syscall = x86_64_core_syscall},
	.uprobe = {.site = x86_64_uprobe_site,
		   .can_step = x86_64_uprobe_can_step,
		   .leave_trampoline = x86_64_leave_trampoline,
		   .words = uprobe_words,
		   .result_word = X86_RAX},
	.malloc = {.word = 8,
		   .align = 16,
		   .fastbins = 10,
		   .heap_size = 64ull << 20,
		   .has_known_jemalloc = true,
		   .has_known_mimalloc = true},
	.tls = {.dtv_word = 1, .has_self = true},
};
