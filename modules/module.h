/* The public interface of a module: a table of the functions for one kind of resource, or for a few that belong
 * together.
 *
 * A table row describes one function completely, so a function is added by adding a row.
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
	ROLE_ALLOC = 1, /* an allocation, recorded when the function returns */
	ROLE_RELEASE,   /* a release, recorded at the entry; the return is traced only if the release can fail */
	ROLE_REALLOC,   /* a release of `released` if the call succeeds, then an allocation of the result */
	ROLE_CALL,      /* a call that is only recorded: it neither allocates nor releases */
};

/* How a number is computed. VALUE_NONE is 0, so a field that is not initialised has no value. */
enum value_kind {
	VALUE_NONE,
	VALUE_ARG,           /* integer argument a */
	VALUE_RESULT,        /* the result of the function */
	VALUE_ARG_TIMES,     /* argument a * argument b, whose type is in `number`; saturated on overflow */
	VALUE_POINTEE,       /* element b of the array at argument a; an allocated id is read at the return */
	VALUE_CONST,         /* the constant in `number` */
	VALUE_ARG_PAGES,     /* argument a rounded up to whole pages (pvalloc) */
	VALUE_ARG_SCALED,    /* argument a * `number`, saturated on overflow */
	VALUE_RESULT_SCALED, /* (the result + b) * `number`, saturated on overflow */
	VALUE_STRING_SIZE,   /* bytes of the string to which argument a points, including the terminating NUL */
	VALUE_RESULT_STRING_SIZE,
	VALUE_WIDE_SIZE, /* like VALUE_STRING_SIZE, for a string of wchar_t with 4 bytes each */
	VALUE_RESULT_WIDE_SIZE,
	/* A hash of the string to which argument a points, without leading slashes: 32 bits, never 0. */
	VALUE_NAME,
	VALUE_LIVE_SIZE, /* size of the live resource of kind b whose id is argument a; 0 if there is none */
	VALUE_KEPT,      /* number that `keeps` stored for the id in argument a, of kind b; no value if there is none */
};

/* The C type of an argument, a result or an array's element. If the type is narrower than a register, the other bits
 * of the register are ignored, because they are undefined. */
enum value_type {
	TYPE_WORD,  /* types with a pointer's width: pointers, size_t, long, pthread_t */
	TYPE_INT,   /* int; -1 is converted to 64 bits of ones */
	TYPE_UINT,  /* unsigned int */
	TYPE_INT8,  /* signed char */
	TYPE_UINT8, /* bool or unsigned char */
	TYPE_INT16,
	TYPE_UINT16,
};

#define MODULE_ARGS 6 /* maximum number of integer arguments that a row can use */

