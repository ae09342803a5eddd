/* Finds out where an object's variables are, from its program headers in the memory of a process or in a core file. */
#ifndef FT_SCAN_CAPTURE_OBJECT_SEGMENTS_H
#define FT_SCAN_CAPTURE_OBJECT_SEGMENTS_H

#include "arch/arch.h"
#include "heap/image.h"

struct object_memory {
	/* The mappings in order of address. In the image of a core file, a mapping's `inode` is the number that
	 * core_mappings_read() has given to its path. */
	const struct heap_mapping *mappings;
	size_t count;
	const struct arch *arch;
	/* Copies the bytes of the memory from `address` on, at most `size`. Returns the number of copied bytes. */
	size_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
};

/* Answers of the program headers about the first page of a mapping, in order of certainty. */
enum segment_answer {
	IS_UNKNOWN,      /* no header can be read */
	IS_NO_OBJECT,    /* the file is not an ELF object */
	IS_NOT_VARIABLE, /* no writable segment is in the page */
	IS_VARIABLE,
};

/* Asks the objects in the mappings of the file that mapping `i` shows about the first page of mapping `i`. Returns the
 * greatest of their answers. For IS_VARIABLE, sets *first to the address of the first variable in the mapping. The
 * bytes before it are the end of another segment, which shares a page of the file with the variables. */
enum segment_answer segments_ask(const struct object_memory *memory, size_t i, uint64_t *first);
/* Returns `variables` of mapping `i`, as in struct heap_mapping. */
uint64_t segments_first_variable(const struct object_memory *memory, size_t i);

#endif
