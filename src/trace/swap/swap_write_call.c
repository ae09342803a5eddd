/* Writes a call as SWAP messages: one memory probe, or the entry and the exit of a function. */
#include "config.h"
#include "trace/digits.h"
#include "trace/swap/swap_write.h"
#include "trace/escape.h"

#include <inttypes.h>
#include <stdio.h>

/* Limits of the parts of a message. They ensure that its payload has at most SWAP_PAYLOAD_MAX bytes, unless the message
 * is a memory probe whose result is a long string. */
#define VALUE_MAX    4096  /* size of a string, in bytes, with its NUL */
#define FUNCTION_MAX 2048  /* size of a function's name, in bytes */
#define TYPE_MAX     400   /* size of a resource's type, in bytes; a byte may become four by an escape */
#define NAMES_MAX    4000  /* size of the names of all arguments, in bytes */
#define ARGS_MAX     12000 /* size of all arguments, in bytes, without functrace's additions */
#define FRAMES_MAX   600   /* frames of a stack; a frame takes up to 17 bytes */

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static uint64_t swap_write_call_time_of(struct swap_writer *s, const struct record_call *call)
{
	if (call->time_ns == TIME_NONE)
		return 0;
	const uint64_t ns = s->day_ns + call->time_ns;

	s->now_ns = ns ? ns : 1;
	return s->now_ns;
}

/* ---- Arguments ---- */

static void swap_write_call_put_arg(struct writer *writer, const struct swap_arg *arg)
{
	struct buf *out = &writer->out;

	swap_put_byte(out, (unsigned char)arg->type);
	switch (arg->type) {
	case 'c':
	case 'b':
		swap_put_byte(out, (unsigned)arg->number);
		break;
	case 'd':
		swap_put_dword(out, (uint32_t)arg->number);
		break;
	case 's':
		swap_put_string(writer, arg->text, VALUE_MAX);
		break;
	case 'v':
		break;
	default:
		swap_put_long(out, arg->number);
		break;
	}
}

/* Where an argument's value is stored. */
enum arg_place { PLACE_ARG, PLACE_RETURN, PLACE_ERRNO };

struct call_args {
	bool places_errno; /* the message has a field for errno */
	bool has_return, has_errno;
	struct swap_arg returned;
	uint64_t error;
	/* the names of the arguments: "NAME," each, or "NAME=VALUE," if the message has no other place for the value */
	struct buf names;
	uint32_t count;
};

static enum arg_place swap_write_call_place_of(const struct call_args *args, const char *name)
{
	if (!strcmp(name, SWAP_RETURN) && !args->has_return)
		return PLACE_RETURN;
	return !strcmp(name, SWAP_ERRNO) && !args->has_errno ? PLACE_ERRNO : PLACE_ARG;
}

static void swap_write_call_add_name(struct call_args *args, const char *name, const char *value)
{
	text_put_escaped(&args->names, name, ",=");
	if (value) {
		buf_add_char(&args->names, '=');
		text_put_escaped(&args->names, value, ",");
	}
	buf_add_char(&args->names, ',');
}

/* Writes an argument of the call. With hides_pointer (realloc), a pointer is written as 0, and its value is added to
 * the names. Otherwise readers would take the pointer for a block that this call releases, but the release has a
 * message of its own. */
static void put_call_arg(struct writer *writer, struct call_args *args, const struct call_arg *item, bool hides_pointer)
{
	const char *const name = text_or_empty(item->name), *const value = text_or_empty(item->value);
	struct swap_arg arg = swap_arg_of(value);
	const enum arg_place place = swap_write_call_place_of(args, name);
	const bool hidden = hides_pointer && arg.type == 'p' && arg.number;

	if (place == PLACE_RETURN) {
		args->has_return = true;
		args->returned = arg;
	} else if (place == PLACE_ERRNO) {
		args->has_errno = true;
		const bool is_number = args->places_errno && arg.type == 'x';

		args->error = is_number ? arg.number : 0;
		swap_write_call_add_name(args, name, is_number ? NULL : value);
		return;
	} else {
		if (hidden)
			arg.number = 0;
		swap_write_call_put_arg(writer, &arg);
		args->count++;
	}
	swap_write_call_add_name(args, name, hidden ? value : NULL);
}

