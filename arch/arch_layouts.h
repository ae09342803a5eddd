/* Parts of struct arch (arch.h): layouts of ELF files and of memory. */
#ifndef FT_ARCH_LAYOUTS_H
#define FT_ARCH_LAYOUTS_H

#include "arch/arch_registers.h"

#include <stdbool.h>
#include <stdint.h>

/* The types of relocations that functrace searches for. Source: the processor's ELF ABI (elf.h: R_*). */
struct arch_relocs {
	unsigned irelative; /* the type for which an IFUNC's resolver is called */
	/* The types of the slots of the global offset table (GOT) through which objects call each other. Such a slot
	 * contains the address of one symbol. */
	unsigned jump_slot, glob_dat;
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

#endif
