/* Functions that copy, set and measure memory: a record of each call, with what it has gone over in bytes.
 *
 * Sizes are those of the call: the n of what has one, else those of the string with its end; characters of wchar_t
 * have 4 bytes. What such a function calls for its own sake (strdup: strlen, malloc, memcpy) is a part of it.
 *
 * Semantics: C17 7.24, 7.29.4; POSIX; the names with _chk are glibc's for programs built with _FORTIFY_SOURCE. */
#include "config.h"
#include "modules/words.h"
#include "trace/event.h"

static const struct resource resources[] = {
	{.type = "memtransfer",
	 .desc = "memory read/write/set/copy operations in bytes",
	 .flags = RESOURCE_CALL,
	 .noun = "transfer",
	 .unit = "byte"},
};

#define WIDE 4

#define BODY(...) .role = ROLE_CALL, .success = OK_ALWAYS, R(PARAM_POINTER), .params = {__VA_ARGS__}
#define PLAIN(from, is_id, bytes, ...)                                                                                 \
	{                                                                                                              \
		.symbol = (from), .id = is_id, .size = bytes, BODY(__VA_ARGS__)                                        \
	}
#define CHECKED(from, is_id, bytes, ...)                                                                               \
	{.symbol = (from), .id = is_id, .size = bytes, BODY(__VA_ARGS__)},                                             \
	{                                                                                                              \
		.symbol = "__" from "_chk", .name = (from), .id = is_id, .size = bytes,                                \
		BODY(__VA_ARGS__, {P_SIZE("destlen")})                                                                 \
	}
/* With glibc's own name for it. */
#define OWN(from, is_id, bytes, ...)                                                                                   \
	{                                                                                                              \
		.symbol = "__" from, .name = (from), .id = is_id, .size = bytes, BODY(__VA_ARGS__)                     \
	}

#define DEST                                                                                                           \
	{                                                                                                              \
		P_POINTER("dest")                                                                                      \
	}
#define LENGTH                                                                                                         \
	{                                                                                                              \
		P_SIZE("n")                                                                                            \
	}
#define COPY DEST, {P_POINTER("src")}, LENGTH
#define COPY_STRING                                                                                                    \
	DEST,                                                                                                          \
	{                                                                                                              \
		P_STRING("src")                                                                                        \
	}
#define ADD_STRING                                                                                                     \
	{P_STRING("dest")},                                                                                            \
	{                                                                                                              \
		P_STRING("src")                                                                                        \
	}
#define COPY_WIDE                                                                                                      \
	DEST,                                                                                                          \
	{                                                                                                              \
		P_WIDE("src")                                                                                          \
	}
#define ADD_WIDE                                                                                                       \
	{P_WIDE("dest")},                                                                                              \
	{                                                                                                              \
		P_WIDE("src")                                                                                          \
	}
#define COPY_STRING_N DEST, {"src", PARAM_STRING_N, .with = 2}, LENGTH
#define ADD_STRING_N  {P_STRING("dest")}, {"src", PARAM_STRING_N, .with = 2}, LENGTH
#define COPY_WIDE_N   DEST, {"src", PARAM_WIDE_N, .with = 2}, LENGTH
#define ADD_WIDE_N    {P_WIDE("dest")}, {"src", PARAM_WIDE_N, .with = 2}, LENGTH
#define FILL(type)    {P_POINTER("s")}, {"c", type}, LENGTH

/* Of a string that is no longer than it may be the end has been seen, too. */
static bool look_wcsnlen(const struct module_call *call, struct module_details *details)
{
	const uint64_t most = call->pointer_size == 4 ? (uint32_t)call->args[1] : call->args[1];

	if (call->result >= most)
		details->size -= WIDE;
	return true;
}

