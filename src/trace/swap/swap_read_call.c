/* Converts SWAP messages to calls: memory probes, other probes, functions and system calls. */
#include "config.h"
#include "trace/digits.h"
#include "trace/swap/swap_read.h"
#include "trace/escape.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All keys of functrace's additions have three characters. */
_Static_assert(sizeof(SWAP_NAMES) == 4, "swap_read_call_begins() compares three");

/* The strings that functrace appended after the arguments, without their keys; NULL if a string is missing. */
struct additions {
	const char *names, *function, *context, *type, *id, *size, *stack;
	size_t args; /* number of arguments before the additions */
};

static bool swap_read_call_begins(const struct swap_arg *arg, const char *key)
{
	return arg->type == 's' && arg->text[0] == key[0] && arg->text[1] == key[1] && arg->text[2] == key[2];
}

/* Returns the index of functrace's first addition, which is the last argument that begins with SWAP_NAMES; arg_count if
 * there is none. */
static size_t find_additions(const struct swap_fields *fields)
{
	for (size_t i = fields->arg_count; i; i--)
		if (swap_read_call_begins(&fields->args[i - 1], SWAP_NAMES))
			return i - 1;
	return fields->arg_count;
}

bool swap_is_own(const struct swap_fields *fields)
{
	return find_additions(fields) < fields->arg_count;
}

