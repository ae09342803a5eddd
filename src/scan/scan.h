/* A scan: a copy of a process's memory in one pause, and what there is to say of its heap. */
#ifndef FT_SCAN_SCAN_H
#define FT_SCAN_SCAN_H

#include "scan/report.h"

struct scan;

/* For a process; nothing is looked at yet. scan_free() frees it. */
struct scan *scan_new(pid_t pid);
/* Of a core file, which is looked at once. sysroot: put before the paths of the files that its process had; NULL none.
 * It stays the caller's. NULL after a message. */
struct scan *scan_of_core(const char *path, const char *sysroot);
void scan_free(struct scan *scan);
/* Looks once, and finds out why the blocks at these addresses are alive. Where a thread was in the midst of malloc it
 * looks again after some milliseconds, at last with all threads brought out of the C library. 0, or 1 after a
 * message. */
int scan_look(struct scan *scan, const uint64_t *why, size_t why_count);
/* What the last look has found, until the next one; but for `scans` and `top`, which the caller sets. */
struct scan_report *scan_report_of(struct scan *scan);

#endif
