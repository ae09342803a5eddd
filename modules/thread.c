/* Threads: POSIX's, and C11's, which are the same.
 *
 * Semantics: POSIX pthread_create, pthread_join, pthread_detach; pthread_tryjoin_np(3); C17 7.26.5. */
#include "config.h"
#include "modules/module.h"
#include "trace/event.h"

enum { JOINABLE, DETACHED };

static const struct resource resources[] = {
	[JOINABLE] = {.type = "pthread_t",
		      .desc = "posix thread, joinable",
		      .noun = "thread",
		      .left = "never joined",
		      .ends_in_child = true},
	[DETACHED] = {.type = "_pthread_t",
		      .desc = "posix thread, created detached",
		      .flags = RESOURCE_CALL,
		      .noun = "detached thread"},
};

/* The attributes say that the thread is detached by bit 0 of an int at index 2 (glibc, `flags`) or of a word at index 3
 * (musl, `_a_detach`). The other library has the size of the guard there, or the address of a stack, which are even.
 * Without attributes both are 0. */
#define GLIBC_DETACHED(how, or_other)                                                                                  \
	{                                                                                                              \
		.test = (how), .or_next = (or_other), .value = POINTEE_INT(1, 2), .other = CONST(1)                    \
	}
#define MUSL_DETACHED(how)                                                                                             \
	{                                                                                                              \
		.test = (how), .value = POINTEE(1, 3), .other = CONST(1)                                               \
	}

/* The new thread may know its id before the call has returned. */
#define CREATE(name)                                                                                                   \
	.symbol = (name), .id = POINTEE(0, 0), .size = CONST(1), .result = TYPE_INT, .success = OK_ZERO,               \
	.publishes_early = true, .params = {{"thread", PARAM_POINTER}, {"attr", PARAM_POINTER}}
#define END_SHOWN(sym, shown)                                                                                          \
	{                                                                                                              \
		.symbol = (sym), .name = (shown), .role = ROLE_RELEASE, .resource = JOINABLE, .id = ARG(0),            \
		.result = TYPE_INT, .success = OK_ZERO, .can_fail = true, .params = {                                  \
			{"thread", PARAM_HEX}                                                                          \
		}                                                                                                      \
	}

#define END(name) END_SHOWN(name, NULL)

static const struct function functions[] = {
	{CREATE("pthread_create"), .role = ROLE_ALLOC, .resource = JOINABLE,
	 .conditions = {GLIBC_DETACHED(TEST_LACKS, false), MUSL_DETACHED(TEST_LACKS)}},
	{CREATE("pthread_create"), .role = ROLE_CALL, .resource = DETACHED,
	 .conditions = {GLIBC_DETACHED(TEST_HAS, true), MUSL_DETACHED(TEST_HAS)}},
	{CREATE("thrd_create"), .role = ROLE_ALLOC, .resource = JOINABLE},
	END("pthread_join"),
	END("pthread_tryjoin_np"),
	END("pthread_timedjoin_np"),
	END("pthread_clockjoin_np"),
	/* The same where a 32-bit program has times of 64 bits. */
	END_SHOWN("__pthread_timedjoin_np64", "pthread_timedjoin_np"),
	END_SHOWN("__pthread_timedjoin_np_time64", "pthread_timedjoin_np"),
	END_SHOWN("__pthread_clockjoin_np64", "pthread_clockjoin_np"),
	END("pthread_detach"),
	END("thrd_join"),
	END("thrd_detach"),
};

const struct module module_thread = {
	.api = MODULE_API,
	.name = "thread",
	.summary = "threads that are joined or detached, or never; those created detached",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
