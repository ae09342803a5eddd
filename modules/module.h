/* The public contract of a module: one kind of resource (or a few that belong together), as a table.
 *
 * A row says everything about a function: adding a function is adding a row.
 *
 * A shared object with a module of one's own (functrace -e FILE.so) needs this header only, and defines
 *
 *     extern const struct module *const functrace_module; */
#ifndef FT_MODULES_MODULE_H
#define FT_MODULES_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_API 2

enum function_role {
	ROLE_ALLOC = 1, /* recorded at its return */
	ROLE_RELEASE,   /* recorded at its entry; no return breakpoint unless it can fail */
	ROLE_REALLOC,   /* releases `released` if it succeeds, then allocates the result */
	ROLE_CALL,      /* a record of the call itself: neither allocates nor releases */
};

/* Where a number comes from. VALUE_NONE is 0, so an absent field is none. */
enum value_kind {
	VALUE_NONE,
	VALUE_ARG,           /* integer argument a */
	VALUE_RESULT,        /* the function's result */
	VALUE_ARG_TIMES,     /* argument a * argument b, whose type is `number`, saturated */
	VALUE_POINTEE,       /* the b-th number of the array that argument a points to, read at the return */
	VALUE_CONST,         /* the number itself */
	VALUE_ARG_PAGES,     /* argument a rounded up to whole pages (pvalloc) */
	VALUE_ARG_SCALED,    /* argument a times the number, saturated */
	VALUE_RESULT_SCALED, /* (the result + b) times the number, saturated */
	VALUE_STRING_SIZE,   /* bytes of the string that argument a points to, with its end */
	VALUE_RESULT_STRING_SIZE,
	VALUE_WIDE_SIZE, /* the same of a string of wchar_t, of 4 bytes each */
	VALUE_RESULT_WIDE_SIZE,
	/* A number that stands for the string that argument a points to, without the slashes that it begins with: 32
	 * bits of a hash, never 0. */
	VALUE_NAME,
	VALUE_LIVE_SIZE, /* the size of the live one of the module's resource b whose id is argument a; 0 none */
	VALUE_KEPT,      /* what was kept with that one: `keeps`; nothing where nothing was */
};

/* The C type of an argument, a result or an array's element. What is narrower than a register leaves the rest of it
 * undefined: only the bits of the type count. */
enum value_type {
	TYPE_WORD,  /* as wide as a pointer: pointers, size_t, long, pthread_t */
	TYPE_INT,   /* int; -1 is 64 bits of ones everywhere */
	TYPE_UINT,  /* unsigned int */
	TYPE_INT8,  /* signed char */
	TYPE_UINT8, /* bool, unsigned char */
	TYPE_INT16,
	TYPE_UINT16,
};

#define MODULE_ARGS 6 /* integer arguments of a call that a row can name: 0 to 5 */

