/* The model of a trace: a stream of records.
 *
 * A producer (the tracer, a reader, the analysis) passes records one by one, in order, to a consumer (a writer, the
 * analysis). A trace consists of one RECORD_PROCESS, the declarations (modules, resources), and then all other records
 * in the order of events. A resource or an object is declared before the first call that refers to it.
 *
 * In a stream of several processes, a RECORD_PROCESS precedes the records of each process, and is repeated whenever
 * records of this process follow records of another one. Each process has its own declarations and indexes.
 *
 * All strings are NUL-terminated bytes without any promised encoding; all addresses and ids are 64 bits wide whatever
 * the target's pointer size. Pointers in a record belong to the producer and are valid only until the next record. A
 * consumer copies strings and arrays that it needs longer. */
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
	RECORD_ESTIMATE,
	RECORD_INTERVAL,
};

/* The filters that have been applied to a trace (text header, key "filter"). */
enum trace_filter { FILTER_LEAKS = 1, FILTER_COMPRESS = 2, FILTER_RESOLVE = 4 };

/* A file that a process had open when functrace attached. */
struct open_file {
	uint32_t fd;
	uint64_t size;
	const char *path;
};

/* A process. The rtrace format stores it as the handshake and PINF, the text format as the header. In a stream of
 * several processes the following records belong to this process. */
struct record_process {
	/* the version of the trace that was read; a writer writes the version of its own dialect */
	unsigned version_major, version_minor;
	const char *arch;      /* the target's machine, as `uname -m` prints it; NULL if unknown */
	unsigned pointer_size; /* 4 or 8 bytes; 0 if unknown (text) */
	bool big_endian;
	uint32_t pid;
	bool has_pid;
	const char *host;  /* the machine on which it runs, if a stream has processes of several; NULL if unknown */
	int64_t start_sec; /* start of the trace, in seconds since the Epoch; 0 if unknown */
	uint32_t start_usec;
	/* time stamp in the header of a text trace, NULL if there is none; start_sec is 0 if it cannot be parsed */
	const char *start_text;
	uint32_t depth;
	bool has_depth;
	bool no_timestamps;
	const char *name;    /* the path of the program; NULL if unknown */
	const char *origin;  /* the program that wrote the trace, such as "functrace 0.1.0"; NULL if unknown */
	unsigned filters;    /* enum trace_filter bits */
	uint32_t ppid;       /* pid of the parent; 0 if unknown */
	const char *command; /* the words of the process's command line, separated by blanks; NULL if unknown */
	bool is_attached;    /* functrace attached to the running process */
	/* when the process was started, in ns since the Epoch; 0 if unknown, or if functrace did not attach to the
	 * process */
	uint64_t own_start_ns;
	/* files that were open when functrace attached; empty if they were not recorded */
	const struct open_file *files;
	uint32_t file_count;
};

/* Returns true if pointers have 8 bytes. A text trace does not contain the size, so it is derived from the machine's
 * name; for an unknown name 8 bytes are assumed. */
static inline bool record_process_is_wide(const struct record_process *process)
{
	if (process->pointer_size)
		return process->pointer_size == 8;
	return !process->arch || strstr(process->arch, "64") || strstr(process->arch, "s390x") ||
	       strstr(process->arch, "alpha");
}

struct record_module {
	uint32_t id; /* 0 for functrace itself */
	uint16_t version_major, version_minor;
	const char *name;
};

enum resource_flags {
	/* references are counted: an allocation of a live id adds a reference, a release removes one */
	RESOURCE_REFCOUNT = 1,
	RESOURCE_CALL = 2, /* the calls are only recorded: they allocate nothing that could leak */
};

struct record_resource {
	uint32_t id; /* number from 1 on; not a mask */
	uint32_t flags;
	const char *type; /* name of the kind, for example "memory" */
	const char *desc; /* description, for example "memory allocation in bytes" */
};

/* Returns true if resources of this type are the blocks of the heap that a heap record describes. No format has a flag
 * for this, so the name of the type decides. */
static inline bool is_heap_type(const char *type)
{
	return type && !strcmp(type, "memory");
}

#define TRACE_CONTEXTS 32 /* number of bits in a mask of contexts */

