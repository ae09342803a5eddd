/* The contract of a port: one table, struct arch, has everything that differs between processors.
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

/* A register set as PTRACE_GETREGSET(NT_PRSTATUS) fills it: in `words`, or in `narrow` if registers have 32 bits. */
struct arch_regs {
	union {
		uint64_t words[36];
		uint32_t narrow[72];
	};
};

#define ARCH_INSN_MAX       16 /* bytes of the longest instruction, rounded up */
#define ARCH_SLOT_SIZE      32 /* bytes of one out-of-line slot */
#define ARCH_BREAKPOINT_MAX 4
#define ARCH_LITERAL_MAX    16

enum insn_kind {
	INSN_COPY,    /* can run out of line, relocated */
	INSN_EMULATE, /* emulated by the tracer: jumps, calls, nops */
	INSN_STEP,    /* runs only in place, single-stepped with all tasks stopped; never if cannot_step */
};

/* A decoded instruction that is, or is to be, under a breakpoint. `detail` is private to the port. */
struct insn {
	enum insn_kind kind;
	unsigned char length; /* 0: unknown to the decoder, and kind is INSN_STEP */
	unsigned char bytes[ARCH_INSN_MAX];
	uint64_t address;
	bool can_emulate; /* INSN_COPY: emulate() can do it if no slot is free */
	bool pc_only;     /* if emulated, it changes only the pc (jump, nop), so setting the pc is enough */
	bool cannot_step; /* INSN_COPY: must not be stepped: a stop after it undoes its effect (load-exclusive) */
	bool is_syscall;  /* INSN_COPY: enters the kernel; a child that it forks returns into the copy too */
	/* A constant near the instruction, which it loads relative to the pc; the copy must contain it. The decoder
	 * says where it is, and the caller, which can read the target's memory, fills it in. */
	unsigned char literal_size; /* 0: no constant */
	unsigned char literal[ARCH_LITERAL_MAX];
	uint64_t literal_at;
	uint32_t detail[4];
	int64_t displacement;
};

/* An out-of-line copy, laid out for its slot. */
struct insn_copy {
	unsigned char bytes[ARCH_SLOT_SIZE];
	unsigned char size;
	unsigned char resume; /* offset of the jump back, at which the instruction has run; a task in the
				 * copy is at offset 0 or here */
};

/* The target's memory, for an emulated instruction. The functions return 0 or -errno (-EFAULT: the target has to run
 * the instruction itself). */
struct arch_memory {
	int (*read)(void *context, uint64_t address, void *data, size_t size);
	int (*write)(void *context, uint64_t address, const void *data, size_t size);
	void *context;
};

#define ARCH_CALL_BYTES 16 /* bytes before a return address in which a call is searched */

/* The kind of call before a return address. */
enum arch_call {
	CALL_NONE,     /* no call */
	CALL_FIXED,    /* the same function each time: the target, or the word that holds it, is constant */
	CALL_COMPUTED, /* through a register or a pointer: perhaps another function each time */
	CALL_SYSTEM,   /* a call of the kernel's entry, before which compilers need not align sp */
};

#define ARCH_CLONE_CALLS  3
#define ARCH_HEAP_CALLS   8
#define ARCH_FUTEX_CALLS  2
#define ARCH_EINTR_CALLS  24
#define ARCH_RESIZE_CALLS 3

/* How a process handles a signal. */
struct arch_action {
	uint64_t handler, flags, restorer, mask; /* mask: the first 64 signals */
};

/* The layout of a struct sigaction in memory: offsets in bytes. */
struct action_layout {
	unsigned short size; /* bytes from its beginning that are used */
	unsigned short handler, flags, mask;
	unsigned short restorer; /* 0: no restorer */
	unsigned char word;      /* bytes of handler and restorer */
	unsigned char flags_size;
};
#define ARCH_ACTION_MAX 160

/* Numbers of system calls. Lists end with 0 unless they are full. */
struct arch_syscalls {
	/* vfork, clone and clone3, whose caller may have to wait for the child. */
	unsigned short clone[ARCH_CLONE_CALLS];
	/* Calls by which an allocator gets memory and returns it (brk, mmap and the like; prctl names mappings). */
	unsigned short heap[ARCH_HEAP_CALLS];
	/* Calls by which threads wait for each other and wake each other. */
	unsigned short futex[ARCH_FUTEX_CALLS];
	/* Only if there is no restart_syscall: calls that end with EINTR, or may (on a socket with a timeout), when
	 * their task is stopped: signal(7). */
	unsigned short eintr[ARCH_EINTR_CALLS];
	/* The calls of `heap` that resize a mapping, or give up its pages: brk, mprotect, madvise. */
	unsigned short resize[ARCH_RESIZE_CALLS];
	/* exit(2), which ends a thread and not its process. */
	unsigned short exit;
	unsigned rt_sigaction;
};

