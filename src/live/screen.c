/* The live view on a terminal, with ncurses. */
#include "config.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "live/columns.h"
#include "live/row_labels.h"
#include "live/screen_keys.h"
#include "live/screen_stop.h"

#ifdef HAVE_CURSES

#include "report/terminal_lines.h"
#include "report/pretty.h"

#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 100 };

static const char *order_name(const struct view *view)
{
	static const char *const names[ORDERS] = {
		[ORDER_BYTES] = "bytes",   [ORDER_LAST] = "since last", [ORDER_CALLS] = "calls/s",
		[ORDER_BLOCKS] = "blocks", [ORDER_AGE] = "oldest",      [ORDER_LOST] = "lost"};

	return view->order == ORDER_GROWTH ? columns_since(view) : names[view->order];
}

static volatile sig_atomic_t interrupted;

static void note_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Prints text from a trace; replaces control characters by '?', because the terminal would execute them. */
static void screen_put_text(int y, int x, int width, const char *text)
{
	char line[512];
	size_t size = 0;

	if (width <= 0)
		return;
	for (; *text && size + 1 < sizeof(line) && size < (size_t)width; text++)
		line[size++] = *text;
	plain_mask(line, size, '?');
	line[size] = '\0';
	mvaddnstr(y, x, line, width);
}

static void frame_text(struct watched *of, const struct profile_frame *frame, struct buf *text)
{
	text->size = 0;
	pretty_frame_name(text, frame);
	watched_add_place(of, frame, text);
	if (frame->inlined)
		buf_add_str(text, " (inlined)");
}

static void draw_scan(const struct view *view)
{
	char lost[32], blocks[32], possibly[32];
	struct buf line = {0};

	if (view->scanned)
		buf_printf(&line, "lost: %s bytes in %s blocks, possibly lost: %s bytes; as of %.0f s ago",
			   number_grouped(view->lost.bytes, lost), number_grouped(view->lost.calls, blocks),
			   number_grouped(view->possibly.bytes, possibly), view->scan_age);
	if (view->scanned && view->scanned < view->shown)
		buf_printf(&line, " in %zu of %zu processes", view->scanned, view->shown);
	if (*view->scan_reason && view_has_several(view))
		buf_printf(&line, "%sunknown in process %" PRIu32 ": %s", line.size ? "; " : "lost blocks are ",
			   view->scan_pid, view->scan_reason);
	else if (*view->scan_reason)
		buf_printf(&line, "lost blocks are unknown: %s", view->scan_reason);
	screen_put_text(2, 0, COLS, buf_str(&line));
	buf_free(&line);
}

static void draw_head(const struct screen *screen)
{
	const int columns_at = screen_head_lines(screen) - 1;
	struct view *view = screen->view;
	const char *reason;
	char age[32], events[32], peak[32], left_out[160];
	struct buf line = {0};

	buf_add_str(&line, "functrace: ");
	processes_text(view, &line);
	buf_printf(&line, "%s%s   %s   %s calls", screen->is_paused ? "   PAUSED" : "",
		   view_has_ended(view, &reason) ? "   ENDED" : "", age_text(view, view->age, age),
		   number_grouped(view->events, events));
	if (view->has_intervals)
		buf_add_str(&line, " seen");
	else
		buf_printf(&line, ", %.0f a second", view->calls);
	attron(A_BOLD);
	screen_put_text(0, 0, COLS, buf_str(&line));
	attroff(A_BOLD);
	line.size = 0;
	live_text(view, &line);
	if (view_has_bytes(view) && !view_has_several(view) && !view->has_intervals)
		buf_printf(&line, ", peak %s", number_grouped(view->peak.bytes, peak));
	screen_put_text(1, 0, COLS, buf_str(&line));
	line.size = 0;
	if (view->basis)
		screen_put_text(2, 0, COLS, view->basis);
	else if (view->has_scan)
		draw_scan(view);
	if (view->left_out)
		screen_put_text(columns_at - 1, 0, COLS, left_out_text(view, left_out));
	columns_put_heads(view, COLS, &line);
	attron(A_REVERSE);
	mvhline(columns_at, 0, ' ', COLS);
	screen_put_text(columns_at, 0, COLS, buf_str(&line));
	attroff(A_REVERSE);
	buf_free(&line);
}

static void draw_row(const struct screen *screen, int y, const struct view_row *row, const struct label *label,
		     bool is_selected)
{
	struct buf line = {0};

	columns_put_row(screen->view, row, COLS, &line);
	label_text(label, COLS > (int)line.size ? (size_t)COLS - line.size : 1, &line);
	if (is_selected)
		attron(A_STANDOUT);
	mvhline(y, 0, ' ', COLS);
	screen_put_text(y, 0, COLS, buf_str(&line));
	if (is_selected)
		attroff(A_STANDOUT);
	buf_free(&line);
}

