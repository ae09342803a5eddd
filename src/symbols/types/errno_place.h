/* Finds where threads have their errno, from the ELF file of their C library. */
#ifndef FT_SYMBOLS_TYPES_ERRNO_PLACE_H
#define FT_SYMBOLS_TYPES_ERRNO_PLACE_H

#include "arch/abi.h"
#include "symbols/objects/mapped_object.h"

enum errno_kind {
	ERRNO_NONE, /* the object does not say where errno is */
	/* glibc, or another library with thread-local storage of ELF. The word at `slot` is the distance of a variable
	 * of the library from the thread pointer, and errno is `offset` bytes after this variable. The word is
	 * `unfilled` until the dynamic linker has filled it. */
	ERRNO_SLOT,
	ERRNO_VARIABLE, /* a static program's own variable: `offset` bytes after the thread pointer */
	ERRNO_FIELD,    /* musl: a field `offset` bytes after the thread pointer */
};

struct errno_place {
	enum errno_kind kind;
	uint64_t slot, unfilled;
	int64_t offset;
};

/* Returns what the object's file says, which is read once. The slot is a mapped address. */
struct errno_place object_errno_place(const struct object *object, const struct arch *arch);

#endif
