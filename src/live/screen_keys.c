#include "config.h"
#include "live/screen_keys.h"

#ifdef HAVE_CURSES

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_ESCAPE = 27, KEY_CTRL_L = 12 };

double screen_seconds(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

int screen_head_lines(const struct screen *screen)
{
	return 3 + (screen->view->has_scan || screen->view->basis) + (screen->view->left_out > 0);
}

const struct site *screen_selected(const struct screen *screen)
{
	return screen->selected < screen->view->row_count ? screen->view->rows[screen->selected].site : NULL;
}

static void arrange_again(struct screen *screen)
{
	view_arrange(screen->view, screen_seconds() - screen->looked_at);
}

static void move_by(struct screen *screen, int64_t by)
{
	const int64_t last = (int64_t)screen->view->row_count - 1;
	int64_t to = (int64_t)screen->selected + by;

	if (to > last)
		to = last;
	screen->selected = to < 0 ? 0 : (size_t)to;
}

static void type_filter(struct screen *screen, int key)
{
	char *filter = screen->view->filter;
	const size_t length = strlen(filter);

	if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		screen->is_typing = false;
	} else if (key == KEY_ESCAPE) {
		screen->is_typing = false;
		*filter = '\0';
	} else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length) {
		filter[length - 1] = '\0';
	} else if (key >= 0x20 && key < 0x7f && length + 1 < sizeof(screen->view->filter)) {
		filter[length] = (char)key;
		filter[length + 1] = '\0';
	}
	screen->selected = screen->first = 0;
	arrange_again(screen);
}

static void write_file(struct screen *screen, enum view_file which)
{
	const char *const what = which == VIEW_PAGE ? "page" : "report";
	char *name = view_write(screen->view, which);

	if (name)
		snprintf(screen->message, sizeof(screen->message), "%s: %s", what, name);
	else
		snprintf(screen->message, sizeof(screen->message), "no %s: %s", what, strerror(errno));
	free(name);
}

static void sort_next(struct screen *screen)
{
	struct view *view = screen->view;

	view->order = (view->order + 1) % ORDERS;
	if (view->order == ORDER_LOST && !view->has_scan)
		view->order = 0;
	screen->selected = screen->first = 0;
	arrange_again(screen);
}

static void ask_for_scan(struct screen *screen)
{
	const char *const refusal = view_ask_for_scan(screen->view);

	snprintf(screen->message, sizeof(screen->message), "%s",
		 refusal ? refusal : "the process is stopped for a moment, while its memory is copied");
	if (!refusal)
		screen->view->order = ORDER_LOST;
}

void screen_take_key(struct screen *screen, int key)
{
	struct view *view = screen->view;
	const int other = screen_head_lines(screen) + SCREEN_FOOT_LINES + 1, page = LINES > other ? LINES - other : 1;

	if (key == KEY_RESIZE)
		return;
	if (screen->is_typing) {
		type_filter(screen, key);
		return;
	}
	*screen->message = '\0';
	switch (key) {
	case 'q':
	case 'Q':
		screen->quits = true;
		break;
	case KEY_UP:
	case 'k':
		move_by(screen, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(screen, 1);
		break;
	case KEY_PPAGE:
		move_by(screen, -page);
		break;
	case KEY_NPAGE:
	case ' ':
		move_by(screen, page);
		break;
	case KEY_HOME:
	case 'g':
		screen->selected = 0;
		break;
	case KEY_END:
	case 'G':
		move_by(screen, INT32_MAX);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		screen->expanded = screen_selected(screen) == screen->expanded ? NULL : screen_selected(screen);
		break;
	case 's':
		sort_next(screen);
		break;
	case 'l':
		ask_for_scan(screen);
		break;
	case '/':
		screen->is_typing = true;
		break;
	case KEY_ESCAPE:
		*view->filter = '\0';
		arrange_again(screen);
		break;
	case 'p':
		screen->is_paused = !screen->is_paused;
		break;
	case 'b':
		if (view->has_intervals) {
			snprintf(screen->message, sizeof(screen->message),
				 "the growth in an hour is estimated from the watch's windows: no base can be set");
			break;
		}
		view_set_baseline(view);
		arrange_again(screen);
		snprintf(screen->message, sizeof(screen->message), "growth is counted from now on");
		break;
	case 'r':
		write_file(screen, VIEW_REPORT);
		break;
	case 'h':
		write_file(screen, VIEW_PAGE);
		break;
	case '\t':
		view_next_resource(view);
		screen->selected = screen->first = 0;
		screen->expanded = NULL;
		arrange_again(screen);
		break;
	case KEY_CTRL_L:
		clearok(curscr, TRUE);
		break;
	default:
		break;
	}
}

#endif