/* The layout of signal actions, and of the frame that the kernel puts on a stack for a handler. */
struct arch_signal {
	struct action_layout kernel_action; /* as rt_sigaction takes it */
	struct action_layout libc_action;   /* as sigaction(3) takes it */
	uint64_t action_flags; /* flags that the C library adds together with a restorer; 0: it adds none */
	/* Sets the addresses at which a signal frame has the interrupted pc and sp. sp: its value at the handler's
	 * first instruction. Returns 0, or the -errno of `memory`. */
	int (*frame)(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at);
	/* Whether four words on a stack belong to a signal frame that has no stack_t (of sigaltstack(2)); if so, *sp
	 * is the interrupted sp. NULL: every frame has a stack_t. */
	bool (*frame_stack)(const uint64_t words[4], uint64_t *sp);
	/* For unwinding: where a frame has the DWARF registers, by number, in words relative to the pc's place;
	 * NULL: in the order of their numbers. frame_return_size: bytes of the frame that the handler's return has
	 * popped. */
	const signed char *frame_registers;
	unsigned frame_return_size;
	/* Sets the state of the interrupted code, as the bits of code_state, from the word after the pc's. Returns
	 * false if the processor counts its next instructions (is_in_block). NULL if there is one state. */
	bool (*frame_state)(uint64_t word, uint64_t *state);
	/* True: unwinding takes the registers from the frame even if the code to which handlers return has CFI,
	 * because that is incomplete (AArch64's has only a frame pointer). False: only if that code has no CFI, as
	 * in musl. */
	bool frame_has_registers;
};

/* How to find out whether a process has a user shadow stack. */
struct arch_shadow_stack {
	/* The line of /proc/PID/status, and the word in it; NULL: none. */
	const char *line, *word;
	/* The bit of AT_HWCAP without which this machine has no shadow stacks. With the bit, and no such line, any
	 * process may have one at any time. */
	uint64_t hwcap;
};

/* The registers by DWARF's numbers. */
struct arch_dwarf {
	unsigned registers; /* how many there are */
	uint64_t (*get)(const struct arch_regs *regs, unsigned number);
	unsigned sp, pc;
	/* The frame pointer, if its value is always the address of two words, the caller's frame pointer and the
	 * return address, and the caller's sp is the address after them. 0: there is none, or the words may be
	 * elsewhere in the frame. */
	unsigned frame;
	/* A mask of the registers from which code addresses its frame: sp, and those that compilers use as frame
	 * pointers. */
	uint64_t frames;
	/* A mask of the registers that a function preserves, by the procedure call standard. */
	uint64_t preserved;
	unsigned link; /* the register with a call's return address; 0: it is on the stack */
};

/* Tags of pointers, and of the memory to which they point. */
struct arch_tags {
	/* How many of the highest bits of a data pointer are not a part of the address (but may be a tag). */
	unsigned bits;
	/* The bit of AT_HWCAP2 without which this machine has no tags of memory, which must match those of pointers.
	 * 0: the processor never has them. */
	uint64_t hwcap2;
	/* In a core file, the type of segments with the tags of memory; 0: none. */
	uint32_t core_segment;
};

/* Differences between processors in the data structures of allocators. */
struct arch_malloc {
	/* glibc: all other sizes and offsets follow from these. */
	unsigned word;      /* bytes of a size_t and of a pointer; 0: unknown, and no heap is read */
	unsigned align;     /* of blocks and chunk sizes: MALLOC_ALIGNMENT */
	unsigned fastbins;  /* NFASTBINS */
	uint64_t heap_size; /* default size and alignment of the heaps of a thread's arena */
	/* The structures of jemalloc, and of mimalloc, have the sizes and offsets that src/heap contains. */
	bool has_known_jemalloc, has_known_mimalloc;
};

/* The memory at the thread pointer: "ELF Handling For Thread-Local Storage", and struct pthread of the C libraries. */
struct arch_tls {
	/* True (variant I): the program's own variables begin above the thread pointer, aligned, after `head` bytes,
	 * and struct pthread ends at it. False (variant II): the variables end at it, and struct pthread begins at
	 * it. */
	bool is_below_variables;
	unsigned char head;
	/* Which word, counted from the thread pointer, points to the vector of the thread's blocks of variables
	 * (dtv). */
	signed char dtv_word;
	/* The first and the third word of struct pthread are its own address. */
	bool has_self;
};

