/* The list of functions to be traced, by their symbols. */
#ifndef FT_CALLS_PROBES_PROBE_SPEC_H
#define FT_CALLS_PROBES_PROBE_SPEC_H

#include "base/hash.h"
#include "engine/settings.h"

#define LINKER_NOTICE "_dl_debug_state"

/* Functions that are watched for the tracer's own use. */
enum hook {
	HOOK_NONE,
	HOOK_LIBRARY,   /* the dynamic linker's _dl_debug_state: objects are about to be, or were, loaded or unloaded */
	HOOK_SIGACTION, /* the target may set its action for SIGTRAP */
	HOOK_SIGMASK,   /* the target may block or unblock SIGTRAP */
	HOOK_CATCH,     /* the handler of an exception begins: __cxa_begin_catch */
	/* The functions of the context library, and the functions that --context-function names. */
	HOOK_CONTEXT_CREATE,
	HOOK_CONTEXT_ENTER,
	HOOK_CONTEXT_EXIT,
	HOOK_CONTEXT_FUNCTION,
};

/* One function to be traced: a row of a module's table, or a hook. */
struct probe_spec {
	const struct function *function; /* NULL for a hook, except for a context function */
	const struct module *module;
	enum hook hook;
	const struct resource *kind;
	uint32_t resource; /* the kind's id in the trace; 0 for a hook */
	const char *symbol;
	char *shown;                   /* the function's name in the trace */
	const struct probe_spec *next; /* the next row of the same symbol */
	bool is_found; /* an object of some process contains the function; for patterns see function_patterns.h */
};

/* Returns the id in the trace of another kind of the row's module. `resource`: the index of that kind in the module. */
static inline uint32_t probe_spec_sibling(const struct probe_spec *wanted, unsigned resource)
{
	return wanted->resource - wanted->function->resource + resource;
}

struct elf_file;
struct chosen_libraries;
struct patterns;

struct probe_spec_list {
	const struct settings *set;
	struct probe_spec *items; /* the hooks, then the rows of all modules in their order */
	size_t count, capacity;
	struct hash names;                  /* hash of the symbol -> index of the first row with that symbol */
	struct patterns *patterns;          /* the rows whose symbol is a pattern, or NULL */
	struct chosen_libraries *libraries; /* the libraries that -L has chosen: chosen_libraries.c */
	char *symbols_of; /* manual_symbols.c: path of the first program, to which --symbol-address refers, or NULL */
};

/* Makes the list of the functions that the modules of this run trace. */
struct probe_spec_list *probe_spec_new(const struct settings *set);
void probe_spec_free(struct probe_spec_list *list);

/* Returns the first row of the hook. */
const struct probe_spec *probe_spec_hook(const struct probe_spec_list *list, enum hook hook);
/* Returns the first row of a symbol, or NULL. Does not find rows by pattern (function_patterns.h). */
const struct probe_spec *probe_spec_exact(const struct probe_spec_list *list, const char *symbol);
/* Returns the first row of the symbol among `from` (NULL is allowed) and the rows linked after it; NULL if there is
 * none. */
const struct probe_spec *probe_spec_from(const struct probe_spec *from, const char *symbol);
/* Returns the first row after `from` (NULL: of all rows) in which the module names the symbol without one of its
 * prefixes: the row "*malloc" for je_malloc if "je_" is a prefix. NULL: there is no further row. */
const struct probe_spec *probe_spec_prefixed(const struct probe_spec_list *list, const char *symbol,
					     const struct module *module, const struct probe_spec *from);
/* Returns true if the function is sigprocmask() and the file contains pthread_sigmask(), too. sigprocmask() calls
 * pthread_sigmask(), so each call would be seen twice, the second time before the mask has changed. Only in glibc
 * before 2.32 the two are in different libraries, and each makes its own system call. */
bool probe_spec_is_watched_inside(const struct probe_spec *wanted, const struct elf_file *file);
/* Notes that an object contains the function of the row. */
void probe_spec_found(struct probe_spec_list *list, const struct probe_spec *wanted);
/* Warns, at the end of the run, of the functions of the user's own modules that no object contained. */
void probe_spec_report(const struct probe_spec_list *list);
/* Returns true if any module names the symbol, with or without a prefix. */
bool probe_spec_any(const struct probe_spec_list *list, const char *symbol);
/* Calls probe_spec_any(), as a callback of elf_file_wanted_functions(). */
bool probe_spec_is_name(const void *list, const char *symbol);

#endif
