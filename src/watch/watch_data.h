/* The data of a watch, for the files of this folder. */
#ifndef FT_WATCH_WATCH_DATA_H
#define FT_WATCH_WATCH_DATA_H

#include "watch/watch.h"
#include "base/hash.h"

#define WINDOWS_MAX   4096 /* windows that are kept, also if they have no samples */
#define CONTROLS_AT   16   /* controls of one address that are kept in a window */
#define DIED_KEPT     16   /* blocks of a stack that died in one window, which are kept */
#define CONTROLS_KEPT 100  /* controls of a stack that are kept of one window */
#define LOOKS_MAX     64   /* looks that are kept; if there are more, every second one is forgotten */
#define NO_STACK      UINT32_MAX
#define NO_CONTROL    UINT32_MAX
#define WINDOWS_MIN   25 /* below, no interval means anything */
#define WATCH_OLD_MIN 5  /* old survivors, without which nothing is called growing */

enum sample_fate {
	FATE_PASSED,         /* has passed all looks so far */
	FATE_DIED_IN_WINDOW, /* was released in the window of its allocation */
	FATE_MISSED,         /* its chunk was free, or of another class, at a look */
	FATE_REUSED,         /* its address was allocated again in a later window */
	FATE_RELEASED_LATER, /* a later window saw a release at its address: of this block, or of a later one */
};

/* What windows and looks tell of a block that was allocated in a window, or, for the control group, of an address that
 * was released in one. */
struct track {
	uint64_t address, time;
	uint32_t stack;        /* that of a control's block, or NO_STACK */
	uint32_t class_number; /* index of its size class */
	uint32_t window;
	uint16_t first;  /* number of looks before it */
	uint16_t passed; /* number of looks that it has passed since */
	bool has_failed;
	bool is_lost; /* it has passed all looks, and the scan calls the block there lost */
	float count;  /* number of tracks for which it stands, because half of those of many were forgotten */
};

/* A sample: a block that was allocated in a window. */
struct sample {
	struct track track;
	uint64_t size, print, died; /* died: time of the release, for FATE_DIED_IN_WINDOW */
	enum sample_fate fate;
	bool is_same_first; /* at its first look the contents were those at the window's end */
	bool is_same;       /* at all looks */
};

/* A control: an address that was released in a window, followed as if its block lived on. So its looks show how fast
 * other blocks take the addresses. */
struct control {
	struct track track;
	uint32_t next; /* the next control of the same address, or NO_CONTROL */
};

struct window {
	uint64_t begin, end;   /* ns */
	uint64_t before, work; /* work before the window, and in it */
};

/* Chunks in use of one class, at each look. */
struct census {
	uint32_t size_class;
	unsigned since; /* the first look with a count */
	uint64_t counts[LOOKS_MAX + 1];
	uint64_t lost; /* lost since the watch began */
};

struct watch {
	struct watch_options options;
	uint64_t began, looked; /* ns: the watch's begin, its last look */
	uint64_t looked_work;   /* until the last look */
	struct window *windows;
	size_t window_count, window_capacity;
	unsigned window_stride, windows_skipped; /* each window_stride-th window is kept */
	bool is_open;                            /* a window that is kept has begun */
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct control *controls;
	size_t control_count, control_capacity;
	struct hash samples_at;  /* address -> index of the sample that passes there */
	struct hash controls_at; /* address -> index of the first control that passes there */
	struct census *classes;
	size_t class_count, class_capacity;
	struct hash class_index; /* size class -> index */
	unsigned looks, stride;  /* looks that are kept; each stride-th look is kept */
	unsigned skipped;        /* looks since the last kept one */
	bool has_counts;
	uint64_t random; /* for the choice of what is kept */
};

/* In index.c. watch_index() makes the tables by address and by class from the samples, controls and classes;
 * watch_list_controls() only that of the controls, without those that have failed. watch_list_control() adds a control
 * to the list of its address, and watch_first_control() returns the index of the first one there, or NO_CONTROL. */
void watch_index(struct watch *w);
void watch_list_controls(struct watch *w);
void watch_list_control(struct watch *w, uint32_t index);
uint32_t watch_first_control(const struct watch *w, uint64_t address);

/* In forget.c. watch_make_room() forgets samples and controls before a window begins: at most samples_max are left, and
 * WINDOWS_MAX - 1 windows. watch_thin_window() forgets at a window's end most of the blocks that were released in it,
 * and of its controls, if a stack has many. */
void watch_make_room(struct watch *w);
void watch_thin_window(struct watch *w);

/* Returns the number of looks that were due for the track. */
static inline unsigned looks_due(const struct watch *w, const struct track *track)
{
	return w->looks - track->first;
}

/* Returns true if the looks count the chunks of a class. Without a size class, its blocks may have any size. */
static inline bool is_counted(const struct watch *w, size_t class_number)
{
	return w->has_counts && w->classes[class_number].size_class;
}

#endif
