#include "config.h"
#include "analysis/select/split.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

/* The key of a process without a pid. A trace has at most one such process. */
#define NO_PID (UINT64_C(1) << 32)

struct split {
	struct stage stage;
	struct split_options options;
	struct hash of_process; /* split_key_of() -> first stage of the process */
	struct stage **stages;  /* first stages, in the order of their processes in the trace */
	size_t count, capacity;
	struct stage *current; /* first stage for the current records; NULL if these are not wanted */
};

uint64_t split_key_of(const struct record_process *process)
{
	const uint64_t pid = process->has_pid ? process->pid : NO_PID;

	if (!process->host)
		return pid;
	return hash_mix(hash_bytes(process->host, strlen(process->host)) ^ hash_mix(process->own_start_ns)) ^ pid;
}

static int split_put_process(struct split *split, const struct record *record)
{
	const struct record_process *process = &record->process;
	const uint64_t key = split_key_of(process);

	split->current = NULL;
	if (split->options.pid && !(process->has_pid && process->pid == split->options.pid))
		return 0;
	split->current = hash_get_ptr(&split->of_process, key);
	if (split->current)
		return 0;
	split->current = split->options.begin(split->options.context);
	if (!split->current)
		return -ENOTSUP;
	hash_set_ptr(&split->of_process, key, split->current);
	ARRAY_GROW(split->stages, split->capacity, split->count);
	split->stages[split->count++] = split->current;
	return stage_put(split->current, record);
}

static int split_put(struct stage *stage, const struct record *record)
{
	struct split *split = (struct split *)stage;

	if (record->type == RECORD_PROCESS)
		return split_put_process(split, record);
	return split->current ? stage_put(split->current, record) : 0;
}

/* Finishes all chains, even if one of them returns an error. */
static int split_finish(struct stage *stage)
{
	struct split *split = (struct split *)stage;
	int error = 0;

	for (size_t i = 0; i < split->count; i++) {
		const int failed = stage_finish(split->stages[i]);

		error = error ? error : failed;
	}
	return error;
}

static void split_free(struct stage *stage)
{
	struct split *split = (struct split *)stage;

	hash_free(&split->of_process);
	free(split->stages);
	free(split);
}

struct stage *split_new(const struct split_options *options)
{
	struct split *split = xmalloc(sizeof(*split));

	*split = (struct split){
		.stage = {.put = split_put, .finish = split_finish, .free = split_free},
		.options = *options,
	};
	return &split->stage;
}
