/* The state of the StackTrack reader. Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_READ_H
#define FT_TRACE_STACKTRACK_STACKTRACK_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/reader_state.h"
#include "trace/stacktrack/stacktrack_layout.h"

/* The memory for a trace is limited to STACKTRACK_KEPT_MIB, because a damaged file may contain any number of names,
 * numbered stacks and unfinished texts, which have to be stored. Each of these adds its own bytes plus
 * STACKTRACK_KEPT_EACH to the memory in use. */
enum { STACKTRACK_QUEUE = 8, STACKTRACK_TEXT_MAX = 1 << 20, STACKTRACK_KEPT_EACH = 128, STACKTRACK_KEPT_MIB = 64 };

struct stacktrack_scope {
	char *name;
	/* which of functrace's named values (STACKTRACK_VALUES) the scope is; STACKTRACK_OF_CALL if the scope is a
	 * function, or a named value of another program */
	enum stacktrack_value value;
	bool is_value; /* the scope is a named value, not a function */
};

/* An entry, with the text from the INFO entries that follow it. */
struct stacktrack_entry {
	unsigned type, flags;
	uint32_t sequence;
	uint64_t members[STACKTRACK_MEMBERS];
	struct buf text;
};

/* A stack with a number. Calls can refer to it only in the same write cycle. */
struct stacktrack_stack {
	uint64_t cycle;
	uint64_t *frames;
	uint32_t count;
	enum stack_end end;
};

/* A process. Each process has its own numbers for scopes, files and stacks. */
struct stacktrack_process {
	uint32_t pid; /* the pid in the process record; without a process record, the pid in the entries */
	/* is_reported: a process record was queued. has_foreign: the resource "checkpoint" was declared */
	bool is_reported, has_foreign;
	/* has_begun: a PROCINFO of the process was read. begins_again: a second PROCINFO was read, so entries with the
	 * sequence number 0 only repeat earlier entries. */
	bool has_begun, begins_again;
	/* the newest entry whose text is unfinished; NULL if there is none */
	struct stacktrack_entry *last;
	/* sequence number -> struct stacktrack_entry: the other entries whose texts are unfinished */
	struct hash open;
	struct stacktrack_entry *spare; /* an unused entry for reuse; NULL if there is none */
	struct stacktrack_entry entry;  /* the last entry whose text is complete */
	struct hash scopes, files;      /* scopes: number -> struct stacktrack_scope; files: number -> path */
	uint64_t ticks, start_ticks, start;
	/* has_call: `call` is not returned yet, because its arguments and stack may follow. Entries with the sequence
	 * number call_sequence belong to `call`. */
	bool has_call;
	uint32_t call_sequence;
	uint64_t calls;
	struct record_call call;
	char *functions[2]; /* the names of the functions of `call` and of the previous call */
	bool turn;
	struct buf args_text, frames_text;
	struct call_arg *args;
	size_t arg_capacity;
	uint64_t *frames;
	const char **texts;
	size_t frame_capacity, text_capacity;
	struct hash stacks; /* number -> struct stacktrack_stack */
	uint64_t cycles;    /* number of write cycles that have begun */
};

struct stacktrack_reader {
	bool begun, swap, stopped;
	int status;
	struct stacktrack_format format;
	size_t kept;           /* bytes of names, stacks and unfinished texts; limited by STACKTRACK_KEPT_MIB */
	struct hash processes; /* pid -> struct stacktrack_process */
	struct stacktrack_process *last;    /* the process of the last entry; NULL before the first */
	uint32_t last_pid;                  /* the pid in the entries of `last` */
	struct stacktrack_process *current; /* the process to which queued records belong */
	/* at the end of the trace: position in `processes` up to which the last calls were queued */
	size_t ending;
	struct record queue[STACKTRACK_QUEUE];
	size_t queued, given;
	struct buf note;
	struct baseline_block baseline; /* the block of the last baseline entry */
};

/* Converts process->entry, whose text is complete, to records, and queues them. Returns 1, or a negative errno, which
 * has been described in reader->message. */
int stacktrack_take(struct reader *reader, struct stacktrack_process *process);
/* Adds `bytes` to the bytes that are stored for the trace, and subtracts `released`. Returns 1; if the sum exceeds
 * STACKTRACK_KEPT_MIB, a negative errno, which has been described in reader->message. */
int stacktrack_keep(struct reader *reader, size_t bytes, size_t released);
/* Appends an empty record of that type to the queue and returns it. */
struct record *stacktrack_enqueue(struct stacktrack_reader *s, enum record_type type);
/* Sets process->call to a call of that function, from process->entry. Its arguments and stack may follow in other
 * entries. */
void stacktrack_take_call(struct reader *reader, struct stacktrack_process *process, const char *function);
/* Sets the arguments of process->call from process->entry. */
void stacktrack_take_args(struct stacktrack_process *process);
/* Sets the stack of process->call to the stack with that number. */
void stacktrack_refer(struct reader *reader, struct stacktrack_process *process, uint64_t number);
/* Sets the frames of process->call from process->entry. Returns 1, or a negative errno, which has been described in
 * reader->message. */
int stacktrack_take_backtrace(struct reader *reader, struct stacktrack_process *process);
/* Queues process->call if it is not queued yet. Returns false if there is no such call. */
bool stacktrack_give_call(struct stacktrack_reader *s, struct stacktrack_process *process);

#endif
