/* The contract of a processor: all that differs between machines, as one table.
 *
 * A port fills a struct arch, in one file or a few, and is named in arch/local.mk, configure.ac and
 * tests/unit/arch.mk. Nothing outside arch/ names a register or an instruction, or asks which processor it was compiled
 * for. The table for a process is chosen by its program's ELF machine and class, so a 32-bit process under a 64-bit
 * tracer has its own. Addresses and register values are 64 bits wide everywhere.
 */
#ifndef FT_ARCH_ARCH_H
#define FT_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* A register set as PTRACE_GETREGSET(NT_PRSTATUS) fills it: in words, or in narrow ones where registers have 32 bits.
 */
struct arch_regs {
	union {
		uint64_t words[36];
		uint32_t narrow[72];
	};
};

#define ARCH_INSN_MAX       16 /* bytes of the longest instruction, rounded up */
#define ARCH_SLOT_SIZE      32 /* bytes of one slot of out-of-line code */
#define ARCH_BREAKPOINT_MAX 4
#define ARCH_LITERAL_MAX    16

enum insn_kind {
	INSN_COPY,    /* can run out of line, relocated */
	INSN_EMULATE, /* the tracer does it: jumps, calls, nops */
	INSN_STEP,    /* only in place, single-stepped with all tasks stopped; not at all where cannot_step */
};

/* One decoded instruction under (or to be under) a breakpoint. `detail` is the port's own. */
struct insn {
	enum insn_kind kind;
	unsigned char length; /* 0: the decoder does not know it, and kind is INSN_STEP */
	unsigned char bytes[ARCH_INSN_MAX];
	uint64_t address;
	bool can_emulate; /* INSN_COPY: emulate() does it too, where no slot is free */
	bool pc_only;     /* emulated, changes nothing but the pc (jump, nop): task_set_pc() is all it takes */
	bool cannot_step; /* INSN_COPY: a step would undo it, for a stop comes behind it (a load that is watched) */
	bool is_syscall;  /* INSN_COPY: it enters the kernel, and a fork's child comes back in the copy too */
	/* Constants that it loads from beside itself and that its copy takes along: the decoder says where they lie,
	 * whoever has the target's memory reads them. */
	unsigned char literal_size; /* 0: none */
	unsigned char literal[ARCH_LITERAL_MAX];
	uint64_t literal_at;
	uint32_t detail[4];
	int64_t displacement;
};

/* An out-of-line copy as it was laid out in its slot. */
struct insn_copy {
	unsigned char bytes[ARCH_SLOT_SIZE];
	unsigned char size;   /* bytes used */
	unsigned char resume; /* offset in the copy at which the instruction has run and only the
				 jump back is left; pc offsets 0 and `resume` are the possible ones */
};

/* The tracee's memory for an emulated instruction. 0 or -errno (-EFAULT: leave it to the tracee). */
struct arch_memory {
	int (*read)(void *context, uint64_t address, void *data, size_t size);
	int (*write)(void *context, uint64_t address, const void *data, size_t size);
	void *context;
};

#define ARCH_CALL_BYTES 16 /* before a return address, in which the call is looked for */

/* What stands before a return address. */
enum arch_call {
	CALL_NONE,  /* no call */
	CALL_FIXED, /* one that calls the same function each time: its target, or the word that holds it, is constant */
	CALL_COMPUTED, /* one through a register or a pointer: another function each time, perhaps */
	CALL_SYSTEM,   /* one of the kernel's entry: a system call, before which no compiler has aligned sp */
};

#define ARCH_CLONE_CALLS  3
#define ARCH_HEAP_CALLS   8
#define ARCH_FUTEX_CALLS  2
#define ARCH_EINTR_CALLS  24
#define ARCH_RESIZE_CALLS 3

/* What a process does about a signal. */
struct arch_action {
	uint64_t handler, flags, restorer, mask; /* of the mask the first 64 signals */
};

