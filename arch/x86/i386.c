/* The port for i386, whose programs also run on x86-64: registers and the ABI. Instructions are in x86_insn.c. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/x86/x86_arithmetic.h"
#include "arch/x86/x86_insn.h"

#include <asm/unistd_32.h> /* the numbers of i386 in any build; no other header with such numbers may be included */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "base/util.h"

static uint64_t i386_pc(const struct arch_regs *regs)
{
	return regs->narrow[I386_EIP];
}

static void i386_set_pc(struct arch_regs *regs, uint64_t pc)
{
	regs->narrow[I386_EIP] = (uint32_t)pc;
}

static uint64_t i386_sp(const struct arch_regs *regs)
{
	return regs->narrow[I386_ESP];
}

static void i386_set_sp(struct arch_regs *regs, uint64_t sp)
{
	regs->narrow[I386_ESP] = (uint32_t)sp;
}

static bool i386_other_mode(const struct arch_regs *regs)
{
	return x86_segment_is_64(regs->narrow[I386_CS]);
}

static uint64_t i386_read_result(const struct arch_regs *regs)
{
	return regs->narrow[I386_EAX];
}

static bool i386_return_address(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->narrow[I386_ESP];
	return false;
}

static uint64_t i386_return_sp(const struct arch_regs *regs)
{
	return regs->narrow[I386_ESP] + 4u;
}

/* ---- System calls ---- */

/* Calls that return EINTR when the tracer interrupts them; see x86_64.c. i386 has semop only as a subcall of ipc, and
 * accept only as a subcall of socketcall. The other subcalls, too, return EINTR only if they can be made again. */
static const unsigned short eintr_calls[] = {
	__NR_epoll_wait,
	__NR_epoll_pwait,
	__NR_rt_sigtimedwait,
	__NR_ipc,
	__NR_socketcall,
	__NR_io_getevents,
	__NR_accept4,
	__NR_connect,
	__NR_read,
	__NR_readv,
	__NR_recvfrom,
	__NR_recvmsg,
	__NR_recvmmsg,
	__NR_write,
	__NR_writev,
	__NR_sendto,
	__NR_sendmsg,
	__NR_sendmmsg,
	__NR_fallocate,
#ifdef __NR_epoll_pwait2
	__NR_epoll_pwait2,
#endif
#ifdef __NR_io_pgetevents
	__NR_io_pgetevents,
#endif
#ifdef __NR_io_uring_enter
	__NR_io_uring_enter,
#endif
#ifdef __NR_rt_sigtimedwait_time64
	__NR_rt_sigtimedwait_time64,
	__NR_semtimedop_time64,
	__NR_recvmmsg_time64,
	__NR_io_pgetevents_time64,
#endif
};

#define ERESTARTNOHAND 514

/* Does what x86_64_restart_syscall() does in x86_64.c, which gives the reasons. */
static bool i386_restart_syscall(struct arch_regs *regs)
{
	if (regs->narrow[I386_EAX] != (uint32_t)-EINTR)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(eintr_calls); i++)
		if (eintr_calls[i] == regs->narrow[I386_ORIG_EAX]) {
			regs->narrow[I386_EAX] = (uint32_t)-ERESTARTNOHAND;
			return true;
		}
	return false;
}

static bool i386_has_timeout(const struct arch_regs *regs)
{
	switch (regs->narrow[I386_ORIG_EAX]) {
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
		return regs->narrow[I386_EAX] == (uint32_t)-EINTR && (int32_t)regs->narrow[I386_ESI] > 0;
#ifdef __NR_epoll_pwait2
	case __NR_epoll_pwait2:
		return regs->narrow[I386_EAX] == (uint32_t)-EINTR && regs->narrow[I386_ESI];
#endif
	default:
		return false;
	}
}

#ifndef __NR_clone3
#define __NR_clone3 435
#endif

static pid_t i386_created_tid(const struct arch_regs *regs)
{
	const uint32_t number = regs->narrow[I386_ORIG_EAX], result = regs->narrow[I386_EAX];
	const bool makes = number == __NR_fork || number == __NR_vfork || number == __NR_clone || number == __NR_clone3;

	return makes && result <= INT_MAX ? (pid_t)result : 0;
}

/* A pattern of bytes that occurs only in code with a system call, and the offset of the call's instruction in it. */
struct i386_pattern {
	unsigned char size, offset;
	unsigned char bytes[8];
};

static long find_pattern(const struct i386_pattern *patterns, size_t count, const unsigned char *code, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		const unsigned char *found = memmem(code, size, patterns[i].bytes, patterns[i].size);

		if (found)
			return found - code + patterns[i].offset;
	}
	return -1;
}

