/* What the command line decided: made by functrace.c, read by the tracer. */
#ifndef FT_ENGINE_SETTINGS_H
#define FT_ENGINE_SETTINGS_H

#include "base/util.h"
#include "modules/module.h"
#include "trace/packing.h"
#include "trace/writer.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct conf;

struct size_range {
	uint64_t low, high; /* inclusive */
};

struct manual_symbol { /* --symbol=NAME=ADDRESS; an address in the main program's file */
	const char *name;
	uint64_t address;
};

struct attachment { /* --attach-file */
	const char *name;
	const char *path; /* NULL: the file of that name in /proc/PID */
};

/* --cpu: whether a busy task and the tracer run on one CPU. */
enum placement {
	CPU_DEFAULT, /* auto for a launched program, else free */
	CPU_AUTO,    /* where the program cannot see it */
	CPU_PIN,     /* always */
	CPU_FREE,    /* never */
};

/* --report: what functrace-postproc prints when tracing has ended. */
struct report_wish {
	bool is_wanted;
	bool is_live;   /* --live: functrace-postproc shows what is traced meanwhile */
	char **options; /* as functrace-postproc takes them */
	size_t option_count;
	int error_exitcode; /* among them; 0 none */
	char *folder;       /* made for this run; traces go there unless -o says where; NULL none */
	char *list;         /* a file in it: the path of each trace, a line each */
	char *again;        /* the command line without --report, as a shell reads it */
};

/* --scan: what the process's heap is looked at for, once or again and again. */
struct scan_wish {
	bool is_wanted, is_json; /* alone: nothing is traced */
	bool is_off;             /* not beside a report either, where it is otherwise */
	bool is_traced;          /* beside tracing: at the end of each process, what is lost of its live blocks */
	int request_signal;      /* to V: what is traced is looked through now (--live's key); 0 none */
	const char *core;        /* a file that is looked at, NULL none */
	const char *sysroot;     /* where the files of its process are; NULL / */
	uint64_t *why;           /* addresses of blocks */
	size_t why_count;
	uint64_t interval_ns, count; /* from the begin of one scan to the next, and how many */
	uint64_t top;                /* groups that are shown */
	int error_exitcode;          /* if something is lost; 0 none */
};

struct settings {
	const struct module **modules;
	size_t module_count;
	const struct module *chosen;   /* the one of them that -x has made, NULL none */
	const struct module *contexts; /* --context-function: no module of its own, but its functions; NULL none */
	struct conf **described;       /* what of them a user's files have described: they own the modules */
	size_t described_count;

	pid_t *pids; /* -t; none: launch argv */
	size_t pid_count;
	bool children;        /* --children: and to the processes that descend from them */
	uint64_t duration_ns; /* --duration: let go after that; 0: no end */
	char **argv;          /* NULL-terminated */

	unsigned depth; /* 0..256 */
	bool backtrace_all;
	bool args;                  /* -a */
	size_t args_limit;          /* bytes of a string that are shown */
	struct size_range *monitor; /* -M; none: all */
	size_t monitor_count;
	char **libraries; /* -L: parts of paths; none: all */
	size_t library_count;

	const struct encoding *encoding;
	uint64_t cycle_size; /* writer_options; 0: no cycles */
	bool resolve;
	bool timestamps;
	const char *output; /* as given: a folder, a file, "-"; NULL: PID-N in the current folder */
	int output_fd;      /* the descriptor that it names (/dev/fd/63), close-on-exec; -1 none */
	enum packing packing;

	struct attachment *attachments;
	size_t attachment_count;

	bool follow;
	bool census; /* of the blocks from before an attach or a pause */
	bool start_paused;
	int toggle_signal;       /* 0: none */
	const char *toggle_name; /* as kill(1) takes it, of the command line's memory */
	bool verify;
	bool is_repair; /* --repair: nothing is traced */
	bool quiet;
	enum placement cpu;
	enum unwind_method unwinder;
	struct report_wish report;
	struct scan_wish scan;
	/* Called in V when tracing has ended, if set, with the standard output that functrace was started with (-1:
	 * none). sound: all that was traced is in the traces. A status to end with; or, negated, one to end with where
	 * the program's own is 0; or 0: the program's. */
	int (*conclude)(const struct settings *settings, int out, bool sound);
	struct manual_symbol *symbols;
	size_t symbol_count;
};

#endif
