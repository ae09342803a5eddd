/* Memory: the malloc family of every allocator, and C++ new and delete in all forms.
 *
 * Semantics: C17 7.22.3, POSIX (posix_memalign), glibc's malloc(3), memalign(3), reallocarray(3), C23 7.24.3
 * (free_sized, free_aligned_sized); the mangled names are those of the Itanium C++ ABI for a 64-bit (m) and
 * a 32-bit (j) size_t. */
#include "config.h"
#include "modules/words.h"

static const struct resource resources[] = {
	{.type = "memory",
	 .desc = "memory allocation in bytes",
	 .noun = "block",
	 .unit = "byte",
	 .keeper = "__malloc_arena_thread_freeres"},
};

/* Parameters. */
#define SIZE                                                                                                           \
	{                                                                                                              \
		P_SIZE("size")                                                                                         \
	}
#define COUNT                                                                                                          \
	{                                                                                                              \
		P_SIZE("nmemb")                                                                                        \
	}
#define ALIGN                                                                                                          \
	{                                                                                                              \
		P_SIZE("alignment")                                                                                    \
	}
#define PTR                                                                                                            \
	{                                                                                                              \
		P_POINTER("ptr")                                                                                       \
	}

#define GIVES(from, ...)                                                                                               \
	.symbol = from, .role = ROLE_ALLOC, .id = RESULT, .family = "malloc", R_ERRNO(PARAM_POINTER),                  \
	.params = {__VA_ARGS__}
#define GIVES_AGAIN(from, ...)                                                                                         \
	.symbol = from, .role = ROLE_REALLOC, .id = RESULT, .released = ARG(0), .zero_size_releases = true,            \
	.can_fail = true, .family = "malloc", R_ERRNO(PARAM_POINTER), .params = {__VA_ARGS__}
#define TAKES(from, ...)                                                                                               \
	{                                                                                                              \
		.symbol = from, .role = ROLE_RELEASE, .id = ARG(0), .family = "malloc", .params = { __VA_ARGS__ }      \
	}

/* The C functions, under their own names and, with "*", under an allocator's prefix (je_malloc). */
#define C_FAMILY(star)                                                                                                 \
	{GIVES(star "malloc", SIZE), .size = ARG(0)}, {GIVES(star "calloc", COUNT, SIZE), .size = ARG_TIMES(0, 1)},    \
		{GIVES_AGAIN(star "realloc", PTR, SIZE), .size = ARG(1)},                                              \
		{GIVES_AGAIN(star "reallocarray", PTR, COUNT, SIZE), .size = ARG_TIMES(1, 2)},                         \
		{.symbol = star "posix_memalign",                                                                      \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = POINTEE(0, 0),                                                                                  \
		 .size = ARG(2),                                                                                       \
		 .result = TYPE_INT,                                                                                   \
		 .success = OK_ZERO,                                                                                   \
		 .publishes_early = true,                                                                              \
		 .family = "malloc",                                                                                   \
		 R(PARAM_ERROR),                                                                                       \
		 .params = {{P_POINTER_OUT("memptr")}, ALIGN, SIZE}},                                                  \
		{GIVES(star "aligned_alloc", ALIGN, SIZE), .size = ARG(1)},                                            \
		{GIVES(star "memalign", ALIGN, SIZE), .size = ARG(1)}, {GIVES(star "valloc", SIZE), .size = ARG(0)},   \
		{GIVES(star "pvalloc", SIZE), .size = ARG_PAGES(0)}, TAKES(star "free", PTR),                          \
		TAKES(star "cfree", PTR), TAKES(star "free_sized", PTR, SIZE),                                         \
		TAKES(star "free_aligned_sized", PTR, ALIGN, SIZE)

/* The reference to std::nothrow, of which only the address could be shown. */
#define NOTHROW                                                                                                        \
	{                                                                                                              \
		"tag", PARAM_NONE                                                                                      \
	}

#define NEW(mangled, kind, ...)                                                                                        \
	{                                                                                                              \
		.symbol = mangled, .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0), .throws = true, .family = kind,   \
		R(PARAM_POINTER), .params = {                                                                          \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}
#define DELETE(mangled, kind, ...)                                                                                     \
	{                                                                                                              \
		.symbol = mangled, .role = ROLE_RELEASE, .id = ARG(0), .family = kind, .params = { __VA_ARGS__ }       \
	}

/* size is the ABI's letter for size_t. */
#define NEW_FAMILY(mangled, kind)                                                                                      \
	NEW(mangled, kind, SIZE), NEW(mangled "RKSt9nothrow_t", kind, SIZE, NOTHROW),                                  \
		NEW(mangled "St11align_val_t", kind, SIZE, ALIGN),                                                     \
		NEW(mangled "St11align_val_tRKSt9nothrow_t", kind, SIZE, ALIGN, NOTHROW)
#define CXX_FAMILY(size)                                                                                               \
	NEW_FAMILY("_Znw" size, "new"), NEW_FAMILY("_Zna" size, "new[]"), DELETE("_ZdlPv" size, "new", PTR, SIZE),     \
		DELETE("_ZdlPv" size "St11align_val_t", "new", PTR, SIZE, ALIGN),                                      \
		DELETE("_ZdaPv" size, "new[]", PTR, SIZE),                                                             \
		DELETE("_ZdaPv" size "St11align_val_t", "new[]", PTR, SIZE, ALIGN)
#define DELETE_FAMILY(mangled, kind)                                                                                   \
	DELETE(mangled, kind, PTR), DELETE(mangled "RKSt9nothrow_t", kind, PTR, NOTHROW),                              \
		DELETE(mangled "St11align_val_t", kind, PTR, ALIGN),                                                   \
		DELETE(mangled "St11align_val_tRKSt9nothrow_t", kind, PTR, ALIGN, NOTHROW)

static const struct function functions[] = {
	/* Where several names are one function, a call that does not tell by which it is has the first of them here. */
	C_FAMILY(""),
	CXX_FAMILY("m"),
	CXX_FAMILY("j"),
	DELETE_FAMILY("_ZdlPv", "new"),
	DELETE_FAMILY("_ZdaPv", "new[]"),
	C_FAMILY("*"),
};

/* jemalloc's, mimalloc's, tcmalloc's, Rust's jemalloc crate's. */
static const char *const prefixes[] = {"je_", "mi_", "tc_", "_rjem_", NULL};

const struct module module_memory = {
	.api = MODULE_API,
	.name = "memory",
	.summary = "blocks of memory: malloc and its like, new and delete",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
	.prefixes = prefixes,
	.families = "new and free",
	.symbols = "--symbol=malloc=0xADDRESS --symbol=free=0xADDRESS",
};
