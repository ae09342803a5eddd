#include "config.h"
#include "live/row_labels.h"
#include "profile/frame_origin.h"
#include "report/pretty.h"

#include <stdlib.h>
#include <string.h>

static struct label_frame labels_frame_of(const struct watched *of, const struct profile_frame *frame)
{
	struct buf name = {0}, place = {0};

	pretty_frame_name(&name, frame);
	watched_add_place(of, frame, &place);
	const struct label_frame named = {.name = xstrdup(buf_str(&name)), .place = xstrdup(buf_str(&place))};

	buf_free(&name);
	buf_free(&place);
	return named;
}

static void free_frame(struct label_frame *frame)
{
	free(frame->name);
	free(frame->place);
}

/* Removes the innermost frames that are functions of the standard library of C++ or Rust, unless all frames are. */
static void drop_library(struct label *label)
{
	size_t first = 0;

	while (first < label->count && profile_function_is_standard(label->frames[first].name))
		first++;
	if (first == label->count)
		return;
	for (size_t i = 0; i < first; i++)
		free_frame(&label->frames[i]);
	label->count -= first;
	memmove(label->frames, label->frames + first, label->count * sizeof(*label->frames));
}

static void name_frames(struct view *view, struct label *label, const struct view_row *row)
{
	const struct resolver *resolver = &row->of->resolver;
	size_t first = 0;

	view_frames(view, row);
	while (first < resolver->frame_count && profile_frame_is_runtime(resolver->frames[first]))
		first++;
	if (first == resolver->frame_count)
		first = 0;
	*label = (struct label){.of = row->of, .function = row->site->function, .shown = 1};
	label->frames = xcalloc(resolver->frame_count - first + 1, sizeof(*label->frames));
	for (size_t i = first; i < resolver->frame_count; i++)
		label->frames[label->count++] = labels_frame_of(row->of, resolver->frames[i]);
	drop_library(label);
}

/* Returns how many of the innermost frames have equal names in two stacks. with_places: if true, their places must be
 * equal, too. */
static size_t in_common(const struct label *a, const struct label *b, bool with_places)
{
	size_t n = 0;

	while (n < a->count && n < b->count && !strcmp(a->frames[n].name, b->frames[n].name) &&
	       (!with_places || !strcmp(a->frames[n].place, b->frames[n].place)))
		n++;
	return n;
}

static void show_to(struct label *label, size_t frame)
{
	const size_t frames = frame < label->count ? frame + 1 : label->count;

	if (frame < label->count)
		label->frames[frame].distinguishes = true;
	if (label->shown < frames)
		label->shown = frames;
}

static void tell_apart(struct label *a, struct label *b)
{
	size_t same = in_common(a, b, false);

	if (same == a->count && same == b->count) {
		same = in_common(a, b, true);
		if (same < a->count)
			a->frames[same].shows_place = b->frames[same].shows_place = true;
		else
			a->shows_function = b->shows_function = true;
	}
	show_to(a, same);
	show_to(b, same);
}

struct label *labels_of(struct view *view, size_t first, size_t most, size_t *count)
{
	const size_t n = view->row_count < most ? view->row_count : most;
	const size_t from = first > LABELS_NEAR ? first - LABELS_NEAR : 0;
	struct label *labels = xcalloc(n + 1, sizeof(*labels));

	for (size_t i = from; i < n; i++)
		name_frames(view, &labels[i], &view->rows[i]);
	for (size_t i = from; i < n; i++)
		for (size_t j = i + 1; j < n && j - i <= LABELS_NEAR; j++)
			if (labels[i].of == labels[j].of) /* else the pids distinguish the rows */
				tell_apart(&labels[i], &labels[j]);
	*count = n;
	return labels;
}

void labels_free(struct label *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < labels[i].count; k++)
			free_frame(&labels[i].frames[k]);
		free(labels[i].frames);
	}
	free(labels);
}

/* ---- Labels that fit a width ---- */

struct labels_form {
	bool first, others; /* whether to show the innermost frame, and frames that do not distinguish the row */
	bool last_place;    /* whether to show the source line or object of the last frame */
	size_t name_max;    /* largest length of a name in bytes */
};

/* Returns true if frame `i` is shown: it distinguishes the row, or it is the innermost frame and no frame distinguishes
 * the row, or the form includes it. */
static bool labels_is_there(const struct label *label, size_t i, const struct labels_form *form)
{
	bool is_any = false;

	for (size_t k = 0; k < label->shown; k++)
		is_any |= label->frames[k].distinguishes;
	return form->others || label->frames[i].distinguishes || (i == 0 && (form->first || !is_any));
}

static void labels_put_name(struct buf *text, const char *name, size_t most)
{
	size_t size = strlen(name);

	if (size > most) {
		size = most > 2 ? most - 2 : 0;
		while (size && ((unsigned char)name[size] & 0xc0) == 0x80)
			size--;
		buf_printf(text, "%.*s..", (int)size, name);
	} else {
		buf_add_str(text, name);
	}
}

/* Appends a function's name without parameters. */
static void labels_put_function(struct buf *text, const char *function)
{
	const size_t call = !strncmp(function, "operator()", 10) ? 10 : 0;

	buf_printf(text, "%.*s: ", (int)(call + strcspn(function + call, "(")), function);
}

static void labels_put_frames(const struct label *label, const struct labels_form *form, struct buf *text)
{
	const char *before = "";

	if (label->shows_function && label->function)
		labels_put_function(text, label->function);
	for (size_t i = 0; i < label->shown; i++) {
		const struct label_frame *const frame = &label->frames[i];

		if (!labels_is_there(label, i, form)) {
			before = *before ? " < .. < " : ".. < ";
			continue;
		}
		buf_add_str(text, before);
		labels_put_name(text, frame->name, form->name_max);
		if (frame->shows_place || (form->last_place && i + 1 == label->shown))
			buf_add_str(text, frame->place);
		before = " < ";
	}
}

/* Returns the length to which each name must be shortened so that the label has `width` bytes at most. size: the bytes
 * of the label with whole names. */
static size_t name_share(const struct label *label, size_t size, size_t width)
{
	const struct labels_form form = {.name_max = SIZE_MAX};
	size_t names = 0, count = 0;

	for (size_t i = 0; i < label->shown; i++)
		if (labels_is_there(label, i, &form)) {
			names += strlen(label->frames[i].name);
			count++;
		}
	const size_t others = size - names;

	return count && width > others ? (width - others) / count : 0;
}

#define NAME_MIN 8 /* a shorter name cannot be recognised */

void label_text(const struct label *label, size_t width, struct buf *text)
{
	static const struct labels_form forms[] = {
		{.first = true, .others = true, .last_place = true, .name_max = SIZE_MAX},
		{.first = true, .others = true, .name_max = SIZE_MAX},
		{.first = true, .name_max = SIZE_MAX},
		{.name_max = SIZE_MAX},
	};
	const size_t before = text->size;

	if (!label->count) {
		buf_add_str(text, "(no stack)");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		text->size = before;
		labels_put_frames(label, &forms[i], text);
		if (text->size - before <= width)
			return;
	}
	const size_t share = name_share(label, text->size - before, width);
	const struct labels_form cut = {.name_max = share < NAME_MIN ? NAME_MIN : share};

	text->size = before;
	labels_put_frames(label, &cut, text);
}
