/* The public contract of a module: the functions of one kind of resource (or a few that belong together), as a table.
 *
 * A row says everything about one function, so a function is added by adding a row.
 *
 * A shared object with a module of your own (functrace -e FILE.so) needs only this header, and defines
 *
 *     extern const struct module *const functrace_module; */
#ifndef FT_MODULES_MODULE_H
#define FT_MODULES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_API 2

enum function_role {
	ROLE_ALLOC = 1, /* an allocation, recorded at the return */
	ROLE_RELEASE,   /* a release, recorded at the entry; the return is watched only if it can fail */
	ROLE_REALLOC,   /* releases `released` if it succeeds, then allocates the result */
	ROLE_CALL,      /* only a record of the call: neither allocates nor releases */
};

/* The source of a number. VALUE_NONE is 0, so a field that is left out has no value. */
enum value_kind {
	VALUE_NONE,
	VALUE_ARG,           /* integer argument a */
	VALUE_RESULT,        /* the function's result */
	VALUE_ARG_TIMES,     /* argument a * argument b, whose type is in `number`; saturated */
	VALUE_POINTEE,       /* element b of the array to which argument a points, read at the return */
	VALUE_CONST,         /* `number` itself */
	VALUE_ARG_PAGES,     /* argument a rounded up to whole pages (pvalloc) */
	VALUE_ARG_SCALED,    /* argument a * `number`, saturated */
	VALUE_RESULT_SCALED, /* (the result + b) * `number`, saturated */
	VALUE_STRING_SIZE,   /* bytes of the string to which argument a points, including its end */
	VALUE_RESULT_STRING_SIZE,
	VALUE_WIDE_SIZE, /* the same for a string of wchar_t, each of 4 bytes */
	VALUE_RESULT_WIDE_SIZE,
	/* A hash of the string to which argument a points, without slashes at its beginning: 32 bits, never 0. */
	VALUE_NAME,
	VALUE_LIVE_SIZE, /* size of the live resource of type b (an index) whose id is argument a; 0 none */
	VALUE_KEPT,      /* the number that `keeps` has kept with that resource; no value if none is kept */
};

/* The C type of an argument, a result or an array's element. If it is narrower than a register, the other bits are
 * undefined and ignored. */
enum value_type {
	TYPE_WORD,  /* as wide as a pointer: pointers, size_t, long, pthread_t */
	TYPE_INT,   /* int; -1 becomes 64 bits of ones */
	TYPE_UINT,  /* unsigned int */
	TYPE_INT8,  /* signed char */
	TYPE_UINT8, /* bool, unsigned char */
	TYPE_INT16,
	TYPE_UINT16,
};

#define MODULE_ARGS 6 /* the integer arguments that a row can name: 0 to 5 */

struct value {
	unsigned char kind, a, b;
	unsigned char type; /* enum value_type, of the argument or of what it points to */
	uint64_t number;
};

/* clang-format off */
#define ARG(n) {VALUE_ARG, (n), 0, TYPE_WORD, 0}
#define ARG_INT(n) {VALUE_ARG, (n), 0, TYPE_INT, 0}
#define ARG_UINT(n) {VALUE_ARG, (n), 0, TYPE_UINT, 0}
#define ARG_TIMES(n, m) {VALUE_ARG_TIMES, (n), (m), TYPE_WORD, 0}
#define ARG_SCALED(n, factor) {VALUE_ARG_SCALED, (n), 0, TYPE_WORD, (factor)}
#define ARG_PAGES(n) {VALUE_ARG_PAGES, (n), 0, TYPE_WORD, 0}
#define RESULT {VALUE_RESULT, 0, 0, TYPE_WORD, 0}
#define RESULT_SCALED(more, factor) {VALUE_RESULT_SCALED, 0, (more), TYPE_WORD, (factor)}
#define POINTEE(n, index) {VALUE_POINTEE, (n), (index), TYPE_WORD, 0}
#define POINTEE_INT(n, index) {VALUE_POINTEE, (n), (index), TYPE_INT, 0}
#define CONST(n) {VALUE_CONST, 0, 0, TYPE_WORD, (n)}
#define STRING_SIZE(n) {VALUE_STRING_SIZE, (n), 0, TYPE_WORD, 0}
#define RESULT_STRING_SIZE {VALUE_RESULT_STRING_SIZE, 0, 0, TYPE_WORD, 0}
#define WIDE_SIZE(n) {VALUE_WIDE_SIZE, (n), 0, TYPE_WORD, 0}
#define RESULT_WIDE_SIZE {VALUE_RESULT_WIDE_SIZE, 0, 0, TYPE_WORD, 0}
#define NAME_OF(n) {VALUE_NAME, (n), 0, TYPE_WORD, 0}
#define LIVE_SIZE(n, type, resource) {VALUE_LIVE_SIZE, (n), (resource), (type), 0}
#define KEPT(n, type, resource) {VALUE_KEPT, (n), (resource), (type), 0}
/* clang-format on */

