#include "config.h"
#include "trace/stacktrack_layout.h"

#define WHEN(name, at, desc)                                                                                           \
	{                                                                                                              \
		name, "hitime_t", desc, STACKTRACK_TIME, 8, at                                                         \
	}
#define TICKS(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "hitime_t", desc, STACKTRACK_DIVISOR, 8, at                                                      \
	}
#define SCOPE(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "scopex_t", desc, STACKTRACK_UNSIGNED, 2, at                                                     \
	}
#define TID(name, at, desc)                                                                                            \
	{                                                                                                              \
		name, "st_tid_t", desc, STACKTRACK_HEX, 2, at                                                          \
	}
#define PID(name, at, desc)                                                                                            \
	{                                                                                                              \
		name, "st_pid_t", desc, STACKTRACK_HEX, 2, at                                                          \
	}
#define COUNT(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "wcount_t", desc, STACKTRACK_UNSIGNED, 2, at                                                     \
	}
#define INT16(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "int16", desc, STACKTRACK_SIGNED, 2, at                                                          \
	}
#define UNS16(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "uns16", desc, STACKTRACK_HEX, 2, at                                                             \
	}
#define UNS32(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "uns32", desc, STACKTRACK_UNSIGNED, 4, at                                                        \
	}
#define CHAR(name, at, desc)                                                                                           \
	{                                                                                                              \
		name, "char", desc, STACKTRACK_UNSIGNED, 1, at                                                         \
	}
#define CTIME(name, at, desc)                                                                                          \
	{                                                                                                              \
		name, "sctime_t", desc, STACKTRACK_SIGNED, 8, at                                                       \
	}

const struct stacktrack_layout stacktrack_layouts[STACKTRACK_TYPES + 1] = {
	[STACKTRACK_HIT] = {"HIT",
			    "hit",
			    "~",
			    "ev_hit captures basic entry/exit/step data",
			    16,
			    3,
			    {WHEN("when", 0, "when the hit occured"), SCOPE("scopeIndex", 8, "where the hit occured"),
			     TID("tid", 10, "thread in which the hit occured")}},
	[STACKTRACK_FLOC] = {"FLOC",
			     "fileloc",
			     "filename",
			     "File Location data",
			     6,
			     3,
			     {INT16("filenum", 0, "file index"), COUNT("writeCount", 2, "write count"),
			      INT16("properties", 4, "number of properties")}},
	[STACKTRACK_FPROPERTY] = {"FPROPERTY",
				  "fproperty",
				  "prop=value",
				  "file properties",
				  6,
				  3,
				  {INT16("filenum", 0, "file index"), COUNT("writeCount", 2, "write count"),
				   INT16("propertynum", 4, "property index")}},
	[STACKTRACK_SLOC] = {"SLOC",
			     "sourceloc",
			     "~",
			     "source location",
			     10,
			     5,
			     {SCOPE("scopeIndex", 0, "scope index"), INT16("style", 2, "scope style"),
			      INT16("linenum", 4, "line number"), COUNT("writeCount", 6, "write count"),
			      INT16("filenum", 8, "file number")}},
	[STACKTRACK_PROLOGUE] = {"PROLOGUE",
				 "prologue",
				 "~",
				 "Prologue data",
				 12,
				 5,
				 {UNS32("_12345678", 0, "magic identifier"),
				  UNS32("version", 4, "stacktrack format version"),
				  CHAR("info_len", 8, "length of _info field"), CHAR("entry_size", 9, "size of entry"),
				  CHAR("payload_offset", 10, "offset of payload in entry")}},
	[STACKTRACK_PROCINFO] = {"PROCINFO",
				 "procinfo",
				 "~",
				 "Process data",
				 4,
				 2,
				 {PID("pid", 0, "proccess ID"), COUNT("writeCount", 2, "write count")}},
	[STACKTRACK_TIMEINFO] = {"TIMEINFO",
				 "timeinfo",
				 "~",
				 "Time info (start time) data",
				 16,
				 2,
				 {WHEN("start_hires", 0, "start time in raw hi-res form"),
				  CTIME("start", 8, "start time in CTIME form")}},
	[STACKTRACK_TIMETYPE] = {"TIMETYPE",
				 "timetype",
				 "~",
				 "time conversion data",
				 16,
				 2,
				 {TICKS("tdiv", 0, "time divisor"), UNS16("timetype", 8, "time type")}},
	[STACKTRACK_TYPES] = {"INFO", "info", "~", "text of the entry before", 16, 0, {{0}}},
};
