/* Shared memory of POSIX, and all other mappings.
 *
 * A mapping is a range of whole pages: any part of it can be unmapped, moved, or covered by another one, and what is
 * left is a mapping of its own.
 *
 * Semantics: mmap(2), mremap(2), shm_open(3), close(2), close_range(2). */
#include "config.h"
#include "modules/words.h"
#include "trace/event.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>

enum { OF_OBJECT, OF_FILE, OTHER, OBJECT, DESCRIPTOR };

static const struct resource resources[] = {
	[OF_OBJECT] = {.type = "pshmmap",
		       .desc = "posix shared memory mapping",
		       .noun = "shared memory mapping",
		       .unit = "byte",
		       .is_range = true},
	[OF_FILE] =
		{.type = "fshmmap", .desc = "file mapping", .noun = "file mapping", .unit = "byte", .is_range = true},
	[OTHER] = {.type = "shmmap",
		   .desc = "generic mapping",
		   .noun = "anonymous mapping",
		   .unit = "byte",
		   .is_range = true},
	[OBJECT] = {.type = "pshmobj",
		    .desc = "posix shared memory object",
		    .noun = "shared memory object",
		    .left = "not unlinked"},
	[DESCRIPTOR] = {.type = "pshmfd",
			.desc = "posix shared memory descriptor",
			.noun = "shared memory descriptor",
			.zero_is_id = true,
			.of_group = true},
};

#define IF(how, from, what)                                                                                            \
	{                                                                                                              \
		.test = (how), .value = from, .other = CONST(what)                                                     \
	}
#define FLAGS(how, bits) IF(how, ARG_INT(3), bits)
#define FD_IS(how)                                                                                                     \
	{                                                                                                              \
		.test = (how), .resource = DESCRIPTOR, .value = ARG_INT(4)                                             \
	}

#define ADDRESS                                                                                                        \
	{                                                                                                              \
		P_POINTER("addr")                                                                                      \
	}
#define LENGTH                                                                                                         \
	{                                                                                                              \
		P_SIZE("length")                                                                                       \
	}
#define NAME                                                                                                           \
	{                                                                                                              \
		P_STRING("name")                                                                                       \
	}
#define FD                                                                                                             \
	{                                                                                                              \
		P_INT("fd")                                                                                            \
	}
#define R_ADDRESS .returns = {"return", PARAM_POINTER, .words = words_map_failed}, .sets_errno = true

#define MAP(from, offset, kind, ...)                                                                                   \
	{                                                                                                              \
		.symbol = (from), .role = ROLE_ALLOC, .resource = (kind), .conditions = {__VA_ARGS__}, .id = RESULT,   \
		.size = ARG(1), .replaces = FLAGS(TEST_HAS, MAP_FIXED), .success = OK_NOT_MINUS_1, R_ADDRESS,          \
		.params = {                                                                                            \
			ADDRESS,                                                                                       \
			LENGTH,                                                                                        \
			{P_FLAGS("prot", words_prot)},                                                                 \
			{P_FLAGS("flags", words_map)},                                                                 \
			FD,                                                                                            \
			{"offset", offset}                                                                             \
		}                                                                                                      \
	}
#define MAPS(from, offset)                                                                                             \
	MAP(from, offset, OF_OBJECT, FLAGS(TEST_LACKS, MAP_ANONYMOUS), FD_IS(TEST_LIVE)),                              \
		MAP(from, offset, OF_FILE, FLAGS(TEST_LACKS, MAP_ANONYMOUS), FD_IS(TEST_NOT_LIVE)),                    \
		MAP(from, offset, OTHER, FLAGS(TEST_HAS, MAP_ANONYMOUS))

/* With an old size of 0 the old mapping stays; with MREMAP_DONTUNMAP it does as well, without its pages. */
#define REMAP(kind)                                                                                                    \
	{                                                                                                              \
		.symbol = "mremap", .role = ROLE_REALLOC, .resource = (kind),                                          \
		.conditions = {{.test = TEST_LIVE, .resource = (kind), .value = ARG(0)}}, .id = RESULT,                \
		.size = ARG(2), .released = ARG(0), .extent = ARG(1),                                                  \
		.stays = FLAGS(TEST_HAS, 4 /* MREMAP_DONTUNMAP */), .replaces = FLAGS(TEST_HAS, MREMAP_FIXED),         \
		.success = OK_NOT_MINUS_1, .can_fail = true, R_ADDRESS, .params = {                                    \
			{P_POINTER("old_address")},                                                                    \
			{P_SIZE("old_size")},                                                                          \
			{P_SIZE("new_size")},                                                                          \
			{P_FLAGS("flags", words_mremap)},                                                              \
			{"new_address", PARAM_POINTER, .with = 3, .needs = 2 | 4 /* FIXED, DONTUNMAP */}               \
		}                                                                                                      \
	}
