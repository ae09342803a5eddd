/* The interface of a port: one table, struct arch, describes everything that differs between processors.
 *
 * A port defines a struct arch, in one file or a few, and is listed in arch/local.mk, configure.ac and
 * tests/unit/arch.mk. Code outside arch/ names no register and no instruction, and does not check for which
 * processor it was compiled. The table for a process is selected by its program's ELF machine and class, so a 32-bit
 * process has its own table under a 64-bit tracer. Addresses and register values are 64 bits wide everywhere. */
#ifndef FT_ARCH_ARCH_H
#define FT_ARCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* A register set as PTRACE_GETREGSET(NT_PRSTATUS) returns it: in `words`, or in `narrow` if registers have 32 bits. */
struct arch_regs {
	union {
		uint64_t words[36];
		uint32_t narrow[72];
	};
};

#define ARCH_INSN_MAX       16 /* bytes of the longest instruction, rounded up */
#define ARCH_SLOT_SIZE      32 /* bytes of an out-of-line slot */
#define ARCH_BREAKPOINT_MAX 4
#define ARCH_LITERAL_MAX    16

enum insn_kind {
	INSN_COPY,    /* can be executed out of line, after relocation */
	INSN_EMULATE, /* is emulated by the tracer: jumps, calls, nops */
	INSN_STEP,    /* single-stepped in place, with all other tasks stopped; no breakpoint if arch.cannot_step */
};

/* A decoded instruction that has a breakpoint or will get one. `detail` is private to the port. */
struct insn {
	enum insn_kind kind;
	unsigned char length; /* length in bytes; 0: unknown to the decoder, and kind is INSN_STEP */
	unsigned char bytes[ARCH_INSN_MAX];
	uint64_t address;
	bool can_emulate; /* INSN_COPY: emulate() can execute it if no slot is free */
	bool pc_only;     /* if emulated, it changes only the pc (jump, nop), so setting the pc is enough */
	bool cannot_step; /* INSN_COPY: must not be stepped, because the stop undoes its effect (load-exclusive) */
	bool is_syscall;  /* INSN_COPY: enters the kernel; if it forks, the child returns into the copy, too */
	/* A constant near the instruction, which the instruction loads relative to the pc, so that the copy must
	 * contain it. The decoder sets its address and size. The caller, which can read the target's memory, fills
	 * in the bytes. */
	unsigned char literal_size; /* size of the constant in bytes; 0: there is none */
	unsigned char literal[ARCH_LITERAL_MAX];
	uint64_t literal_at;
	uint32_t detail[4];
	int64_t displacement;
};

/* An out-of-line copy of an instruction: the bytes that are written to its slot, which include a jump back. */
struct insn_copy {
	unsigned char bytes[ARCH_SLOT_SIZE];
	unsigned char size;
	unsigned char resume; /* offset of the jump back; a task in the copy is at offset 0 or here */
};

/* Access to the target's memory, for emulation and for reading code. The functions return 0 or -errno (-EFAULT in
 * emulation: the target must execute the instruction itself). */
struct arch_memory {
	int (*read)(void *context, uint64_t address, void *data, size_t size);
	int (*write)(void *context, uint64_t address, const void *data, size_t size);
	void *context;
};

#define ARCH_CALL_BYTES 16 /* number of bytes before a return address in which a call is searched for */

/* The kind of call before a return address. */
enum arch_call {
	CALL_NONE,     /* no call */
	CALL_FIXED,    /* the same function each time: the target is constant, or is in a word at a constant address */
	CALL_COMPUTED, /* a call through a register or a pointer, which may call another function each time */
	CALL_SYSTEM,   /* a call of the kernel's entry code, before which compilers need not align sp */
};

#define ARCH_CLONE_CALLS  3
#define ARCH_HEAP_CALLS   8
#define ARCH_FUTEX_CALLS  2
#define ARCH_EINTR_CALLS  24
#define ARCH_RESIZE_CALLS 3

/* A process's action for a signal. */
struct arch_action {
	uint64_t handler, flags, restorer, mask; /* mask: the first 64 signals */
};

/* The layout of a struct sigaction in memory, as offsets in bytes. */
struct action_layout {
	unsigned short size; /* number of bytes that are used */
	unsigned short handler, flags, mask;
	unsigned short restorer; /* 0: the struct has no restorer */
	unsigned char word;      /* size of handler and restorer in bytes */
	unsigned char flags_size;
};
#define ARCH_ACTION_MAX 160

