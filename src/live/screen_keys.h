/* The state of the live view's screen, and the keys that change it. */
#ifndef FT_LIVE_SCREEN_KEYS_H
#define FT_LIVE_SCREEN_KEYS_H

#include "live/view_rows.h"

enum { SCREEN_FOOT_LINES = 1 };

struct screen {
	struct view *view;
	size_t selected, first;      /* indices of the selected row and of the row at the top */
	const struct site *expanded; /* the site whose stack is shown; NULL: none */
	bool is_paused, is_typing;   /* is_typing: the user is typing a filter */
	bool quits;
	char message[160];
	double looked_at; /* time of the last update in seconds */
	uint32_t looks;
};

/* Returns the time of CLOCK_MONOTONIC in seconds. */
double screen_seconds(void);
/* Returns the number of lines in the head: three, one more if there was a scan or if the figures are
 * estimates, and one more if calls were not read. */
int screen_head_lines(const struct screen *screen);
/* Returns the site of the selected row, or NULL. */
const struct site *screen_selected(const struct screen *screen);
/* Executes the command of a key. key: the result of getch(3). */
void screen_take_key(struct screen *screen, int key);

#endif
