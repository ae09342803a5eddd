/* What the parts of the StackTrack reader share.  Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_READ_H
#define FT_TRACE_STACKTRACK_STACKTRACK_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/reader_state.h"
#include "trace/stacktrack/stacktrack_layout.h"

/* What is kept of a trace has bounds, for every entry of a file can be one that is kept: each process, name, stack
 * with a number and text without an end counts as its bytes and STACKTRACK_KEPT_EACH. */
enum { STACKTRACK_QUEUE = 8, STACKTRACK_TEXT_MAX = 1 << 20, STACKTRACK_KEPT_EACH = 128, STACKTRACK_KEPT_MIB = 64 };

struct stacktrack_scope {
	char *name;
	enum stacktrack_value value; /* STACKTRACK_OF_CALL: of a function, or not one of ours */
	bool is_value;
};

/* An entry, with the text that belongs to it. */
struct stacktrack_entry {
	unsigned type, flags;
	uint32_t sequence;
	uint64_t members[STACKTRACK_MEMBERS];
	struct buf text;
};

/* A stack with a number. It lasts for the write cycle in which it came. */
struct stacktrack_stack {
	uint64_t cycle;
	uint64_t *frames;
	uint32_t count;
	enum stack_end end;
};

/* All context is a process's own. */
struct stacktrack_process {
	uint32_t pid; /* its own, once that is told; else as in its entries */
	bool is_told, has_foreign;
	/* It has begun, and, with another write cycle, again: then what is of sequence 0 is known already. */
	bool has_begun, begins_again;
	struct stacktrack_entry *last;  /* whose text goes on, that was begun last; NULL: it is whole */
	struct hash open;               /* sequence -> struct stacktrack_entry, of the others whose texts go on */
	struct stacktrack_entry *spare; /* NULL none */
	struct stacktrack_entry entry;  /* that is whole */
	struct hash scopes, files;      /* number -> struct stacktrack_scope; -> a path */
	uint64_t ticks, start_ticks, start;
	/* The call whose arguments and stack may still come, in its sequence number. */
	bool has_call;
	uint32_t call_sequence;
	uint64_t calls;
	struct record_call call;
	char *functions[2]; /* the names of this one and the one before */
	bool turn;
	struct buf args_text, frames_text;
	struct call_arg *args;
	size_t arg_capacity;
	uint64_t *frames;
	const char **texts;
	size_t frame_capacity, text_capacity;
	struct hash stacks; /* number -> struct stacktrack_stack, of those that calls may refer to */
	uint64_t cycles;    /* that have begun */
};

struct stacktrack_reader {
	bool begun, swap, stopped;
	int status;
	struct stacktrack_format format;
	size_t kept;                        /* bytes, STACKTRACK_KEPT_MIB at most */
	struct hash processes;              /* pid -> struct stacktrack_process */
	struct stacktrack_process *last;    /* whose entry was the last; NULL none yet */
	uint32_t last_pid;                  /* as in the entries */
	struct stacktrack_process *current; /* whose records are given out */
	size_t ending;                      /* processes whose last call is given out, at the end */
	struct record queue[STACKTRACK_QUEUE];
	size_t queued, given;
	struct buf note;
	struct baseline_block baseline; /* of the entry that was taken last */
};

/* Takes an entry of the process that is whole, with its text, and queues what records it makes. 1, or a negative errno
 * that has been described. */
int stacktrack_take(struct reader *reader, struct stacktrack_process *process);
/* Counts `bytes` that are kept from now on, and `released` that no longer are. 1, or a negative errno that has been
 * described: there is no room for them. */
int stacktrack_keep(struct reader *reader, size_t bytes, size_t released);
/* A new record in the queue. */
struct record *stacktrack_enqueue(struct stacktrack_reader *s, enum record_type type);
/* Begins a call of that function, of the process's entry; its arguments and stack may follow in entries of their own,
 * which the next two take. */
void stacktrack_take_call(struct reader *reader, struct stacktrack_process *process, const char *function);
void stacktrack_take_args(struct stacktrack_process *process);
/* The call's stack is the one with that number. */
void stacktrack_refer(struct reader *reader, struct stacktrack_process *process, uint64_t number);
/* Takes the call's frames. 1, or a negative errno that has been described. */
int stacktrack_take_backtrace(struct reader *reader, struct stacktrack_process *process);
/* Queues the call that waits for more; false if none does. */
bool stacktrack_give_call(struct stacktrack_reader *s, struct stacktrack_process *process);

#endif
