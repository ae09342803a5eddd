#include "config.h"
#include "live/labels.h"
#include "report/pretty.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *name_of(const struct profile_frame *frame)
{
	struct buf name = {0};

	if (frame->function)
		pretty_name(&name, frame->function);
	else
		buf_printf(&name, "0x%" PRIx64, frame->module ? frame->offset : frame->address);
	char *const text = xstrdup(buf_str(&name));

	buf_free(&name);
	return text;
}

static char *place_of(struct view *view, const struct profile_frame *frame)
{
	if (frame->file)
		return xasprintf(" at %s:%u", path_name(frame->file), frame->line);
	return frame->module ? xasprintf(" from %s", view_module_name(view, frame->module)) : xstrdup("");
}

static void name_frames(struct view *view, struct label *label, const struct site *site)
{
	const struct resolver *resolver = &view->resolver;
	size_t first = 0;

	view_frames(view, site);
	while (first < resolver->frame_count && profile_frame_is_runtime(resolver->frames[first]))
		first++;
	if (first == resolver->frame_count)
		first = 0;
	*label = (struct label){.function = site->function, .shown = 1};
	label->frames = xcalloc(resolver->frame_count - first + 1, sizeof(*label->frames));
	for (size_t i = first; i < resolver->frame_count; i++)
		label->frames[label->count++] =
			(struct label_frame){name_of(resolver->frames[i]), place_of(view, resolver->frames[i]), false};
}

/* How many frames two stacks have in common from the innermost on. */
static size_t in_common(const struct label *a, const struct label *b, bool with_places)
{
	size_t n = 0;

	while (n < a->count && n < b->count && !strcmp(a->frames[n].name, b->frames[n].name) &&
	       (!with_places || !strcmp(a->frames[n].place, b->frames[n].place)))
		n++;
	return n;
}

static void show_at_least(struct label *label, size_t frames)
{
	if (frames > label->count)
		frames = label->count;
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
	show_at_least(a, same + 1);
	show_at_least(b, same + 1);
}

struct label *labels_of(struct view *view, size_t most, size_t *count)
{
	const size_t n = view->row_count < most ? view->row_count : most;
	struct label *labels = xcalloc(n + 1, sizeof(*labels));

	for (size_t i = 0; i < n; i++)
		name_frames(view, &labels[i], view->rows[i].site);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			tell_apart(&labels[i], &labels[j]);
	*count = n;
	return labels;
}

void labels_free(struct label *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < labels[i].count; k++) {
			free(labels[i].frames[k].name);
			free(labels[i].frames[k].place);
		}
		free(labels[i].frames);
	}
	free(labels);
}

/* The frames from `first` on, and where the last one is. */
static void put_frames(const struct label *label, size_t first, bool with_place, struct buf *text)
{
	if (label->shows_function && label->function)
		buf_printf(text, "%s: ", label->function);
	if (first)
		buf_add_str(text, ".. < ");
	for (size_t i = first; i < label->shown; i++) {
		const struct label_frame *frame = &label->frames[i];
		const bool shows_place = frame->shows_place || (with_place && i + 1 == label->shown);

		buf_printf(text, "%s%s%s", i > first ? " < " : "", frame->name, shows_place ? frame->place : "");
	}
}

void label_text(const struct label *label, size_t width, struct buf *text)
{
	const size_t before = text->size;

	if (!label->count) {
		buf_add_str(text, "(no stack)");
		return;
	}
	put_frames(label, 0, true, text);
	for (size_t first = 0; text->size - before > width && first < label->shown; first++) {
		text->size = before;
		put_frames(label, first, false, text);
	}
}
