/* The state of the SWAP reader.  Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_READ_H
#define FT_TRACE_SWAP_SWAP_READ_H

#include "trace/stack_cache.h"
#include "base/hash.h"
#include "trace/swap/swap_message.h"
#include "trace/mapped_objects.h"
#include "trace/swap/swap.h"

/* The most types of resources that are distinguished; any more count as the last one. */
#define SWAP_TYPES_MAX 60

/* One of a stream's processes. */
struct swap_process {
	uint32_t pid, ppid, tid;
	bool has_thread; /* the record of thread `tid` has been made */
	bool no_times, is_attached;
	char *name, *command; /* NULL if unknown */
	int64_t start_sec;
	uint32_t start_usec;
	uint64_t day_ns, next_index;
	uint64_t declared; /* bit N: type N */
	struct mapped_objects objects;
	struct open_file *files; /* owns the paths */
	uint32_t file_count;
};

struct swap_type_name {
	char *type;
	uint32_t flags;
};

struct swap_reader {
	bool stopped; /* for good; swap_next() returns `status` */
	int status;
	bool has_sequence;
	uint32_t sequence;     /* expected of the next message */
	uint64_t consumed;     /* bytes of the messages from which the queued records were made */
	uint64_t left_out;     /* messages for which the model of a trace has no place */
	struct hash processes; /* pid -> struct swap_process */
	struct swap_process *current;
	struct hash names; /* tid -> name */
	struct swap_type_name types[SWAP_TYPES_MAX];
	size_t type_count;
	struct hash map; /* a function's number -> its name, in map_text */
	char *map_text;
	struct record *records; /* the queue */
	size_t record_count, record_capacity, next_record;
	char **strings; /* of the queued records */
	size_t string_count, string_capacity;
	uint64_t *frames;
	size_t frame_capacity;
	struct stack_cache stacks;
	struct call_arg *args;
	size_t arg_capacity;
	struct swap_fields fields, exit;
};

/* Queue a record, or a note. Their texts must live as long as the queued records. */
void swap_push(struct swap_reader *s, const struct record *record);
void swap_push_note(struct swap_reader *s, const char *text);
/* Returns a copy of a text that lives as long as the queued records. */
char *swap_keep(struct swap_reader *s, const char *text);
/* Returns the map's name of a number, or NULL. */
const char *swap_name_of(const struct swap_reader *s, uint64_t number);

/* Makes a process the current one, to which the records that follow belong. A new process begins at the time of the
 * message. */
void swap_select_process(struct swap_reader *s, uint32_t pid, const struct swap_message *message);
/* Takes the description of a process. status: the fields of the message about its open files; NULL if none. */
void swap_take_process_info(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
			    const struct swap_fields *status);
/* Queues an object of the current process. Does nothing for an empty object. */
void swap_push_object(struct swap_reader *s, uint64_t low, uint64_t high, const char *path);
/* Removes the unmapped objects from the current process, and queues a note. */
void swap_take_unmap(struct swap_reader *s, const struct swap_fields *fields);
void swap_process_free(struct swap_process *p);
/* Queues the thread that makes the calls which follow, unless it is the current one. */
void swap_push_thread(struct swap_reader *s, uint32_t tid);
/* Queues a call's records, from a message with an API id or a function's address. exit: the fields of the message about
 * its return; NULL if none. */
void swap_take_call(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
		    const struct swap_fields *exit);
/* Returns whether functrace wrote the arguments: its additions follow them. */
bool swap_is_own(const struct swap_fields *fields);

#endif