static long i386_find_syscall(const unsigned char *code, size_t size)
{
	static const struct i386_pattern patterns[] = {
		{3, 0, {0xcd, 0x80, 0xc3}},                   /* int $0x80; ret */
		{6, 0, {0xcd, 0x80, 0x5d, 0x5a, 0x59, 0xc3}}, /* in the vdso, after sysenter, followed by pops */
		{7, 5, {0xb8, 0x77, 0, 0, 0, 0xcd, 0x80}},    /* in a restorer */
	};

	return find_pattern(patterns, ARRAY_SIZE(patterns), code, size);
}

/* Finds a restorer. This is needed only for unwinding, because a restorer's address may be on a stack. A signal action
 * on i386 needs no restorer if the kernel has a vdso: glibc then sets none, and the kernel does not use musl's. */
static long i386_find_restorer(const unsigned char *code, size_t size)
{
	return arch_find_restorer(EM_386, code, size, 1);
}

static void i386_set_syscall(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args)
{
	static const unsigned char words[] = {I386_EBX, I386_ECX, I386_EDX, I386_ESI, I386_EDI, I386_EBP};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		regs->narrow[words[i]] = (uint32_t)args[i];
	regs->narrow[I386_EAX] = (uint32_t)number;
	regs->narrow[I386_ORIG_EAX] = UINT32_MAX; /* so that the kernel restarts no system call */
	regs->narrow[I386_EIP] = (uint32_t)insn;
}

/* Finds the interrupted pc and sp, which are in a sigcontext. A struct sigframe of the kernel contains the return
 * address, the signal and the sigcontext. If the handler uses a siginfo_t, the frame is a struct rt_sigframe: the
 * return address, the signal, a pointer to the siginfo_t, a pointer to the ucontext, and these two structs. The
 * ucontext contains the sigcontext. The word at INFO_AT distinguishes the frames: in a struct sigframe it is gs, and a
 * selector is never the address of the siginfo_t. */
static int i386_signal_frame(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at)
{
	enum { INFO_AT = 8, INFO = 16, CONTEXT = INFO + 128 + 20, OLD_CONTEXT = 8, SP = 4 * 7, PC = 4 * 14 };
	uint32_t info;
	const int error = memory->read(memory->context, sp + INFO_AT, &info, sizeof(info));

	if (error)
		return error;
	const uint64_t context = sp + (info == sp + INFO ? CONTEXT : OLD_CONTEXT);

	*pc_at = context + PC;
	*sp_at = context + SP;
	return 0;
}

/* Recognises the words {cs, eflags, esp, ss} in the frame of a handler without siginfo_t by the values of cs and ss,
 * which differ between a 64-bit kernel and a 32-bit one. */
static bool i386_frame_stack(const uint64_t words[4], uint64_t *sp)
{
	*sp = words[2];
	return (words[0] == 0x23 && words[3] == 0x2b) || (words[0] == 0x73 && words[3] == 0x7b);
}

/* In a sigcontext, edi, esi, ebp, esp, ebx, edx, ecx, eax are words 4 to 11, and eip is word 14. */
static const signed char i386_frame_registers[] = {11 - 14, 10 - 14, 9 - 14, 8 - 14, 7 - 14, 6 - 14, 5 - 14, 4 - 14, 0};

/* ---- Instructions ---- */

static uint64_t i386_entry(uint64_t function, const unsigned char *code, size_t size)
{
	return function + x86_landing_pad(code, size, false);
}

static bool i386_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn)
{
	return x86_decode(&x86_mode_32, address, code, size, shadow_stack, insn);
}

static int i386_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	return x86_relocate(&x86_mode_32, insn, slot, copy);
}

/* The registers that an instruction can change, with their indexes in the two layouts. */
static const struct {
	unsigned char narrow, wide;
} places[] = {
	{I386_EAX, X86_RAX}, {I386_ECX, X86_RCX}, {I386_EDX, X86_RDX}, {I386_EBX, X86_RBX}, {I386_ESP, X86_RSP},
	{I386_EBP, X86_RBP}, {I386_ESI, X86_RSI}, {I386_EDI, X86_RDI}, {I386_EIP, X86_RIP}, {I386_EFLAGS, X86_EFLAGS},
};

static int i386_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem)
{
	struct arch_regs wide = {.words = {0}};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		wide.words[places[i].wide] = regs->narrow[places[i].narrow];
	const int error = x86_emulate(&x86_mode_32, insn, &wide, mem);

	for (size_t i = 0; i < ARRAY_SIZE(places) && !error; i++)
		regs->narrow[places[i].narrow] = (uint32_t)wide.words[places[i].wide];
	return error;
}

static bool i386_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot)
{
	return x86_call_slot(&x86_mode_32, return_address, got, code, slot);
}

static bool i386_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step)
{
	return x86_follow(&x86_mode_32, state, code, size, step);
}

static bool i386_sets_sp(const unsigned char *code, size_t size, bool *ever)
{
	return x86_sets_sp(&x86_mode_32, code, size, ever);
}

