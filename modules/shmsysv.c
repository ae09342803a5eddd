/* Shared memory of System V.
 *
 * A segment lives as the kernel has it: from its creation to IPC_RMID, and as long as it is attached anywhere. So each
 * attachment of this process is a reference of it.
 *
 * Semantics: shmget(2), shmop(2), shmctl(2). */
#include "config.h"
#include "modules/module.h"
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
	static const char *const names[] = {
		[IPC_RMID] = "IPC_RMID", [IPC_SET] = "IPC_SET",   [IPC_STAT] = "IPC_STAT",
		[IPC_INFO] = "IPC_INFO", [SHM_LOCK] = "SHM_LOCK", [SHM_UNLOCK] = "SHM_UNLOCK",
		[SHM_STAT] = "SHM_STAT", [SHM_INFO] = "SHM_INFO", [15] = "SHM_STAT_ANY"};
	/* musl adds 0x100 on 32 bits, where the structure has times of 64. */
	const uint32_t command = (uint32_t)call->args[1] & ~0x100u;

	details->arg_name = "cmd";
	if (command < sizeof(names) / sizeof(names[0]) && names[command])
		snprintf(details->arg_value, sizeof(details->arg_value), "%s", names[command]);
	else
		snprintf(details->arg_value, sizeof(details->arg_value), "%u", command);
	return true;
}

#define P_ID                                                                                                           \
	{                                                                                                              \
		"shmid", PARAM_INT                                                                                     \
	}
#define P_ADDRESS                                                                                                      \
	{                                                                                                              \
		"shmaddr", PARAM_POINTER                                                                               \
	}

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
	 .params = {P_ID, {"cmd", PARAM_INT}}},                                                                        \
	{                                                                                                              \
		.symbol = (from), .name = "shmctl", .role = ROLE_CALL, .resource = CONTROL, .id = ARG_INT(0),          \
		.size = CONST(1), .result = TYPE_INT, .success = OK_NOT_MINUS_1, .look = look_control, .params = {     \
			P_ID,                                                                                          \
			{"cmd", PARAM_INT}                                                                             \
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
	 .params = {{"key", PARAM_HEX}, {"size", PARAM_SIZE}, {"shmflg", PARAM_HEX}}},
	{.symbol = "shmat",
	 .role = ROLE_ALLOC,
	 .resource = SEGMENT,
	 .id = ARG_INT(0),
	 .size = LIVE_SIZE(0, TYPE_INT, SEGMENT),
	 .success = OK_NOT_MINUS_1,
	 .look = look_attached,
	 .params = {P_ID, P_ADDRESS}},
	{.symbol = "shmat",
	 .role = ROLE_ALLOC,
	 .resource = ATTACHMENT,
	 .id = RESULT,
	 .size = LIVE_SIZE(0, TYPE_INT, SEGMENT),
	 .keeps = ARG_INT(0),
	 .success = OK_NOT_MINUS_1,
	 .look = look_attached,
	 .params = {P_ID, P_ADDRESS}},
	{.symbol = "shmdt",
	 .role = ROLE_RELEASE,
	 .resource = SEGMENT,
	 .id = KEPT(0, TYPE_WORD, ATTACHMENT),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .can_fail = true,
	 .params = {P_ADDRESS}},
	{.symbol = "shmdt",
	 .role = ROLE_RELEASE,
	 .resource = ATTACHMENT,
	 .id = ARG(0),
	 .result = TYPE_INT,
	 .success = OK_ZERO,
	 .can_fail = true,
	 .params = {P_ADDRESS}},
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