static void take_addition(struct additions *found, const char *text)
{
	static const struct {
		char key[4];
		size_t place;
	} keys[] = {
		{SWAP_NAMES, offsetof(struct additions, names)},
		{SWAP_STACK, offsetof(struct additions, stack)},
		{SWAP_FUNCTION, offsetof(struct additions, function)},
		{SWAP_CONTEXT, offsetof(struct additions, context)},
		{SWAP_TYPE, offsetof(struct additions, type)},
		{SWAP_ID, offsetof(struct additions, id)},
		{SWAP_SIZE, offsetof(struct additions, size)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (text[0] == keys[i].key[0] && text[1] == keys[i].key[1] && text[2] == '=') {
			*(const char **)((char *)found + keys[i].place) = text + 3;
			return;
		}
}

static struct additions additions_of(const struct swap_fields *fields)
{
	struct additions found = {.args = find_additions(fields)};

	for (size_t i = found.args; i < fields->arg_count; i++)
		if (fields->args[i].type == 's')
			take_addition(&found, fields->args[i].text);
	return found;
}

/* ---- Arguments ---- */

static void add_arg(struct swap_reader *s, struct record_call *call, const char *name, const char *value)
{
	ARRAY_GROW(s->args, s->arg_capacity, call->arg_count);
	s->args[call->arg_count++] = (struct call_arg){name, value};
}

static const char *swap_read_call_value_of(struct swap_reader *s, const struct swap_arg *arg)
{
	struct buf text = {0};

	if (arg->type == 's')
		return arg->text;
	swap_arg_text(&text, arg);
	const char *const value = swap_keep(s, buf_str(&text));

	buf_free(&text);
	return value;
}

/* Returns the next item of a list in which a comma follows each item; NULL at the end. The comma is replaced by a
 * NUL. */
static char *swap_read_call_next_item(char **list)
{
	char *const item = *list, *const comma = strchr(item, ',');

	if (!comma)
		return NULL;
	*comma = '\0';
	*list = comma + 1;
	return item;
}

/* Adds the arguments of a message that functrace wrote, with their names. */
static void take_own_args(struct swap_reader *s, struct record_call *call, const struct additions *added,
			  const struct swap_fields *fields, const struct swap_arg *returned)
{
	char *list = swap_keep(s, added->names), *item;
	bool has_return = false, has_errno = false;
	size_t next = 0;

	while ((item = swap_read_call_next_item(&list))) {
		char *const value = strchr(item, '=');
		const struct swap_arg *arg = NULL;

		if (value)
			*value = '\0';
		const char *const name = text_unescape(item, ",=");
		struct swap_arg error = {.type = 'x', .number = fields->numbers[SLOT_ERRNO]};

		if (!has_return && !strcmp(name, SWAP_RETURN)) {
			has_return = true;
			arg = returned;
		} else if (!has_errno && !strcmp(name, SWAP_ERRNO)) {
			has_errno = true;
			arg = &error;
		} else if (next < added->args) {
			arg = &fields->args[next++];
		}
		if (value)
			add_arg(s, call, name, text_unescape(value + 1, ","));
		else if (arg)
			add_arg(s, call, name, swap_read_call_value_of(s, arg));
	}
}

/* Adds the arguments, the result and errno of a message that another program wrote. */
static void take_foreign_args(struct swap_reader *s, struct record_call *call, const struct swap_fields *fields,
			      const struct swap_api *api, const struct swap_arg *returned)
{
	char *list = swap_keep(s, api ? api->names : "");

	for (size_t i = 0; i < fields->arg_count; i++) {
		const char *const name = swap_read_call_next_item(&list);

		add_arg(s, call, name ? name : "", swap_read_call_value_of(s, &fields->args[i]));
	}
	if (returned && returned->type != 'v' && returned->type != 'n')
		add_arg(s, call, SWAP_RETURN, swap_read_call_value_of(s, returned));
	if (fields->numbers[SLOT_ERRNO]) {
		const struct swap_arg error = {.type = 'x', .number = fields->numbers[SLOT_ERRNO]};

		add_arg(s, call, SWAP_ERRNO, swap_read_call_value_of(s, &error));
	}
}

/* ---- The stack, the resource, the function ---- */

static void swap_read_call_add_frame(struct swap_reader *s, struct record_call *call, uint64_t address)
{
	ARRAY_GROW(s->frames, s->frame_capacity, call->frame_count);
	s->frames[call->frame_count++] = address;
}

/* Parses a hexadecimal number that ends before a comma or at the end of the text. Returns the address after it; NULL if
 * the text is no such number. */
static const char *take_address(const char *text, uint64_t *address)
{
	const char *const p = take_hexadecimal(text, address);

	return p && (!*p || *p == ',') ? p : NULL;
}

/* Parses a stack, for example "400123,7f0000,cut". */
static void swap_read_call_take_stack(struct swap_reader *s, struct record_call *call, const char *text)
{
	const size_t size = strlen(text);
	const struct cached_stack *const known = stack_cache_find(&s->stacks, text, size);
	const char *stack = text;

	call->has_frames = true;
	if (known) {
		call->frames = stack_cache_frames(known, &call->frame_count);
		call->end = known->end;
		return;
	}
	call->frame_count = 0;
	call->end = STACK_WHOLE;
	while (*stack) {
		uint64_t address;
		const char *end = take_address(stack, &address);

		/* "c" alone is a hexadecimal address, "cut" is not. */
		if (end)
			swap_read_call_add_frame(s, call, address);
		else if (!strcmp(stack, "cut"))
			call->end = STACK_CUT;
		else if (!strcmp(stack, "lost"))
			call->end = STACK_LOST;
		stack = end ? end : stack + strcspn(stack, ",");
		stack += *stack == ',';
	}
	call->frames = s->frames;
	stack_cache_keep(&s->stacks, text, size, call->frames, call->frame_count * sizeof(*call->frames), call->end);
}

static uint32_t type_number(struct swap_reader *s, const char *type, uint32_t flags)
{
	for (size_t i = 0; i < s->type_count; i++)
		if (s->types[i].flags == flags && !strcmp(s->types[i].type, type))
			return (uint32_t)i;
	if (s->type_count == SWAP_TYPES_MAX)
		return SWAP_TYPES_MAX - 1;
	s->types[s->type_count++] = (struct swap_type_name){xstrdup(type), flags};
	return (uint32_t)s->type_count - 1;
}

/* Returns the id of a type. Queues its declaration before its first use. */
static uint32_t resource_of(struct swap_reader *s, const char *type, uint32_t flags)
{
	const uint32_t number = type_number(s, type, flags);
	const struct swap_type_name *known = &s->types[number];

	if (s->current->declared >> number & 1)
		return number + 1;
	const char *const desc = is_heap_type(known->type) ? "memory allocation in bytes" : known->type;

	swap_push(s,
		  &(struct record){.type = RECORD_RESOURCE, .resource = {number + 1, known->flags, known->type, desc}});
	s->current->declared |= UINT64_C(1) << number;
	return number + 1;
}

/* Parses the call's resource and kind, for example "fd,alloc,refcount". */
static void swap_read_call_take_type(struct swap_reader *s, struct record_call *call, const char *text)
{
	char *const type = swap_keep(s, text), *const rest = type + strcspn(type, ",");
	uint32_t flags = 0;

	call->kind = strstr(rest, ",alloc") ? CALL_ALLOC : strstr(rest, ",release") ? CALL_RELEASE : CALL_COPY;
	if (strstr(rest, ",refcount"))
		flags |= RESOURCE_REFCOUNT;
	if (strstr(rest, ",call"))
		flags |= RESOURCE_CALL;
	*rest = '\0';
	call->resource = resource_of(s, text_unescape(type, ","), flags);
}

static const char *function_of(struct swap_reader *s, const struct swap_message *message,
			       const struct swap_fields *fields)
{
	const bool is_probe = message->id >= SWAP_PROBE_FIRST;
	const uint64_t number = fields->numbers[is_probe ? SLOT_API : SLOT_PC];
	const struct swap_api *const api = is_probe ? swap_api_find((uint32_t)number) : NULL;
	const char *const mapped = swap_name_of(s, number);
	char text[64];

	if (mapped || api)
		return mapped ? mapped : api->name;
	snprintf(text, sizeof(text), is_probe ? "api_%" PRIu64 : "function_0x%" PRIx64, number);
	return swap_keep(s, text);
}

/* ---- Calls ---- */

void swap_push_thread(struct swap_reader *s, uint32_t tid)
{
	struct swap_process *p = s->current;
	const char *const name = hash_get_ptr(&s->names, tid);

	if (tid == p->tid && (p->has_thread || !name))
		return;
	p->tid = tid;
	p->has_thread = true;
	swap_push(s, &(struct record){.type = RECORD_THREAD, .thread = {tid, name ? swap_keep(s, name) : ""}});
}

/* Returns the time of a message in ns since midnight of the day on which the process started. The seconds in a message
 * are a 32-bit counter that wraps in the year 2106. If the counter is below its value at that midnight, either it has
 * wrapped, or the message is from an earlier day. The function assumes a wrap if the message is then less than 2^31
 * seconds after the midnight. Otherwise it returns the message's time of day. */
static uint64_t swap_read_call_time_of(const struct swap_process *p, const struct swap_message *message)
{
	const uint32_t day = (uint32_t)(p->day_ns / NS_PER_SECOND), since = message->seconds - day;

	if (!message->seconds && !message->nanoseconds)
		return TIME_NONE;
	if (message->seconds >= day || since <= INT32_MAX)
		return (uint64_t)since * NS_PER_SECOND + message->nanoseconds;
	return ((uint64_t)message->seconds * NS_PER_SECOND + message->nanoseconds) % NS_PER_DAY;
}

/* Queues the release by a realloc that another program traced. Only functrace writes a separate message for this
 * release. */
static void push_realloc_release(struct swap_reader *s, const struct record_call *call,
				 const struct swap_fields *fields)
{
	struct record_call release = {.index = ++s->current->next_index,
				      .time_ns = call->time_ns,
				      .resource = call->resource,
				      .kind = CALL_RELEASE,
				      .function = call->function,
				      .id = fields->args[0].number};

	swap_push(s, &(struct record){.type = RECORD_CALL, .call = release});
}

static bool is_realloc(const struct swap_fields *fields, const char *function)
{
	if (!fields->arg_count || fields->args[0].type != 'p' || !fields->args[0].number)
		return false;
	return strstr(function, "realloc") ||
	       (fields->arg_count > 1 && fields->args[1].type == 'x' && !strstr(function, "new"));
}

static void swap_read_call_take_memory(struct swap_reader *s, struct record_call *call,
				       const struct swap_fields *fields, const struct additions *added)
{
	const uint64_t kind = fields->numbers[SLOT_KIND];

	call->id = fields->numbers[SLOT_ADDRESS];
	call->size = fields->numbers[SLOT_SIZE];
	/* An allocation without an address has failed; a release without one releases nothing. */
	call->kind = !call->id || kind > SWAP_FREE ? CALL_COPY : kind == SWAP_FREE ? CALL_RELEASE : CALL_ALLOC;
	if (added->type)
		swap_read_call_take_type(s, call, added->type);
	else if (kind > SWAP_FREE)
		call->resource = resource_of(s, "transfer", RESOURCE_CALL);
	else
		call->resource = resource_of(s, "memory", 0);
	if (!added->names && call->kind == CALL_ALLOC && is_realloc(fields, call->function))
		push_realloc_release(s, call, fields);
}

void swap_take_call(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
		    const struct swap_fields *exit)
{
	const bool is_probe = message->id >= SWAP_PROBE_FIRST;
	const struct swap_arg *returned = is_probe ? &fields->returned : exit ? &exit->returned : NULL;
	const struct additions added = additions_of(fields);
	struct record record = {.type = RECORD_CALL,
				.call = {.time_ns = swap_read_call_time_of(s->current, message), .kind = CALL_COPY}};
	struct record_call *const call = &record.call;

	swap_push_thread(s, (uint32_t)fields->numbers[SLOT_TID]);
	call->function = added.function ? added.function : function_of(s, message, fields);
	if (added.context)
		call->context = (uint32_t)strtoul(added.context, NULL, 16);
	if (added.id)
		call->id = strtoull(added.id, NULL, 16);
	if (added.size)
		call->size = strtoull(added.size, NULL, 10);
	if (message->id == SWAP_PROBE_MEMORY)
		swap_read_call_take_memory(s, call, fields, &added);
	else if (added.type)
		swap_read_call_take_type(s, call, added.type);
	else
		call->resource = resource_of(s, "call", RESOURCE_CALL);
	if (added.names && *added.names)
		take_own_args(s, call, &added, fields, returned);
	else if (!added.names)
		take_foreign_args(s, call, fields,
				  message->id == SWAP_PROBE_MEMORY ? swap_api_of(call->function) : NULL, returned);
	if (added.stack)
		swap_read_call_take_stack(s, call, added.stack);
	call->index = ++s->current->next_index;
	call->args = s->args;
	swap_push(s, &record);
}