/* A condition on a call's arguments at its entry. A number that cannot be read counts as 0. */
enum test {
	TEST_NONE = 0, /* always holds */
	TEST_EQUALS,   /* value == other */
	TEST_DIFFERS,
	TEST_AT_MOST,  /* value <= other */
	TEST_HAS,      /* value has all bits of other */
	TEST_LACKS,    /* value lacks a bit of other */
	TEST_LIVE,     /* value is the id of a live resource of type `resource`; for ranges, an address in a live one */
	TEST_NOT_LIVE, /* the opposite */
};

struct condition {
	unsigned char test;     /* enum test */
	unsigned char resource; /* index in the module's resources, for TEST_LIVE and TEST_NOT_LIVE */
	bool or_next;           /* this condition or the next must hold; if false, both */
	struct value value, other;
};

#define FUNCTION_CONDITIONS 3

/* Which results mean that a call has succeeded. */
enum success {
	OK_NONZERO = 0, /* not NULL, not 0 */
	OK_ZERO,        /* 0, as of posix_memalign, pthread_create */
	OK_NOT_MINUS_1, /* not -1 in the result's own width, as of descriptors, mmap */
	OK_NOT_NEGATIVE,
	OK_ALWAYS,
};

/* How -a shows a parameter or a result. If its type is narrower than a register, the other bits are ignored. */
enum param_type {
	PARAM_END = 0,
	PARAM_SIZE, /* size_t, unsigned long: of a pointer's size; decimal */
	PARAM_INT,
	PARAM_UINT,
	PARAM_HEX,     /* unsigned int; hexadecimal */
	PARAM_POINTER, /* an address */
	PARAM_STRING,  /* const char * */
	PARAM_LONG,    /* long, ssize_t, ptrdiff_t */
	PARAM_INT64,   /* off64_t; in two registers or words if pointers have 32 bits */
	PARAM_UINT64,
	PARAM_OCTAL,    /* mode_t: unsigned int; shown as 0644 */
	PARAM_WIDE,     /* const wchar_t *, each of 4 bytes */
	PARAM_WORD,     /* int: the word of `words`, or a hexadecimal number */
	PARAM_FLAGS,    /* int: bits that `words` names, then other bits in hexadecimal */
	PARAM_SOCKADDR, /* const struct sockaddr *; parameter `with` is its length, or points to it */
	PARAM_INTS,     /* int *; `needs` is how many */
	PARAM_INDIRECT, /* a pointer to a pointer, which is shown (the first parameter of posix_memalign) */
	PARAM_BOOL,
	PARAM_DOUBLE,
	PARAM_FLOAT,
	PARAM_INT8,
	PARAM_UINT8,
	PARAM_INT16,
	PARAM_UINT16,
	PARAM_CHAR,       /* char, or an int whose lowest 8 bits are a character */
	PARAM_WCHAR,      /* wchar_t */
	PARAM_HEX_LONG,   /* unsigned long, hexadecimal */
	PARAM_FLAGS_MODE, /* as PARAM_FLAGS, but other bits are shown in octal, as with PARAM_OCTAL */
	PARAM_ERROR,      /* int: 0, or an error number, shown by its name (EINVAL) */
	PARAM_FUNCTION,   /* a pointer to a function, shown by its name */
	PARAM_STRINGS,    /* char *const *, ended by NULL */
	/* const void *: as many bytes as parameter `with` says, times parameter `times` - 1 if `times` is not 0.
	 * With is_result, as many as the function's result says, if that is less. */
	PARAM_BYTES,
	PARAM_STRING_N, /* a string of at most as many bytes as parameter `with` says; its end may be missing */
	PARAM_WIDE_N,   /* the same for wchar_t; `with` counts characters */
	PARAM_NONE,     /* nothing is shown: the parameter is of no interest, or is missing in a param_case */
};

/* Bits of param_word.on: processors for whose programs the constant has that value. */
enum processor {
	ON_X86_64 = 1,
	ON_I386 = 2,
	ON_AARCH64 = 4,
	ON_ARM = 8,
};

