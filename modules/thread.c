/* Threads: POSIX's, and C11's, which are the same.
 *
 * Semantics: POSIX pthread_create, pthread_join, pthread_detach; pthread_tryjoin_np(3); C17 7.26.5. */
#include "config.h"
#include "modules/words.h"
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
	.publishes_early = true
#define CREATE_POSIX                                                                                                   \
	CREATE("pthread_create"), R(PARAM_ERROR),                                                                      \
		.params = {{P_POINTER_OUT("thread")},                                                                  \
			   {P_POINTER("attr")},                                                                        \
			   {"start_routine", PARAM_FUNCTION},                                                          \
			   {P_POINTER("arg")}}
#define THREAD(name)                                                                                                   \
	{                                                                                                              \
		name, PARAM_HEX_LONG                                                                                   \
	}
#define RESULT_OUT                                                                                                     \
	{                                                                                                              \
		P_POINTER_OUT("retval")                                                                                \
	}
#define ENDS(sym, shown)                                                                                               \
	.symbol = (sym), .name = (shown), .role = ROLE_RELEASE, .resource = JOINABLE, .id = ARG(0),                    \
	.result = TYPE_INT, .success = OK_ZERO, .can_fail = true
#define END_SHOWN(sym, shown, ...)                                                                                     \
	{                                                                                                              \
		ENDS(sym, shown), R(PARAM_ERROR), .params = { THREAD("thread"), __VA_ARGS__ }                          \
	}
#define END(name, ...) END_SHOWN(name, NULL, __VA_ARGS__)
#define TIMED                                                                                                          \
	RESULT_OUT,                                                                                                    \
	{                                                                                                              \
		P_POINTER("abstime")                                                                                   \
	}
#define CLOCKED                                                                                                        \
	RESULT_OUT, {P_WORD("clockid", words_clock)},                                                                  \
	{                                                                                                              \
		P_POINTER("abstime")                                                                                   \
	}
#define R_C11 .returns = {"return", PARAM_WORD, .words = words_thrd}

static const struct param_word words_thrd[] = {
	{.name = "thrd_success", .value = 0}, {.name = "thrd_busy", .value = 1},     {.name = "thrd_error", .value = 2},
	{.name = "thrd_nomem", .value = 3},   {.name = "thrd_timedout", .value = 4}, {.name = NULL}};

static const struct function functions[] = {
	{CREATE_POSIX, .role = ROLE_ALLOC, .resource = JOINABLE,
	 .conditions = {GLIBC_DETACHED(TEST_LACKS, false), MUSL_DETACHED(TEST_LACKS)}},
	{CREATE_POSIX, .role = ROLE_CALL, .resource = DETACHED,
	 .conditions = {GLIBC_DETACHED(TEST_HAS, true), MUSL_DETACHED(TEST_HAS)}},
	{CREATE("thrd_create"), .role = ROLE_ALLOC, .resource = JOINABLE, R_C11,
	 .params = {{P_POINTER_OUT("thr")}, {"func", PARAM_FUNCTION}, {P_POINTER("arg")}}},
	END("pthread_join", RESULT_OUT),
	END("pthread_tryjoin_np", RESULT_OUT),
	END("pthread_timedjoin_np", TIMED),
	END("pthread_clockjoin_np", CLOCKED),
	/* The same where a 32-bit program has times of 64 bits. */
	END_SHOWN("__pthread_timedjoin_np64", "pthread_timedjoin_np", TIMED),
	END_SHOWN("__pthread_timedjoin_np_time64", "pthread_timedjoin_np", TIMED),
	END_SHOWN("__pthread_clockjoin_np64", "pthread_clockjoin_np", CLOCKED),
	END("pthread_detach"),
	{ENDS("thrd_join", NULL), R_C11, .params = {THREAD("thr"), {P_INTS_OUT("res", 1)}}},
	{ENDS("thrd_detach", NULL), R_C11, .params = {THREAD("thr")}},
};

const struct module module_thread = {
	.api = MODULE_API,
	.name = "thread",
	.summary = "threads that are joined or detached, or never; those created detached",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