/* How a struct sigaction lies in memory: offsets in bytes. */
struct action_layout {
	unsigned short size; /* as much of it as is looked at */
	unsigned short handler, flags, mask;
	unsigned short restorer; /* 0: it has none */
	unsigned char word;      /* bytes of handler and restorer */
	unsigned char flags_size;
};
#define ARCH_ACTION_MAX 160

/* Numbers of system calls. */
struct arch_syscalls {
	/* The numbers of vfork, clone and clone3, whose caller may have to wait for the child. */
	unsigned short clone[ARCH_CLONE_CALLS];
	/* Those by which an allocator gets memory and gives it back (brk, mmap and its like; prctl
	 * names it), 0 behind the last. */
	unsigned short heap[ARCH_HEAP_CALLS];
	/* Those by which everybody waits, and wakes, 0 behind the last. */
	unsigned short futex[ARCH_FUTEX_CALLS];
	/* Where there is no restart_syscall: those that end with EINTR, or may (a socket's with a timeout), when their
	 * task is stopped: signal(7). 0 behind the last. */
	unsigned short eintr[ARCH_EINTR_CALLS];
	/* Those of `heap` that make a mapping larger or smaller, or give up its pages: brk, mprotect, madvise. */
	unsigned short resize[ARCH_RESIZE_CALLS];
	/* exit(2), which ends a thread, not its process. */
	unsigned short exit;
	unsigned rt_sigaction;
};

/* How actions for signals lie in memory, and the frame that the kernel puts on a stack for a handler. */
struct arch_signal {
	struct action_layout kernel_action; /* what rt_sigaction takes */
	struct action_layout libc_action;   /* what sigaction(3) takes */
	uint64_t action_flags; /* flags that the C library adds, with a restorer; 0: handlers return to the kernel's */
	/* The addresses at which a signal handler's frame has the interrupted pc and sp; sp is that at the handler's
	 * first instruction. 0, or the -errno of memory. */
	int (*frame)(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at);
	/* Whether four words on a stack are of a frame without a stack_t of sigaltstack(2), and *sp the interrupted sp.
	 * NULL: every frame has a stack_t. */
	bool (*frame_stack)(const uint64_t words[4], uint64_t *sp);
	/* For unwinding: where such a frame has the DWARF registers, by their numbers, in words from the place of the
	 * pc; NULL: in the order of their numbers. What a handler's return takes off the frame is frame_return_size. */
	const signed char *frame_registers;
	unsigned frame_return_size;
	/* The state of the interrupted code, as the bits of code_state, of the word behind the pc's. False: the
	 * processor counts its next instructions (is_in_block). NULL where there is one state. */
	bool (*frame_state)(uint64_t word, uint64_t *state);
	/* A frame's own registers count even where the code that handlers return to has CFI (AArch64's has but a frame
	 * pointer there). False: only where it has none, as in musl. */
	bool frame_has_registers;
};

/* What tells that a process has a user shadow stack. */
struct arch_shadow_stack {
	/* The line of /proc/PID/status, and a word in it; NULL none. */
	const char *line, *word;
	/* The bit of AT_HWCAP without which there are none on this machine. With it, and no such line, a process may
	 * have one at any time. */
	uint64_t hwcap;
};

/* Registers, by DWARF's numbers. */
struct arch_dwarf {
	unsigned registers; /* how many of them there are */
	uint64_t (*get)(const struct arch_regs *regs, unsigned number);
	unsigned sp, pc;
	/* The register that code which keeps a frame pointer has it in: the address of a frame's last two words, the
	 * caller's value of that register and the return address, above which is the caller's sp. 0: there is none, or
	 * those words may be elsewhere in the frame. */
	unsigned frame;
	/* Those by which code may find its frame: sp and what compilers use as a frame pointer, as a mask. */
	uint64_t frames;
	/* Those that a function leaves as they were, by the procedure call standard: a mask of these numbers. */
	uint64_t preserved;
	unsigned link; /* the register that a call leaves the return address in; 0: it is on the stack */
};

