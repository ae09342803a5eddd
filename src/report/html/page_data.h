/* The data of the page: one object of JSON, whose strings have no '<', so that nothing in it ends its element. */
#ifndef FT_REPORT_HTML_PAGE_DATA_H
#define FT_REPORT_HTML_PAGE_DATA_H

#include "base/buf.h"
#include "report/html/page.h"

/* What the data may have; see page_data_limits. */
struct page_limits {
	size_t groups;  /* bytes of JSON for stacks and names until groups are folded */
	size_t folded;  /* bytes for what stands for folded groups, until these go into callers further out */
	size_t sources; /* bytes of source lines */
};

extern const struct page_limits page_data_limits;

/* Appends the object. limits: page_data_limits, but for tests.
 *
 *  {"generator", "programs": [{"name", "pid", "attached", "resident", "resident_peak" (bytes of resident memory when it
 *   was looked at last, and the most; only where the trace says it)}], "programs_left_out",
 *   "begin" (seconds since the Epoch; 0 unknown), "has_times",
 *   "end" (the last call; nanoseconds or calls from the first one), "events", "cut", "lost",
 *   "ends": [] (how processes ended, if not with status 0), "ends_left_out", "notes": [], "notes_left_out",
 *   "compared" (to what; only where it is),
 *   "moment_width", "moment_count" (moment k is at k * width, before the calls of that time),
 *   "span_width" (of the lines of time),
 *   "resident": [] (bytes at the end of each span, null before they are known; of one process whose trace says it),
 *   "kinds": [{"type", "desc", "one", "many" (nouns), "has_bytes", "is_call", "unknown", "reused", "released",
 *     "allocated", "live", "peak", "temporary": [blocks, bytes], "peak_since" (not of several processes),
 *     "lost" ([blocks, bytes of each enum lost_kind...]), "not_scanned" ([blocks, bytes] alive in processes that were
 *     not), "since_scan" (in the others, allocated later; all three only where a scan was), "unscanned",
 *     "why_unscanned" (a process, and why nothing is known of it),
 *     "old" ([blocks, bytes] alive before, where it is compared),
 *     "blocks", "bytes": [] (alive at the end of each span), "most": [] (bytes at once in it; not of several),
 *     "sizes": [exponent, blocks, bytes...], "lives": [exponent, blocks...],
 *     "threads": [tid, name, allocated blocks, bytes, live blocks, bytes, temporary blocks, bytes...] (those that
 *     allocated most), "threads_left_out", "rows": [[...]]}], "kinds_left_out",
 *   "names": ["", ...], "frames": [name, object, file, line, flags, source line...] (six a frame, strings by number,
 *    0 none; flags: enum page_frame_flags), "nodes": [caller, frame...] (two each; node 0, the root, is not there)}
 *
 * A row is a group, or several that were folded: [node, function's name, groups (0: one that is not folded), how the
 * stack ends (enum stack_end or PAGE_NO_STACK), allocated blocks, bytes, live blocks, bytes, blocks, bytes at the peak,
 * temporary blocks, bytes, released blocks, their mean lifetime, first call, birth of the oldest alive, of the newest,
 * [moment, blocks, bytes...] (alive from that moment on), [blocks, bytes of each enum lost_kind...] (not there,
 * or null, if nothing is lost), blocks, bytes alive before (where it is compared)]. Numbers above 2^53 are strings, for
 * JavaScript would round them. */
void page_data_add(struct buf *out, const struct profile *profile, const struct page_options *options,
		   const struct page_limits *limits);

enum page_frame_flags { PAGE_FRAME_INLINED = 1, PAGE_FRAME_UNNAMED = 2 };

/* Instead of an enum stack_end. */
enum { PAGE_NO_STACK = 3 };

#endif
