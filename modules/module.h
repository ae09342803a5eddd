/* The public contract of a module: one kind of resource (or a few that belong together), as a table.
 *
 * A row says everything about a function: adding a function is adding a row. */
#ifndef FT_MODULES_MODULE_H
#define FT_MODULES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_API 1

enum function_role {
	ROLE_ALLOC = 1, /* recorded at its return */
	ROLE_RELEASE,   /* recorded at its entry; no return breakpoint unless it can fail */
	ROLE_REALLOC,   /* releases `released` if it succeeds, then allocates the result */
	ROLE_CALL,      /* a record of the call itself: neither allocates nor releases */
};

/* Where a number comes from. VALUE_NONE is 0, so an absent field is none. */
enum value_kind {
	VALUE_NONE,
	VALUE_ARG,       /* integer argument a */
	VALUE_RESULT,    /* the function's result */
	VALUE_ARG_TIMES, /* argument a * argument b, saturated */
	VALUE_POINTEE,   /* the b-th number of the array that argument a points to, read at the return */
	VALUE_CONST,     /* the number a itself */
	VALUE_ARG_PAGES, /* argument a rounded up to whole pages (pvalloc) */
};

/* The C type of an argument, a result or an array's element. What is narrower than a register leaves the rest of it
 * undefined: only the bits of the type count. */
enum value_type {
	TYPE_WORD, /* as wide as a pointer: pointers, size_t, long, pthread_t */
	TYPE_INT,  /* int; -1 is 64 bits of ones everywhere */
	TYPE_UINT, /* unsigned int */
};

struct value {
	unsigned char kind, a, b;
	unsigned char type; /* enum value_type, of arguments and of what they point to */
};

/* clang-format off */
#define ARG(n) {VALUE_ARG, (n), 0, TYPE_WORD}
#define ARG_INT(n) {VALUE_ARG, (n), 0, TYPE_INT}
#define ARG_TIMES(n, m) {VALUE_ARG_TIMES, (n), (m), TYPE_WORD}
#define RESULT {VALUE_RESULT, 0, 0, TYPE_WORD}
#define POINTEE(n) {VALUE_POINTEE, (n), 0, TYPE_WORD}
#define POINTEE_INT(n, index) {VALUE_POINTEE, (n), (index), TYPE_INT}
#define CONST(n) {VALUE_CONST, (n), 0, TYPE_WORD} /* no module has one yet */
#define ARG_PAGES(n) {VALUE_ARG_PAGES, (n), 0, TYPE_WORD}
/* clang-format on */

/* When a call counts as successful, by its result. */
enum success {
	OK_NONZERO = 0, /* the result is not NULL */
	OK_ZERO,        /* posix_memalign, pthread_create */
	OK_NOT_MINUS_1, /* descriptors, mmap; of the result's own width */
	OK_ALWAYS,
};

enum param_type { PARAM_END = 0, PARAM_SIZE, PARAM_INT, PARAM_UINT, PARAM_HEX, PARAM_POINTER, PARAM_STRING };

struct param {
	const char *name;
	unsigned char type; /* enum param_type */
};

#define FUNCTION_PARAMS 6

struct function {
	const char *symbol;     /* as the object file has it (mangled); '*' only as a prefix: "*malloc" matches any
			       prefix of prefixes[] */
	const char *name;       /* what the trace shows; NULL: the symbol */
	unsigned char role;     /* enum function_role */
	unsigned char resource; /* index into the module's resources */
	struct value id;        /* of what is allocated (or, ROLE_RELEASE, released) */
	struct value size;
	struct value released;   /* ROLE_REALLOC: the id that is given up */
	unsigned char result;    /* enum value_type of the result */
	unsigned char success;   /* enum success */
	bool can_fail;           /* a release that can fail: reserved at the entry, committed by a proof */
	bool may_release_none;   /* ROLE_REALLOC: `released` may be an id that nothing has, and is none then (dup2) */
	bool publishes_early;    /* the id is out before the return (posix_memalign) */
	bool throws;             /* a call may end by an exception of C++ */
	bool zero_size_releases; /* ROLE_REALLOC: with size 0 and result NULL the release has happened */
	const char *family;      /* what must release what it allocates ("malloc", "new", "new[]"); NULL any */
	struct param params[FUNCTION_PARAMS]; /* for -a, which does not read them yet */
};

struct resource {
	const char *type, *desc;
	unsigned flags;   /* enum resource_flags of trace/event.h */
	const char *noun; /* what messages call one of them ("block"); an s makes the plural */
	const char *unit; /* what sizes are counted in ("byte"); NULL: they are not summed up */
	bool zero_is_id;  /* 0 is an id as any other (descriptors); else it is none (NULL) */
	/* The C library releases some, in this function of its own, that it never allocated by these functions, and the
	 * program never had (glibc's thread caches); NULL: it does not. */
	const char *keeper;
};

struct module {
	unsigned api; /* MODULE_API, as it was when the module was written */
	const char *name;
	unsigned short version_major, version_minor;
	const struct resource *resources;
	size_t resource_count;
	const struct function *functions;
	size_t function_count;
	const char *const *prefixes; /* NULL-terminated; for functions with '*' */
	/* For messages, NULL: it has none. Two families of its functions that are confused, and the functions whose
	 * addresses a user gives first, by --symbol. */
	const char *families, *symbols;
};

/* The module of that name, or NULL: also for one that was written for another MODULE_API. */
const struct module *module_find(const char *name);
const char *module_names(void);

#endif
