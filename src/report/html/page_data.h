/* Makes the data of the page: one JSON object. Its strings contain no '<', so that they cannot end the HTML element. */
#ifndef FT_REPORT_HTML_PAGE_DATA_H
#define FT_REPORT_HTML_PAGE_DATA_H

#include "base/buf.h"
#include "report/html/page.h"

/* Limits of the data's size, in bytes of JSON; see page_data_limits. */
struct page_limits {
	size_t groups;  /* limit for rows of groups, stacks and names; beyond it, groups are folded */
	size_t folded;  /* limit for rows of folded groups; beyond it, groups are folded into the row of the root */
	size_t sources; /* limit for source lines */
};

extern const struct page_limits page_data_limits;

/* Appends the JSON object. limits: page_data_limits, except in tests.
 *
 *  {"generator", "programs": [{"name", "pid", "attached", "resident", "resident_peak" (resident memory in bytes: the
 *   last value and the greatest; only if the trace contains it)}], "programs_left_out",
 *   "begin" (seconds since the Epoch; 0: unknown), "has_times",
 *   "end" (time of the last call; nanoseconds, or calls, since the first one), "events", "cut", "lost",
 *   "ends": [] (how processes ended, unless with status 0), "incomplete" (which traces have no end; only if
 *   there are any), "ends_left_out", "notes": [], "notes_left_out",
 *   "compared" (the older trace, or the time of --diff=@T, as text; only in a comparison),
 *   "selection" (the options that select the shown calls; only if there are any),
 *   "moment_width", "moment_count" (moment k is the time k * width, before the calls at that time),
 *   "span_width" (of the curves over time),
 *   "resident": [] (bytes at the end of each span, null before the first value; only for one process, and if its
 *   trace contains them),
 *   "kinds": [{"type", "desc", "one", "many" (nouns), "has_bytes", "is_call", "unknown", "reused", "released",
 *     "allocated", "live", "peak", "temporary": [blocks, bytes], "peak_since" (only for one process),
 *     "lost" ([blocks, bytes for each enum lost_kind...]), "not_scanned" ([blocks, bytes] alive in processes without
 *     a scan), "since_scan" (in other processes, allocated after the scan); these three only if there was a scan;
 *     "unscanned", "why_unscanned" (a process without the result of a scan, and the reason),
 *     "old" ([blocks, bytes] alive in the older trace, or at the time of --diff=@T; only in a comparison),
 *     "blocks", "bytes": [] (alive at the end of each span), "most": [] (most bytes alive at once in each span;
 *     only for one process),
 *     "sizes": [exponent, blocks, bytes...], "lives": [exponent, blocks...],
 *     "threads": [tid, name, allocated blocks, bytes, live blocks, bytes, temporary blocks, bytes...] (those that
 *     allocated most bytes; tid 0: blocks that no thread has allocated), "threads_left_out",
 *     "rows": [[...]]}], "kinds_left_out",
 *   "names": ["", ...], "frames": [name, object, file, line, flags, source line...] (six for each frame; strings are
 *    numbers, 0: none; flags: enum page_frame_flags), "nodes": [caller, frame...] (two for each; not for the
 *    root, node 0)}
 *
 * A row is a group, or several folded groups: [node, number of the function's name, number of folded groups (0: it is
 * one group), how the stack ends (enum stack_end or PAGE_NO_STACK), allocated blocks, bytes, live blocks, bytes,
 * blocks, bytes at the peak, temporary blocks, bytes, released blocks, their mean lifetime (null: unknown), time of the
 * first call, ages of the oldest and of the newest live block at the ends of their processes, [moment, blocks,
 * bytes...] (alive from that moment on), [blocks, bytes for each enum lost_kind...] (missing or null if nothing is
 * lost), blocks, bytes of "old" (only in a comparison)]. Numbers from 2^53 on are strings, because JavaScript would
 * round them. */
void page_data_add(struct buf *out, const struct profile *profile, const struct page_options *options,
		   const struct page_limits *limits);

enum page_frame_flags {
	PAGE_FRAME_INLINED = 1,
	PAGE_FRAME_UNNAMED = 2,
	PAGE_FRAME_STANDARD = 4 /* profile_function_is_standard() */
};

/* A value beside those of enum stack_end, for the end of a stack: the group has no stack. */
enum { PAGE_NO_STACK = 3 };

#endif