/* Tags of pointers, and of the memory that they lead to. */
struct arch_tags {
	/* The highest bits of a pointer to data, which do not say where it leads, but may say more of it (a tag). */
	unsigned bits;
	/* The bit of AT_HWCAP2 without which this machine keeps no tags of memory, which pointers' ones have to match.
	 * 0: such processors keep none. */
	uint64_t hwcap2;
	/* In a core file, the type of the segments with the tags of memory; 0: there are none. */
	uint32_t core_segment;
};

/* What of malloc's structures differs between processors. */
struct arch_malloc {
	/* glibc's; every other size and offset there follows from these. */
	unsigned word;      /* bytes of a size_t, and of a pointer. 0: they are not known, and no heap is read */
	unsigned align;     /* of blocks and chunk sizes: MALLOC_ALIGNMENT */
	unsigned fastbins;  /* NFASTBINS */
	uint64_t heap_size; /* a thread arena's heaps are aligned to it by default */
	/* Those of jemalloc and of mimalloc have the sizes and places that src/heap knows. */
	bool has_known_jemalloc, has_known_mimalloc;
};

/* What a thread pointer leads to: "ELF Handling For Thread-Local Storage", and the C libraries' struct pthread. */
struct arch_tls {
	/* The program's own variables are above it, aligned, after `head` bytes, and the thread's struct pthread ends
	 * there (variant I). False: they end at it, and the struct pthread begins there (variant II). */
	bool is_below_variables;
	unsigned char head;
	/* The word, counted from it, that leads to the vector of a thread's blocks of variables (dtv). */
	signed char vector;
	/* The struct pthread begins with its own address, which is its third word, too. */
	bool has_self;
};

/* What a core file has of a thread. Its registers are those of NT_PRSTATUS and of abi->floats_set and vectors_set. */
struct arch_core {
	/* The type of the note with the thread pointer, if abi->thread_pointer is NULL; 0: there is none. The note is
	 * one pointer, or, where thread_entry is not 0, an array of entries of that many bytes, which have a pointer at
	 * thread_at; the first one that is not 0 counts. */
	uint32_t thread_note;
	unsigned char thread_entry, thread_at;
	/* Whether the thread was in a system call, and its number. NULL: that is not known. */
	bool (*in_syscall)(const struct arch_regs *regs, long *number);
};

struct arch_abi;   /* arch/abi.h */
struct path_state; /* arch/path.h */
struct path_step;

struct arch {
	const char *name; /* as `uname -m` says it: what traces show */
	uint16_t elf_machine;
	unsigned char elf_class; /* ELFCLASS32 or ELFCLASS64 */
	unsigned char pointer_size;
	bool big_endian;
	/* Which constants of the kernel it has, where processors differ: its bit in enum processor of modules/module.h.
	 * 0: none that is known, and only constants that all processors have get names. */
	unsigned char constants;
	unsigned reloc_irelative; /* the ELF relocation type that calls an IFUNC's resolver */
	/* Those of the slots that calls between objects go through, which hold nothing but the address of one
	 * symbol. */
	unsigned reloc_jump_slot, reloc_glob_dat;
	size_t regset_size; /* what GETREGSET(NT_PRSTATUS) returns */
	int getregs;        /* the ptrace request that gives the same, a sixth faster; 0 if there is none */
	/* POKEUSER offset of the pc; -1: there is no such request, or set_pc changes more than the pc. */
	long pc_offset;
	uint64_t address_max; /* highest user address */

