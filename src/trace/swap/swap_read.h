/* The state of the SWAP reader.  Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_READ_H
#define FT_TRACE_SWAP_SWAP_READ_H

#include "trace/stack_cache.h"
#include "base/hash.h"
#include "trace/swap/swap_message.h"
#include "trace/mapped_objects.h"
#include "trace/swap/swap.h"

/* Types of resources that are told apart; the rest are one. */
#define SWAP_TYPES_MAX 60

/* One of a stream's processes. */
struct swap_process {
	uint32_t pid, ppid, tid;
	bool has_thread; /* `tid` has been given out */
	bool no_times, is_attached;
	char *name, *command; /* NULL unknown */
	int64_t start_sec;
	uint32_t start_usec;
	uint64_t day_ns, next_index;
	uint64_t declared; /* bit N: the type N */
	struct mapped_objects objects;
	struct open_file *files; /* the paths our own */
	uint32_t file_count;
};

struct swap_type_name {
	char *type;
	uint32_t flags;
};

struct swap_reader {
	bool stopped; /* for good, with `status` */
	int status;
	bool has_sequence;
	uint32_t sequence;     /* the next message's */
	uint64_t consumed;     /* bytes that the records to be given out are made of */
	uint64_t left_out;     /* messages that the model of a trace has no place for */
	struct hash processes; /* pid -> struct swap_process */
	struct swap_process *current;
	struct hash names; /* tid -> name */
	struct swap_type_name types[SWAP_TYPES_MAX];
	size_t type_count;
	struct hash map; /* a function's number -> its name, in map_text */
	char *map_text;
	struct record *records; /* to be given out */
	size_t record_count, record_capacity, next_record;
	char **strings; /* of these */
	size_t string_count, string_capacity;
	uint64_t *frames;
	size_t frame_capacity;
	struct stack_cache stacks;
	struct call_arg *args;
	size_t arg_capacity;
	struct swap_fields fields, exit;
};

void swap_push(struct swap_reader *s, const struct record *record);
void swap_push_note(struct swap_reader *s, const char *text);
/* A copy that lives as long as the records. */
char *swap_keep(struct swap_reader *s, const char *text);
const char *swap_name_of(const struct swap_reader *s, uint64_t number);

/* The records that follow are that process's; one that is new began with this message. */
void swap_select_process(struct swap_reader *s, uint32_t pid, const struct swap_message *message);
/* status: the fields of the message of what was open; NULL none. */
void swap_take_process_info(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
			    const struct swap_fields *status);
/* An object of the current process; one without bytes is none. */
void swap_push_object(struct swap_reader *s, uint64_t low, uint64_t high, const char *path);
void swap_take_unmap(struct swap_reader *s, const struct swap_fields *fields);
void swap_process_free(struct swap_process *p);
/* The thread that makes the calls which follow, unless that is known. */
void swap_push_thread(struct swap_reader *s, uint32_t tid);
/* Makes a call's records of a message that has an API id or a function's address. exit: the fields of the message of
 * its return; NULL none. */
void swap_take_call(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
		    const struct swap_fields *exit);
/* Whether functrace has written the arguments: behind them are its additions. */
bool swap_is_own(const struct swap_fields *fields);

#endif
