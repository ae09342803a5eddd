/* Shared memory of System V.
 *
 * A segment lives as the kernel has it: from its creation to IPC_RMID, and as long as it is attached anywhere. So each
 * attachment of this process is a reference of it.
 *
 * Semantics: shmget(2), shmop(2), shmctl(2). */
#include "config.h"
#include "modules/words.h"
#include "trace/event.h"

#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>

enum { SEGMENT, ATTACHMENT, CONTROL };

static const struct resource resources[] = {
	[SEGMENT] = {.type = "segment",
		     .desc = "shared memory segment",
		     .flags = RESOURCE_REFCOUNT,
		     .noun = "shared memory segment",
		     .unit = "byte",
		     .left = "not removed, or still attached",
		     .zero_is_id = true},
	[ATTACHMENT] = {.type = "attachment",
			.desc = "shared memory attachments",
			.noun = "attached segment",
			.unit = "byte"},
	[CONTROL] = {.type = "control",
		     .desc = "shared memory segment control operation",
		     .flags = RESOURCE_CALL,
		     .noun = "control operation",
		     .zero_is_id = true},
};

/* Of a segment that another process has made, only what is attached tells. */
static bool look_attached(const struct module_call *call, struct module_details *details)
{
	if (!details->size)
		details->size = call->mapped(call, call->result);
	return true;
}

static bool look_control(const struct module_call *call, struct module_details *details)
{
	const uint32_t command = (uint32_t)call->args[1];

	details->arg_name = "cmd";
	snprintf(details->arg_value, sizeof(details->arg_value), "%u", command & ~0x100u);
	for (const struct param_word *word = words_shmctl; word->name; word++)
		if (word->value == command)
			snprintf(details->arg_value, sizeof(details->arg_value), "%s", word->name);
	return true;
}

#define ID                                                                                                             \
	{                                                                                                              \
		P_INT("shmid")                                                                                         \
	}
#define ADDRESS                                                                                                        \
	{                                                                                                              \
		P_POINTER("shmaddr")                                                                                   \
	}
#define COMMAND                                                                                                        \
	{                                                                                                              \
		P_WORD("cmd", words_shmctl)                                                                            \
	}
#define BUFFER                                                                                                         \
	{                                                                                                              \
		P_POINTER("buf")                                                                                       \
	}
#define ATTACHES                                                                                                       \
	.symbol = "shmat", .role = ROLE_ALLOC, .success = OK_NOT_MINUS_1, .look = look_attached,                       \
	.size = LIVE_SIZE(0, TYPE_INT, SEGMENT), .returns = {"return", PARAM_POINTER, .words = words_minus_1},         \
	.sets_errno = true, .params = {ID, ADDRESS, {P_FLAGS("shmflg", words_shmat)}}
#define DETACHES                                                                                                       \
	.symbol = "shmdt", .role = ROLE_RELEASE, .result = TYPE_INT, .success = OK_ZERO, .can_fail = true,             \
	R_ERRNO(PARAM_INT), .params = {ADDRESS}

static const struct param_word words_minus_1[] = {{.name = "-1", .value = (uint64_t)-1}, {.name = NULL}};

/* Under the name that 32-bit programs with times of 64 bits have for it, too. */
#define CONTROLS(from)                                                                                                 \
	{.symbol = (from),                                                                                             \
	 .name = "shmctl",                                                                                             \
	 .role = ROLE_RELEASE,                                                                                         \
	 .resource = SEGMENT,                                                                                          \
	 .conditions = {{.test = TEST_EQUALS, .value = ARG_INT(1), .other = CONST(IPC_RMID)}},                         \
	 .id = ARG_INT(0),                                                                                             \
	 .result = TYPE_INT,                                                                                           \
	 .success = OK_ZERO,                                                                                           \
	 .can_fail = true,                                                                                             \
	 .may_release_none = true,                                                                                     \
	 R_ERRNO(PARAM_INT),                                                                                           \
	 .params = {ID, COMMAND, BUFFER}},                                                                             \
	{                                                                                                              \
		.symbol = (from), .name = "shmctl", .role = ROLE_CALL, .resource = CONTROL, .id = ARG_INT(0),          \
		.size = CONST(1), .result = TYPE_INT, .success = OK_NOT_MINUS_1, .look = look_control,                 \
		R_ERRNO(PARAM_INT), .params = {                                                                        \
			ID,                                                                                            \
			COMMAND,                                                                                       \
			BUFFER                                                                                         \
		}                                                                                                      \
	}

static const struct function functions[] = {
	{.symbol = "shmget",
	 .role = ROLE_ALLOC,
	 .resource = SEGMENT,
	 .conditions = {{.test = TEST_HAS, .or_next = true, .value = ARG_INT(2), .other = CONST(IPC_CREAT)},
			{.test = TEST_EQUALS, .value = ARG_INT(0), .other = CONST(IPC_PRIVATE)}},
	 .id = RESULT,
	 .size = ARG(1),
	 .result = TYPE_INT,
	 .success = OK_NOT_MINUS_1,
	 .unless_live = true,
	 R_ERRNO(PARAM_INT),
	 .params = {{P_WORD("key", words_key)}, {P_SIZE("size")}, {"shmflg", PARAM_FLAGS_MODE, .words = words_shmget}}},
	{ATTACHES, .resource = SEGMENT, .id = ARG_INT(0)},
	{ATTACHES, .resource = ATTACHMENT, .id = RESULT, .keeps = ARG_INT(0)},
	{DETACHES, .resource = SEGMENT, .id = KEPT(0, TYPE_WORD, ATTACHMENT)},
	{DETACHES, .resource = ATTACHMENT, .id = ARG(0)},
	CONTROLS("shmctl"),
	CONTROLS("__shmctl64"),
	CONTROLS("__shmctl_time64"),
};

const struct module module_shmsysv = {
	.api = MODULE_API,
	.name = "shmsysv",
	.summary = "shared memory of System V: segments, and where they are attached",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
