/* Memory: the malloc family of every allocator, and C++ new and delete in all forms.
 *
 * Semantics: C17 7.22.3, POSIX (posix_memalign), glibc's malloc(3), memalign(3), reallocarray(3), C23 7.24.3
 * (free_sized, free_aligned_sized); the mangled names are those of the Itanium C++ ABI for a 64-bit (m) and
 * a 32-bit (j) size_t. */
#include "config.h"
#include "modules/module.h"

static const struct resource resources[] = {
	{.type = "memory",
	 .desc = "memory allocation in bytes",
	 .noun = "block",
	 .unit = "byte",
	 .keeper = "__malloc_arena_thread_freeres"},
};

#define P_SIZE                                                                                                         \
	{                                                                                                              \
		"size", PARAM_SIZE                                                                                     \
	}
#define P_PTR                                                                                                          \
	{                                                                                                              \
		"ptr", PARAM_POINTER                                                                                   \
	}
#define P_ALIGN                                                                                                        \
	{                                                                                                              \
		"alignment", PARAM_SIZE                                                                                \
	}

/* The C functions, under their own names and, with "*", under an allocator's prefix (je_malloc). */
#define C_FAMILY(star)                                                                                                 \
	{.symbol = star "malloc",                                                                                      \
	 .role = ROLE_ALLOC,                                                                                           \
	 .id = RESULT,                                                                                                 \
	 .size = ARG(0),                                                                                               \
	 .family = "malloc",                                                                                           \
	 .params = {P_SIZE}},                                                                                          \
		{.symbol = star "calloc",                                                                              \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = RESULT,                                                                                         \
		 .size = ARG_TIMES(0, 1),                                                                              \
		 .family = "malloc",                                                                                   \
		 .params = {{"nmemb", PARAM_SIZE}, P_SIZE}},                                                           \
		{.symbol = star "realloc",                                                                             \
		 .role = ROLE_REALLOC,                                                                                 \
		 .id = RESULT,                                                                                         \
		 .size = ARG(1),                                                                                       \
		 .released = ARG(0),                                                                                   \
		 .zero_size_releases = true,                                                                           \
		 .can_fail = true,                                                                                     \
		 .family = "malloc",                                                                                   \
		 .params = {P_PTR, P_SIZE}},                                                                           \
		{.symbol = star "reallocarray",                                                                        \
		 .role = ROLE_REALLOC,                                                                                 \
		 .id = RESULT,                                                                                         \
		 .size = ARG_TIMES(1, 2),                                                                              \
		 .released = ARG(0),                                                                                   \
		 .zero_size_releases = true,                                                                           \
		 .can_fail = true,                                                                                     \
		 .family = "malloc",                                                                                   \
		 .params = {P_PTR, {"nmemb", PARAM_SIZE}, P_SIZE}},                                                    \
		{.symbol = star "posix_memalign",                                                                      \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = POINTEE(0, 0),                                                                                  \
		 .size = ARG(2),                                                                                       \
		 .result = TYPE_INT,                                                                                   \
		 .success = OK_ZERO,                                                                                   \
		 .publishes_early = true,                                                                              \
		 .family = "malloc",                                                                                   \
		 .params = {{"memptr", PARAM_POINTER}, P_ALIGN, P_SIZE}},                                              \
		{.symbol = star "aligned_alloc",                                                                       \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = RESULT,                                                                                         \
		 .size = ARG(1),                                                                                       \
		 .family = "malloc",                                                                                   \
		 .params = {P_ALIGN, P_SIZE}},                                                                         \
		{.symbol = star "memalign",                                                                            \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = RESULT,                                                                                         \
		 .size = ARG(1),                                                                                       \
		 .family = "malloc",                                                                                   \
		 .params = {P_ALIGN, P_SIZE}},                                                                         \
		{.symbol = star "valloc",                                                                              \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = RESULT,                                                                                         \
		 .size = ARG(0),                                                                                       \
		 .family = "malloc",                                                                                   \
		 .params = {P_SIZE}},                                                                                  \
		{.symbol = star "pvalloc",                                                                             \
		 .role = ROLE_ALLOC,                                                                                   \
		 .id = RESULT,                                                                                         \
		 .size = ARG_PAGES(0),                                                                                 \
		 .family = "malloc",                                                                                   \
		 .params = {P_SIZE}},                                                                                  \
		{.symbol = star "free", .role = ROLE_RELEASE, .id = ARG(0), .family = "malloc", .params = {P_PTR}},    \
		{.symbol = star "cfree", .role = ROLE_RELEASE, .id = ARG(0), .family = "malloc", .params = {P_PTR}},   \
		{.symbol = star "free_sized",                                                                          \
		 .role = ROLE_RELEASE,                                                                                 \
		 .id = ARG(0),                                                                                         \
		 .family = "malloc",                                                                                   \
		 .params = {P_PTR, P_SIZE}},                                                                           \
	{                                                                                                              \
		.symbol = star "free_aligned_sized", .role = ROLE_RELEASE, .id = ARG(0), .family = "malloc",           \
		.params = {                                                                                            \
			P_PTR,                                                                                         \
			P_ALIGN,                                                                                       \
			P_SIZE                                                                                         \
		}                                                                                                      \
	}

#define NEW(mangled, kind)                                                                                             \
	{                                                                                                              \
		.symbol = mangled, .role = ROLE_ALLOC, .id = RESULT, .size = ARG(0), .throws = true, .family = kind,   \
		.params = {                                                                                            \
			P_SIZE                                                                                         \
		}                                                                                                      \
	}
#define DELETE(mangled, kind)                                                                                          \
	{                                                                                                              \
		.symbol = mangled, .role = ROLE_RELEASE, .id = ARG(0), .family = kind, .params = { P_PTR }             \
	}

/* size is the ABI's letter for size_t. */
#define CXX_FAMILY(size)                                                                                               \
	NEW("_Znw" size, "new"), NEW("_Znw" size "RKSt9nothrow_t", "new"), NEW("_Znw" size "St11align_val_t", "new"),  \
		NEW("_Znw" size "St11align_val_tRKSt9nothrow_t", "new"), NEW("_Zna" size, "new[]"),                    \
		NEW("_Zna" size "RKSt9nothrow_t", "new[]"), NEW("_Zna" size "St11align_val_t", "new[]"),               \
		NEW("_Zna" size "St11align_val_tRKSt9nothrow_t", "new[]"), DELETE("_ZdlPv" size, "new"),               \
		DELETE("_ZdlPv" size "St11align_val_t", "new"), DELETE("_ZdaPv" size, "new[]"),                        \
		DELETE("_ZdaPv" size "St11align_val_t", "new[]")

static const struct function functions[] = {
	/* Where several names are one function, a call that does not tell by which it is has the first of them here. */
	C_FAMILY(""),
	CXX_FAMILY("m"),
	CXX_FAMILY("j"),
	DELETE("_ZdlPv", "new"),
	DELETE("_ZdlPvRKSt9nothrow_t", "new"),
	DELETE("_ZdlPvSt11align_val_t", "new"),
	DELETE("_ZdlPvSt11align_val_tRKSt9nothrow_t", "new"),
	DELETE("_ZdaPv", "new[]"),
	DELETE("_ZdaPvRKSt9nothrow_t", "new[]"),
	DELETE("_ZdaPvSt11align_val_t", "new[]"),
	DELETE("_ZdaPvSt11align_val_tRKSt9nothrow_t", "new[]"),
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
