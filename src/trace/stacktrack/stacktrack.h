/* Definitions of the StackTrack format, for its writer, its reader and --expand-events. A trace is a sequence of
 * entries of the same size. An SLOC entry defines a scope: a function or a named value. A HIT entry says that a thread
 * passed a scope. A write cycle is a part of a trace that can be read without the parts before it.
 *
 * The document "data format" of Boost StackTrack defines the format; functrace-formats(5) describes it, and how
 * functrace writes a trace in it. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_H
#define FT_TRACE_STACKTRACK_STACKTRACK_H

#include "base/time_units.h"

#include <stddef.h>
#include <stdint.h>

#define STACKTRACK_MAGIC   0x12345678u
#define STACKTRACK_VERSION 0x100
#define STACKTRACK_ENTRY   24 /* size of an entry that functrace writes, in bytes */
#define STACKTRACK_PAYLOAD 8  /* offset of the payload in an entry */
#define STACKTRACK_INFO    16 /* bytes of text in an INFO entry that functrace writes */

enum stacktrack_type {
	STACKTRACK_HIT,
	STACKTRACK_FLOC,
	STACKTRACK_FPROPERTY,
	STACKTRACK_SLOC,
	STACKTRACK_PROLOGUE,
	STACKTRACK_PROCINFO,
	STACKTRACK_TIMEINFO,
	STACKTRACK_TIMETYPE,
	STACKTRACK_TYPES,
	STACKTRACK_IS_INFO = 0xff,
	STACKTRACK_TYPE_MASK = 0xff,
	STACKTRACK_HAS_INFO = 0x100,
	STACKTRACK_INFO_END = 0x200,
};

/* The two known styles of scopes. */
enum { STACKTRACK_SCOPE = 3, STACKTRACK_VALUE = 6 };

/* Named values. Each record except a call or an object is written as a hit of a named value (a baseline: one hit for
 * each block). functrace writes an object as FLOC and FPROPERTY, not as a hit of "object". The arguments and the stack
 * of a call are hits of named values with the sequence number of the call. */
#define STACKTRACK_VALUES(X)                                                                                           \
	X(PROCESS, "process")                                                                                          \
	X(MODULE, "module")                                                                                            \
	X(RESOURCE, "resource")                                                                                        \
	X(CONTEXT, "context")                                                                                          \
	X(OBJECT, "object")                                                                                            \
	X(BUILD_ID, "build-id")                                                                                        \
	X(THREAD, "thread")                                                                                            \
	X(NOTE, "note")                                                                                                \
	X(HEAP, "heap")                                                                                                \
	X(ATTACHMENT, "attachment")                                                                                    \
	X(COMMENT, "comment")                                                                                          \
	X(AREA, "area")                                                                                                \
	X(BACKTRACE, "backtrace")                                                                                      \
	X(ARGS, "args")                                                                                                \
	X(SCAN, "scan")                                                                                                \
	X(LOST, "lost")                                                                                                \
	X(BEFORE, "before")                                                                                            \
	X(RESIDENT, "resident")

enum stacktrack_value {
#define VALUE(name, text) STACKTRACK_OF_##name,
	STACKTRACK_VALUES(VALUE)
#undef VALUE
		STACKTRACK_VALUE_COUNT,
	STACKTRACK_OF_CALL = STACKTRACK_VALUE_COUNT, /* the scope is a function, or a named value of another program */
};

extern const char *const stacktrack_value_names[STACKTRACK_VALUE_COUNT];

#define STACKTRACK_TICKS NS_PER_SECOND /* ticks per second in traces that functrace writes */

#endif