/* Returns true if there is room for one more argument after `used` bytes of arguments. */
static bool swap_write_call_has_room(const struct call_args *args, const struct call_arg *item, size_t used)
{
	const size_t name = strlen(text_or_empty(item->name)), value = strlen(text_or_empty(item->value));
	const bool is_beside = swap_write_call_place_of(args, text_or_empty(item->name)) == PLACE_ERRNO;

	return used + 16 + (value < VALUE_MAX ? value : VALUE_MAX) <= ARGS_MAX && name < NAMES_MAX &&
	       value < SIZE_MAX / 8 && args->names.size + 4 * name + (is_beside ? 4 * value : 0) + 32 <= NAMES_MAX;
}

static void put_call_args(struct writer *writer, struct call_args *args, const struct record_call *call,
			  bool hides_pointer)
{
	const size_t begin = writer->out.size;

	for (uint32_t i = 0; i < call->arg_count; i++) {
		const struct call_arg *item = &call->args[i];

		if (!swap_write_call_has_room(args, item, writer->out.size - begin)) {
			writer->cut_count++;
			continue;
		}
		put_call_arg(writer, args, item, hides_pointer && !i);
	}
}

/* Writes the arguments that a call of this API usually has, because those of this call were not recorded. */
static void put_usual_args(struct writer *writer, struct call_args *args, const struct swap_api *api,
			   const struct record_call *call)
{
	for (const char *param = api->params; *param; param++, args->count++)
		swap_write_call_put_arg(writer, &(struct swap_arg){.type = *param == 'i' || *param == 'n' ? 'p'
									   : *param == 'd'                ? 'd'
													  : 'x',
								   .number = *param == 's'   ? call->size
									     : *param == '1' ? 1
									     : *param == 'i' ? call->id
											     : 0});
}

/* Writes one of the arguments that functrace adds. */
static void put_addition(struct writer *writer, struct call_args *args, const char *key, const char *text)
{
	swap_put_byte(&writer->out, 's');
	buf_add_str(&writer->out, key);
	swap_put_string(writer, text, strcmp(key, SWAP_FUNCTION) ? VALUE_MAX : FUNCTION_MAX);
	args->count++;
}

/* Does the same for a number: a size is decimal, other numbers are hexadecimal. Writes nothing for 0. */
static void put_number(struct writer *writer, struct call_args *args, const char *key, uint64_t number)
{
	char text[NUMBER_ROOM + 1];

	*(strcmp(key, SWAP_SIZE) ? put_hex : put_decimal)(text, number) = '\0';
	if (number)
		put_addition(writer, args, key, text);
}

static void swap_write_call_add_addresses(struct stack_cache *stacks, struct buf *out, const uint64_t *frames,
					  uint32_t count)
{
	const size_t size = count * sizeof(*frames);
	const struct cached_stack *const known = stack_cache_find(stacks, frames, size);

	if (known) {
		buf_add(out, known->value.data, known->value.size);
		return;
	}
	char *const first = (char *)buf_room(out, (size_t)count * NUMBER_ROOM), *p = first;

	for (uint32_t i = 0; i < count; i++) {
		if (i)
			*p++ = ',';
		p = put_hex(p, frames[i]);
	}
	out->size += (size_t)(p - first);
	stack_cache_keep(stacks, frames, size, first, (size_t)(p - first), STACK_WHOLE);
}

