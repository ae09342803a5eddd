/* The settings from the command line: written by functrace/functrace_main.c, read by the tracer. */
#ifndef FT_ENGINE_SETTINGS_H
#define FT_ENGINE_SETTINGS_H

#include "base/util.h"
#include "engine/watch_settings.h"
#include "modules/module.h"
#include "trace/compression_kinds.h"
#include "trace/writer.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct conf;

struct size_range {
	uint64_t low, high; /* inclusive */
};

struct manual_symbol { /* --symbol-address=NAME=ADDRESS; the address is as in the main program's file */
	const char *name;
	uint64_t address;
};

struct attachment { /* one --copy-file option */
	const char *name;
	const char *path; /* NULL: the file of that name in /proc/PID */
};

#define RING_MIB_NORMAL  16 /* room for the records of the kernel's probes, in MiB; not less, see collect.c */
#define RING_MIB_MAX     64
#define KERNEL_DEPTH_MAX 69 /* most frames of a stack with PROBES_KERNEL */

/* --probes: how calls are seen. */
enum probes_wanted {
	PROBES_AUTO,        /* as PROBES_KERNEL if that is possible, else by breakpoints */
	PROBES_BREAKPOINTS, /* by breakpoints only */
	PROBES_KERNEL,      /* those of allocators by the kernel, others by breakpoints */
};

/* --cpu: whether a busy task and the tracer share one CPU. */
enum placement {
	CPU_DEFAULT, /* auto for a launched program, else free */
	CPU_AUTO,    /* on one CPU if the program cannot notice it */
	CPU_PIN,     /* always on one CPU */
	CPU_FREE,    /* never on one CPU */
};

/* --report: the options for functrace-postproc, which functrace runs when tracing has ended. */
struct report_settings {
	bool is_wanted;
	bool is_live;   /* --live: functrace-postproc shows the traced processes while they run */
	char **options; /* in functrace-postproc's syntax */
	size_t option_count;
	int error_exitcode; /* the value of --error-exitcode in `options`; 0: none */
	char *folder;       /* created for this run; contains the traces unless -o names another place; NULL: none */
	char *list;         /* a file in `folder` that lists the paths of the traces, each with a NUL after it */
	char *again;        /* functrace's command line without --report, quoted for a shell */
};

/* --scan: which heap is scanned, and how often. */
struct scan_settings {
	bool is_wanted, is_json; /* is_wanted: only scan, trace nothing */
	bool is_off;             /* do not scan, although --report scans by default */
	bool is_traced;          /* scan each traced process when it ends or is detached, to find its lost blocks */
	int request_signal;      /* signal by which --live requests a scan; the visible process handles it; 0: none */
	const char *core;        /* a core file to scan; NULL: none */
	const char *sysroot;     /* folder that contains the files of the core file's process; NULL: / */
	uint64_t *why;           /* addresses of blocks whose reachability is explained */
	size_t why_count;
	uint64_t interval_ns, count; /* time between the starts of two scans, in ns; number of scans */
	uint64_t top;                /* number of groups shown */
	int error_exitcode;          /* exit status if blocks are leaked; 0: none */
};

/* The traced modules, and the functions and objects that options name. */
struct traced_settings {
	const struct module **modules;
	size_t module_count;
	const struct module *chosen;   /* the module made from -x; `modules` contains it too; NULL: none */
	const struct module *contexts; /* the functions of --context-function; `modules` does not contain it */
	/* the modules read from the user's files; each item owns its module's memory; `modules` contains them too */
	struct conf **described;
	size_t described_count;
	char **libraries; /* -L: texts that an object's path must contain; empty: all objects */
	size_t library_count;
	struct manual_symbol *symbols;
	size_t symbol_count;
	enum probes_wanted probes;
	uint64_t ring_mib; /* --probes-ring */
};

/* Which processes are traced, and when. */
struct target_settings {
	pid_t *pids; /* -t; if there are none, functrace launches argv */
	size_t pid_count;
	bool children; /* --children: also attach to the processes' descendants */
	char **argv;   /* NULL-terminated command line of the program to launch */
	bool follow;
	uint64_t duration_ns; /* --duration: time after which functrace detaches, in ns; 0: no limit */
	bool start_paused;
	int toggle_signal;       /* 0: none */
	const char *toggle_name; /* the signal's name in kill(1)'s syntax; points into the command line */
};

/* The data that are recorded of a call besides its resource: its stack and its arguments. */
struct call_settings {
	unsigned depth; /* number of frames of a stack that are shown, 0 to 256 */
	bool backtrace_all;
	struct size_range *stack_sizes; /* -M: stacks are taken only for these sizes; empty: for all */
	size_t stack_size_count;
	enum unwind_method unwinder;
	bool resolve;
	bool args;         /* -a: show arguments */
	size_t args_limit; /* most bytes shown of a string */
};

/* The form and the place of traces. */
struct trace_settings {
	const struct encoding *encoding;
	/* --cycle-size: number of entries after which the data are repeated that a reader needs from there; 0: never */
	uint64_t cycle_size;
	bool timestamps;
	enum packing packing;
	const char *output; /* as given: a folder, a file or "-"; NULL: file PID-N in the current folder */
	int output_fd;      /* close-on-exec: the one that `output` names (/dev/fd/63), or the live view's; or -1 */
	struct attachment *attachments;
	size_t attachment_count;
};

struct settings {
	struct traced_settings traced;
	struct target_settings target;
	struct call_settings calls;
	struct trace_settings trace;
	struct report_settings report;
	struct scan_settings scan;
	struct watch_settings watch;
	bool baseline;  /* take a baseline on attaching and when -S resumes; count the heap's blocks at the end */
	bool is_repair; /* --repair: repair processes and trace nothing */
	bool verify;
	bool quiet;
	enum placement cpu;
	/* Called in the visible process when tracing has ended, if not NULL. out: functrace's original standard output
	 * (-1: none). sound: the traces are complete. A positive result is functrace's exit status. Otherwise functrace
	 * ends with the program's status; if that is 0 and the result is -N, with N. */
	int (*conclude)(const struct settings *settings, int out, bool sound);
};

#endif