struct record_context {
	uint32_t id; /* a mask with one bit set */
	const char *name;
};

/* A mapped ELF file: `from` is the address of file offset 0, even if that offset is not mapped; `to` is the end of the
 * last mapping. A later object replaces all objects that it overlaps. */
struct record_object {
	uint64_t from, to;
	const char *path;
};

/* The build-id of an object. `from` is the object's address; the object was declared before. */
struct record_build_id {
	uint64_t from;
	const char *hex;
};

/* The thread that made the following calls, up to the next thread record. */
struct record_thread {
	uint32_t tid;
	const char *name; /* "" if unknown */
};

enum call_kind { CALL_RELEASE = 1, CALL_ALLOC = 2, CALL_COPY = 3 };

#define TIME_NONE UINT64_MAX

/* The reason why a stack has no further frames. */
enum stack_end {
	STACK_WHOLE, /* the last frame is the start of the thread */
	STACK_CUT,   /* the wanted depth is reached */
	STACK_LOST,  /* the unwinder could not find the next frame */
};

/* Returns the end of an incomplete stack, for formats that mark STACK_CUT and STACK_LOST alike: STACK_LOST if the stack
 * has fewer frames than `depth`, the trace's maximum, else STACK_CUT. If the maximum is unknown (0), returns
 * STACK_CUT. */
static inline enum stack_end stack_end_marked(uint32_t frame_count, uint32_t depth)
{
	return frame_count < depth ? STACK_LOST : STACK_CUT;
}

struct call_arg {
	const char *name; /* "" if unknown */
	const char *value;
};

struct record_call {
	uint64_t index; /* number of the call in the trace, from 1 on; written by the text format */
	/* Nanoseconds since midnight UTC of the day in the process record; not reset at the next midnight. In traces of
	 * the second dialect: the time of CLOCK_MONOTONIC; a reader returns it minus a multiple of 24 h, because these
	 * traces contain only the remainder modulo 24 h. TIME_NONE if the call has no time. */
	uint64_t time_ns;
	uint32_t resource; /* id of a declared resource; 0 if only one is declared */
	uint32_t context;  /* mask of contexts; 0 if none */
	enum call_kind kind;
	const char *function; /* demangled name; may contain blanks and parentheses */
	uint64_t id;
	uint64_t size; /* 0 for releases */
	/* Return addresses, innermost first. frame_texts[i] is the text of frame i as in a text trace: the rest of the
	 * line after the address, from the blank on. If functions are inlined there, the frame's other lines follow,
	 * each with tab and address. frame_texts[i] is NULL if the line has only an address; frame_texts itself may be
	 * NULL. */
	const uint64_t *frames;
	const char *const *frame_texts;
	uint32_t frame_count;
	bool has_frames; /* the call has a stack, which may be empty */
	enum stack_end end;
	/* In traces that functrace-postproc -c has grouped: the next call has the same stack. The text writer then
	 * writes no frames and no blank line for this call. The text reader fills in the frames and clears the flag.
	 * But if too many calls share a stack, the reader divides their group into parts. Calls of all parts but the
	 * last keep the flag and have no frames; their stack is that of the next call without the flag. */
	bool shares_next;
	/* A line that the text writer puts between the arguments and the frames; NULL if there is none. */
	const char *summary;
	const struct call_arg *args;
	uint32_t arg_count;
};

/* A remark of one line, for example on a fork, exec, signal, exit or dlclose, or on something that was not traced. */
struct record_note {
	const char *text;
};

struct record_heap {
	uint64_t bottom, top;
	/* The members of struct mallinfo in this order: arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks
	 * fordblks keepcost. */
	uint64_t info[10];
	/* Ids of the lowest and highest allocated block, if the input contains them (text). If they are 0, the text
	 * writer computes them from the calls that it has written. */
	uint64_t lowest, highest;
};

struct record_attachment {
	const char *name, *path;
};

/* A line of a text trace that is no other record, without its newline. It is copied unchanged. */
struct record_comment {
	const char *text;
};

/* Memory that the allocator obtained from the system for blocks. The record precedes the first allocation in this
 * area. */
struct record_area {
	uint64_t from, size;
	bool is_internal; /* memory of a tracing library, not of the program */
};