/* What a core file contains about a thread, apart from the registers of NT_PRSTATUS, abi->floats_set and
 * vectors_set. */
struct arch_core {
	/* The type of the note with the thread pointer, if abi->thread_pointer is NULL; 0: none. The note is one
	 * pointer. If thread_entry is not 0, the note is an array of entries of that many bytes, with a pointer at
	 * thread_at in each, and the first pointer that is not 0 is the thread pointer. */
	uint32_t thread_note;
	unsigned char thread_entry, thread_at;
	/* Whether the thread was in a system call, and the call's number. NULL: unknown. */
	bool (*in_syscall)(const struct arch_regs *regs, long *number);
};

struct arch_abi;   /* arch/abi.h */
struct path_state; /* arch/path.h */
struct path_step;

struct arch {
	const char *name; /* as `uname -m` prints it, and as traces have it */
	uint16_t elf_machine;
	unsigned char elf_class; /* ELFCLASS32 or ELFCLASS64 */
	unsigned char pointer_size;
	bool big_endian;
	/* The processor's bit in enum processor of modules/module.h, for constants of the kernel that differ between
	 * processors. 0: none; only constants that are the same everywhere get names. */
	unsigned char constants;
	unsigned reloc_irelative; /* the ELF relocation type that calls an IFUNC's resolver */
	/* The relocations of slots through which objects call each other; such a slot holds only one symbol's
	 * address. */
	unsigned reloc_jump_slot, reloc_glob_dat;
	size_t regset_size; /* bytes that PTRACE_GETREGSET(NT_PRSTATUS) returns */
	int getregs;        /* a ptrace request with the same result, a sixth faster; 0: none */
	/* The offset of the pc for PTRACE_POKEUSER; -1: there is no such request, or set_pc changes more than the
	 * pc. */
	long pc_offset;
	uint64_t address_max; /* highest user address */

	/* Registers. */
	uint64_t (*pc)(const struct arch_regs *regs);
	void (*set_pc)(struct arch_regs *regs, uint64_t pc);
	uint64_t (*sp)(const struct arch_regs *regs);
	void (*set_sp)(struct arch_regs *regs, uint64_t sp);
	/* Whether the task runs code of another processor mode than the program's (x86's 32-bit and 64-bit segments,
	 * entered by a far call). NULL: there are no other modes. */
	bool (*other_mode)(const struct arch_regs *regs);
	/* A function's result, when it has returned. */
	uint64_t (*result)(const struct arch_regs *regs);
	/* Integer arguments at a function's entry. The first ones are in the registers with these indexes in struct
	 * arch_regs; further ones, each of a pointer's size, are on the stack from sp + argument_stack on. */
	const unsigned char *argument_words;
	unsigned char argument_registers, argument_stack;
	/* The places of arguments and results of all types, and of a thread's variables. */
	const struct arch_abi *abi;
	/* Gets the return address at a function's entry: true if *value is it (from a register), false if *value is
	 * the address in memory of a pointer that is it. */
	bool (*return_address)(const struct arch_regs *regs, uint64_t *value);
	/* Returns the value that sp has after the return of a function that was entered with these registers, as far
	 * as the ABI fixes it (x86: sp + pointer size). */
	uint64_t (*return_sp)(const struct arch_regs *regs);
	/* How many bytes more sp may be moved, because the function pops the address of a struct that it returns
	 * (i386's psABI, "Functions Returning Structures or Unions"). 0: none. */
	unsigned char return_pops;
	/* Called at a PTRACE_EVENT_STOP or signal-delivery stop. If the registers are those of a system call that
	 * fails with EINTR only because the tracer has interrupted it (epoll_wait and the like), changes them and
	 * returns true: the kernel then makes the call again, unless a handler is about to run, in which case the
	 * program sees EINTR as it would untraced. NULL if the registers do not show the call any more (arm64's
	 * kernel keeps the first argument to itself). */
	bool (*restart_syscall)(struct arch_regs *regs);
	/* Whether that call is epoll_wait() or the like with a timeout, which starts anew if the call is made again.
	 * NULL if restart_syscall is NULL. */
	bool (*has_timeout)(const struct arch_regs *regs);
	/* Whether an interrupted task is in a system call, and the call's number. For a call that it will make
	 * again, the kernel has already put the pc back to the instruction; `code` has the four bytes there. NULL if
	 * /proc/TID/syscall can tell instead. On arm64 it cannot, because do_signal() in arch/arm64/kernel/signal.c
	 * forgets the call, nor on arm, where the file keeps the number of the last call. */
	bool (*at_syscall)(const struct arch_regs *regs, const unsigned char *code, long *number);

