/* The state of the StackTrack reader. Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_READ_H
#define FT_TRACE_STACKTRACK_STACKTRACK_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/reader_state.h"
#include "trace/stacktrack/stacktrack_layout.h"

/* The memory for a trace is limited, because every entry of a file may be one that must be kept: each name, numbered
 * stack and text without an end counts as its bytes and STACKTRACK_KEPT_EACH. */
enum { STACKTRACK_QUEUE = 8, STACKTRACK_TEXT_MAX = 1 << 20, STACKTRACK_KEPT_EACH = 128, STACKTRACK_KEPT_MIB = 64 };

struct stacktrack_scope {
	char *name;
	enum stacktrack_value value; /* STACKTRACK_OF_CALL for a function, or another program's value */
	bool is_value;
};

/* An entry, with the text that belongs to it. */
struct stacktrack_entry {
	unsigned type, flags;
	uint32_t sequence;
	uint64_t members[STACKTRACK_MEMBERS];
	struct buf text;
};

/* A stack with a number, which is valid in the write cycle that contains the stack. */
struct stacktrack_stack {
	uint64_t cycle;
	uint64_t *frames;
	uint32_t count;
	enum stack_end end;
};

/* A process. Scopes, files and stacks of one process have no meaning in another. */
struct stacktrack_process {
	uint32_t pid; /* that of its process record, if it has one; else as in its entries */
	bool is_told, has_foreign;
	/* has_begun: it had a PROCINFO. begins_again: it had another one, so entries of sequence number 0 are known
	 * already. */
	bool has_begun, begins_again;
	struct stacktrack_entry *last;  /* the entry that was begun last, while its text goes on; else NULL */
	struct hash open;               /* sequence -> struct stacktrack_entry: others whose texts go on */
	struct stacktrack_entry *spare; /* an unused entry; NULL if none */
	struct stacktrack_entry entry;  /* the last entry that is whole */
	struct hash scopes, files;      /* number -> struct stacktrack_scope; -> a path */
	uint64_t ticks, start_ticks, start;
	/* The call whose arguments and stack may still come, with its sequence number. */
	bool has_call;
	uint32_t call_sequence;
	uint64_t calls;
	struct record_call call;
	char *functions[2]; /* the names of this call's function and the last one's */
	bool turn;
	struct buf args_text, frames_text;
	struct call_arg *args;
	size_t arg_capacity;
	uint64_t *frames;
	const char **texts;
	size_t frame_capacity, text_capacity;
	struct hash stacks; /* number -> struct stacktrack_stack, to which calls may refer */
	uint64_t cycles;    /* write cycles that have begun */
};

struct stacktrack_reader {
	bool begun, swap, stopped;
	int status;
	struct stacktrack_format format;
	size_t kept;                        /* bytes, STACKTRACK_KEPT_MIB at most */
	struct hash processes;              /* pid -> struct stacktrack_process */
	struct stacktrack_process *last;    /* the process of the last entry; NULL if none yet */
	uint32_t last_pid;                  /* as in the entries */
	struct stacktrack_process *current; /* the process to which queued records belong */
	size_t ending;                      /* position in `processes` while their last calls are queued, at the end */
	struct record queue[STACKTRACK_QUEUE];
	size_t queued, given;
	struct buf note;
	struct baseline_block baseline; /* of the entry that was taken last */
};

/* Takes the process's whole entry, with its text, and queues the records that it makes. Returns 1, or a negative errno,
 * which has been described. */
int stacktrack_take(struct reader *reader, struct stacktrack_process *process);
/* Counts `bytes` that are kept from now on, and `released` that no longer are. Returns 1; or, if there is no room for
 * them, a negative errno, which has been described. */
int stacktrack_keep(struct reader *reader, size_t bytes, size_t released);
/* Returns a new, empty record in the queue. */
struct record *stacktrack_enqueue(struct stacktrack_reader *s, enum record_type type);
/* Begins a call of that function, from the process's entry. Its arguments and stack may follow in other entries. */
void stacktrack_take_call(struct reader *reader, struct stacktrack_process *process, const char *function);
/* Takes the call's arguments from the process's entry. */
void stacktrack_take_args(struct stacktrack_process *process);
/* Gives the call the stack with that number. */
void stacktrack_refer(struct reader *reader, struct stacktrack_process *process, uint64_t number);
/* Takes the call's frames from the process's entry. Returns 1, or a negative errno, which has been described. */
int stacktrack_take_backtrace(struct reader *reader, struct stacktrack_process *process);
/* Queues the call that waits for more. Returns false if there is none. */
bool stacktrack_give_call(struct stacktrack_reader *s, struct stacktrack_process *process);

#endif
