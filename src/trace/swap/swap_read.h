/* The state of the SWAP reader.  Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_READ_H
#define FT_TRACE_SWAP_SWAP_READ_H

#include "trace/stack_cache.h"
#include "base/hash.h"
#include "trace/swap/swap_message.h"
#include "trace/mapped_objects.h"
#include "trace/swap/swap.h"

/* Maximum number of resource types. Further types are treated as the last one. */
#define SWAP_TYPES_MAX 60

/* A process of the stream. */
struct swap_process {
	uint32_t pid, ppid, tid;
	bool has_thread; /* the thread record of `tid` has been queued */
	bool no_times, is_attached;
	char *name, *command; /* path of the program, and its command line; NULL if unknown */
	int64_t start_sec;
	uint32_t start_usec;
	uint64_t day_ns, next_index;
	uint64_t declared; /* bit N is set if types[N] is declared */
	struct mapped_objects objects;
	struct open_file *files; /* owns the paths */
	uint32_t file_count;
};

struct swap_type_name {
	char *type;
	uint32_t flags;
};

struct swap_reader {
	bool stopped; /* reading has ended; swap_next() returns only `status` from now on */
	int status;
	bool has_sequence;
	uint32_t sequence;     /* expected sequence number of the next message */
	uint64_t consumed;     /* size of the messages from which the queued records were made, in bytes */
	uint64_t left_out;     /* number of messages that cannot be represented by records */
	struct hash processes; /* pid -> struct swap_process */
	struct swap_process *current;
	struct hash names; /* tid -> name of the thread */
	struct swap_type_name types[SWAP_TYPES_MAX];
	size_t type_count;
	struct hash map; /* number of a function -> its name, in map_text */
	char *map_text;
	struct record *records; /* queue of records to be returned */
	size_t record_count, record_capacity, next_record;
	char **strings; /* strings to which the queued records point */
	size_t string_count, string_capacity;
	uint64_t *frames;
	size_t frame_capacity;
	struct stack_cache stacks;
	struct call_arg *args;
	size_t arg_capacity;
	struct swap_fields fields, exit;
};

/* Queue a record, or a note. Their strings must stay valid as long as records are queued. */
void swap_push(struct swap_reader *s, const struct record *record);
void swap_push_note(struct swap_reader *s, const char *text);
/* Returns a copy of a text. The copy stays valid as long as records are queued. */
char *swap_keep(struct swap_reader *s, const char *text);
/* Returns the name that the map file gives to a number, or NULL. */
const char *swap_name_of(const struct swap_reader *s, uint64_t number);

/* Makes a process the current one; the following records belong to it. If the process is new, its start is the time of
 * the message. */
void swap_select_process(struct swap_reader *s, uint32_t pid, const struct swap_message *message);
/* Queues the records of a message that describes a process. status: the fields of the message about its open files, or
 * NULL. */
void swap_take_process_info(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
			    const struct swap_fields *status);
/* Queues an object of the current process. Does nothing for an empty object. */
void swap_push_object(struct swap_reader *s, uint64_t low, uint64_t high, const char *path);
/* Removes the objects in the unmapped range of a message from the current process, and queues a note about it. */
void swap_take_unmap(struct swap_reader *s, const struct swap_fields *fields);
void swap_process_free(struct swap_process *p);
/* Makes `tid` the thread of the following calls. Queues a thread record if another thread was the current one, or if
 * this thread's name is known and was not in a thread record yet. */
void swap_push_thread(struct swap_reader *s, uint32_t tid);
/* Queues the records of a call. The message contains an API id or a function's address. exit: the fields of the message
 * about the call's return, or NULL. */
void swap_take_call(struct swap_reader *s, const struct swap_message *message, const struct swap_fields *fields,
		    const struct swap_fields *exit);
/* Returns true if functrace wrote the message: functrace's additions follow the arguments. */
bool swap_is_own(const struct swap_fields *fields);

#endif