static void put_stack(struct writer *writer, struct call_args *args, const struct record_call *call)
{
	static const char *const ends[] = {[STACK_WHOLE] = "", [STACK_CUT] = ",cut", [STACK_LOST] = ",lost"};
	struct buf *out = &writer->out;
	uint32_t count = call->frame_count;
	enum stack_end end = call->end;

	if (count > FRAMES_MAX) {
		count = FRAMES_MAX;
		end = STACK_CUT;
		writer->cut_count++;
	}
	buf_add_str(out, "s" SWAP_STACK);
	swap_write_call_add_addresses(&((struct swap_writer *)writer->state)->stacks, out, call->frames, count);
	/* The name of the stack's end begins with a comma, which follows the frames. Without frames, skip the comma. */
	buf_add_str(out, ends[end] + (!count && end));
	buf_add_char(out, '\0');
	args->count++;
}

static const char *kind_word(enum call_kind kind)
{
	return kind == CALL_RELEASE ? "release" : kind == CALL_ALLOC ? "alloc" : "copy";
}

static void put_type(struct writer *writer, struct call_args *args, const struct swap_resource *resource,
		     const struct record_call *call)
{
	struct buf type = {0};
	char name[TYPE_MAX];

	writer->cut_count +=
		(size_t)snprintf(name, sizeof(name), "%s", resource ? resource->type : "memory") >= sizeof(name);
	text_put_escaped(&type, name, ",");
	buf_printf(&type, ",%s%s%s", kind_word(call->kind),
		   resource && resource->flags & RESOURCE_REFCOUNT ? ",refcount" : "",
		   resource && resource->flags & RESOURCE_CALL ? ",call" : "");
	put_addition(writer, args, SWAP_TYPE, buf_str(&type));
	buf_free(&type);
}

/* Writes the arguments that functrace adds to those of the call (names, context, stack and others), and adds their
 * number to args->count. usual_name: in a memory probe, the name of its API; the function's name is then written only
 * if it differs. usual_name is NULL in the message of a function's entry, which always contains the function's name,
 * and also the id and the size. type: true to write the resource's type, too. */
static void put_additions(struct writer *writer, struct call_args *args, const struct record_call *call,
			  const char *usual_name, const struct swap_resource *resource, bool type)
{
	put_addition(writer, args, SWAP_NAMES, args->names.size ? buf_str(&args->names) : "");
	if (!usual_name || strcmp(usual_name, text_or_empty(call->function)))
		put_addition(writer, args, SWAP_FUNCTION, text_or_empty(call->function));
	put_number(writer, args, SWAP_CONTEXT, call->context);
	if (type)
		put_type(writer, args, resource, call);
	put_number(writer, args, SWAP_ID, usual_name ? 0 : call->id);
	put_number(writer, args, SWAP_SIZE, usual_name ? 0 : call->size);
	if (call->has_frames)
		put_stack(writer, args, call);
}

/* ---- Messages ---- */

static uint64_t swap_write_call_caller_of(const struct record_call *call)
{
	return call->has_frames && call->frame_count ? call->frames[0] : 0;
}

