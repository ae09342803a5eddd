/* The model of a trace: a stream of records.
 *
 * A producer (the tracer, a reader, the analysis) makes records; a consumer (a writer, the analysis) takes them, one by
 * one and in order. A trace is: one RECORD_PROCESS first, then the declarations (modules, resources), then the rest in
 * the order in which it happened. What a call refers to (its resource type, the objects of its stack) is declared
 * before it.
 *
 * In a stream of several processes, a RECORD_PROCESS precedes the records of each process, and comes again whenever the
 * stream returns to a process. Each process has its own declarations and indexes.
 *
 * All strings are NUL-terminated bytes without any promised encoding; all addresses and ids are 64 bits wide whatever
 * the target's pointer size. Pointers in a record belong to its producer and are valid only until it makes the next
 * record; a consumer copies what it keeps. */
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

/* A file that a process had open. */
struct open_file {
	uint32_t fd;
	uint64_t size;
	const char *path;
};

/* A process: in rtrace the handshake and PINF, in text the header. In a stream of several processes it says to which
 * process the records after it belong. */
struct record_process {
	unsigned version_major, version_minor; /* as read; a writer writes those of its own dialect */
	const char *arch;                      /* the target's machine, as `uname -m` prints it; NULL if unknown */
	unsigned pointer_size;                 /* 4 or 8; 0 if unknown (text) */
	bool big_endian;
	uint32_t pid;
	bool has_pid;
	int64_t start_sec; /* since the Epoch; 0 if unknown */
	uint32_t start_usec;
	const char *start_text; /* from text: its time stamp (start_sec is 0 if that cannot be parsed); else NULL */
	uint32_t depth;
	bool has_depth;
	bool no_timestamps;
	const char *name;              /* the program; NULL if unknown */
	const char *origin;            /* the generator, "functrace 0.1.0"; NULL if unknown */
	unsigned filters;              /* enum trace_filter bits */
	uint32_t ppid;                 /* 0 if unknown */
	const char *command;           /* the words of its command line, separated by blanks; NULL if unknown */
	bool is_attached;              /* it was running when functrace attached */
	uint64_t own_start_ns;         /* when it was started, in ns since the Epoch; 0 if unknown, or as above */
	const struct open_file *files; /* files that were open when functrace attached, if wanted */
	uint32_t file_count;
};

/* Returns whether pointers have 8 bytes. Text does not contain their size, but most machines have it in their names. */
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
	RESOURCE_REFCOUNT = 1, /* each allocation of an id adds a reference, which a release takes */
	RESOURCE_CALL = 2,     /* a record of calls, never a leak */
};

struct record_resource {
	uint32_t id; /* 1, 2, 3... (a number, never a mask) */
	uint32_t flags;
	const char *type; /* "memory" */
	const char *desc; /* "memory allocation in bytes" */
};

/* Returns whether resources of this type are the blocks of the heap that a heap record describes. No format has a flag
 * for this, so the type's name has to tell it. */
static inline bool is_heap_type(const char *type)
{
	return type && !strcmp(type, "memory");
}

#define TRACE_CONTEXTS 32 /* the number of bits in a mask */

struct record_context {
	uint32_t id; /* one bit */
	const char *name;
};

/* A mapped ELF file: `from` is the address where its file offset 0 is or would be, `to` the end of its last mapping. A
 * later object replaces all that it overlaps. */
struct record_object {
	uint64_t from, to;
	const char *path;
};

/* The build-id of the object at `from`, which was declared before. */
struct record_build_id {
	uint64_t from;
	const char *hex;
};

/* The thread that makes the following calls, until the next such record. */
struct record_thread {
	uint32_t tid;
	const char *name; /* "" if unknown */
};

enum call_kind { CALL_RELEASE = 1, CALL_ALLOC = 2, CALL_COPY = 3 };

#define TIME_NONE UINT64_MAX

/* How the frames of a stack end. */
enum stack_end {
	STACK_WHOLE, /* at the start of its thread */
	STACK_CUT,   /* after the wanted number of frames */
	STACK_LOST,  /* where it could not be followed any further */
};

/* Returns the meaning of a mark that a format has for cut and for lost stacks: the stack was cut if it is as deep as
 * the trace's depth, else lost. depth: of the trace; 0 if unknown. */
