/* Where threads have their errno, by what the ELF file of their C library says. */
#ifndef FT_SYMBOLS_TYPES_ERRNO_PLACE_H
#define FT_SYMBOLS_TYPES_ERRNO_PLACE_H

#include "arch/abi.h"
#include "symbols/objects/mapped_object.h"

enum errno_kind {
	ERRNO_NONE, /* the object does not say */
	/* glibc, or another library with thread local storage of ELF: the word at `slot`, once the dynamic linker has
	 * filled it (it then is no longer `unfilled`), has the distance of a variable of the library from the thread
	 * pointer, and errno is `offset` behind that. */
	ERRNO_SLOT,
	ERRNO_VARIABLE, /* a static program's own variable: `offset` behind the thread pointer */
	ERRNO_FIELD,    /* musl: the same, of a field of what the thread pointer points to */
};

struct errno_place {
	enum errno_kind kind;
	uint64_t slot, unfilled;
	int64_t offset;
};

/* What the object's file says; it is read once. The slot is a mapped address. */
struct errno_place object_errno_place(const struct object *object, const struct arch *arch);

#endif
