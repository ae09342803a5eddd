#include "config.h"
#include "analysis/stats.h"
#include "analysis/stats_model.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, COLUMNS_MIN = 40 };

/* A live resource. */
struct block {
	struct block *next_unused;
	uint64_t size;
	struct moment born;
	struct stack_stats *stack; /* NULL none */
	uint64_t references;
};

struct block_chunk {
	struct block_chunk *next;
	struct block blocks[256];
};

struct stats {
	struct stage stage;
	struct stats_options options;
	struct trace_stats trace;
	struct intern_pool strings;
	struct block_chunk *chunks;
	struct block *unused;
};

static struct block *block_new(struct stats *stats)
{
	if (!stats->unused) {
		struct block_chunk *chunk = xmalloc(sizeof(*chunk));

		chunk->next = stats->chunks;
		stats->chunks = chunk;
		for (size_t i = ARRAY_SIZE(chunk->blocks); i--;) {
			chunk->blocks[i].next_unused = stats->unused;
			stats->unused = &chunk->blocks[i];
		}
	}
	struct block *block = stats->unused;

	stats->unused = block->next_unused;
	return block;
}

static void tally_add(struct tally *tally, uint64_t bytes)
{
	tally->calls++;
	tally->bytes = add_saturated(tally->bytes, bytes);
}

static void tally_take(struct tally *tally, uint64_t bytes)
{
	tally->calls--;
	/* Saturated sums cannot be taken back exactly. */
	tally->bytes = tally->bytes > bytes ? tally->bytes - bytes : 0;
}

static unsigned size_bucket(uint64_t size)
{
	return size ? 64 - (unsigned)__builtin_clzll(size) : 0;
}

static unsigned lifetime_bucket(uint64_t value)
{
	unsigned bucket = 0;

	for (; value && bucket < LIFETIME_BUCKETS - 1; value /= 10)
		bucket++;
	return bucket;
}

static struct resource_stats *stats_of(struct resource_state *resource, struct stats *stats)
{
	if (!resource->user) {
		struct resource_stats **place = resource->user = xmalloc(sizeof(*place));

		*place = xcalloc(1, sizeof(**place));
		(*place)->stacks.objects = &stats->trace.objects;
	}
	return resource_stats_of(resource);
}

static struct function_stats *function_of(struct stats *stats, struct resource_stats *resource, const char *function)
{
	const char *name = string_intern(&stats->strings, function ? function : "?");
	struct function_stats *found = hash_get_ptr(&resource->function_of, (uintptr_t)name);

	if (!found) {
		found = xmalloc(sizeof(*found));
		*found = (struct function_stats){.name = name};
		ARRAY_GROW(resource->functions, resource->function_capacity, resource->function_count);
		resource->functions[resource->function_count++] = found;
		hash_set_ptr(&resource->function_of, (uintptr_t)name, found);
	}
	return found;
}

static struct stack_stats *stack_of(struct resource_stats *resource, const struct record_call *call)
{
	if (!call->has_frames)
		return NULL;
	struct stack *stack = stack_intern(&resource->stacks, call);

	if (!stack->user) {
		struct stack_stats *created = xmalloc(sizeof(*created));

		*created = (struct stack_stats){.stack = stack, .number = resource->stack_count};
		ARRAY_GROW(resource->stack_list, resource->stack_capacity, resource->stack_count);
		resource->stack_list[resource->stack_count++] = created;
		stack->user = created;
	}
	return stack->user;
}

static void count_peak(struct resource_stats *resource, const struct moment *now)
{
	if (resource->live.calls > resource->peak_blocks.calls) {
		resource->peak_blocks = resource->live;
		resource->peak_blocks_at = *now;
	}
	if (resource->live.bytes > resource->peak_bytes.bytes) {
		resource->peak_bytes = resource->live;
		resource->peak_bytes_at = *now;
	}
}

static void count_allocation(struct stats *stats, struct resource_state *which, struct resource_stats *resource,
			     const struct record_call *call, const struct moment *now)
{
	struct block *old = resource_live_get(which, call->id);

	if (old && which->flags & RESOURCE_REFCOUNT) {
		old->references++;
		resource->references++;
		return;
	}
	resource->reused += old != NULL;
	struct block *block = block_new(stats);

	*block = (struct block){.size = call->size, .born = *now, .stack = stack_of(resource, call), .references = 1};
	resource_live_set(which, call->id, block);
	tally_add(&resource->allocations, call->size);
	tally_add(&resource->live, call->size);
	tally_add(&resource->sizes[size_bucket(call->size)], call->size);
	if (block->stack) {
		tally_add(&block->stack->tally, call->size);
		tally_add(&block->stack->live, call->size);
	}
	count_peak(resource, now);
}

static void count_lifetime(struct resource_stats *resource, const struct moment *born, const struct moment *now)
{
	const uint64_t day = 86400ull * 1000000000;

	if (born->time_ns == TIME_NONE || now->time_ns == TIME_NONE) {
		resource->lifetimes_events[lifetime_bucket(now->index - born->index)]++;
		return;
	}
	/* Compat traces count their milliseconds modulo 24 hours. */
	const uint64_t end = now->time_ns < born->time_ns ? now->time_ns + day : now->time_ns;

	resource->lifetimes_ns[lifetime_bucket(end < born->time_ns ? 0 : (end - born->time_ns) / 1000)]++;
}