/* Numbers of system calls. A list ends with 0 unless it is full. */
struct arch_syscalls {
	/* vfork, clone and clone3, in which the caller may wait for the child. */
	unsigned short clone[ARCH_CLONE_CALLS];
	/* Calls by which an allocator gets memory and returns it: brk, mmap and others; prctl names mappings. */
	unsigned short heap[ARCH_HEAP_CALLS];
	/* Calls by which threads wait for each other and wake each other. */
	unsigned short futex[ARCH_FUTEX_CALLS];
	/* Calls that end with EINTR when their task is stopped, or may do so (on a socket with a timeout): signal(7).
	 * Empty if the port has a restart_syscall() function. */
	unsigned short eintr[ARCH_EINTR_CALLS];
	/* The calls of `heap` that resize a mapping, or release its pages: brk, mprotect, madvise. */
	unsigned short resize[ARCH_RESIZE_CALLS];
	/* exit(2), which ends a thread but not its process. */
	unsigned short exit;
	unsigned rt_sigaction;
};

/* The layout of signal actions, and of the frame that the kernel puts on the stack for a signal handler. */
struct arch_signal {
	struct action_layout kernel_action; /* the struct that rt_sigaction(2) reads */
	struct action_layout libc_action;   /* the struct that sigaction(3) reads */
	uint64_t action_flags;              /* flags that the C library sets together with a restorer; 0: none */
	/* Sets the addresses at which a signal frame contains the interrupted pc and sp. sp: the stack pointer at
	 * the handler's first instruction. Returns 0, or the -errno of `memory`. */
	int (*frame)(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at);
	/* Returns true if four consecutive words on a stack belong to a signal frame without a stack_t (of
	 * sigaltstack(2)), and sets *sp to the interrupted sp. NULL if every frame has a stack_t. */
	bool (*frame_stack)(const uint64_t words[4], uint64_t *sp);
	/* For unwinding: the place of each DWARF register in a frame, as a distance in words from the place of the pc.
	 * NULL: the registers are in the order of their numbers. frame_return_size: number of bytes that the handler's
	 * return pops. After the return, the frame begins that many bytes below sp. */
	const signed char *frame_registers;
	unsigned frame_return_size;
	/* Sets *state to the state of the interrupted code, as the bits of code_state, from the word after the pc in
	 * the frame. Returns false if the code was interrupted inside a Thumb IT block (is_in_block). NULL if the
	 * processor has only one state. */
	bool (*frame_state)(uint64_t word, uint64_t *state);
	/* True: unwinding reads the registers from the frame even if the code to which handlers return has CFI,
	 * because this CFI is incomplete (on AArch64 it describes only a frame pointer). False: the registers are
	 * read from the frame only if that code has no CFI, as in musl. */
	bool frame_has_registers;
};

/* How to find out whether a process has a user shadow stack. */
struct arch_shadow_stack {
	/* The name of a line in /proc/PID/status, and the word in it if the process has a shadow stack. NULL: the
	 * kernel prints no such line, and only `hwcap` shows whether processes may have shadow stacks. */
	const char *line, *word;
	/* The bit of AT_HWCAP that is set if this machine has shadow stacks; 0: there is no such bit. If the bit is set
	 * and `line` is NULL, any process may have a shadow stack at any time. */
	uint64_t hwcap;
};

/* The registers, by their DWARF numbers. */
struct arch_dwarf {
	unsigned registers; /* number of registers */
	uint64_t (*get)(const struct arch_regs *regs, unsigned number);
	unsigned sp, pc;
	/* Number of the frame pointer, if its value is always the address of two words, which are the caller's frame
	 * pointer and the return address, and if the caller's sp is the address after them. 0: there is no frame
	 * pointer, or the words may be elsewhere in the frame. */
	unsigned frame;
	/* A mask of the registers by which code addresses its frame: sp, and those that compilers use as frame
	 * pointers. */
	uint64_t frames;
	/* A mask of the registers that functions preserve according to the procedure call standard. */
	uint64_t preserved;
	unsigned link; /* the register that contains a call's return address; 0: the return address is on the stack */
};

/* Tags in pointers, and tags of the memory to which the pointers point. */
struct arch_tags {
	/* The number of highest bits in a data pointer that do not belong to the address. They may be a tag. */
	unsigned bits;
	/* The bit of AT_HWCAP2 that is set if this machine has memory tags, which tags in pointers must match. 0: the
	 * processor has no memory tags. */
	uint64_t hwcap2;
	/* The type of segments in a core file that contain memory tags; 0: there are none. */
	uint32_t core_segment;
};