/* Returns a register by its DWARF number (System V ABI, table 2.14; 8 is the return address); 0 for an unknown
 * number. */
static uint64_t i386_dwarf_get(const struct arch_regs *regs, unsigned dwarf_register)
{
	static const unsigned char words[] = {I386_EAX, I386_ECX, I386_EDX, I386_EBX, I386_ESP,
					      I386_EBP, I386_ESI, I386_EDI, I386_EIP};

	return dwarf_register < ARRAY_SIZE(words) ? regs->narrow[words[dwarf_register]] : 0;
}

const struct arch arch_i386 = {
	.name = "i386",
	.elf_machine = EM_386,
	.elf_class = ELFCLASS32,
	.pointer_size = 4,
	.big_endian = false,
	.constants = 2, /* ON_I386 */
	.address_max = UINT32_MAX,
	.abi = &abi_i386,
	.relocs.irelative = R_386_IRELATIVE,
	.relocs.jump_slot = R_386_JMP_SLOT,
	.relocs.glob_dat = R_386_GLOB_DAT,
	.registers.size = I386_WORDS * 4,
/* The values of these members depend on the width of the tracer itself: for PTRACE_GETREGS and PTRACE_POKEUSER of a
 * 64-bit tracer, the registers of every task have the 64-bit layout. */
#ifdef __i386__
	.registers.getregs = PTRACE_GETREGS,
	.registers.pc_offset = offsetof(struct user, regs.eip),
#else
	.registers.pc_offset = offsetof(struct user, regs.rip),
#endif
	.registers.pc = i386_pc,
	.registers.set_pc = i386_set_pc,
	.registers.sp = i386_sp,
	.registers.set_sp = i386_set_sp,
	.registers.other_mode = i386_other_mode,
	.convention.result = i386_read_result,
	.convention.argument_stack = 4, /* above the return address */
	.convention.return_address = i386_return_address,
	.convention.return_pops = 4,
	.convention.return_sp = i386_return_sp,
	.syscalls.restart = i386_restart_syscall,
	.syscalls.has_timeout = i386_has_timeout,
	.syscalls.find = i386_find_syscall,
	.syscalls.set = i386_set_syscall,
	.syscalls.rt_sigaction = __NR_rt_sigaction,
	.syscalls.created_tid = i386_created_tid,
	.syscalls.clone = {__NR_vfork, __NR_clone, __NR_clone3},
	.syscalls.heap = {__NR_brk, __NR_mmap, __NR_mmap2, __NR_munmap, __NR_mremap, __NR_madvise, __NR_mprotect,
			  __NR_prctl},
	.syscalls.futex = {__NR_futex, __NR_futex_time64},
	.syscalls.resize = {__NR_brk, __NR_mprotect, __NR_madvise},
	.syscalls.exit = __NR_exit,
	.signal.find_restorer = i386_find_restorer,
	.signal.kernel_action =
		{.size = 20, .handler = 0, .flags = 4, .restorer = 8, .mask = 12, .word = 4, .flags_size = 4},
	.signal.libc_action = {.size = 136, .handler = 0, .mask = 4, .flags = 132, .word = 4, .flags_size = 4},
	.signal.frame = i386_signal_frame,
	.signal.frame_stack = i386_frame_stack,
	.signal.frame_registers = i386_frame_registers,
	.signal.frame_return_size = 4,
	.shadow_stack.line = "x86_Thread_features",
	.shadow_stack.word = "shstk",
	.breakpoint.hit_code = SI_KERNEL,
	.breakpoint.encode = x86_breakpoint,
	.breakpoint.hit_address = x86_breakpoint_address,
	.breakpoint.entry = i386_entry,
	.insns.decode = i386_decode,
	.insns.relocate = i386_relocate,
	.insns.emulate = i386_emulate,
	.code.follows_call = i386_follows_call,
	.code.call_slot = i386_call_slot,
	.code.sets_sp = i386_sets_sp,
	.code.follow = i386_follow,
	.code.may_begin = x86_may_begin,
	.code.pc_thunk = "__x86.get_pc_thunk.",
	.stack.alignment = 16,
	.stack.pushes_arguments = true,
	.unwind.libunwind_numbers = true,
	.dwarf.registers = 9,
	.dwarf.get = i386_dwarf_get,
	.dwarf.sp = 4,
	.dwarf.frame = 5, /* ebp */
	.dwarf.pc = 8,
	.dwarf.frames = 1u << 4 | 1u << 5,
	.dwarf.preserved = 1u << 3 | 7u << 5,                                    /* ebx, ebp, esi, edi */
	.core = {.thread_note = NT_386_TLS, .thread_entry = 16, .thread_at = 4}, /* struct user_desc: base_addr */
	.malloc = {.word = 4, .align = 16, .fastbins = 11, .heap_size = 1ull << 20},
	.tls = {.dtv_word = 1, .has_self = true},
};
