/* The functions that the modules want, by their symbols. */
#ifndef FT_CALLS_PROBES_PROBE_SPEC_H
#define FT_CALLS_PROBES_PROBE_SPEC_H

#include "base/hash.h"
#include "engine/settings.h"

#define LINKER_NOTICE "_dl_debug_state"

/* Functions that are watched for the tracer's own sake. */
enum hook {
	HOOK_NONE,
	HOOK_LIBRARY,   /* the dynamic linker's _dl_debug_state: objects have come or gone */
	HOOK_SIGACTION, /* the target may set its action for SIGTRAP */
	HOOK_SIGMASK,   /* the target may block or unblock SIGTRAP */
	HOOK_CATCH,     /* a handler of an exception begins: __cxa_begin_catch */
	/* Contexts: the program's own, by the context library; functions that --context-function names. */
	HOOK_CONTEXT_CREATE,
	HOOK_CONTEXT_ENTER,
	HOOK_CONTEXT_EXIT,
	HOOK_CONTEXT_FUNCTION,
};

/* One function to be traced, as the modules name it. */
struct probe_spec {
	const struct function *function; /* NULL: a hook, but for a context function */
	const struct module *module;
	enum hook hook;
	const struct resource *kind;
	uint32_t resource; /* the kind's id in the trace; 0 for a hook */
	const char *symbol;
	char *shown;                   /* name in the trace */
	const struct probe_spec *next; /* of the same symbol, by another row */
	bool is_found;                 /* an object of any process has it; of rows by pattern see patterns.h */
};

/* The id in the trace of another resource of the row's module, by its index there. */
static inline uint32_t probe_spec_sibling(const struct probe_spec *wanted, unsigned resource)
{
	return wanted->resource - wanted->function->resource + resource;
}

struct elf_file;
struct libraries;
struct patterns;

struct probe_spec_list {
	const struct settings *set;
	struct probe_spec *items; /* the hooks, then the modules' rows in their order */
	size_t count, capacity;
	struct hash names;           /* hash of the symbol -> index of the first with that symbol */
	struct patterns *patterns;   /* the rows by pattern, NULL none */
	struct libraries *libraries; /* what was seen of -L */
	char *symbols_of; /* the file of the first program, which --symbol is about; NULL none yet: manual_symbols.c */
};

/* What the run's modules want. */
struct probe_spec_list *probe_spec_new(const struct settings *set);
void probe_spec_free(struct probe_spec_list *list);

/* The row of a hook. All rows are in the modules' order, and those of one symbol are chained. */
const struct probe_spec *probe_spec_hook(const struct probe_spec_list *list, enum hook hook);
/* The first row of a symbol; NULL none. Rows by pattern have no symbol: patterns.h. */
const struct probe_spec *probe_spec_exact(const struct probe_spec_list *list, const char *symbol);
/* The first row of a symbol among those from `from` on, which is the first row of one or NULL; NULL none. */
const struct probe_spec *probe_spec_from(const struct probe_spec *from, const char *symbol);
/* What the module wants under one of its prefixes ("*malloc" for je_malloc where "je_" is one), behind `from` (NULL:
 * from the first on); NULL nothing more. */
const struct probe_spec *probe_spec_prefixed(const struct probe_spec_list *list, const char *symbol,
					     const struct module *module, const struct probe_spec *from);
/* True for sigprocmask() where the file has pthread_sigmask(), too: the first calls the second, so that one call would
 * be seen twice, the second time before the mask has changed. Only in glibc before 2.32 has each of them a system call
 * of its own, in two libraries. */
bool probe_spec_is_watched_inside(const struct probe_spec *wanted, const struct elf_file *file);
/* Notes that an object has the function. */
void probe_spec_found(struct probe_spec_list *list, const struct probe_spec *wanted);
/* Reports, at the end of the run, which functions of the user's own modules no object had. */
void probe_spec_report(const struct probe_spec_list *list);
/* Whether any module wants the symbol, with a prefix or without. */
bool probe_spec_any(const struct probe_spec_list *list, const char *symbol);
/* The same, for elf_file_wanted_functions(). */
bool probe_spec_is_name(const void *list, const char *symbol);

#endif
