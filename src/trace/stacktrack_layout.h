/* What the entries of a StackTrack trace are made of, as the format's document declares it: for outputs that show the
 * entries themselves. */
#ifndef FT_TRACE_STACKTRACK_LAYOUT_H
#define FT_TRACE_STACKTRACK_LAYOUT_H

#include "trace/stacktrack.h"

/* How a member is shown. */
enum stacktrack_kind {
	STACKTRACK_TIME,    /* ticks; in seconds since the start */
	STACKTRACK_DIVISOR, /* ticks in a second; in seconds too, as the document has it */
	STACKTRACK_SIGNED,
	STACKTRACK_UNSIGNED,
	STACKTRACK_HEX,
};

struct stacktrack_member {
	const char *name, *type, *desc;
	enum stacktrack_kind kind;
	unsigned size, offset; /* in the payload */
};

enum { STACKTRACK_MEMBERS = 5 };

struct stacktrack_layout {
	const char *uname, *name, *followedby, *desc; /* of a type of entries */
	unsigned size;
	unsigned member_count;
	struct stacktrack_member members[STACKTRACK_MEMBERS];
};

/* By enum stacktrack_type, and INFO behind them. */
extern const struct stacktrack_layout stacktrack_layouts[STACKTRACK_TYPES + 1];

#endif
