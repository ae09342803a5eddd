/* A scan: a copy of a process's memory in one pause, and what there is to say of its heap. */
#ifndef FT_SCAN_SCAN_H
#define FT_SCAN_SCAN_H

#include "scan/scan_report.h"

struct scan;

enum scan_result {
	SCAN_DONE,
	SCAN_FAILED, /* it was said why */
	SCAN_ENDED,  /* there is no such process (any more); nothing was said */
};

/* For a process; nothing is looked at yet. scan_free() frees it. */
struct scan *scan_new(pid_t pid);
/* Of a core file, which is looked at once. sysroot: put before the paths of the files that its process had; NULL none.
 * Both stay the caller's. NULL after a message. */
struct scan *scan_of_core(const char *path, const char *sysroot);
void scan_free(struct scan *scan);
pid_t scan_pid(const struct scan *scan);
/* How its program is called, as far as that is known; and how often it was looked at. */
const char *scan_program(const struct scan *scan);
uint64_t scan_count(const struct scan *scan);
/* Whether another look may follow the next one, and is to be compared with it; at first it is not so. */
void scan_continues(struct scan *scan, bool is_so);
/* Looks once, and finds out why the blocks at these addresses are alive. Where a thread was in the midst of malloc it
 * looks again after some milliseconds, at last with all threads brought out of the C library. Where the process has
 * executed a program since the last look, all begins anew. */
enum scan_result scan_look(struct scan *scan, const uint64_t *why, size_t why_count);
/* Gives the memory of the copy back, until it is looked at again; what was found stays known. */
void scan_rest(struct scan *scan);
/* What the last look has found, until the next one; but for `scans` and `top`, which the caller sets. */
struct scan_report *scan_report_of(struct scan *scan);

#endif
