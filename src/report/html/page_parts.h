/* Declarations that the files for the page's data share. */
#ifndef FT_REPORT_HTML_PAGE_PARTS_H
#define FT_REPORT_HTML_PAGE_PARTS_H

#include "report/html/page_data.h"
#include "report/process_ends.h"
#include "report/report_parts.h"
#include "report/source_lines.h"

/* Largest numbers of entries in lists; further entries are only counted. */
enum { PAGE_KINDS = 64, PAGE_PROGRAMS = 20, PAGE_NOTES = 20, PAGE_ENDS = 1000, PAGE_SPANS = 1024, PAGE_THREADS = 50 };

/* A longer string is shortened to this many bytes. */
enum { PAGE_TEXT_MAX = 400 };

/* Appends a string as JSON; a string that is too long is shortened with an ellipsis. */
void page_add_text(struct buf *out, const char *text);
void page_add_number(struct buf *out, uint64_t number);
/* Appends ',' and a number. */
void page_add_next(struct buf *out, uint64_t number);

/* The strings, frames and nodes of the page, each of which has a number. */
struct page_stacks {
	struct sources sources;
	size_t sources_left;             /* bytes that source lines may still use */
	struct buf names, frames, nodes; /* contents of the JSON arrays, without brackets */
	size_t name_count, frame_count, node_count;
	struct hash name_of, path_of; /* interned string -> number */
	struct hash frame_of;         /* profile_frame.number + 1 -> number + 1 */
	struct hash node_of;          /* caller and frame -> node's number */
	struct buf room;
};

/* Adds the node for a group's stack, and its callers. Returns the node's number. */
size_t page_node_add(struct page_stacks *stacks, const struct profile_group *group);
/* Returns the innermost node of a group's stack that exists already. *cost: the largest number of bytes that the
 * missing nodes, frames and strings would add. */
size_t page_node_find(const struct page_stacks *stacks, const struct profile_group *group, size_t *cost);
/* Adds a function's name. Returns the string's number. */
size_t page_name_add(struct page_stacks *stacks, const char *name);
size_t page_stacks_size(const struct page_stacks *stacks);
void page_stacks_begin(struct page_stacks *stacks, const char *sysroot, size_t sources);
void page_stacks_free(struct page_stacks *stacks);

/* The numbers of moments and spans for which the page shows live blocks, and their widths. */
struct page_axis {
	uint64_t moment_width, span_width;
	size_t moment_count, span_count;
};

/* Writes the rows of all kinds. rows[kind] receives the array without brackets. */
void page_rows(struct page_stacks *stacks, const struct profile *profile, const struct page_axis *axis,
	       const struct page_limits *limits, struct buf *rows, size_t kinds);

#endif
