/* Makes scans: copies a process's memory in one pause, and examines its heap. */
#ifndef FT_SCAN_SCAN_H
#define FT_SCAN_SCAN_H

#include "scan/scan_report.h"

struct scan;

enum scan_result {
	SCAN_DONE,
	SCAN_FAILED, /* a message has been printed that says why */
	SCAN_ENDED,  /* the process does not exist, or has ended; no message was printed */
};

/* Makes a scan of a process, without reading the process yet. scan_free() frees it. */
struct scan *scan_new(pid_t pid);
/* Makes a scan of a core file, and reads the file. sysroot: a directory that is put before the paths of the files
 * which the process had mapped, or NULL. The caller owns both strings, which must stay valid. Returns NULL after a
 * message. */
struct scan *scan_of_core(const char *path, const char *sysroot);
void scan_free(struct scan *scan);
pid_t scan_pid(const struct scan *scan);
/* scan_program() returns the name of the process's program, "?" if it is unknown; scan_count() returns the number of
 * scan_look() calls that succeeded. */
const char *scan_program(const struct scan *scan);
uint64_t scan_count(const struct scan *scan);
/* Sets whether another scan_look() may follow the next one and be compared with it. Initially false. */
void scan_continues(struct scan *scan, bool is_so);
/* Examines the heap once, and finds why the blocks at the addresses in `why` are alive. If a thread was inside malloc,
 * copies the memory again after some milliseconds; after a few copies, moves the threads out of malloc before the next
 * one. If the process has executed another program since the last look, discards the earlier results. */
enum scan_result scan_look(struct scan *scan, const uint64_t *why, size_t why_count);
/* Frees the copy and the report, so that they need no memory until the next look. The results with which the next look
 * is compared are kept. */
void scan_rest(struct scan *scan);
/* Returns the results of the last look, valid until the next one. The caller sets `top`, and `scans` if more looks
 * are to follow. */
struct scan_report *scan_report_of(struct scan *scan);

#endif