	/* Registers. */
	uint64_t (*pc)(const struct arch_regs *regs);
	void (*set_pc)(struct arch_regs *regs, uint64_t pc);
	uint64_t (*sp)(const struct arch_regs *regs);
	void (*set_sp)(struct arch_regs *regs, uint64_t sp);
	/* Whether the task runs code of another mode of the processor than the program's (x86's segments of 32 and 64
	 * bits, entered by a far call). NULL: there is none. */
	bool (*other_mode)(const struct arch_regs *regs);
	/* The result of a function at its return. */
	uint64_t (*result)(const struct arch_regs *regs);
	/* Integer arguments at a function's entry: the first are in registers, whose words (or narrow ones) these are;
	 * the others, a pointer's size each, lie from sp + argument_stack on. */
	const unsigned char *argument_words;
	unsigned char argument_registers, argument_stack;
	/* Where any arguments and results are, and a thread's variables. */
	const struct arch_abi *abi;
	/* The return address at a function's entry: in a register (true, *value is it) or at an address
	 * in memory (false, *value is where: one pointer to be read). */
	bool (*return_address)(const struct arch_regs *regs, uint64_t *value);
	/* What sp is when a function returns that was entered with these registers, as far as its
	 * ABI fixes it (x86: sp + pointer size). */
	uint64_t (*return_sp)(const struct arch_regs *regs);
	/* Bytes that it may be above that, where the function takes off what was pushed for it: the address of a struct
	 * that it returns (i386's psABI, "Functions Returning Structures or Unions"). 0: it takes nothing off. */
	unsigned char return_pops;
	/* Where the registers, at a PTRACE_EVENT_STOP or signal-delivery stop, are those of a system call that fails
	 * with EINTR although no signal handler has run (the tracer's interruption of epoll_wait and its like):
	 * changes them so that the kernel makes the call again, unless a handler is about to run (the program then
	 * sees EINTR as it would untraced), and returns true. NULL where the registers no longer show what the call was
	 * (arm64 keeps the first argument to itself). */
	bool (*restart_syscall)(struct arch_regs *regs);
	/* Whether that call is epoll_wait() or its like with a timeout, which starts anew when the call is made again.
	 * NULL with restart_syscall. */
	bool (*waits_for_a_time)(const struct arch_regs *regs);
	/* Whether the registers of a task that was interrupted are those of a system call, and its number. Before a
	 * stop is reported the kernel has put the pc back to the instruction (`code`: the four bytes there) of one that
	 * it makes again, and /proc/TID/syscall does not tell: arch/arm64/kernel/signal.c, do_signal(), forgets the
	 * call, arch/arm leaves the number of the last one. NULL where it does. */
	bool (*at_syscall)(const struct arch_regs *regs, const unsigned char *code, long *number);

	/* System calls that a stopped task is made to do through an instruction that its text has: the offset of
	 * one in `code`, with the bits of code_state, or -1; and the registers for it. */
	long (*find_syscall)(const unsigned char *code, size_t size);
	/* The same for the code of a C library that signal handlers return to (sa_restorer); NULL where none has it. */
	long (*find_restorer)(const unsigned char *code, size_t size);
	void (*set_syscall)(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args);
	/* The task that has just been made by the system call (fork, vfork, clone, clone3) with whose result these
	 * registers come back; 0 if they do not. Its number is as the maker's pid namespace has it. May be NULL. */
	pid_t (*made_task)(const struct arch_regs *regs);

	/* The si_code of the SIGTRAP that a breakpoint's instruction raises. */
	int hit_code;

	/* Code addresses. Where one processor runs code in several states (ARM's Thumb), function pointers, symbols and
	 * return addresses say by these bits in which; the other bits say where the code lies. 0: there is one state.
	 * pc and set_pc, insn.address and slots have no such bits: a task that the tracer moves stays in its state.
	 * breakpoint, entry, follows_call and decode get addresses with them. */
	uint64_t code_state;
	/* The state in which the task is, as those bits; NULL where there is one. */
	uint64_t (*state)(const struct arch_regs *regs);
	/* Whether the next instruction is one of a few that the processor counts (Thumb's IT block): no copy of it can
	 * run, for the jump behind it would be counted, too. emulate() counts it, and where its condition does not
	 * hold, it does any. NULL: there are none. */
	bool (*is_in_block)(const struct arch_regs *regs);