struct value {
	unsigned char kind, a, b;
	unsigned char type; /* enum value_type, of arguments and of what they point to */
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

/* A condition on a call's arguments, as they are at its entry. A number that cannot be read is 0. */
enum test {
	TEST_NONE = 0, /* holds */
	TEST_EQUALS,   /* value is other */
	TEST_DIFFERS,
	TEST_AT_MOST,  /* value is other or less */
	TEST_HAS,      /* value has all bits of other */
	TEST_LACKS,    /* value has not all of them */
	TEST_LIVE,     /* value is the id of a live one of the module's `resource`; of ranges, within a live one */
	TEST_NOT_LIVE, /* it is not */
};

struct condition {
	unsigned char test;     /* enum test */
	unsigned char resource; /* index into the module's resources */
	bool or_next;           /* this one or the next must hold; else both */
	struct value value, other;
};

#define FUNCTION_CONDITIONS 3

/* When a call counts as successful, by its result. */
enum success {
	OK_NONZERO = 0, /* the result is not NULL */
	OK_ZERO,        /* posix_memalign, pthread_create */
	OK_NOT_MINUS_1, /* descriptors, mmap; of the result's own width */
	OK_NOT_NEGATIVE,
	OK_ALWAYS,
};

/* How -a shows a parameter or a result. Of what is narrower than a register only the bits of the type count. */
enum param_type {
	PARAM_END = 0,
	PARAM_SIZE, /* size_t, unsigned long: as wide as a pointer; decimal */
	PARAM_INT,
	PARAM_UINT,
	PARAM_HEX,     /* unsigned int, hexadecimal */
	PARAM_POINTER, /* an address */
	PARAM_STRING,  /* const char * */
	PARAM_LONG,    /* long, ssize_t, ptrdiff_t */
	PARAM_INT64,   /* off64_t; two registers or words where pointers have 32 bits */
	PARAM_UINT64,
	PARAM_OCTAL,    /* mode_t: unsigned int, 0644 */
	PARAM_WIDE,     /* const wchar_t *, of 4 bytes each */
	PARAM_WORD,     /* int, one of `words`; hexadecimal else */
	PARAM_FLAGS,    /* int, of bits that `words` names; what they do not name follows in hexadecimal */
	PARAM_SOCKADDR, /* const struct sockaddr *, whose length is parameter `with` (or what that points to) */
	PARAM_INTS,     /* int *, as many as the parameter's `needs` */
	PARAM_INDIRECT, /* a pointer to a pointer, which is shown (posix_memalign's first) */
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
	PARAM_FLAGS_MODE, /* as PARAM_FLAGS; what the words do not name follows in octal, as PARAM_OCTAL is shown */
	PARAM_ERROR,      /* int: 0, or the number of an error, shown by its name (EINVAL) */
	PARAM_FUNCTION,   /* a pointer to a function, shown by its name */
	PARAM_STRINGS,    /* char *const *, with a NULL behind the last */
	/* const void *: bytes, as many as parameter `with`, times parameter `times` - 1 if `times` is not 0. Where
	 * is_result, the function's result takes the place of parameter `with` if it is less. */
	PARAM_BYTES,
	PARAM_STRING_N, /* a string of at most as many bytes as parameter `with`, with its end or without one */
	PARAM_WIDE_N,   /* the same of wchar_t, and as many characters */
	PARAM_NONE, /* nothing is shown, though there is one: that nobody needs to see, or (param_case) is not there */
};

/* Bits of param_word.on: the processors whose programs have a constant of that value. */
enum processor {
	ON_X86_64 = 1,
	ON_I386 = 2,
	ON_AARCH64 = 4,
	ON_ARM = 8,
};

/* A name for a value, of any type that is a number or an address: what none of the words names is shown as its type
 * says. As many bits are compared as the type has.
 *
 * Of flags the words are tried in order, each with what those before it have left: where (left & mask) == value, the
 * name is shown, and the bits of the mask are taken away. A mask of 0 is the value itself; the word for 0 without a
 * mask (PROT_NONE) stands for no bits at all. */
struct param_word {
	const char *name; /* NULL: the end of the table */
	uint64_t value, mask;
	unsigned char on; /* the processors (ON_...) that have it; 0: all */
};

/* What a parameter is where argument `with` says so (fcntl's third, by its second). The first one that fits counts. */
struct param_case {
	uint64_t value, mask; /* (the argument, an unsigned int, & mask) == value; mask 0: all bits */
	unsigned char type;   /* enum param_type; PARAM_END: the end of the table */
	const struct param_word *words;
};

struct param {
	const char *name;
	unsigned char type; /* enum param_type */
	unsigned char with; /* another parameter's index, for `cases`, `needs` and some types */
	unsigned char times;
	/* The function fills what it points to: it is shown as it is at the return of a success, else the address. */
	bool is_result;
	const struct param_word *words; /* NULL: none */
	/* Shown only if argument `with` has one of these bits (open's mode); 0: always. Of PARAM_INTS: how many. */
	uint64_t needs;
	const struct param_case *cases; /* NULL: always as `type` says, as it is if none fits */
};

#define FUNCTION_PARAMS 12

/* A call, for a row's own code. */
struct module_call {
	const uint64_t *args; /* the first integer arguments, as they were at the entry */
	uint64_t result;
	unsigned pointer_size;
	/* Reads the program's memory. False: it cannot be read. */
	bool (*read)(const struct module_call *call, uint64_t address, void *to, size_t size);
	/* How many bytes the mapping has that begins at the address, in whole pages; 0: none does. */
	uint64_t (*mapped)(const struct module_call *call, uint64_t address);
	/* Keeps a text, of which it takes a copy, with an id of the row's resource: for later calls in this process,
	 * and in those that it forks (the name of a type, for its objects). */
	void (*keep_text)(const struct module_call *call, uint64_t id, const char *text);
	/* The text that is kept with an id; NULL: none is. */
	const char *(*kept_text)(const struct module_call *call, uint64_t id);
};

/* What is going to be written of it. */
struct module_details {
	unsigned index; /* 0, 1... of a row that looks again */
	uint64_t id, size;
	/* An argument of the event: its name, a literal, and its value; NULL none. */
	const char *arg_name;
	char arg_value[128];
};

struct function {
	/* As the object file has it (mangled); '*' only as a prefix: "*malloc" matches any prefix of prefixes[].
	 * is_pattern: a shell's pattern, which is matched with symbols and with demangled names, of local functions,
	 * too: see src/calls/probes/patterns.h. NAME@OBJECT: in objects that have this in their path; OBJECT!0xADDRESS:
	 * what is at that address of the object's file. OBJECT "main", or before the ! none: the program's own. */
	const char *symbol;
	bool is_pattern;
	const char *name;       /* what the trace shows; NULL: the symbol, or what the pattern has matched */
	unsigned char role;     /* enum function_role */
	unsigned char resource; /* index into the module's resources */
	/* The call is one of this row only if they hold. A symbol may have several rows, of a resource each. */
	struct condition conditions[FUNCTION_CONDITIONS];
	struct value id; /* of what is allocated (or, ROLE_RELEASE, released) */
	struct value size;
	struct value released; /* ROLE_REALLOC: the id that is given up */
	/* ROLE_ALLOC, `id` is a POINTEE: that many ids, one behind the other (pipe); 0 is 1. */
	unsigned char id_count;
	/* ROLE_RELEASE, if it is not VALUE_NONE: each live id from `id` to this one is released (close_range). If none
	 * is, nothing is. */
	struct value last;
	/* Of ranges (is_range): how many bytes from `id` or `released` on are given up; VALUE_NONE: the whole one; of 0
	 * bytes it is nothing. */
	struct value extent;
	/* Of ranges: if it holds (TEST_NONE: it does not), an allocation takes the place of all ranges of the module
	 * that it covers (MAP_FIXED). */
	struct condition replaces;
	/* ROLE_REALLOC: if it holds (TEST_NONE: it does not), the old one stays beside the new one (mremap that leaves
	 * the old place mapped). */
	struct condition stays;
	struct value keeps;      /* ROLE_ALLOC: a number that is kept with the id (a mapping's segment) */
	unsigned char result;    /* enum value_type of the result */
	unsigned char success;   /* enum success */
	bool can_fail;           /* a release that can fail: reserved at the entry, committed by a proof */
	bool fails_unknown;      /* a release that can fail, but not of what is allocated (close) */
	bool may_release_none;   /* what is not allocated is no release, and none is written (dup2, munmap) */
	bool releases_anyway;    /* ROLE_REALLOC: `released` is given up even if the call fails (freopen) */
	bool unless_live;        /* ROLE_ALLOC: what is live already is not allocated by it (shm_open) */
	bool publishes_early;    /* the id is out before the return (posix_memalign) */
	bool throws;             /* a call may end by an exception of C++ */
	bool zero_size_releases; /* ROLE_REALLOC: with size 0 and result NULL the release has happened */
	const char *family;      /* what must release what it allocates ("malloc", "new", "new[]"); NULL any */
	/* For what a row cannot say: called at the return of a call that has succeeded, before it is written; NULL:
	 * nothing. False: it is not written. */
	bool (*look)(const struct module_call *call, struct module_details *details);
	bool looks_again; /* `look` is called until it says false: an event for each time (recvmsg) */
	/* For -a, in the order of the prototype, each of them in a place of its own: as many as are known. */
	struct param params[FUNCTION_PARAMS];
	struct param returns; /* its result, also if it is the event's id; PARAM_END: it has none */
	/* When it fails, errno says why: if it does not succeed by `success`, or, OK_ALWAYS, if the result is -1. */
	bool sets_errno;
};

/* What is there before a trace begins, as the kernel shows it. */
enum existing {
	EXISTING_UNKNOWN = 0,
	EXISTING_DESCRIPTORS, /* /proc/PID/fd */
};

/* As enum resource_flags of functrace's traces. */
enum {
	KIND_REFCOUNT = 1, /* allocations and releases of one id are counted */
	KIND_CALL = 2,     /* a record of calls, never a leak */
};

struct resource {
	const char *type, *desc;
	unsigned flags;   /* KIND_... */
	const char *noun; /* what messages call one of them ("block"); an s makes the plural */
	const char *unit; /* what sizes are counted in ("byte"); NULL: they are not summed up */
	const char *left; /* what those are that are not released ("never joined"); NULL: live */
	bool zero_is_id;  /* 0 is an id as any other (descriptors); else it is none (NULL) */
	bool is_range;    /* an id is the address of what has a size, and parts of it may be released (mappings) */
	/* They belong to the thread group, not to the address space: what the child of a vfork does to them, it does to
	 * its own. */
	bool of_group;
	bool ends_in_child; /* a fork's child has none of its parent's (threads) */
	/* A call that another function of the module's folding kinds makes, through nothing but its own object's code,
	 * is a part of it, whatever the kind (fopen opens a descriptor). Else only calls of one kind are, and only
	 * where nothing but such functions is between them. */
	bool folds_in_object;
	bool is_nested;         /* each call is an event of its own, also inside of another one */
	unsigned char existing; /* enum existing */
	/* The C library releases some, in this function of its own, that it never allocated by these functions, and the
	 * program never had (glibc's thread caches); NULL: it does not. */
	const char *keeper;
};

struct module {
	unsigned api; /* MODULE_API, as it was when the module was written */
	const char *name;
	const char *summary; /* a line about it, for -e help */
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

/* Its tables, two arrays, in the initializer of a struct module. */
#define MODULE_TABLES(resource_array, function_array)                                                                  \
	.resources = (resource_array), .resource_count = sizeof(resource_array) / sizeof((resource_array)[0]),         \
	.functions = (function_array), .function_count = sizeof(function_array) / sizeof((function_array)[0])

#endif