/* Writes a call as a memory probe. api: the API of the call's function. */
static void put_memory(struct writer *writer, const struct record_call *call, const struct swap_resource *resource,
		       const struct swap_api *api, bool is_heap)
{
	struct swap_writer *s = writer->state;
	struct buf *out = &writer->out;
	struct call_args args = {.places_errno = true};
	const uint64_t caller = swap_write_call_caller_of(call);

	if (call->kind == CALL_RELEASE && !api->is_release)
		api = swap_api_find(SWAP_API_FREE); /* a realloc's release, or a release by a function without an API */
	else if (call->kind == CALL_ALLOC && api->is_release)
		api = swap_api_find(SWAP_API_OTHER);
	const size_t head = swap_begin(writer, SWAP_PROBE_MEMORY, swap_write_call_time_of(s, call));

	swap_put_dword(out, api->id);
	swap_put_dword(out, s->pid);
	swap_put_dword(out, s->tid);
	const size_t count_at = out->size;

	swap_put_dword(out, 0);
	if (call->arg_count)
		put_call_args(writer, &args, call, call->kind == CALL_ALLOC && *api->params == 'n');
	else
		put_usual_args(writer, &args, api, call);
	/* Write the type if the call has no address. A reader would take a call that has neither a type nor an address
	 * for a failed call, or for a release of nothing. */
	const bool is_plain = is_heap && call->id && call->kind != CALL_COPY && !(resource && resource->flags);

	put_additions(writer, &args, call, api->name, resource, !is_plain);
	swap_set_dword(&writer->out, count_at, args.count);
	if (args.has_return)
		swap_write_call_put_arg(writer, &args.returned);
	else
		swap_write_call_put_arg(
			writer, &(struct swap_arg){.type = call->kind == CALL_RELEASE ? 'v' : 'p', .number = call->id});
	swap_put_long(out, args.error);
	swap_put_dword(out, caller >= s->program_from && caller < s->program_to);
	swap_put_long(out, caller);
	swap_put_long(out, 0);
	swap_put_long(out, call->size);
	swap_put_dword(out, call->kind == CALL_ALLOC     ? SWAP_ALLOC
			    : call->kind == CALL_RELEASE ? SWAP_FREE
							 : SWAP_MANAGE);
	swap_put_long(out, call->id);
	swap_end(writer, head);
	buf_free(&args.names);
}

/* Returns a number that replaces the function's address, because a trace does not contain that address. It is a hash of
 * the name, so all calls of the function have the same number. */
static uint64_t swap_write_call_function_number(const char *name)
{
	uint64_t number = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		number = (number ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return number;
}

static void put_function_head(struct writer *writer, const struct record_call *call)
{
	const struct swap_writer *s = writer->state;
	struct buf *out = &writer->out;

	swap_put_dword(out, s->pid);
	swap_put_dword(out, s->tid);
	swap_put_long(out, swap_write_call_function_number(text_or_empty(call->function)));
	swap_put_long(out, swap_write_call_caller_of(call));
	swap_put_dword(out, 0);
}

static void swap_write_call_put_function(struct writer *writer, const struct record_call *call,
					 const struct swap_resource *resource)
{
	struct swap_writer *s = writer->state;
	const uint64_t time = swap_write_call_time_of(s, call);
	struct call_args args = {0};
	size_t head = swap_begin(writer, SWAP_FUNCTION_ENTRY, time);

	put_function_head(writer, call);
	const size_t count_at = writer->out.size;

	swap_put_dword(&writer->out, 0);
	put_call_args(writer, &args, call, false);
	put_additions(writer, &args, call, NULL, resource, true);
	swap_set_dword(&writer->out, count_at, args.count);
	swap_end(writer, head);
	head = swap_begin(writer, SWAP_FUNCTION_EXIT, time);
	put_function_head(writer, call);
	if (args.has_return)
		swap_write_call_put_arg(writer, &args.returned);
	else
		swap_write_call_put_arg(
			writer, &(struct swap_arg){.type = call->kind == CALL_ALLOC ? 'x' : 'v', .number = call->id});
	swap_end(writer, head);
	buf_free(&args.names);
}

void swap_put_call(struct writer *writer, const struct record_call *call)
{
	const struct swap_writer *s = writer->state;

	for (uint32_t i = 0; call->frame_texts && i < call->frame_count; i++)
		writer->omissions.count[OMITTED_FRAME_NAME] += call->frame_texts[i] != NULL;
	const struct swap_resource *resource = swap_resource_of(s, call->resource);
	const bool is_heap = resource ? is_heap_type(resource->type) : !s->resource_count;
	const struct swap_api *const api = swap_api_of(text_or_empty(call->function));

	if (is_heap || (call->kind == CALL_COPY && api->id >= 80 && api->id <= 82))
		put_memory(writer, call, resource, api, is_heap);
	else
		swap_write_call_put_function(writer, call, resource);
}
