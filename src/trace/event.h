/* The model of a trace: a stream of records.
 *
 * A producer (the tracer, a reader, the analysis) makes records; a consumer (a
 * writer, the analysis) takes them, one by one and in order.  A trace is: one
 * RECORD_PROCESS first, then the declarations (modules, resources), then the rest
 * in the order in which it happened.  What a call refers to (its resource type, the
 * objects of its stack) is declared before it.
 *
 * In a stream of several processes a RECORD_PROCESS stands wherever the records of another one follow, also where
 * it comes back to one; each has declarations and indexes of its own.
 *
 * All strings are NUL-terminated bytes without any promised encoding; all
 * addresses and ids are 64 bits wide whatever the target's pointer size.
 * Pointers in a record belong to its producer and are valid only until it
 * makes the next record; a consumer copies what it keeps. */
#ifndef FT_TRACE_EVENT_H
#define FT_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum record_type {
	RECORD_PROCESS,
	RECORD_MODULE,
	RECORD_RESOURCE,
	RECORD_CONTEXT,
	RECORD_OBJECT,
	RECORD_BUILD_ID,
	RECORD_THREAD,
	RECORD_CALL,
	RECORD_NOTE,
	RECORD_HEAP,
	RECORD_ATTACHMENT,
	RECORD_COMMENT,
	RECORD_AREA,
	RECORD_SCAN,
	RECORD_LOST,
	RECORD_BASELINE,
	RECORD_RESIDENT,
};

/* The filters that have been applied to a trace (text header, key "filter"). */
enum trace_filter { FILTER_LEAKS = 1, FILTER_COMPRESS = 2, FILTER_RESOLVE = 4 };

/* What a process had open. */
struct open_file {
	uint32_t fd;
	uint64_t size;
	const char *path;
};

/* The handshake and PINF; the text header. In a stream of several processes it says whose records follow, each time
 * when these are another process's than before. */
struct record_process {
	unsigned version_major, version_minor; /* as read; a writer writes its own dialect's */
	const char *arch;                      /* the target's machine as `uname -m` says it; NULL unknown */
	unsigned pointer_size;                 /* 4 or 8; 0 unknown (text) */
	bool big_endian;
	uint32_t pid;
	bool has_pid;
	int64_t start_sec; /* since the Epoch; 0 unknown */
	uint32_t start_usec;
	const char *start_text; /* text input: the words of its time stamp (start_sec is 0 where they
				   could not be understood); else NULL */
	uint32_t depth;
	bool has_depth;
	bool no_timestamps;
	const char *name;              /* the program; NULL unknown */
	const char *origin;            /* the generator, "functrace 0.1.0"; NULL unknown */
	unsigned filters;              /* enum trace_filter bits */
	uint32_t ppid;                 /* 0 unknown */
	const char *command;           /* its words, separated by blanks; NULL unknown */
	bool is_attached;              /* it ran already when it was attached to */
	uint64_t own_start_ns;         /* since the Epoch: when it was started itself; 0 unknown, or as above */
	const struct open_file *files; /* that it had open then, if they were asked for */
	uint32_t file_count;
};

/* Whether pointers have 8 bytes. Text does not say it; machines are named after their width, mostly. */
static inline bool record_process_is_wide(const struct record_process *process)
{
	if (process->pointer_size)
		return process->pointer_size == 8;
	return !process->arch || strstr(process->arch, "64") || strstr(process->arch, "s390x") ||
	       strstr(process->arch, "alpha");
}

struct record_module {
	uint32_t id; /* 0 is functrace itself */
	uint16_t version_major, version_minor;
	const char *name;
};

enum resource_flags {
	RESOURCE_REFCOUNT = 1, /* allocations and releases of one id are counted */
	RESOURCE_CALL = 2,     /* a record of calls, never a leak */
};

struct record_resource {
	uint32_t id; /* 1, 2, 3... (a number, never a mask) */
	uint32_t flags;
	const char *type; /* "memory" */
	const char *desc; /* "memory allocation in bytes" */
};

/* Whether resources of this type are the blocks of the heap that a heap record describes. The formats have no flag for
 * that: the type's name is all that a resource says of itself. */
static inline bool is_heap_type(const char *type)
{
	return type && !strcmp(type, "memory");
}

#define TRACE_CONTEXTS 32 /* as many as a mask has bits */

struct record_context {
	uint32_t id; /* one bit */
	const char *name;
};

/* A mapped ELF file: `from` is the address where its file offset 0 is or would be, `to` the
 * end of its last mapping. A later object replaces whatever it overlaps. */
struct record_object {
	uint64_t from, to;
	const char *path;
};

/* The build-id of the object at `from`, which was declared before. */
struct record_build_id {
	uint64_t from;
	const char *hex;
};

/* The thread that makes the calls which follow, until the next such record. */
struct record_thread {
	uint32_t tid;
	const char *name; /* "" if unknown */
};

enum call_kind { CALL_RELEASE = 1, CALL_ALLOC = 2, CALL_COPY = 3 };