	/* For system calls that a stopped task is made to do. find_syscall returns the offset in `code`, with the
	 * bits of code_state, of an instruction that makes a system call, or -1; set_syscall sets the registers for
	 * a call by that instruction. */
	long (*find_syscall)(const unsigned char *code, size_t size);
	/* Returns the same for code of a C library to which signal handlers return (sa_restorer). NULL if no library
	 * has such code. */
	long (*find_restorer)(const unsigned char *code, size_t size);
	void (*set_syscall)(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args);
	/* Returns the task that was just made, if the registers are those at the return of fork, vfork, clone or
	 * clone3; else 0. The number is as the maker's pid namespace has it. May be NULL. */
	pid_t (*created_tid)(const struct arch_regs *regs);

	/* The si_code of the SIGTRAP that a breakpoint raises. */
	int hit_code;

	/* Code addresses. If a processor runs code in several states (ARM's Thumb), these bits in function pointers,
	 * symbols and return addresses say in which, and the other bits are the place of the code. 0: there is one
	 * state. pc and set_pc, insn.address and slots do not have the bits: a task that the tracer moves stays in
	 * its state. breakpoint, entry, follows_call and decode get addresses with the bits. */
	uint64_t code_state;
	/* Returns the task's state, as those bits; NULL if there is one state. */
	uint64_t (*state)(const struct arch_regs *regs);
	/* Whether the next instruction is in a block whose instructions the processor counts (Thumb's IT block).
	 * Such an instruction cannot run as a copy, because the jump after it would be counted too. emulate() can do
	 * it: it counts the instruction, and skips it if its condition does not hold. NULL: there are no such
	 * blocks. */
	bool (*is_in_block)(const struct arch_regs *regs);