	/* Breakpoints. */
	unsigned (*breakpoint)(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX]); /* -> length */
	/* The address of the breakpoint that a task with this pc has just hit. */
	uint64_t (*breakpoint_address)(uint64_t pc);
	/* From a function's address to where its breakpoint goes: past a landing pad (endbr64, bti). */
	uint64_t (*entry)(uint64_t function, const unsigned char *code, size_t size);
	/* The call before a return address: `code` are the `size` bytes before it. Where they can be read in two ways
	 * it is CALL_COMPUTED, of which less is believed. */
	enum arch_call (*follows_call)(uint64_t address, const unsigned char *code, size_t size);
	/* The slot whose word is where the call before a return address goes to: an indirect call's own, or that of the
	 * indirect jump to which a direct call leads, by direct jumps and code that always comes to them (procedure
	 * linkage, a function that ends in a jump). False: it goes to another place, or that is not known. Only `read`
	 * of `code` is used. got: what position independent code of that object has in its register for slots (the
	 * address of its global offset table); 0 unknown. NULL: never known. */
	bool (*call_slot)(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);
	/* Whether code around it has a constant at a code address, in what a breakpoint there would cover, or whether
	 * code of another state is there: so it is behind a call that never returns. Only `read` of `code` is used.
	 * NULL: compilers put none there. */
	bool (*is_constant)(uint64_t address, const struct arch_memory *code);
	/* Whether sp, at the end of `size` bytes of code, is one that the code has given it (from memory, another
	 * register, rounded), rather than what it was but for a constant. *ever: or is somewhere within. Code
	 * behind a jump that always jumps is come to from elsewhere. */
	bool (*sets_sp)(const unsigned char *code, size_t size, bool *ever);

	/* Follows the instruction at the state's address: the state becomes that behind it, or, where *step says that
	 * it is a return, the caller's (arch/path.h). False: the bytes are no instruction. */
	bool (*follow)(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
	/* Whether a function may begin at an address, by the look of its first instructions and of the ARCH_CALL_BYTES
	 * before them; many a place within one looks so, too. Where dwarf.link is not 0 that register shows it. */
	bool (*may_begin)(uint64_t address, const unsigned char *code, size_t size);

	/* How the names of functions begin that compilers make so that code finds out where it is, and that most
	 * functions call; NULL: there are none. */
	const char *pc_thunk;

	/* There is no single step: what can be neither copied nor emulated gets no breakpoint. */
	bool cannot_step;
	/* Instructions. decode fills *insn from up to `size` bytes at `address`; with shadow_stack, calls and
	 * returns cannot be emulated. False if the bytes are no instruction, or if no breakpoint may be there: the
	 * program's own breakpoint that a pc does not pass by itself, what is between a load and a store that watch
	 * each other. */
	bool (*decode)(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
	/* Lays out the copy of an INSN_COPY instruction for a slot at `slot`. 0, or -ERANGE when the slot is
	 * out of reach for it. */
	int (*relocate)(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
	/* Runs an INSN_EMULATE instruction, or an INSN_COPY one with can_emulate, on the registers. All that it reads
	 * of memory it reads first; it writes one place at most, with one call; then the registers change. 0, or
	 * -errno and nothing has changed: from memory, or where the program would notice more than the
	 * result (x86's trap flag). */
	int (*emulate)(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);

	/* The type of the segment with an index of functions and how to unwind them (PT_ARM_EXIDX); 0: there is
	 * none. */
	unsigned unwind_index;
	unsigned stack_alignment; /* of sp where a function calls another one */
	unsigned red_zone;        /* bytes below sp that a function may use */
	bool pushes_arguments;    /* so that sp is not the same at all calls of a function */
	bool libunwind_numbers;   /* libunwind has other numbers of its own */
	/* A return address without what a program may have added to it (AArch64's pointer authentication code). NULL
	 * where return addresses are plain. */
	uint64_t (*strip)(uint64_t return_address);

	struct arch_syscalls syscalls;
	struct arch_signal signal;
	struct arch_shadow_stack shadow_stack;
	struct arch_dwarf dwarf;
	struct arch_tags tags;
	struct arch_core core;
	struct arch_malloc malloc;
	struct arch_tls tls;
};

/* Whether a system call is in one of these lists. */
static inline bool arch_has_call(const unsigned short *calls, size_t count, long number)
{
	for (size_t i = 0; i < count && calls[i]; i++)
		if (calls[i] == number)
			return true;
	return false;
}

/* Where code lies, of an address that may say in which state it runs. */
static inline uint64_t arch_text_address(const struct arch *arch, uint64_t code)
{
	return code & ~arch->code_state;
}

/* Where a pointer to data leads. */
static inline uint64_t arch_data_address(const struct arch *arch, uint64_t pointer)
{
	return pointer & UINT64_MAX >> arch->tags.bits;
}

/* A register, by its word. */
static inline uint64_t arch_register(const struct arch *arch, const struct arch_regs *regs, unsigned word)
{
	return arch->pointer_size == sizeof(uint32_t) ? regs->narrow[word] : regs->words[word];
}

/* The call before a return address, as follows_call finds it in the ARCH_CALL_BYTES before that. The call may be the
 * first code of its mapping: where not all of them can be read, those are looked at that are in the same page. Only
 * `read` of `code` is used. 0; or -errno of it, and *call is what it was. */
int arch_call_before(const struct arch *arch, uint64_t return_address, const struct arch_memory *code,
		     enum arch_call *call);

/* A pointer in the target's memory, of which these are the bytes. */
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

/* The original pc for a pc inside a copy: the instruction's own address when it has not run, the
 * next one's when it has. pc is slot + an offset in the copy. */
static inline uint64_t insn_original_pc(const struct insn *insn, const struct insn_copy *copy, uint64_t slot,
					uint64_t pc)
{
	return insn->address + (pc - slot >= copy->resume ? insn->length : 0);
}

/* From what an ELF file or a stack has for a code address to where the code lies: without the bits that say in which
 * state the processor runs it (ARM's Thumb bit). For any ELF machine, whichever ports this build has, for traces and
 * their files are read on another machine than their own. */
uint64_t arch_code_address(uint16_t elf_machine, uint64_t value);
/* Whether functions of an ELF file with these flags in its header take floating point arguments as integers, though the
 * processor has registers for them. For any ELF machine, too. */
bool arch_is_soft_float(uint16_t elf_machine, uint32_t elf_flags);
/* Whether code begins as that does to which signal handlers return. For any ELF machine, too. */
bool arch_is_restorer(uint16_t elf_machine, const unsigned char *code, size_t size);
/* Where such code is first, looked for at each multiple of `step` bytes; -1: nowhere. */
long arch_find_restorer(uint16_t elf_machine, const unsigned char *code, size_t size, size_t step);

/* The ports of this build, from 0 on; NULL behind the last. The first is arch_native(): that of the processor which
 * the build itself was compiled for. */
const struct arch *arch_known(size_t i);
/* The table for a register set of that size, or for an ELF machine and class; NULL if this build has none. */
const struct arch *arch_for_regset(size_t size);
const struct arch *arch_for_elf(uint16_t machine, unsigned char elf_class);
const struct arch *arch_native(void);

/* A struct sigaction in memory and what it says. `bytes` are layout->size. */
void action_pack(const struct action_layout *layout, const struct arch_action *action, unsigned char *bytes);
void action_unpack(const struct action_layout *layout, const unsigned char *bytes, struct arch_action *action);

#endif