#define TIME_NONE UINT64_MAX

/* Where a stack's frames end. */
enum stack_end {
	STACK_WHOLE, /* at the start of its thread */
	STACK_CUT,   /* it has more frames than were wanted */
	STACK_LOST,  /* it could not be followed to its start */
};

/* What a mark means that stands for both: the stack was cut if it is as deep as the trace's stacks are, else lost.
 * depth: the trace's; 0 unknown. */
static inline enum stack_end stack_end_marked(uint32_t frame_count, uint32_t depth)
{
	return frame_count < depth ? STACK_LOST : STACK_CUT;
}

struct call_arg {
	const char *name; /* "" if unknown */
	const char *value;
};

struct record_call {
	uint64_t index; /* 1, 2, 3... in the order of the trace; what the text shows */
	/* Nanoseconds since midnight UTC of the day in the process record; past midnight it goes on
	 * above 24 h. In compat traces: CLOCK_MONOTONIC (modulo 24 h when read). TIME_NONE if absent. */
	uint64_t time_ns;
	uint32_t resource; /* a declared id; 0: the only one declared */
	uint32_t context;  /* mask; 0 none */
	enum call_kind kind;
	const char *function; /* as shown: demangled, may hold blanks and parentheses */
	uint64_t id;
	uint64_t size; /* 0 for releases */
	/* Return addresses, innermost first. In traces read from text, frame_texts[i] is what
	 * followed address i on its line, from its blank on (and on the lines of its inlined frames,
	 * each as a line of its own with its tab and address), NULL if nothing; frame_texts itself
	 * may be NULL. */
	const uint64_t *frames;
	const char *const *frame_texts;
	uint32_t frame_count;
	bool has_frames; /* a stack belongs to the call, even if it is empty */
	enum stack_end end;
	/* In compressed traces: the stack is that of the next call too. Text writes it only there: no frames and
	 * no blank line here. Readers give such calls their frames, but where very many share a stack: those
	 * say so, have no frames, and the next call that does not say so has them. */
	bool shares_next;
	/* A line that text writes between the arguments and the frames; NULL none. */
	const char *summary;
	const struct call_arg *args;
	uint32_t arg_count;
};

/* fork, exec, signal, exit, dlclose, what was not traced...; a line of text. */
struct record_note {
	const char *text;
};

struct record_heap {
	uint64_t bottom, top;
	/* arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost */
	uint64_t info[10];
	/* Ids of the lowest and highest block allocated, where the input has them (text); else 0: a writer then
	 * takes them from the calls it has seen. */
	uint64_t lowest, highest;
};

struct record_attachment {
	const char *name, *path;
};

/* Any other line of a text trace, without its newline, passed through unmodified. */
struct record_comment {
	const char *text;
};

/* Memory that was taken from the system for blocks to lie in, when the first block of the trace lies there. */
struct record_area {
	uint64_t from, size;
	bool is_internal; /* for a tracing library's own use */
};

/* The process was scanned: of the resource's blocks that are alive here, those are lost that the next records say, and
 * pointers of the program reach all others. What an earlier scan said of them is over. */
struct record_scan {
	uint32_t resource;
	const char *reason; /* why nothing is known of its blocks; "": it is */
};

/* As functrace-scan(7) has the classes. */
enum lost_kind { LOST_DEFINITELY, LOST_INDIRECTLY, LOST_POSSIBLY, LOST_KINDS };

struct record_lost {
	uint32_t resource;
	uint64_t id;
	enum lost_kind kind;
};

struct baseline_block {
	uint64_t id, size;
};

/* Blocks that were alive before the trace began, from a baseline of the process's heap: no call here has allocated
 * them. There may be several such records, and calls before them: a block that a call here has allocated or
 * released already is in none. */
struct record_baseline {
	uint32_t resource;
	const struct baseline_block *blocks;
	uint32_t count;
};

/* The memory of the process that is resident, in bytes: at this place of the trace, and the most since it began to
 * execute its program. */
struct record_resident {
	uint64_t now, peak;
};

struct record {
	enum record_type type;
	union {
		struct record_process process;
		struct record_module module;
		struct record_resource resource;
		struct record_context context;
		struct record_object object;
		struct record_build_id build_id;
		struct record_thread thread;
		struct record_call call;
		struct record_note note;
		struct record_heap heap;
		struct record_attachment attachment;
		struct record_comment comment;
		struct record_area area;
		struct record_scan scan;
		struct record_lost lost;
		struct record_baseline baseline;
		struct record_resident resident;
	};
};

/* One line of an address's name; several if frames are inlined there (innermost first,
 * all but the last of which have inlined set). Absent parts are NULL / 0. */
struct frame_name {
	const char *function; /* demangled */
	const char *module;   /* the object's path */
	const char *file;
	unsigned line;
	bool inlined;
};

/* Names a return address (looks up address - 1). Returns the number of lines in *names (0: no
 * module is known there); they belong to the callee and live until the next call. */
typedef size_t (*frame_namer)(void *context, uint64_t address, const struct frame_name **names);

#endif