/* One that gives a new string, or NULL. */
#define DUPLICATES(from, shown, how, ...)                                                                              \
	{                                                                                                              \
		.symbol = (from), .name = (shown), .role = ROLE_CALL, .id = RESULT, .size = how,                       \
		R_ERRNO(PARAM_POINTER), .params = {                                                                    \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}

static const struct function functions[] = {
	{.symbol = "bcopy",
	 .role = ROLE_CALL,
	 .success = OK_ALWAYS,
	 .id = ARG(1),
	 .size = ARG(2),
	 .params = {{P_POINTER("src")}, DEST, LENGTH}},
	{.symbol = "bzero",
	 .role = ROLE_CALL,
	 .success = OK_ALWAYS,
	 .id = ARG(0),
	 .size = ARG(1),
	 .params = {{P_POINTER("s")}, LENGTH}},
	CHECKED("memcpy", RESULT, ARG(2), COPY),
	CHECKED("memmove", RESULT, ARG(2), COPY),
	CHECKED("memset", RESULT, ARG(2), FILL(PARAM_CHAR)),
	PLAIN("memccpy", ARG(0), ARG(3), DEST, {P_POINTER("src")}, {"c", PARAM_CHAR}, LENGTH),
	CHECKED("mempcpy", ARG(0), ARG(2), COPY),
	OWN("mempcpy", ARG(0), ARG(2), COPY),
	CHECKED("strcpy", RESULT, RESULT_STRING_SIZE, COPY_STRING),
	CHECKED("strcat", RESULT, RESULT_STRING_SIZE, ADD_STRING),
	CHECKED("strncpy", RESULT, ARG(2), COPY_STRING_N),
	CHECKED("strncat", RESULT, ARG(2), ADD_STRING_N),
	CHECKED("stpcpy", ARG(0), STRING_SIZE(1), COPY_STRING),
	OWN("stpcpy", ARG(0), STRING_SIZE(1), COPY_STRING),
	CHECKED("stpncpy", ARG(0), ARG(2), COPY_STRING_N),
	OWN("stpncpy", ARG(0), ARG(2), COPY_STRING_N),
	DUPLICATES("strdup", NULL, RESULT_STRING_SIZE, {P_STRING("s")}),
	DUPLICATES("__strdup", "strdup", RESULT_STRING_SIZE, {P_STRING("s")}),
	DUPLICATES("strndup", NULL, RESULT_STRING_SIZE, {"s", PARAM_STRING_N, .with = 1}, LENGTH),
	DUPLICATES("__strndup", "strndup", RESULT_STRING_SIZE, {"s", PARAM_STRING_N, .with = 1}, LENGTH),
	DUPLICATES("wcsdup", NULL, RESULT_WIDE_SIZE, {P_WIDE("s")}),
	CHECKED("wcscpy", RESULT, RESULT_WIDE_SIZE, COPY_WIDE),
	CHECKED("wcscat", RESULT, RESULT_WIDE_SIZE, ADD_WIDE),
	CHECKED("wcsncpy", RESULT, ARG_SCALED(2, WIDE), COPY_WIDE_N),
	CHECKED("wcsncat", RESULT, ARG_SCALED(2, WIDE), ADD_WIDE_N),
	CHECKED("wcpcpy", ARG(0), WIDE_SIZE(1), COPY_WIDE),
	CHECKED("wcpncpy", ARG(0), ARG_SCALED(2, WIDE), COPY_WIDE_N),
	{.symbol = "wcslen",
	 .role = ROLE_CALL,
	 .success = OK_ALWAYS,
	 .id = ARG(0),
	 .size = RESULT_SCALED(1, WIDE),
	 R(PARAM_SIZE),
	 .params = {{P_WIDE("s")}}},
	{.symbol = "wcsnlen",
	 .role = ROLE_CALL,
	 .success = OK_ALWAYS,
	 .id = ARG(0),
	 .size = RESULT_SCALED(1, WIDE),
	 .look = look_wcsnlen,
	 R(PARAM_SIZE),
	 .params = {{"s", PARAM_WIDE_N, .with = 1}, {P_SIZE("maxlen")}}},
	CHECKED("wmemcpy", RESULT, ARG_SCALED(2, WIDE), COPY),
	CHECKED("wmemmove", RESULT, ARG_SCALED(2, WIDE), COPY),
	CHECKED("wmempcpy", ARG(0), ARG_SCALED(2, WIDE), COPY),
	CHECKED("wmemset", RESULT, ARG_SCALED(2, WIDE), FILL(PARAM_WCHAR)),
};

const struct module module_memtransfer = {
	.api = MODULE_API,
	.name = "memtransfer",
	.summary = "calls that copy, set and measure memory and strings",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