/* Differences between processors in the data structures of allocators. */
struct arch_malloc {
	/* For glibc: all other sizes and offsets follow from these. */
	unsigned word;      /* bytes of a size_t and of a pointer; 0: unknown, so no heap is read */
	unsigned align;     /* alignment of blocks and chunk sizes: MALLOC_ALIGNMENT */
	unsigned fastbins;  /* number of fastbins: NFASTBINS */
	uint64_t heap_size; /* default size and alignment of the heaps of a thread's arena */
	/* True if the structures of jemalloc, or of mimalloc, have the sizes and offsets that src/heap uses. */
	bool has_known_jemalloc, has_known_mimalloc;
};

/* The memory at the thread pointer ("ELF Handling For Thread-Local Storage"), and struct pthread of the C libraries. */
struct arch_tls {
	/* True (variant I): the program's thread variables begin above the thread pointer, after `head` bytes and
	 * padding, and struct pthread ends at the thread pointer. False (variant II): the variables end at the
	 * thread pointer, and struct pthread begins there. */
	bool is_below_variables;
	unsigned char head;
	/* Index of the word, counted from the thread pointer, that points to the vector of the thread's blocks of
	 * variables (dtv). */
	signed char dtv_word;
	/* True if the first and the third word of glibc's struct pthread contain its own address. */
	bool has_self;
};

/* The data about a thread in a core file, apart from its registers, which are in NT_PRSTATUS and in the notes
 * abi->floats_set and abi->vectors_set. */
struct arch_core {
	/* The type of the note with the thread pointer, if abi->thread_pointer is NULL; 0: there is none. If
	 * thread_entry is 0, the note is just this pointer. Else it is an array of entries of thread_entry bytes, each
	 * with a pointer at offset thread_at; the first pointer that is not 0 is the thread pointer. */
	uint32_t thread_note;
	unsigned char thread_entry, thread_at;
	/* Returns true if the thread was in a system call, and sets *number to the call's number. NULL: unknown. */
	bool (*in_syscall)(const struct arch_regs *regs, long *number);
};

struct arch_abi;   /* arch/abi.h */
struct path_state; /* arch/path.h */
struct path_step;

struct arch {
	const char *name; /* name of the processor, as `uname -m` prints it, and as traces contain it */
	uint16_t elf_machine;
	unsigned char elf_class; /* ELFCLASS32 or ELFCLASS64 */
	unsigned char pointer_size;
	bool big_endian;
	/* The processor's bit in enum processor of modules/module.h, which selects the values of kernel constants
	 * that differ between processors. 0: only constants that are the same on all processors get names. */
	unsigned char constants;
	unsigned reloc_irelative; /* the ELF relocation type for which an IFUNC's resolver is called */
	/* The relocations of the slots of the global offset table (GOT) through which objects call each other. Such a
	 * slot contains the address of one symbol. */
	unsigned reloc_jump_slot, reloc_glob_dat;
	size_t regset_size; /* number of bytes that PTRACE_GETREGSET(NT_PRSTATUS) returns */
	int getregs;        /* a ptrace request that returns the same, but takes a sixth less time; 0: there is none */
	/* The offset of the pc for PTRACE_POKEUSER; -1 if the tracer must write all registers instead. */
	long pc_offset;
	uint64_t address_max; /* the highest user address */