static inline enum stack_end stack_end_marked(uint32_t frame_count, uint32_t depth)
{
	return frame_count < depth ? STACK_LOST : STACK_CUT;
}

struct call_arg {
	const char *name; /* "" if unknown */
	const char *value;
};

struct record_call {
	uint64_t index; /* 1, 2, 3... in the order of the trace; shown by the text format */
	/* Nanoseconds since midnight UTC of the day in the process record; after the next midnight they go on above 24
	 * h. In compat traces: CLOCK_MONOTONIC (modulo 24 h when read). TIME_NONE if absent. */
	uint64_t time_ns;
	uint32_t resource; /* a declared id; 0 for the only one declared */
	uint32_t context;  /* mask; 0 if none */
	enum call_kind kind;
	const char *function; /* as shown: demangled, may contain blanks and parentheses */
	uint64_t id;
	uint64_t size; /* 0 for releases */
	/* Return addresses, innermost first. In traces read from text, frame_texts[i] is the text that followed address
	 * i on its line, from the blank on, and the lines of its inlined frames, each with its tab and address; NULL if
	 * there is none. frame_texts itself may be NULL. */
	const uint64_t *frames;
	const char *const *frame_texts;
	uint32_t frame_count;
	bool has_frames; /* the call has a stack, even if that is empty */
	enum stack_end end;
	/* In compressed traces: the next call has the same stack. Text then writes no frames and no blank line for this
	 * call. A reader returns such calls with their frames and without this flag, unless very many calls share a
	 * stack. Then they have the flag and no frames, and the next call without the flag has the frames. */
	bool shares_next;
	/* A line that text writes between the arguments and the frames; NULL if none. */
	const char *summary;
	const struct call_arg *args;
	uint32_t arg_count;
};

/* A remark of one line: on a fork, exec, signal, exit, dlclose, on what was not traced... */
struct record_note {
	const char *text;
};

struct record_heap {
	uint64_t bottom, top;
	/* mallinfo's arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost */
	uint64_t info[10];
	/* Ids of the lowest and highest block allocated, if the input has them (text); else 0, and a writer takes them
	 * from the calls that it has seen. */
	uint64_t lowest, highest;
};

struct record_attachment {
	const char *name, *path;
};

/* Any other line of a text trace, without its newline, passed through unmodified. */
struct record_comment {
	const char *text;
};

/* Memory that was taken from the system for blocks. The record comes before the first block of the trace in it. */
struct record_area {
	uint64_t from, size;
	bool is_internal; /* for a tracing library's own use */
};

/* The process was scanned. Of the resource's blocks that are live at this place, those of the following lost records
 * are lost, and the program can reach all others. The results of earlier scans are obsolete. */
struct record_scan {
	uint32_t resource;
	const char *reason; /* why the scan shows nothing about its blocks; "" if it does */
};

/* The classes of blocks of functrace-scan(7). */
enum lost_kind { LOST_DEFINITELY, LOST_INDIRECTLY, LOST_POSSIBLY, LOST_KINDS };

struct record_lost {
	uint32_t resource;
	uint64_t id;
	enum lost_kind kind;
};

struct baseline_block {
	uint64_t id, size;
};

/* Blocks from before the trace, found by a baseline of the heap: no call of the trace has allocated them. There may be
 * several such records, and calls before them. None contains a block that an earlier call has allocated or released. */
struct record_baseline {
	uint32_t resource;
	const struct baseline_block *blocks;
	uint32_t count;
};

/* The resident memory of the process, in bytes: at this place of the trace, and the most since the process began to
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

/* One line of an address's name. An address has several lines if functions are inlined there: innermost first, all but
 * the last with `inlined` set. Absent parts are NULL or 0. */
struct frame_name {
	const char *function; /* demangled */
	const char *module;   /* the object's path */
	const char *file;
	unsigned line;
	bool inlined;
};

/* Names a return address (looks up address - 1). Returns the number of lines in *names, which the callee owns and which
 * are valid until the next call; 0 if no module is known there. */
typedef size_t (*frame_namer)(void *context, uint64_t address, const struct frame_name **names);

#endif
