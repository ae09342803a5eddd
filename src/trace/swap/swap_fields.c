/* The table of the SWAP protocol's messages and their fields, with the names in the protocol's document. */
#include "config.h"
#include "trace/swap/swap_fields.h"
#include "base/util.h"
#include "trace/swap/swap.h"

#include <stdlib.h>

/* F: a field that is only dumped. S: a field that the reader uses. IF: a field that occurs only for some values of
 * SLOT_KIND. EACH: a field that is repeated for each CPU or device. */
#define FIELD(name, type, slot, items, times, from, to)                                                                \
	{                                                                                                              \
		name, type, slot, items, times, from, to, (times) == SWAP_ONCE && !(from) ? NUMBER_SIZE(type) : 0      \
	}
#define NUMBER_SIZE(type)                                                                                              \
	((type) == SWAP_U8                                                  ? 1                                        \
	 : (type) == SWAP_U32 || (type) == SWAP_I32 || (type) == SWAP_HEX32 ? 4                                        \
	 : (type) == SWAP_U64 || (type) == SWAP_ADDRESS                     ? 8                                        \
									    : 0)
#define F(name, type)            FIELD(name, type, SLOT_NONE, NULL, SWAP_ONCE, 0, 0)
#define S(name, type, slot)      FIELD(name, type, slot, NULL, SWAP_ONCE, 0, 0)
#define IF(name, type, from, to) FIELD(name, type, SLOT_NONE, NULL, SWAP_ONCE, from, to)
#define EACH(name, type, times)  FIELD(name, type, SLOT_NONE, NULL, times, 0, 0)
#define LIST(name, items)        FIELD(name, SWAP_LIST, SLOT_NONE, items, SWAP_ONCE, 0, 0)
#define FIELDS(...)              ((const struct swap_field[]){__VA_ARGS__, {.type = SWAP_END}})

#define PID  S("pid", SWAP_U32, SLOT_PID)
#define TID  S("tid", SWAP_U32, SLOT_TID)
#define ARGS S("args", SWAP_ARGUMENTS, SLOT_ARGS)
#define BACK S("return", SWAP_ARGUMENT, SLOT_RETURN)

static const struct swap_field library[] = {
	S("lowest address", SWAP_ADDRESS, SLOT_ITEM_LOW),
	S("highest address", SWAP_ADDRESS, SLOT_ITEM_HIGH),
	S("library path", SWAP_STRING, SLOT_ITEM_PATH),
	{.type = SWAP_END},
};

static const struct swap_field open_file[] = {
	S("fd", SWAP_U32, SLOT_ITEM_LOW),
	F("tid", SWAP_U32),
	S("file size", SWAP_U64, SLOT_ITEM_HIGH),
	S("file path", SWAP_STRING, SLOT_ITEM_PATH),
	{.type = SWAP_END},
};

/* An open file in the second layout of MSG_PROCESS_STATUS_INFO, as SWAP's programs of 2016 write it. */
static const struct swap_field open_file_without_tid[] = {
	S("fd", SWAP_U32, SLOT_ITEM_LOW),
	S("file size", SWAP_U64, SLOT_ITEM_HIGH),
	S("file path", SWAP_STRING, SLOT_ITEM_PATH),
	{.type = SWAP_END},
};

static const struct swap_field thread_load[] = {
	F("tid", SWAP_U32),
	F("thread load", SWAP_F32),
	{.type = SWAP_END},
};

static const struct swap_field process_profile[] = {
	F("pid", SWAP_U32),
	F("process load", SWAP_F32),
	F("virtual memory", SWAP_U64),
	F("resident memory", SWAP_U64),
	F("shared memory", SWAP_U64),
	F("PSS memory", SWAP_U64),
	F("total alloc size", SWAP_U64),
	LIST("thread load list", thread_load),
	{.type = SWAP_END},
};

static const struct swap_field process_load[] = {
	F("pid", SWAP_U32),
	F("load", SWAP_F32),
	{.type = SWAP_END},
};

static const struct swap_field replay_event[] = {
	F("id", SWAP_U32), F("type", SWAP_U32), F("code", SWAP_U32), F("value", SWAP_U32), {.type = SWAP_END},
};

const struct swap_field swap_system_fields[] = {
	EACH("CPU frequency", SWAP_F32, SWAP_CPUS),
	EACH("CPU load", SWAP_F32, SWAP_CPUS),
	F("system memory used", SWAP_U64),
	LIST("target processes", process_profile),
	LIST("other processes", process_load),
	F("total used drive", SWAP_U32),
	F("disk reads", SWAP_U32),
	F("disk sectors read", SWAP_U32),
	F("disk writes", SWAP_U32),
	F("disk sectors written", SWAP_U32),
	F("network send size", SWAP_U32),
	F("network receive size", SWAP_U32),
	F("WiFi status", SWAP_U32),
	F("BT status", SWAP_U32),
	F("GPS status", SWAP_U32),
	F("brightness status", SWAP_U32),
	F("camera status", SWAP_U32),
	F("sound status", SWAP_U32),
	F("audio status", SWAP_U32),
	F("vibration status", SWAP_U32),
	F("voltage status", SWAP_U32),
	F("RSSI status", SWAP_U32),
	F("video status", SWAP_U32),
	F("call status", SWAP_U32),
	F("DNet status", SWAP_U32),
	F("energy usage", SWAP_U32),
	EACH("energy usage per device", SWAP_U32, SWAP_DEVICES),
	EACH("application energy usage per device", SWAP_U32, SWAP_DEVICES),
	{.type = SWAP_END},
};

