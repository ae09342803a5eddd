/* Finds the place of errno in each thread, from the ELF file of a C library or of a static program. */
#ifndef FT_SYMBOLS_TYPES_ERRNO_PLACE_H
#define FT_SYMBOLS_TYPES_ERRNO_PLACE_H

#include "arch/abi.h"
#include "symbols/objects/mapped_object.h"

enum errno_kind {
	ERRNO_NONE, /* the object's file does not show where errno is */
	/* A thread-local variable (ELF TLS), as in glibc. The word at address `slot` contains the distance of one of
	 * the library's variables from the thread pointer; errno is `offset` bytes after that variable. Until the
	 * dynamic linker has filled the word, it contains `unfilled`. */
	ERRNO_SLOT,
	ERRNO_VARIABLE, /* a variable of a static program, `offset` bytes after the thread pointer */
	ERRNO_FIELD,    /* as in musl: a field that is `offset` bytes after the thread pointer */
};

struct errno_place {
	enum errno_kind kind;
	uint64_t slot, unfilled;
	int64_t offset;
};

/* Returns the place of errno that the object's file shows; the file is read only once. The result's `slot` is an
 * address in the process, not in the file. */
struct errno_place object_errno_place(const struct object *object, const struct arch *arch);

#endif
