/* Functions that copy, set and measure memory: a record of each call, with what it has gone over in bytes.
 *
 * Sizes are those of the call: the n of what has one, else those of the string with its end; characters of wchar_t
 * have 4 bytes. What such a function calls for its own sake (strdup: strlen, malloc, memcpy) is a part of it.
 *
 * Semantics: C17 7.24, 7.29.4; POSIX; the names with _chk are glibc's for programs built with _FORTIFY_SOURCE. */
#include "config.h"
#include "modules/module.h"
#include "trace/event.h"

static const struct resource resources[] = {
	{.type = "memtransfer",
	 .desc = "memory read/write/set/copy operations in bytes",
	 .flags = RESOURCE_CALL,
	 .noun = "transfer",
	 .unit = "byte"},
};

#define WIDE 4

#define AS(from, shown, ...)                                                                                           \
	{                                                                                                              \
		.symbol = (from), .name = (shown), .role = ROLE_CALL, .success = OK_ALWAYS, __VA_ARGS__                \
	}
#define PLAIN(from, ...)   AS(from, NULL, __VA_ARGS__)
#define CHECKED(from, ...) PLAIN(from, __VA_ARGS__), AS("__" from "_chk", from, __VA_ARGS__)
/* With glibc's own name for it. */
#define OWN(from, ...) AS("__" from, from, __VA_ARGS__)

/* Of a string that is no longer than it may be the end has been seen, too. */
static bool look_wcsnlen(const struct module_call *call, struct module_details *details)
{
	const uint64_t most = call->pointer_size == 4 ? (uint32_t)call->args[1] : call->args[1];

	if (call->result >= most)
		details->size -= WIDE;
	return true;
}

/* One that gives a new string, or NULL. */
#define DUPLICATES(from, shown, how)                                                                                   \
	{                                                                                                              \
		.symbol = (from), .name = (shown), .role = ROLE_CALL, .id = RESULT, .size = how                        \
	}

static const struct function functions[] = {
	PLAIN("bcopy", .id = ARG(1), .size = ARG(2)),
	PLAIN("bzero", .id = ARG(0), .size = ARG(1)),
	CHECKED("memcpy", .id = RESULT, .size = ARG(2)),
	CHECKED("memmove", .id = RESULT, .size = ARG(2)),
	CHECKED("memset", .id = RESULT, .size = ARG(2)),
	PLAIN("memccpy", .id = ARG(0), .size = ARG(3)),
	CHECKED("mempcpy", .id = ARG(0), .size = ARG(2)),
	OWN("mempcpy", .id = ARG(0), .size = ARG(2)),
	CHECKED("strcpy", .id = RESULT, .size = RESULT_STRING_SIZE),
	CHECKED("strcat", .id = RESULT, .size = RESULT_STRING_SIZE),
	CHECKED("strncpy", .id = RESULT, .size = ARG(2)),
	CHECKED("strncat", .id = RESULT, .size = ARG(2)),
	CHECKED("stpcpy", .id = ARG(0), .size = STRING_SIZE(1)),
	OWN("stpcpy", .id = ARG(0), .size = STRING_SIZE(1)),
	CHECKED("stpncpy", .id = ARG(0), .size = ARG(2)),
	OWN("stpncpy", .id = ARG(0), .size = ARG(2)),
	DUPLICATES("strdup", NULL, RESULT_STRING_SIZE),
	DUPLICATES("__strdup", "strdup", RESULT_STRING_SIZE),
	DUPLICATES("strndup", NULL, RESULT_STRING_SIZE),
	DUPLICATES("__strndup", "strndup", RESULT_STRING_SIZE),
	DUPLICATES("wcsdup", NULL, RESULT_WIDE_SIZE),
	CHECKED("wcscpy", .id = RESULT, .size = RESULT_WIDE_SIZE),
	CHECKED("wcscat", .id = RESULT, .size = RESULT_WIDE_SIZE),
	CHECKED("wcsncpy", .id = RESULT, .size = ARG_SCALED(2, WIDE)),
	CHECKED("wcsncat", .id = RESULT, .size = ARG_SCALED(2, WIDE)),
	CHECKED("wcpcpy", .id = ARG(0), .size = WIDE_SIZE(1)),
	CHECKED("wcpncpy", .id = ARG(0), .size = ARG_SCALED(2, WIDE)),
	PLAIN("wcslen", .id = ARG(0), .size = RESULT_SCALED(1, WIDE)),
	PLAIN("wcsnlen", .id = ARG(0), .size = RESULT_SCALED(1, WIDE), .look = look_wcsnlen),
	CHECKED("wmemcpy", .id = RESULT, .size = ARG_SCALED(2, WIDE)),
	CHECKED("wmemmove", .id = RESULT, .size = ARG_SCALED(2, WIDE)),
	CHECKED("wmempcpy", .id = ARG(0), .size = ARG_SCALED(2, WIDE)),
	CHECKED("wmemset", .id = RESULT, .size = ARG_SCALED(2, WIDE)),
};

const struct module module_memtransfer = {
	.api = MODULE_API,
	.name = "memtransfer",
	.summary = "calls that copy, set and measure memory and strings",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