	/* Registers. */
	uint64_t (*pc)(const struct arch_regs *regs);
	void (*set_pc)(struct arch_regs *regs, uint64_t pc);
	uint64_t (*sp)(const struct arch_regs *regs);
	void (*set_sp)(struct arch_regs *regs, uint64_t sp);
	/* Returns true if the task runs code of another processor mode than the program's (x86's 32-bit and 64-bit
	 * segments, entered by a far call). NULL: there are no other modes. */
	bool (*other_mode)(const struct arch_regs *regs);
	/* Returns a function's result when the function has returned. */
	uint64_t (*result)(const struct arch_regs *regs);
	/* The integer arguments at a function's entry. The first ones are in the registers with these indexes in
	 * struct arch_regs. Further ones are on the stack, from sp + argument_stack on, each with the size of a
	 * pointer. */
	const unsigned char *argument_words;
	unsigned char argument_registers, argument_stack;
	/* The locations of arguments and results of all types, and of a thread's variables. */
	const struct arch_abi *abi;
	/* Gets the return address at a function's entry. Returns true if *value is the return address, from a
	 * register. Returns false if *value is the address in memory at which the return address is. */
	bool (*return_address)(const struct arch_regs *regs, uint64_t *value);
	/* Returns the value of sp after the return of a function that was entered with these registers, as far as
	 * the ABI defines it (x86: sp + pointer size). */
	uint64_t (*return_sp)(const struct arch_regs *regs);
	/* Number of bytes by which sp may be higher than return_sp(), because the function pops the address of the
	 * struct that it returns (i386's psABI, "Functions Returning Structures or Unions"). 0: none. */
	unsigned char return_pops;
	/* Called at a PTRACE_EVENT_STOP or signal-delivery stop. If the registers are those of a system call that
	 * fails with EINTR only because the tracer has interrupted it (epoll_wait and others), changes them and
	 * returns true. The kernel then makes the call again, unless it is about to run a handler; in this case the
	 * program sees EINTR, as it would untraced. NULL if the registers do not show the call any more (arm64's
	 * kernel does not keep the first argument in them). */
	bool (*restart_syscall)(struct arch_regs *regs);
	/* Returns true if the system call that restart_syscall() restarts has a timeout (epoll_wait() and others),
	 * which then begins again. NULL if restart_syscall is NULL. */
	bool (*has_timeout)(const struct arch_regs *regs);
	/* Returns true if an interrupted task is in a system call that the kernel will make again, and sets *number to
	 * the call's number. The kernel has then moved the pc back to the call's instruction. code: the four bytes at
	 * the pc. NULL if /proc/TID/syscall shows the call. On arm64 this file does not, because do_signal() in
	 * arch/arm64/kernel/signal.c discards the number. On arm the file keeps the number of the last call. */
	bool (*at_syscall)(const struct arch_regs *regs, const unsigned char *code, long *number);

	/* For system calls that functrace makes a stopped task execute. find_syscall returns the offset in `code` of an
	 * instruction that makes a system call, with the bits of code_state, or -1 if there is none. set_syscall sets
	 * the registers for a call by this instruction. */
	long (*find_syscall)(const unsigned char *code, size_t size);
	/* Returns the offset in `code` of the first code to which signal handlers return (sa_restorer), or -1 if there
	 * is none. NULL if no library has such code. */
	long (*find_restorer)(const unsigned char *code, size_t size);
	void (*set_syscall)(struct arch_regs *regs, uint64_t insn, uint64_t number, const uint64_t *args);
	/* Returns the tid of the task that was just created, if the registers are those at the return of fork,
	 * vfork, clone or clone3; else 0. The tid is that in the parent's pid namespace. NULL: the registers do not
	 * show the tid. */
	pid_t (*created_tid)(const struct arch_regs *regs);

	/* The si_code of the SIGTRAP that a breakpoint raises. */
	int hit_code;

	/* Code addresses. If a processor runs code in several states (ARM's Thumb), these bits in function pointers,
	 * symbols and return addresses contain the state, and the other bits the address of the code. 0: there is
	 * one state. The addresses that pc and set_pc use, insn.address, and the addresses of slots do not have these
	 * bits, because a task that the tracer moves keeps its state. The addresses that breakpoint, entry,
	 * follows_call and decode get have them. */
	uint64_t code_state;
	/* Returns the task's state as these bits; NULL if there is one state. */
	uint64_t (*state)(const struct arch_regs *regs);
	/* Returns true if the next instruction is in a block (Thumb's IT block) in which each instruction advances a
	 * state of the processor. Such an instruction cannot be executed as a copy, because the jump after the copy
	 * would advance the state, too. emulate() can execute it: it advances the state, and skips the instruction if
	 * its condition is false. NULL: there are no such blocks. */
	bool (*is_in_block)(const struct arch_regs *regs);