/* Draws the stack of a row below it. Returns the number of the line after the stack. */
static int draw_stack(const struct screen *screen, int y, int end, const struct view_row *row)
{
	struct view *view = screen->view;
	struct buf text = {0};

	if (y < end)
		screen_put_text(y++, 18, COLS - 18, row->site->function ? row->site->function : "?");
	view_frames(view, row);
	for (size_t i = 0; i < row->of->resolver.frame_count && y < end; i++) {
		frame_text(row->of, row->of->resolver.frames[i], &text);
		screen_put_text(y++, 18, COLS - 18, buf_str(&text));
	}
	buf_free(&text);
	return y;
}

static void draw_foot(const struct screen *screen)
{
	struct buf line = {0};

	if (screen->is_typing)
		buf_printf(&line, "filter: %s_", screen->view->filter);
	else if (*screen->message)
		buf_add_str(&line, screen->message);
	else
		buf_printf(
			&line,
			"q quit  s sort: %s  / filter%s%s%s  Enter stack  l lost  p pause  b base  r report  h page  "
			"Tab kind",
			order_name(screen->view), view_has_several(screen->view) ? " or pid" : "",
			*screen->view->filter ? ": " : "", screen->view->filter);
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	screen_put_text(LINES - 1, 0, COLS - 1, buf_str(&line));
	attroff(A_REVERSE);
	buf_free(&line);
}

/* Scrolls until the selected row is on the screen. */
static void scroll_to_selected(struct screen *screen)
{
	const int other = screen_head_lines(screen) + SCREEN_FOOT_LINES;
	const size_t room = LINES > other ? (size_t)(LINES - other) : 1;

	if (screen->selected >= screen->view->row_count)
		screen->selected = screen->view->row_count ? screen->view->row_count - 1 : 0;
	if (screen->first > screen->selected)
		screen->first = screen->selected;
	if (screen->selected >= screen->first + room)
		screen->first = screen->selected - room + 1;
}

static void draw_screen(struct screen *screen)
{
	const int end = LINES - SCREEN_FOOT_LINES;
	int y = screen_head_lines(screen);
	size_t count;

	erase();
	scroll_to_selected(screen);
	draw_head(screen);
	/* Labels are made for rows above the screen, too, so that scrolling changes few labels. */
	struct label *const labels = labels_of(screen->view, screen->first, screen->first + (size_t)LINES, &count);

	for (size_t i = screen->first; i < count && y < end; i++) {
		const struct view_row *row = &screen->view->rows[i];

		draw_row(screen, y++, row, &labels[i], i == screen->selected);
		if (row->site == screen->expanded)
			y = draw_stack(screen, y, end, row);
	}
	labels_free(labels, count);
	if (!screen->view->row_count && end > y)
		screen_put_text(y, 2, COLS - 2,
				*screen->view->filter ? "Nothing passes the filter." : "Nothing is alive.");
	draw_foot(screen);
	refresh();
}

/* Updates the view. If the first row is selected, the first row stays selected, whatever it shows now. Otherwise the
 * selected site stays selected, even if its row has moved. */
static void look_again(struct screen *screen, double seconds)
{
	const struct site *site = screen_selected(screen);

	view_update(screen->view, seconds);
	for (size_t i = 0; site && screen->selected && i < screen->view->row_count; i++)
		if (screen->view->rows[i].site == site)
			screen->selected = i;
}

static void screen_watch(struct screen *screen)
{
	const struct live_options *options = screen->view->options;
	const char *reason;
	bool saw_end = false;

	screen->looked_at = screen_seconds();
	while (!screen->quits && !interrupted) {
		const double now = screen_seconds(), passed = now - screen->looked_at;
		const bool ends = view_has_ended(screen->view, &reason);

		if (!screen->is_paused && ((ends && !saw_end) || (!saw_end && passed >= options->interval))) {
			look_again(screen, passed > 0 ? passed : options->interval);
			screen->looked_at = now;
			saw_end = ends;
			if (options->count && ++screen->looks >= options->count)
				screen->quits = true;
		}
		draw_screen(screen);
		screen_stop_if_asked();
		const int key = getch();

		if (key != ERR)
			screen_take_key(screen, key);
	}
}

/* Shows the view on the terminal until it ends. Keys are read from /dev/tty, even if the trace is read from standard
 * input. */
int live_screen(struct view *view)
{
	struct screen screen = {.view = view};
	const struct sigaction action = {.sa_handler = note_signal};
	FILE *keys = fopen("/dev/tty", "r");

	screen_handle_stop();
	SCREEN *terminal = keys ? newterm(NULL, stdout, keys) : NULL;

	if (!terminal) {
		if (keys)
			fclose(keys);
		return live_lines(view);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	set_escdelay(50);
	timeout(TICK_MS);
	screen_watch(&screen);
	endwin();
	delscreen(terminal);
	fclose(keys);
	return EXIT_SUCCESS;
}

#else

int live_screen(struct view *view)
{
	msg_warn("functrace was built without ncurses, so this view prints lines and takes no keys: for the full view "
		 "install libncurses-dev (Debian) or ncurses-devel (Fedora), and build functrace again");
	return live_lines(view);
}

#endif
