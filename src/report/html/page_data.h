/* The data of the page: one object of JSON. Its strings have no '<', so that nothing in it ends the HTML element. */
#ifndef FT_REPORT_HTML_PAGE_DATA_H
#define FT_REPORT_HTML_PAGE_DATA_H

#include "base/buf.h"
#include "report/html/page.h"

/* Limits for the size of the data; see page_data_limits. */
struct page_limits {
	size_t groups;  /* bytes of JSON for stacks and names; then groups are folded */
	size_t folded;  /* bytes for folded groups; then these go into callers further out */
	size_t sources; /* bytes of source lines */
};

extern const struct page_limits page_data_limits;

/* Appends the object. limits: page_data_limits, except in tests.
 *
 *  {"generator", "programs": [{"name", "pid", "attached", "resident", "resident_peak" (bytes of resident memory: the
 *   last figure, and the highest; only if the trace has them)}], "programs_left_out",
 *   "begin" (seconds since the Epoch; 0 if unknown), "has_times",
 *   "end" (the last call; nanoseconds or calls from the first one), "events", "cut", "lost",
 *   "ends": [] (how processes ended, if not with status 0), "incomplete" (which traces have no end; only if
 *   some have none), "ends_left_out", "notes": [], "notes_left_out",
 *   "compared" (to what; only if it is),
 *   "moment_width", "moment_count" (moment k is at k * width, before the calls of that time),
 *   "span_width" (of the lines of time),
 *   "resident": [] (bytes at the end of each span, null before they are known; only for one process, and if its trace
 *   has it),
 *   "kinds": [{"type", "desc", "one", "many" (nouns), "has_bytes", "is_call", "unknown", "reused", "released",
 *     "allocated", "live", "peak", "temporary": [blocks, bytes], "peak_since" (only for one process),
 *     "lost" ([blocks, bytes for each enum lost_kind...]), "not_scanned" ([blocks, bytes] alive in processes without a
 *     scan), "since_scan" (in the others, allocated later); these three only if there was a scan; "unscanned",
 *     "why_unscanned" (a process, and why nothing is known of it),
 *     "old" ([blocks, bytes] alive before, if it is compared),
 *     "blocks", "bytes": [] (alive at the end of each span), "most": [] (bytes at once in it; only for one process),
 *     "sizes": [exponent, blocks, bytes...], "lives": [exponent, blocks...],
 *     "threads": [tid, name, allocated blocks, bytes, live blocks, bytes, temporary blocks, bytes...] (those that
 *     allocated most), "threads_left_out", "rows": [[...]]}], "kinds_left_out",
 *   "names": ["", ...], "frames": [name, object, file, line, flags, source line...] (six for each frame; strings by
 *    number, 0 for none; flags: enum page_frame_flags), "nodes": [caller, frame...] (two for each; not for the
 *    root, node 0)}
 *
 * A row is a group, or several that were folded: [node, function's name, groups (0: one that is not folded), how the
 * stack ends (enum stack_end or PAGE_NO_STACK), allocated blocks, bytes, live blocks, bytes, blocks, bytes at the peak,
 * temporary blocks, bytes, released blocks, their mean lifetime, first call, births of the oldest and of the newest
 * live block, [moment, blocks, bytes...] (alive from that moment on), [blocks, bytes for each enum lost_kind...]
 * (missing or null if nothing is lost), blocks, bytes alive before (if it is compared)]. Numbers from 2^53 on are
 * strings, because JavaScript would round them. */
void page_data_add(struct buf *out, const struct profile *profile, const struct page_options *options,
		   const struct page_limits *limits);

enum page_frame_flags { PAGE_FRAME_INLINED = 1, PAGE_FRAME_UNNAMED = 2 };

/* Instead of an enum stack_end. */
enum { PAGE_NO_STACK = 3 };

#endif