/* A name for a value of any type that is a number or an address. A value that no word names is shown as its type says.
 * As many bits are compared as the type has.
 *
 * For flags, the words are tried in order on the bits that are left: if (left & mask) == value, the name is shown, and
 * the bits of the mask are removed. A mask of 0 means the value itself. A word for 0 without a mask (PROT_NONE) is
 * shown if no bits are set at all. */
struct param_word {
	const char *name; /* NULL ends the table */
	uint64_t value, mask;
	unsigned char on; /* the processors (ON_...) with this value; 0: all */
};

/* The type of a parameter for certain values of argument `with` (fcntl's third parameter, by its second). The first
 * case that fits is used. */
struct param_case {
	uint64_t value, mask; /* fits if (argument `with`, as an unsigned int, & mask) == value; mask 0: all bits */
	unsigned char type;   /* enum param_type; PARAM_END ends the table */
	const struct param_word *words;
};

struct param {
	const char *name;
	unsigned char type; /* enum param_type */
	unsigned char with; /* index of another parameter, for `cases`, `needs` and some types */
	unsigned char times;
	/* The function fills what the parameter points to: shown at the return if the call has succeeded; otherwise
	 * its address is shown. */
	bool is_result;
	const struct param_word *words; /* NULL: none */
	/* Bits of argument `with`: the parameter is shown only if one of them is set (open's mode); 0: always. For
	 * PARAM_INTS: the number of ints. */
	uint64_t needs;
	const struct param_case *cases; /* NULL: always of `type`; otherwise of `type` if no case fits */
};

#define FUNCTION_PARAMS 12

/* A call, as the code of a row (struct function, look) gets it. */
struct module_call {
	const uint64_t *args; /* the first integer arguments, at the entry */
	uint64_t result;
	unsigned pointer_size;
	/* Reads the program's memory. Returns false if it cannot be read. */
	bool (*read)(const struct module_call *call, uint64_t address, void *to, size_t size);
	/* Returns the size of the mapping that begins at the address, in bytes of whole pages; 0 if there is none. */
	uint64_t (*mapped)(const struct module_call *call, uint64_t address);
	/* Keeps a copy of a text with an id of the row's resource, for later calls in this process and in processes
	 * that it forks (the name of a type, for its objects). */
	void (*keep_text)(const struct module_call *call, uint64_t id, const char *text);
	/* Returns the text that is kept with an id, or NULL. */
	const char *(*kept_text)(const struct module_call *call, uint64_t id);
};

/* The parts of an event that a row's code may change before it is written. */
struct module_details {
	unsigned index; /* counts the calls for one event from 0 on, if looks_again */
	uint64_t id, size;
	/* An argument that is added to the event: its name, which must be constant, and its value; NULL none. */
	const char *arg_name;
	char arg_value[128];
};

