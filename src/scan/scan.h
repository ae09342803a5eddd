/* A scan: copies a process's memory in one pause, and examines its heap. */
#ifndef FT_SCAN_SCAN_H
#define FT_SCAN_SCAN_H

#include "scan/scan_report.h"

struct scan;

enum scan_result {
	SCAN_DONE,
	SCAN_FAILED, /* a message has said why */
	SCAN_ENDED,  /* the process does not exist (any more); there was no message */
};

/* Makes a scan of a process, which is not looked at yet. scan_free() frees it. */
struct scan *scan_new(pid_t pid);
/* Makes a scan of a core file, which is looked at once. sysroot: put before the paths of the files that its process
 * had, or NULL. The caller owns both strings, which must stay valid. Returns NULL after a message. */
struct scan *scan_of_core(const char *path, const char *sysroot);
void scan_free(struct scan *scan);
pid_t scan_pid(const struct scan *scan);
/* The name of the process's program, "?" if it is unknown; and how often the process was looked at. */
const char *scan_program(const struct scan *scan);
uint64_t scan_count(const struct scan *scan);
/* Sets whether another look may follow the next one, and is to be compared with it; at first false. */
void scan_continues(struct scan *scan, bool is_so);
/* Looks once, and finds out why the blocks at these addresses are alive. If a thread was inside malloc, looks again
 * after some milliseconds, in the end with all threads brought out of the C library. If the process has executed
 * another program since the last look, begins anew. */
enum scan_result scan_look(struct scan *scan, const uint64_t *why, size_t why_count);
/* Frees the memory of the copy and the report until the next look. What the next look is compared with is kept. */
void scan_rest(struct scan *scan);
/* Returns what the last look has found, valid until the next one. The caller sets `top`, and `scans` if there are to be
 * more. */
struct scan_report *scan_report_of(struct scan *scan);

#endif