/* Result of a scan of the process. Of the resource's blocks that are live at this place of the trace, those in the
 * following lost records are lost; the program can reach all others. Results of earlier scans are obsolete. */
struct record_scan {
	uint32_t resource;
	const char *reason; /* why the scan has no result for the resource's blocks; "" if it has one */
};

/* The classes of lost blocks, as functrace-scan(7) defines them. */
enum lost_kind { LOST_DEFINITELY, LOST_INDIRECTLY, LOST_POSSIBLY, LOST_KINDS };

struct record_lost {
	uint32_t resource;
	uint64_t id;
	enum lost_kind kind;
};

struct baseline_block {
	uint64_t id, size;
};

/* Blocks that were allocated before the trace began, found by a baseline of the heap. A trace may contain several such
 * records, also after calls. They never contain a block that an earlier call of the trace has allocated or released. */
struct record_baseline {
	uint32_t resource;
	const struct baseline_block *blocks;
	uint32_t count;
};

/* The resident memory of the process, in bytes: at this place of the trace, and the maximum since the last exec. */
struct record_resident {
	uint64_t now, peak;
};

/* What is said of the growth of a stack. */
enum estimate_verdict {
	ESTIMATE_EXACT, /* the figures are no estimates: all calls were traced */
	ESTIMATE_SOUND,
	ESTIMATE_GROWING,
	ESTIMATE_FEW,        /* there were too few windows or samples for another verdict */
	ESTIMATE_UNRESOLVED, /* other blocks take the same addresses too fast */
};

#define ESTIMATE_VERDICTS (ESTIMATE_UNRESOLVED + 1)

/* Returns the word of a verdict in rows and in the export json. */
static inline const char *estimate_verdict_word(enum estimate_verdict verdict)
{
	static const char *const words[ESTIMATE_VERDICTS] = {
		[ESTIMATE_EXACT] = "exact",     [ESTIMATE_SOUND] = "sound",           [ESTIMATE_GROWING] = "growing",
		[ESTIMATE_FEW] = "few windows", [ESTIMATE_UNRESOLVED] = "unresolved",
	};

	return words[verdict];
}

/* The figures of the blocks of one stack at the end of an interval. If a watch has sampled the process, lost_bytes is
 * taken from its latest scan, and the other figures are estimates. Unknown figures are NAN. The figures of an earlier
 * interval are obsolete. */
struct record_estimate {
	/* The stack, the resource, and in time_ns the end of the interval; the members id and size are 0. The function
	 * is not known. */
	struct record_call call;
	double allocated_blocks, allocated_bytes;            /* since the watch began */
	double live_blocks, live_bytes, live_low, live_high; /* low and high: the interval of confidence of 90 % */
	double growth, growth_low, growth_high;              /* bytes a second */
	double lost_bytes;                                   /* by the latest scan */
	enum estimate_verdict verdict;
};

/* The end of an interval, after the estimates of all stacks that have live blocks. Figures are NAN if unknown. */
struct record_interval {
	uint64_t time_ns; /* as in struct record_call */
	uint32_t resource;
	double windows, looks, share;              /* share: of the process's work that was done in windows */
	double calls_seen, calls_unseen;           /* numbers of calls since the watch began */
	double heap_blocks, unattributed;          /* unattributed: bytes in use that belong to no stack */
	double lost_bytes;                         /* of all stacks, by the latest scan */
	double cost_budget, cost_target, cost_own; /* shares of one CPU */
	double cost_pause;                         /* longest pause of the process, in seconds */
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
		struct record_estimate estimate;
		struct record_interval interval;
	};
};

/* One function at an address. If functions are inlined there, the address has several entries: the innermost function
 * first, and `inlined` set in all but the last. Unknown members are NULL or 0. */
struct frame_name {
	const char *function; /* demangled name */
	const char *module;   /* path of the object */
	const char *file;
	unsigned line;
	bool inlined;
};

/* Finds the names of a return address (of the instruction at address - 1). Returns the number of entries in *names; 0
 * if no object is known there. The callee owns the entries, which are valid until the next call. */
typedef size_t (*frame_namer)(void *context, uint64_t address, const struct frame_name **names);

#endif