#define UNMAP(kind)                                                                                                    \
	{                                                                                                              \
		.symbol = "munmap", .role = ROLE_RELEASE, .resource = (kind), .id = ARG(0), .extent = ARG(1),          \
		.result = TYPE_INT, .success = OK_ZERO, .can_fail = true, .may_release_none = true,                    \
		R_ERRNO(PARAM_INT), .params = {                                                                        \
			ADDRESS,                                                                                       \
			LENGTH                                                                                         \
		}                                                                                                      \
	}

/* What the descriptor is given up by. */
#define CLOSES(...)                                                                                                    \
	.role = ROLE_RELEASE, .resource = DESCRIPTOR, .result = TYPE_INT, .may_release_none = true,                    \
	R_ERRNO(PARAM_INT), __VA_ARGS__
#define OPENS                                                                                                          \
	.symbol = "shm_open", .role = ROLE_ALLOC, .size = CONST(1), .result = TYPE_INT, .success = OK_NOT_MINUS_1,     \
	R_ERRNO(PARAM_INT), .params = {NAME, {P_FLAGS("oflag", words_open)}, {P_MODE}}
#define OLD_AND_NEW                                                                                                    \
	{P_INT("oldfd")},                                                                                              \
	{                                                                                                              \
		P_INT("newfd")                                                                                         \
	}

static const struct function functions[] = {
	MAPS("mmap", PARAM_LONG),
	MAPS("mmap64", PARAM_INT64),
	REMAP(OF_OBJECT),
	REMAP(OF_FILE),
	REMAP(OTHER),
	UNMAP(OF_OBJECT),
	UNMAP(OF_FILE),
	UNMAP(OTHER),
	/* One that is there already is not made by it. */
	{OPENS, .resource = OBJECT, .conditions = {IF(TEST_HAS, ARG_INT(1), O_CREAT)}, .id = NAME_OF(0),
	 .unless_live = true},
	{OPENS, .resource = DESCRIPTOR, .id = RESULT},
	{.symbol = "shm_unlink",
	 .role = ROLE_RELEASE,
	 .resource = OBJECT,
	 .id = NAME_OF(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .can_fail = true,
	 .may_release_none = true,
	 R_ERRNO(PARAM_INT),
	 .params = {NAME}},
	/* A close() of an open descriptor always closes it, whatever it returns. */
	{.symbol = "close", CLOSES(.id = ARG_INT(0), .success = OK_ZERO, .params = {FD})},
	{.symbol = "close_range",
	 .role = ROLE_RELEASE,
	 .resource = DESCRIPTOR,
	 .id = ARG_UINT(0),
	 .last = ARG_UINT(1),
	 .conditions = {{.test = TEST_AT_MOST, .value = ARG_UINT(0), .other = ARG_UINT(1)},
			IF(TEST_LACKS, ARG_INT(2), CLOSE_RANGE_CLOEXEC)},
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .can_fail = true,
	 R_ERRNO(PARAM_INT),
	 .params = {{P_UINT("first")}, {P_UINT("last")}, {P_FLAGS("flags", words_close_range)}}},
	{.symbol = "dup2",
	 CLOSES(.id = ARG_INT(1), .success = OK_NOT_MINUS_1, .can_fail = true,
		.conditions = {{.test = TEST_DIFFERS, .value = ARG_INT(0), .other = ARG_INT(1)}},
		.params = {OLD_AND_NEW})},
	{.symbol = "dup3",
	 CLOSES(.id = ARG_INT(1), .success = OK_NOT_MINUS_1, .can_fail = true,
		.params = {OLD_AND_NEW, {P_FLAGS("flags", words_dup)}})},
};

const struct module module_shmposix = {
	.api = MODULE_API,
	.name = "shmposix",
	.summary = "mappings: of POSIX shared memory, of files, anonymous ones; shm_open",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