static void count_release(struct stats *stats, struct resource_state *which, struct resource_stats *resource,
			  const struct record_call *call, const struct moment *now)
{
	struct block *block = resource_live_get(which, call->id);

	resource->releases++;
	if (!block) {
		resource->unknown_releases++;
		return;
	}
	if (--block->references)
		return;
	resource_live_remove(which, call->id);
	tally_take(&resource->live, block->size);
	if (block->stack)
		tally_take(&block->stack->live, block->size);
	count_lifetime(resource, &block->born, now);
	block->next_unused = stats->unused;
	stats->unused = block;
}

static void put_call(struct stats *stats, const struct record_call *call)
{
	struct trace_stats *trace = &stats->trace;
	struct resource_state *which = resources_of(&trace->resources, call->resource);
	struct resource_stats *resource = stats_of(which, stats);
	struct function_stats *function = function_of(stats, resource, call->function);
	/* The number in the trace is for the reader; spans are counted in calls. */
	const struct moment now = {.index = ++trace->events, .number = call->index, .time_ns = call->time_ns};

	if (now.index == 1)
		trace->first = now;
	trace->last = now;
	tally_add(&function->tally, call->kind == CALL_RELEASE ? 0 : call->size);
	if (call->kind == CALL_RELEASE) {
		function->releases++;
		count_release(stats, which, resource, call, &now);
	} else if (call->kind == CALL_COPY || which->flags & RESOURCE_CALL) {
		struct stack_stats *stack = stack_of(resource, call);

		tally_add(&resource->others, call->size);
		tally_add(&resource->sizes[size_bucket(call->size)], call->size);
		if (stack)
			tally_add(&stack->tally, call->size);
	} else {
		count_allocation(stats, which, resource, call, &now);
	}
}

static int put(struct stage *stage, const struct record *record)
{
	struct stats *stats = (struct stats *)stage;

	switch (record->type) {
	case RECORD_CALL:
		put_call(stats, &record->call);
		break;
	case RECORD_PROCESS:
		free(stats->trace.name);
		stats->trace.name = xstrdup(record->process.name ? record->process.name : "?");
		stats->trace.pid = record->process.pid;
		stats->trace.has_pid = record->process.has_pid;
		if (stats->options.names)
			names_set_start(stats->options.names, &record->process);
		break;
	case RECORD_RESOURCE:
		resources_declare(&stats->trace.resources, &record->resource);
		stats_of(resources_of(&stats->trace.resources, record->resource.id), stats);
		break;
	case RECORD_OBJECT:
		if (object_map_put(&stats->trace.objects, &record->object) != OBJECT_SAME && stats->options.names)
			names_add_object(stats->options.names, &record->object, NULL);
		break;
	case RECORD_BUILD_ID:
		object_map_set_build_id(&stats->trace.objects, &record->build_id);
		if (stats->options.names)
			names_add_build_id(stats->options.names, &record->build_id);
		break;
	default:
		break;
	}
	return 0;
}

/* For the names of a stack from a time when other objects were mapped at its addresses. */
static void map_again(void *context, struct mapped_object *object)
{
	struct stats *stats = context;

	object_map_restore(&stats->trace.objects, object);
	if (!stats->options.names)
		return;
	names_add_object(stats->options.names, &(struct record_object){object->from, object->to, object->path}, NULL);
	if (object->build_id)
		names_add_build_id(stats->options.names, &(struct record_build_id){object->from, object->build_id});
}

/* Only a terminal has a width. */
static size_t columns_of(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
}

static int finish(struct stage *stage)
{
	struct stats *stats = (struct stats *)stage;
	struct buf report = {0};
	char *name;

	if (!stats->trace.name)
		return 0;
	const int fd = output_target_open(&stats->options.target, stats->trace.pid, ".stats.txt", &name);
	int error = fd < 0 ? fd : 0;

	if (!error) {
		stats_report(&stats->trace, &report, columns_of(fd), stats->options.names ? names_lookup : NULL,
			     stats->options.names, map_again, stats);
		error = write_all(fd, report.data, report.size, NULL);
		if (close(fd) && !error)
			error = -errno;
		if (error)
			msg_error("cannot write %s: %s; what is there is not complete. Give another place with -o.",
				  name, strerror(-error));
	}
	buf_free(&report);
	free(name);
	return error;
}

static void resource_stats_free(struct resource_stats *resource)
{
	for (size_t i = 0; i < resource->function_count; i++)
		free(resource->functions[i]);
	for (size_t i = 0; i < resource->stack_count; i++)
		free(resource->stack_list[i]);
	free(resource->functions);
	free(resource->stack_list);
	hash_free(&resource->function_of);
	stack_pool_free(&resource->stacks);
	free(resource);
}

static void stats_free(struct stage *stage)
{
	struct stats *stats = (struct stats *)stage;

	for (size_t i = 0; i < stats->trace.resources.count; i++) {
		struct resource_stats *resource = resource_stats_of(stats->trace.resources.items[i]);

		if (resource)
			resource_stats_free(resource);
	}
	resources_free(&stats->trace.resources);
	while (stats->chunks) {
		struct block_chunk *next = stats->chunks->next;

		free(stats->chunks);
		stats->chunks = next;
	}
	object_map_free(&stats->trace.objects);
	intern_pool_free(&stats->strings);
	free(stats->trace.name);
	free(stats);
}

struct stage *stats_new(const struct stats_options *options)
{
	struct stats *stats = xmalloc(sizeof(*stats));

	*stats = (struct stats){
		.stage = {.put = put, .finish = finish, .free = stats_free},
		.options = *options,
	};
	return &stats->stage;
}