struct value {
	unsigned char kind, a, b;
	unsigned char type; /* enum value_type of the argument, or of the array's element */
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

/* A condition on a call's arguments, evaluated at the function's entry. If a number cannot be read, 0 is used. */
enum test {
	TEST_NONE = 0, /* is always true */
	TEST_EQUALS,   /* value == other */
	TEST_DIFFERS,
	TEST_AT_MOST,  /* value <= other */
	TEST_HAS,      /* value contains all bits of other */
	TEST_LACKS,    /* value does not contain all bits of other */
	TEST_LIVE,     /* value is a live id of kind `resource`; for ranges, an address in a live range */
	TEST_NOT_LIVE, /* the negation of TEST_LIVE */
};

struct condition {
	unsigned char test;     /* enum test */
	unsigned char resource; /* index in the module's resources, for TEST_LIVE and TEST_NOT_LIVE */
	bool or_next;           /* true if this condition or the next must hold; false if both must */
	struct value value, other;
};

#define FUNCTION_CONDITIONS 3

/* Which results mean that a call has succeeded. */
enum success {
	OK_NONZERO = 0, /* not NULL, not 0 */
	OK_ZERO,        /* 0, as for posix_memalign and pthread_create */
	OK_NOT_MINUS_1, /* not -1 in the result's own width, as for functions that return a descriptor, and mmap */
	OK_NOT_NEGATIVE,
	OK_ALWAYS,
};

/* How -a shows a parameter or a result. If the type is narrower than a register, the other bits of the register are
 * ignored. */
enum param_type {
	PARAM_END = 0,
	PARAM_SIZE, /* size_t or unsigned long, in decimal */
	PARAM_INT,
	PARAM_UINT,
	PARAM_HEX,     /* unsigned int, in hexadecimal */
	PARAM_POINTER, /* an address */
	PARAM_STRING,  /* const char * */
	PARAM_LONG,    /* long, ssize_t or ptrdiff_t */
	PARAM_INT64,   /* off64_t; if pointers have 32 bits, it takes two registers or words */
	PARAM_UINT64,
	PARAM_OCTAL,    /* mode_t, an unsigned int, shown like 0644 */
	PARAM_WIDE,     /* const wchar_t *, with 4 bytes a character */
	PARAM_WORD,     /* an int that is shown by its name in `words`, or in hexadecimal */
	PARAM_FLAGS,    /* an int of flags: the names in `words` of its bits, then its other bits in hexadecimal */
	PARAM_SOCKADDR, /* const struct sockaddr *; parameter `with` is its length, or a pointer to its length */
	PARAM_INTS,     /* int *; `needs` is the number of ints */
	PARAM_INDIRECT, /* a pointer to a pointer; the second pointer is shown (first parameter of posix_memalign) */
	PARAM_BOOL,
	PARAM_DOUBLE,
	PARAM_FLOAT,
	PARAM_INT8,
	PARAM_UINT8,
	PARAM_INT16,
	PARAM_UINT16,
	PARAM_CHAR,       /* a char, or an int whose lowest 8 bits are a character */
	PARAM_WCHAR,      /* wchar_t */
	PARAM_HEX_LONG,   /* unsigned long, in hexadecimal */
	PARAM_FLAGS_MODE, /* the same as PARAM_FLAGS, but other bits are shown in octal, as for PARAM_OCTAL */
	PARAM_ERROR,      /* an int that is 0 or an error number, shown by its name (EINVAL) */
	PARAM_FUNCTION,   /* a pointer to a function, shown by its name */
	PARAM_STRINGS,    /* char *const *, terminated by NULL */
	/* const void *. The number of bytes is the value of parameter `with`; if `times` is not 0, it is multiplied by
	 * the value of the parameter with index `times` - 1. With is_result, the function's result replaces the value
	 * of `with` if the result is lower. */
	PARAM_BYTES,
	PARAM_STRING_N, /* a string that may lack its NUL, of at most as many bytes as the value of parameter `with` */
	PARAM_WIDE_N,   /* like PARAM_STRING_N, for wchar_t; the limit is a number of characters */
	PARAM_NONE,     /* nothing is shown: the parameter is of no interest, or does not exist in this case */
};

/* Bits of param_word.on: the processors whose programs use this value for the constant. */
enum processor {
	ON_X86_64 = 1,
	ON_I386 = 2,
	ON_AARCH64 = 4,
	ON_ARM = 8,
};

/* A name for a value of any type that is a number or an address. A value without a name is shown according to its type.
 * Only the bits that the type has are compared.
 *
 * For flags, the names are tried in order on the bits that remain: if (remaining & mask) == value, the name is shown,
 * and the bits of the mask are removed. A mask of 0 means the value itself. A name for 0 without a mask (PROT_NONE) is
 * shown if no bits are set at all. */
struct param_word {
	const char *name; /* NULL ends the table */
	uint64_t value, mask;
	unsigned char on; /* mask of the processors (ON_...) with this value; 0: all */
};

/* The type of a parameter if argument `with` has a certain value (fcntl's third parameter, depending on its second).
 * The first case that matches is used. */
struct param_case {
	uint64_t value, mask; /* matches if (argument `with` as an unsigned int & mask) == value; mask 0: all bits */
	unsigned char type;   /* enum param_type; PARAM_END ends the table */
	const struct param_word *words;
};

struct param {
	const char *name;
	unsigned char type; /* enum param_type */
	unsigned char with; /* index of another parameter, used by `cases`, `needs` and some types */
	unsigned char times;
	/* True if the function writes the memory to which the parameter points. This memory is shown when the call
	 * has returned successfully; otherwise the address is shown. */
	bool is_result;
	const struct param_word *words; /* names for values; NULL if there are none */
	/* A mask of bits in argument `with`: the parameter is shown only if one of them is set (open's mode); 0: it
	 * is always shown. For PARAM_INTS: the number of ints. */
	uint64_t needs;
	const struct param_case *cases; /* tried first; `type` is used if none matches, or if this is NULL */
};

#define FUNCTION_PARAMS 12

/* A call, as it is passed to the function `look` of a table row. */
struct module_call {
	const uint64_t *args; /* the first integer arguments, as they were at the function's entry */
	uint64_t result;
	unsigned pointer_size;
	/* Reads the program's memory. Returns false if the memory cannot be read. */
	bool (*read)(const struct module_call *call, uint64_t address, void *to, size_t size);
	/* Returns the size in bytes of the mapping that begins at the address; 0 if no mapping begins there. */
	uint64_t (*mapped)(const struct module_call *call, uint64_t address);
	/* Stores a copy of a text for an id of the row's resource, for example the name of a type for the type's id.
	 * kept_text() returns it for later calls, in this process and in processes that it forks. */
	void (*keep_text)(const struct module_call *call, uint64_t id, const char *text);
	/* Returns the text that is stored for an id, or NULL. */
	const char *(*kept_text)(const struct module_call *call, uint64_t id);
};

/* The data of an event that the function `look` of a table row may change before the event is written. */
struct module_details {
	unsigned index; /* with looks_again: number of events of the traced call before this one */
	uint64_t id, size;
	/* An argument that is added to the event: its name, which must be a constant string, and its value. The name
	 * is NULL if no argument is added. */
	const char *arg_name;
	char arg_value[128];
};

struct function {
	/* The function's name in the object file (mangled). A leading '*', as in "*malloc", matches each of the
	 * module's prefixes. With is_pattern: a shell pattern that is matched with symbols and demangled names,
	 * including those of local functions; see src/calls/probes/function_patterns.h. NAME@OBJECT: only in objects
	 * whose path contains OBJECT. OBJECT!0xADDRESS: the code at that address of the object's file. If OBJECT is
	 * "main" or empty, it is the program itself. */
	const char *symbol;
	bool is_pattern;
	const char *name;       /* the name in the trace; NULL: the symbol, or the name that matched the pattern */
	unsigned char role;     /* enum function_role */
	unsigned char resource; /* index in the module's resources */
	/* The row applies to a call only if all these conditions hold. A symbol may have several rows, one for each
	 * resource. */
	struct condition conditions[FUNCTION_CONDITIONS];
	struct value id; /* id of the allocated resource (ROLE_RELEASE: of the released one) */
	struct value size;
	struct value released; /* ROLE_REALLOC: id of the resource that is released */
	/* ROLE_ALLOC with a VALUE_POINTEE as `id`: number of ids in that array (pipe has 2); 0 means 1. */
	unsigned char id_count;
	/* ROLE_RELEASE, if not VALUE_NONE: all live ids from `id` to this one are released (close_range). If no id
	 * in this range is live, nothing is released. */
	struct value last;
	/* For ranges (is_range): number of bytes, from `id` or `released` on, that are released. VALUE_NONE: the
	 * whole range is released; 0 bytes: nothing is released. */
	struct value extent;
	/* For ranges: if this condition holds, an allocation replaces all ranges of the module that it covers
	 * (MAP_FIXED). With TEST_NONE it never does. */
	struct condition replaces;
	/* ROLE_REALLOC: if this condition holds, the old resource stays live beside the new one, as after an mremap
	 * that leaves the old addresses mapped. With TEST_NONE it never does. */
	struct condition stays;
	struct value keeps;    /* ROLE_ALLOC: a number to store with the id (the segment of a mapping) */
	unsigned char result;  /* enum value_type of the result */
	unsigned char success; /* enum success */
	bool can_fail;         /* the release can fail: its place is reserved at the entry; it is written on success */
	bool fails_unknown;    /* the release can fail, but not for a live id (close) */
	bool may_release_none; /* if the id is not live, the call releases nothing and is not written (dup2, munmap) */
	bool releases_anyway;  /* the old resource is released even if the call fails (freopen) */
	bool unless_live;      /* ROLE_ALLOC: if the id is live already, the call has not allocated it (shm_open) */
	bool publishes_early;  /* other threads can see the id before the return (posix_memalign) */
	bool throws;           /* the function may end with a C++ exception */
	bool zero_size_releases; /* ROLE_REALLOC: size 0 and result NULL mean that the call has released the resource */
	const char *family;      /* functions of this family must release the id ("malloc", "new[]"); NULL: any */
	/* Does what the table cannot describe. Called when a successful call has returned, before the event is written.
	 * Returns false if the event must not be written. NULL if there is no such function. */
	bool (*look)(const struct module_call *call, struct module_details *details);
	bool looks_again; /* `look` is called until it returns false; each true result makes an event (recvmsg) */
	/* The parameters that -a shows, in the order of the prototype. Unknown parameters at the end are left out. */
	struct param params[FUNCTION_PARAMS];
	struct param returns; /* the result that -a shows, also if it is the event's id; PARAM_END: not shown */
	/* True if errno contains the reason of a failure. A call has failed if it has not succeeded according to
	 * `success`, or, with OK_ALWAYS, if it returns -1. */
	bool sets_errno;
};

/* How the kernel shows the resources that exist when a trace begins. */
enum existing {
	EXISTING_UNKNOWN = 0,
	EXISTING_DESCRIPTORS, /* the kernel shows them in /proc/PID/fd */
};

/* The values are those of enum resource_flags in functrace's traces. */
enum {
	KIND_REFCOUNT = 1, /* an id is live until it has been released as often as it was allocated */
	KIND_CALL = 2,     /* the events are records of calls, which are never leaks */
};

struct resource {
	const char *type, *desc;
	unsigned flags;   /* KIND_... */
	const char *noun; /* name of one resource in messages ("block"); the plural has an s */
	const char *unit; /* unit of sizes ("byte"); NULL: sizes are not added up */
	const char *left; /* how messages call resources that were not released ("never joined"); NULL: live */
	bool zero_is_id;  /* true if 0 is a valid id (descriptors); false if 0 means "no resource" (NULL) */
	bool is_range;    /* an id is an address with a size, and a piece of the range can be released (mappings) */
	/* The resources belong to the thread group, not to the address space. So the child of a vfork changes only its
	 * own resources. */
	bool of_group;
	bool ends_in_child; /* a fork's child has none of its parent's resources (threads) */
	/* True: a call is folded into an outer call of the same kind, or of another kind of the same module with this
	 * flag (fopen opens a descriptor), if all functions on the stack between the two calls belong to the outer
	 * function's object. False: a call is folded only into an outer call of the same kind, and only if all
	 * functions between the two calls are of this kind. */
	bool folds_in_object;
	bool is_nested;         /* each call makes its own event, also inside another call */
	unsigned char existing; /* enum existing */
	/* A function of the C library that releases the library's own resources, which no function of this table has
	 * allocated (glibc's thread caches). NULL if there is none. */
	const char *keeper;
};

struct module {
	unsigned api; /* value of MODULE_API when the module was compiled */
	const char *name;
	const char *summary; /* one line for -e help */
	unsigned short version_major, version_minor;
	const struct resource *resources;
	size_t resource_count;
	const struct function *functions;
	size_t function_count;
	const char *const *prefixes; /* prefixes for symbols with '*', terminated by NULL */
	/* Texts in messages; NULL if there are none. families: two families of functions that programs often mix up.
	 * symbols: the options --symbol-address that a user should try first. */
	const char *families, *symbols;
};

/* Initialises the two tables of a struct module from arrays. */
#define MODULE_TABLES(resource_array, function_array)                                                                  \
	.resources = (resource_array), .resource_count = sizeof(resource_array) / sizeof((resource_array)[0]),         \
	.functions = (function_array), .function_count = sizeof(function_array) / sizeof((function_array)[0])

#endif
