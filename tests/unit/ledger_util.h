/* A ledger with a few kinds of resource, and a trace of its events, for the tests of the ledger. */
#ifndef FT_TESTS_LEDGER_UTIL_H
#define FT_TESTS_LEDGER_UTIL_H

#include "engine/settings.h"
#include "record/trace.h"

/* Functions of the kinds memory (1), file (2, of which some may be open before the trace), object (3, with reference
 * counts), visit (4, a record of calls), the ranges map (5) and shared (6), and thread (7, of which a fork's child has
 * none). */
enum {
	MALLOC,
	FREE,
	REALLOC,
	NEW,
	OPEN,
	CLOSE,
	SHUT, /* fails only for descriptors that are not open */
	REF,
	UNREF,
	VISIT,
	LEAVE,
	MAP,
	UNMAP,
	REMAP,
	SHARE,
	UNSHARE,
	BEGIN,
	JOIN,
};

extern const struct module ledger_module, ledger_more; /* modules of the first two kinds, and of the next two */
extern struct settings settings;
extern struct trace *trace;

/* Functions that cmocka calls before and after each test. */
int ledger_setup(void **state);
int ledger_teardown(void **state);

struct event event(int function, uint64_t id, uint64_t size);
void allocated(int function, uint64_t id, uint64_t size);
/* Records a release by free(). */
void released(uint64_t id);
void reserve(struct reservation *reservation, int function, uint64_t id);
/* Returns the counts of unusual calls, summed over all kinds of resources. */
struct kind_counts odd(void);
/* assert_trace() compares the lines of calls in the trace, without index and blank lines; assert_notes() its notes. */
void assert_trace(const char *expected);
void assert_notes(const char *expected);
/* Compares the lines of arguments, without their tabs. */
void assert_arguments(const char *expected);

#endif