#define FUNCTION(kind, ...)                                                                                            \
	PID, TID, kind S("pc address", SWAP_ADDRESS, SLOT_PC), S("caller pc address", SWAP_ADDRESS, SLOT_CALLER),      \
		F("CPU num", SWAP_U32), __VA_ARGS__
#define PLAIN
#define PROBE_TYPE F("probe type", SWAP_HEX32),

#define PROBE_COMMON                                                                                                   \
	S("API id", SWAP_U32, SLOT_API), PID, TID, ARGS, BACK, S("errno", SWAP_U64, SLOT_ERRNO),                       \
		F("call type", SWAP_I32), S("caller pc addr", SWAP_ADDRESS, SLOT_CALLER), F("reserved", SWAP_U32),     \
		F("reserved", SWAP_U32)

#define CONTEXT_SWITCH F("pc address", SWAP_ADDRESS), PID, TID, F("CPU num", SWAP_U32)

/* Sorted by id. */
static const struct swap_format formats[] = {
	{SWAP_PROCESS_INFO, "PROCESS_INFO",
	 FIELDS(PID, S("command name", SWAP_STRING, SLOT_TEXT), S("ppid", SWAP_U32, SLOT_PPID),
		S("start time", SWAP_TIME, SLOT_START), S("lowest address", SWAP_ADDRESS, SLOT_LOW),
		S("highest address", SWAP_ADDRESS, SLOT_HIGH), S("binary path", SWAP_STRING, SLOT_PATH),
		LIST("dependent libraries", library)),
	 NULL},
	{SWAP_TERMINATE, "TERMINATE", FIELDS(PID), NULL},
	{SWAP_ERROR, "ERROR", FIELDS(S("error message", SWAP_STRING, SLOT_TEXT)), NULL},
	{SWAP_SAMPLE, "SAMPLE", FIELDS(PID, F("PC address", SWAP_ADDRESS), TID, F("CPU num", SWAP_U32)), NULL},
	{SWAP_SYSTEM, "SYSTEM", FIELDS(F("all", SWAP_REST)), NULL},
	{SWAP_IMAGE, "IMAGE", FIELDS(F("all", SWAP_REST)), NULL},
	{SWAP_RECORD, "RECORD", FIELDS(LIST("events", replay_event)), NULL},
	{SWAP_FUNCTION_ENTRY, "FUNCTION_ENTRY", FIELDS(FUNCTION(PLAIN, ARGS)), NULL},
	{SWAP_FUNCTION_EXIT, "FUNCTION_EXIT", FIELDS(FUNCTION(PLAIN, BACK)), NULL},
	{SWAP_SYSCALL_ENTRY, "SYSCALL_ENTRY", FIELDS(FUNCTION(PROBE_TYPE, ARGS)), NULL},
	{SWAP_SYSCALL_EXIT, "SYSCALL_EXIT", FIELDS(FUNCTION(PROBE_TYPE, BACK)), NULL},
	{SWAP_FILE_FUNCTION_ENTRY, "FILE_FUNCTION_ENTRY",
	 FIELDS(PID, TID, F("fd", SWAP_U32), F("event type", SWAP_U32), F("real file path", SWAP_STRING),
		S("args type", SWAP_U32, SLOT_KIND), IF("open file path", SWAP_STRING, 1, 1),
		IF("type", SWAP_U32, 2, 2), IF("whence", SWAP_U32, 2, 2), IF("start", SWAP_U64, 2, 2),
		IF("length", SWAP_U64, 2, 2)),
	 NULL},
	{SWAP_FILE_FUNCTION_EXIT, "FILE_FUNCTION_EXIT", FIELDS(PID, TID, BACK), NULL},
	{SWAP_PROCESS_STATUS_INFO, "PROCESS_STATUS_INFO", FIELDS(PID, LIST("opened files", open_file)),
	 FIELDS(PID, LIST("opened files", open_file_without_tid))},
	{SWAP_CONTEXT_SWITCH_ENTRY, "CONTEXT_SWITCH_ENTRY", FIELDS(CONTEXT_SWITCH), NULL},
	{SWAP_CONTEXT_SWITCH_EXIT, "CONTEXT_SWITCH_EXIT", FIELDS(CONTEXT_SWITCH), NULL},
	{SWAP_PROCESS_MAP, "PROCESS_MAP",
	 FIELDS(PID, S("lowest address", SWAP_ADDRESS, SLOT_LOW), S("highest address", SWAP_ADDRESS, SLOT_HIGH),
		S("library path", SWAP_STRING, SLOT_PATH)),
	 NULL},
	{SWAP_PROCESS_UNMAP, "PROCESS_UNMAP",
	 FIELDS(PID, S("lowest address", SWAP_ADDRESS, SLOT_LOW), S("highest address", SWAP_ADDRESS, SLOT_HIGH)), NULL},
	{SWAP_PROCESS_COMM, "PROCESS_COMM", FIELDS(PID, S("command name", SWAP_STRING, SLOT_TEXT)), NULL},
	{SWAP_WEB_SAMPLING, "WEB_SAMPLING",
	 FIELDS(F("subtype", SWAP_U8), PID, TID, F("function line number", SWAP_U32), F("function name", SWAP_STRING),
		F("function url", SWAP_STRING)),
	 NULL},
	{SWAP_APP_SETUP_STAGE, "APP_SETUP_STAGE",
	 FIELDS(PID, F("stage ID", SWAP_U32), F("begin time", SWAP_TIME), F("end time", SWAP_TIME)), NULL},
	{SWAP_WEB_APP_SETUP_STAGE, "WEB_APP_SETUP_STAGE",
	 FIELDS(PID, S("wsp id", SWAP_U32, SLOT_KIND), IF("res id", SWAP_U32, 1, 4), IF("path", SWAP_STRING, 1, 1)),
	 NULL},
	{SWAP_FBI, "FBI", FIELDS(F("variable id", SWAP_U32), F("data", SWAP_BYTES)), NULL},
	{SWAP_UI_HIERARCHY, "UI_HIERARCHY", FIELDS(F("file path", SWAP_STRING)), NULL},
	{SWAP_LSAN, "LSAN",
	 FIELDS(S("status", SWAP_U32, SLOT_KIND), PID, S("message", SWAP_STRING, SLOT_TEXT),
		F("call type ptr", SWAP_U32), F("caller addr", SWAP_ADDRESS)),
	 NULL},
	{SWAP_PROBE_MEMORY, "PROBE_MEMORY",
	 FIELDS(PROBE_COMMON, S("size", SWAP_U64, SLOT_SIZE), S("type", SWAP_U32, SLOT_KIND),
		S("address", SWAP_ADDRESS, SLOT_ADDRESS)),
	 NULL},
	{SWAP_PROBE_UICONTROL, "PROBE_UICONTROL", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)), NULL},
	{SWAP_PROBE_UIEVENT, "PROBE_UIEVENT", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)), NULL},
	{SWAP_PROBE_FILE, "PROBE_FILE",
	 FIELDS(PROBE_COMMON, F("size", SWAP_U64), F("fd", SWAP_U64), F("api", SWAP_U32), F("file size", SWAP_U64),
		F("path", SWAP_STRING)),
	 NULL},
	{SWAP_PROBE_LIFECYCLE, "PROBE_LIFECYCLE", FIELDS(PROBE_COMMON), NULL},
	{SWAP_PROBE_SCREENSHOT, "PROBE_SCREENSHOT",
	 FIELDS(PROBE_COMMON, F("image path", SWAP_STRING), F("orientation", SWAP_U32)), NULL},
	{SWAP_PROBE_SCENE, "PROBE_SCENE", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)), NULL},
	{SWAP_PROBE_THREAD, "PROBE_THREAD",
	 FIELDS(PROBE_COMMON, F("pthread id", SWAP_ADDRESS), F("tizen thread id", SWAP_ADDRESS),
		F("thread kind", SWAP_U32), S("thread api", SWAP_U32, SLOT_KIND), S("class", SWAP_STRING, SLOT_TEXT)),
	 NULL},
	{SWAP_PROBE_CUSTOM, "PROBE_CUSTOM",
	 FIELDS(PROBE_COMMON, S("handle", SWAP_U32, SLOT_HANDLE), F("type", SWAP_U32),
		S("name", SWAP_STRING, SLOT_TEXT), F("colour", SWAP_HEX32), F("value", SWAP_F64)),
	 NULL},
	{SWAP_PROBE_SYNC, "PROBE_SYNC",
	 FIELDS(PROBE_COMMON, F("object", SWAP_ADDRESS), F("kind", SWAP_U32), F("api", SWAP_U32)), NULL},
	{SWAP_PROBE_NETWORK, "PROBE_NETWORK", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)), NULL},
	{SWAP_PROBE_GLES20, "PROBE_GLES20", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)), NULL},
};

static const struct swap_format other_probe = {SWAP_PROBE_FIRST, "PROBE", FIELDS(PROBE_COMMON, F("tail", SWAP_REST)),
					       NULL};

static int swap_fields_compare_ids(const void *key, const void *format)
{
	const uint32_t id = *(const uint32_t *)key, other = ((const struct swap_format *)format)->id;

	return compare_u64(id, other);
}

const struct swap_format *swap_format_of(uint32_t id)
{
	const struct swap_format *const format =
		bsearch(&id, formats, ARRAY_SIZE(formats), sizeof(*formats), swap_fields_compare_ids);

	if (format)
		return format;
	return id >= SWAP_PROBE_FIRST && id <= SWAP_PROBE_LAST ? &other_probe : NULL;
}
