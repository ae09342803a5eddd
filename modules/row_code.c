#include "config.h"
#include "modules/row_code.h"

#include <stdio.h>
#include <string.h>

#define WIDE 4 /* bytes of a wchar_t */

/* Corrects the size for wcsnlen(): if the string does not end within the limit, no terminating NUL was read. */
static bool look_wcsnlen(const struct module_call *call, struct module_details *details)
{
	const uint64_t most = call->pointer_size == 4 ? (uint32_t)call->args[1] : call->args[1];

	if (call->result >= most)
		details->size -= WIDE;
	return true;
}

/* Sets the size for shmat() to that of the attached mapping, if the segment's size is unknown because another process
 * has created the segment. */
static bool look_attached(const struct module_call *call, struct module_details *details)
{
	if (!details->size)
		details->size = call->mapped(call, call->result);
	return true;
}

/* Adds the command's name for shmctl(), as in enum shmctl_command of tables/constants.conf. */
static bool look_control(const struct module_call *call, struct module_details *details)
{
	static const struct {
		uint32_t command;
		const char *name;
	} commands[] = {{0, "IPC_RMID"},      {1, "IPC_SET"},      {2, "IPC_STAT"},     {3, "IPC_INFO"},
			{11, "SHM_LOCK"},     {12, "SHM_UNLOCK"},  {13, "SHM_STAT"},    {14, "SHM_INFO"},
			{15, "SHM_STAT_ANY"}, {0x102, "IPC_STAT"}, {0x10d, "SHM_STAT"}, {0x10f, "SHM_STAT_ANY"}};
	const uint32_t command = (uint32_t)call->args[1];

	details->arg_name = "cmd";
	snprintf(details->arg_value, sizeof(details->arg_value), "%u", command & ~0x100u);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].command == command)
			snprintf(details->arg_value, sizeof(details->arg_value), "%s", commands[i].name);
	return true;
}

row_code_look *row_code(const char *name, size_t length, bool *looks_again)
{
	static const struct {
		const char *name;
		row_code_look *look;
		bool looks_again;
	} codes[] = {{"bounded-string", look_wcsnlen, false}, {"attached-size", look_attached, false},
		     {"command", look_control, false},        {"message", row_code_message, true},
		     {"messages", row_code_messages, true},   {"terminal", row_code_terminal, true},
		     {"object", row_code_object, false},      {"object-type", row_code_type, false}};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strlen(codes[i].name) == length && !memcmp(codes[i].name, name, length)) {
			*looks_again = codes[i].looks_again;
			return codes[i].look;
		}
	return NULL;
}