	/* Breakpoints. */
	unsigned (*breakpoint)(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX]); /* returns the length */
	/* Returns the address of the breakpoint that a task with this pc has hit. */
	uint64_t (*breakpoint_address)(uint64_t pc);
	/* Returns the address for a function's breakpoint: the function's, or after its landing pad (endbr64, bti). */
	uint64_t (*entry)(uint64_t function, const unsigned char *code, size_t size);
	/* Returns the kind of call before a return address, from the `size` bytes before it. If they can be decoded
	 * in two ways, returns CALL_COMPUTED, from which less is concluded. */
	enum arch_call (*follows_call)(uint64_t address, const unsigned char *code, size_t size);
	/* Finds the slot whose word is the target of the call before a return address: the slot of an indirect call,
	 * or of the indirect jump to which a direct call leads by direct jumps and straight code (procedure linkage,
	 * a function that ends with a jump). Returns false if there is no slot, or it is unknown. Only read() of
	 * `code` is used. got: the address of the object's global offset table, which position independent code has
	 * in a register; 0 unknown. NULL: never known. */
	bool (*call_slot)(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);
	/* Whether a breakpoint at a code address would cover a constant of the code around it, or code of another
	 * state. Both are found after calls that never return. Only read() of `code` is used. NULL: compilers put no
	 * constants there. */
	bool (*is_constant)(uint64_t address, const struct arch_memory *code);
	/* Whether, after `size` bytes of code, sp has a value that the code has given it (from memory, from another
	 * register, rounded), instead of its first value plus a constant. *ever: whether that is so at any place in
	 * the code. After an unconditional jump sp counts as not set, because the code there is reached from
	 * elsewhere. */
	bool (*sets_sp)(const unsigned char *code, size_t size, bool *ever);

	/* Follows the instruction at the state's address. The state becomes that after the instruction; if *step
	 * says that it is a return, that of the caller (arch/path.h). Returns false if the bytes are not an
	 * instruction. */
	bool (*follow)(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
	/* Whether a function may begin at an address, judging by its first instructions and the ARCH_CALL_BYTES
	 * before them. Many places inside functions look the same. NULL if dwarf.link is not 0, because that
	 * register then shows where functions begin. */
	bool (*may_begin)(uint64_t address, const unsigned char *code, size_t size);

	/* How the names of functions begin that compilers generate to get the pc, and that most functions call;
	 * NULL: none. */
	const char *pc_thunk;

	/* The processor has no single step. Instructions that can be neither copied nor emulated get no breakpoint. */
	bool cannot_step;
	/* Instructions. decode fills *insn from up to `size` bytes at `address`. With shadow_stack, calls and
	 * returns cannot be emulated. Returns false if the bytes are not an instruction, or must not get a
	 * breakpoint: one of the program's own breakpoints, which the pc does not pass by itself, or code between a
	 * load-exclusive and its store. */
	bool (*decode)(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
	/* Lays out the copy of an INSN_COPY instruction for the slot at address `slot`. Returns 0, or -ERANGE if the
	 * slot is out of its reach. */
	int (*relocate)(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
	/* Emulates an INSN_EMULATE instruction, or an INSN_COPY one with can_emulate. First reads all that it needs
	 * from memory, then writes to one place at most, with one call, then changes the registers. Returns 0, or
	 * -errno with nothing changed: an error of `mem`, or the program would notice more than the result (x86's
	 * trap flag). */
	int (*emulate)(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);

	/* The type of the segment with an index of functions and their unwinding (PT_ARM_EXIDX); 0: none. */
	unsigned unwind_index;
	unsigned stack_alignment; /* alignment of sp where a function calls another one */
	unsigned red_zone;        /* bytes below sp that a function may use without moving sp */
	bool pushes_arguments;    /* calls push arguments, so sp differs between the calls in a function */
	bool libunwind_numbers;   /* libunwind's register numbers are not DWARF's */
	/* Returns the return address without bits that the program may have added (AArch64's pointer authentication
	 * code). NULL if return addresses are plain. */
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

/* Whether a list of system calls contains a number. */
static inline bool arch_has_call(const unsigned short *calls, size_t count, long number)
{
	for (size_t i = 0; i < count && calls[i]; i++)
		if (calls[i] == number)
			return true;
	return false;
}

/* Returns the place of code from an address that may contain the code's state. */
static inline uint64_t arch_text_address(const struct arch *arch, uint64_t code)
{
	return code & ~arch->code_state;
}

/* Returns the address from a data pointer that may have a tag. */
static inline uint64_t arch_data_address(const struct arch *arch, uint64_t pointer)
{
	return pointer & UINT64_MAX >> arch->tags.bits;
}

/* Returns a register by its index in struct arch_regs. */
static inline uint64_t arch_register(const struct arch *arch, const struct arch_regs *regs, unsigned word)
{
	return arch->pointer_size == sizeof(uint32_t) ? regs->narrow[word] : regs->words[word];
}

/* Finds the call before a return address, as follows_call does. If the ARCH_CALL_BYTES before it cannot all be read,
 * because the call is at the beginning of a mapping, only those in the same page are used. Only read() of `code` is
 * used. Returns 0, or its -errno, and *call is unchanged. */
int arch_call_before(const struct arch *arch, uint64_t return_address, const struct arch_memory *code,
		     enum arch_call *call);

/* Returns the pointer whose bytes in the target's memory these are. */
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

/* Returns the original pc for a pc in a copy: the instruction's own address if it has not run, else the next
 * instruction's. */
static inline uint64_t insn_original_pc(const struct insn *insn, const struct insn_copy *copy, uint64_t slot,
					uint64_t pc)
{
	return insn->address + (pc - slot >= copy->resume ? insn->length : 0);
}

/* Returns the place of code from a code address in an ELF file or on a stack, without the bits for the processor's
 * state (ARM's Thumb bit). Works for any ELF machine, because traces are also read on machines with other
 * processors. */
uint64_t arch_code_address(uint16_t elf_machine, uint64_t value);
/* Whether functions of an ELF file with these flags in its header take floating point arguments as integers,
 * although the processor has registers for them. Works for any ELF machine. */
bool arch_is_soft_float(uint16_t elf_machine, uint32_t elf_flags);
/* Whether code begins like code to which signal handlers return. Works for any ELF machine. */
bool arch_is_restorer(uint16_t elf_machine, const unsigned char *code, size_t size);
/* Returns the offset of the first such code, searched at each multiple of `step` bytes; -1: none. */
long arch_find_restorer(uint16_t elf_machine, const unsigned char *code, size_t size, size_t step);

/* Returns a port of this build by its number, from 0 on, or NULL after the last one. The first port is
 * arch_native(). */
const struct arch *arch_known(size_t i);
/* Return the table for a register set of that size, for an ELF machine and class, and for the processor for which
 * the build itself was compiled; NULL if this build has none. */
const struct arch *arch_for_regset(size_t size);
const struct arch *arch_for_elf(uint16_t machine, unsigned char elf_class);
const struct arch *arch_native(void);

/* Convert between a struct sigaction in memory and its values. `bytes` has layout->size bytes. */
void action_pack(const struct action_layout *layout, const struct arch_action *action, unsigned char *bytes);
void action_unpack(const struct action_layout *layout, const unsigned char *bytes, struct arch_action *action);

#endif