	/* Breakpoints. */
	unsigned (*breakpoint)(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX]); /* returns the length */
	/* Returns the address of the breakpoint that was hit by a task with this pc. */
	uint64_t (*breakpoint_address)(uint64_t pc);
	/* Returns the address for a function's breakpoint: that of the function, or after its landing pad (endbr64,
	 * bti). */
	uint64_t (*entry)(uint64_t function, const unsigned char *code, size_t size);
	/* Returns the kind of call before a return address, from the `size` bytes before that address. If these bytes
	 * can be decoded in two ways, returns CALL_COMPUTED, which is the safe answer. */
	enum arch_call (*follows_call)(uint64_t address, const unsigned char *code, size_t size);
	/* Finds the GOT slot whose word is the target of the call before a return address. The call is an indirect
	 * call through the slot, or a direct call of code that continues, by direct jumps and straight code, to an
	 * indirect jump through the slot (an entry of the PLT, a function that ends with a jump). Returns false if
	 * there is no slot, or if its address is unknown. Uses only read() of `code`. got: the address of the object's
	 * global offset table, which position independent code has in a register; 0 if unknown. NULL: the slot is
	 * never known. */
	bool (*call_slot)(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);
	/* Returns true if a breakpoint at a code address would overwrite a constant in the code, or code of another
	 * state. Both occur after calls that never return. Uses only read() of `code`. NULL: compilers do not put
	 * constants into code. */
	bool (*is_constant)(uint64_t address, const struct arch_memory *code);
	/* Returns true if sp, after `size` bytes of code, is not its first value plus a constant, because the code has
	 * loaded, copied or rounded sp. *ever: true if this happens anywhere in the code. The code after an
	 * unconditional jump is reached only by other jumps. There, sp is assumed to be its first value plus a
	 * constant again. */
	bool (*sets_sp)(const unsigned char *code, size_t size, bool *ever);

	/* Follows the instruction at the state's address. Sets *state to the state after the instruction, or, if *step
	 * says that the instruction is a return, to the state in the caller (arch/path.h). Returns false if the bytes
	 * are not an instruction. */
	bool (*follow)(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
	/* Returns true if a function may begin at an address, according to its first instructions and the
	 * ARCH_CALL_BYTES before them. Also returns true for many addresses inside functions. NULL if dwarf.link is not
	 * 0, because saving that register then shows where functions begin. */
	bool (*may_begin)(uint64_t address, const unsigned char *code, size_t size);

	/* The first characters of the names of functions that compilers generate to get the pc, and that most
	 * functions call; NULL: there are none. */
	const char *pc_thunk;

	/* True if the processor has no single step. Then instructions that can be neither copied nor emulated get no
	 * breakpoint. */
	bool cannot_step;
	/* Instructions. decode sets *insn from up to `size` bytes at `address`. If shadow_stack is true, calls and
	 * returns are not decoded as emulated instructions. Returns false if the bytes are not an instruction, or if
	 * the instruction must not get a breakpoint: it is one of the program's own breakpoints, after which the pc
	 * would not advance by itself, or it is between a load-exclusive and its store. */
	bool (*decode)(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
	/* Makes the copy of an INSN_COPY instruction for the slot at address `slot`. Returns 0, or -ERANGE if the
	 * copy at the slot cannot reach its target. */
	int (*relocate)(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
	/* Emulates an INSN_EMULATE instruction, or an INSN_COPY one with can_emulate. First reads all necessary
	 * memory, then writes to at most one address, with one call, then changes the registers. Returns 0, or
	 * -errno with nothing changed: an error of `mem`, or an error if the program would notice more than the
	 * instruction's result (x86's trap flag). */
	int (*emulate)(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);

	/* The type of the segment with an index of functions and their unwinding instructions (PT_ARM_EXIDX); 0:
	 * none. */
	unsigned unwind_index;
	unsigned stack_alignment; /* alignment of sp at calls, in bytes */
	unsigned red_zone;        /* number of bytes below sp that a function may use without moving sp */
	bool pushes_arguments;    /* true if calls push arguments, so that sp differs between the calls in a function */
	bool libunwind_numbers;   /* true if libunwind's register numbers differ from DWARF's */
	/* Returns a return address without bits that the program may have added (AArch64's pointer authentication
	 * code). NULL if return addresses contain no such bits. */
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

/* Returns true if a list of system calls contains a number. */
static inline bool arch_has_call(const unsigned short *calls, size_t count, long number)
{
	for (size_t i = 0; i < count && calls[i]; i++)
		if (calls[i] == number)
			return true;
	return false;
}

/* Returns the address of code without the bits for the code's state. */
static inline uint64_t arch_text_address(const struct arch *arch, uint64_t code)
{
	return code & ~arch->code_state;
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

/* Returns the original pc for a pc in a copy: the instruction's own address if it has not been executed, else the
 * address of the next instruction. */
static inline uint64_t insn_original_pc(const struct insn *insn, const struct insn_copy *copy, uint64_t slot,
					uint64_t pc)
{
	return insn->address + (pc - slot >= copy->resume ? insn->length : 0);
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

/* Convert between a struct sigaction in memory and its values. `bytes` has layout->size bytes. */
void action_pack(const struct action_layout *layout, const struct arch_action *action, unsigned char *bytes);
void action_unpack(const struct action_layout *layout, const unsigned char *bytes, struct arch_action *action);

#endif