struct function {
	/* The function's name in the object file (mangled). '*' as a prefix: "*malloc" matches any prefix of
	 * prefixes[]. With is_pattern: a shell pattern that is matched with symbols and demangled names, also of
	 * local functions; see src/calls/probes/patterns.h. NAME@OBJECT: only in objects with OBJECT in their path.
	 * OBJECT!0xADDRESS: the code at that address of the object's file. OBJECT "main", or nothing before the !,
	 * is the program itself. */
	const char *symbol;
	bool is_pattern;
	const char *name;       /* the name in the trace; NULL: the symbol, or the name that the pattern has matched */
	unsigned char role;     /* enum function_role */
	unsigned char resource; /* index in the module's resources */
	/* The row applies to a call only if all these hold. A symbol may have several rows, one for each resource. */
	struct condition conditions[FUNCTION_CONDITIONS];
	struct value id; /* of the resource that is allocated (ROLE_RELEASE: released) */
	struct value size;
	struct value released; /* ROLE_REALLOC: the id that is released */
	/* ROLE_ALLOC whose `id` is a VALUE_POINTEE: the number of ids in that array (pipe); 0 means 1. */
	unsigned char id_count;
	/* ROLE_RELEASE, if not VALUE_NONE: releases all live ids from `id` to this one (close_range). If none is
	 * live, nothing is released. */
	struct value last;
	/* For ranges (is_range): how many bytes from `id` or `released` on are released; VALUE_NONE: the whole
	 * range; 0 bytes: nothing. */
	struct value extent;
	/* For ranges: if it holds (TEST_NONE: never), an allocation replaces all ranges of the module that it covers
	 * (MAP_FIXED). */
	struct condition replaces;
	/* ROLE_REALLOC: if it holds (TEST_NONE: never), the old resource stays live beside the new one (an mremap
	 * that leaves the old place mapped). */
	struct condition stays;
	struct value keeps;    /* ROLE_ALLOC: a number to keep with the id (the segment of a mapping) */
	unsigned char result;  /* enum value_type of the result */
	unsigned char success; /* enum success */
	bool can_fail;         /* a release that can fail: reserved at the entry, written when its success is proved */
	bool fails_unknown;    /* a release that can fail, but not of a live id (close) */
	bool may_release_none; /* if the id is not live, the call is no release and is not written (dup2, munmap) */
	bool releases_anyway;  /* ROLE_REALLOC: `released` is released even if the call fails (freopen) */
	bool unless_live;      /* ROLE_ALLOC: if the id is live already, the call has not allocated it (shm_open) */
	bool publishes_early;  /* other threads can see the id before the return (posix_memalign) */
	bool throws;           /* may end with a C++ exception */
	bool zero_size_releases; /* ROLE_REALLOC: size 0 and result NULL mean that it has released */
	const char *family;      /* which functions must release it ("malloc", "new", "new[]"); NULL any */
	/* Code for what the row cannot say, called at the return of a successful call before it is written. Returns
	 * false if it is not to be written. NULL: none. */
	bool (*look)(const struct module_call *call, struct module_details *details);
	bool looks_again; /* `look` is called until it returns false, and each call makes an event (recvmsg) */
	/* The parameters for -a, in the order of the prototype, as far as they are known. */
	struct param params[FUNCTION_PARAMS];
	struct param returns; /* the result, also if it is the event's id; PARAM_END: none */
	/* errno has the reason of a failure. The call has failed if it has not succeeded by `success`, or, with
	 * OK_ALWAYS, if it returns -1. */
	bool sets_errno;
};

/* Where the kernel shows the resources that exist before a trace begins. */
enum existing {
	EXISTING_UNKNOWN = 0,
	EXISTING_DESCRIPTORS, /* /proc/PID/fd */
};

/* As enum resource_flags in functrace's traces. */
enum {
	KIND_REFCOUNT = 1, /* an id is live until it is released as often as it was allocated */
	KIND_CALL = 2,     /* records of calls, which are never leaks */
};

struct resource {
	const char *type, *desc;
	unsigned flags;   /* KIND_... */
	const char *noun; /* what messages call one of them ("block"); the plural has an s */
	const char *unit; /* what sizes count ("byte"); NULL: sizes are not summed up */
	const char *left; /* what messages call those that were not released ("never joined"); NULL: live */
	bool zero_is_id;  /* 0 is an id like any other (descriptors); if false, it is none (NULL) */
	bool is_range;    /* an id is an address with a size, and parts may be released (mappings) */
	/* They belong to the thread group, not to the address space, so the child of a vfork changes only its own. */
	bool of_group;
	bool ends_in_child; /* a fork's child has none of its maker's (threads) */
	/* True: a call is folded into a call of another of the module's kinds with this flag, too (fopen opens a
	 * descriptor), if all code between the two belongs to the outer function's object. False: only calls of the
	 * same kind are folded, and only if all functions between them are of that kind. */
	bool folds_in_object;
	bool is_nested;         /* each call is its own event, also inside another one */
	unsigned char existing; /* enum existing */
	/* A function of the C library that releases resources which it has never allocated by these functions and
	 * the program has never had (glibc's thread caches); NULL none. */
	const char *keeper;
};

struct module {
	unsigned api; /* MODULE_API at the time when the module was written */
	const char *name;
	const char *summary; /* one line for -e help */
	unsigned short version_major, version_minor;
	const struct resource *resources;
	size_t resource_count;
	const struct function *functions;
	size_t function_count;
	const char *const *prefixes; /* for functions with '*'; ended by NULL */
	/* For messages; NULL: none. families: two families of functions that programs confuse. symbols: the options
	 * --symbol that a user should try first. */
	const char *families, *symbols;
};

/* Initialises the two tables of a struct module from arrays. */
#define MODULE_TABLES(resource_array, function_array)                                                                  \
	.resources = (resource_array), .resource_count = sizeof(resource_array) / sizeof((resource_array)[0]),         \
	.functions = (function_array), .function_count = sizeof(function_array) / sizeof((function_array)[0])

#endif
