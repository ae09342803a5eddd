/* Writes the mpatrol tracing format. */
#include "config.h"
#include "base/hash.h"
#include "base/leb128.h"
#include "trace/mpatrol/mpatrol.h"
#include "trace/writer_state.h"

#include <string.h>

/* A cache of names. Records refer to a name by one byte, the number of its slot, counted from 1. */
struct name_cache {
	uint64_t hashes[MPATROL_SLOTS];
	/* The slots in use form a ring, ordered by the time of their last use. */
	unsigned char older[MPATROL_SLOTS], newer[MPATROL_SLOTS];
	size_t newest, count;
	char names[MPATROL_SLOTS][MPATROL_NAME + 1];
};

struct mpatrol_writer {
	struct mpatrol_events *events;
	struct name_cache functions, files;
};

/* Returns the slot that contains the name; cache->count if no slot does. */
static size_t find_name(const struct name_cache *cache, const char *name, size_t length, uint64_t hash)
{
	for (size_t i = 0; i < cache->count; i++)
		if (cache->hashes[i] == hash && !memcmp(cache->names[i], name, length) && !cache->names[i][length])
			return i;
	return cache->count;
}

/* Returns a free slot or, if there is none, the least recently used one. Makes it the newest. */
static size_t mpatrol_write_take_slot(struct name_cache *cache)
{
	if (cache->count == MPATROL_SLOTS) {
		cache->newest = cache->newer[cache->newest];
		return cache->newest;
	}
	const size_t slot = cache->count++, newest = cache->newest, oldest = slot ? cache->newer[newest] : 0;

	cache->older[slot] = (unsigned char)newest;
	cache->newer[slot] = (unsigned char)oldest;
	cache->newer[newest] = cache->older[oldest] = (unsigned char)slot;
	cache->newest = slot;
	return slot;
}

static void use_slot(struct name_cache *cache, size_t slot)
{
	if (slot == cache->newest)
		return;
	const unsigned char older = cache->older[slot], newer = cache->newer[slot];

	cache->newer[older] = newer;
	cache->older[newer] = older;
	const size_t newest = cache->newest, oldest = cache->newer[newest];

	cache->older[slot] = (unsigned char)newest;
	cache->newer[slot] = (unsigned char)oldest;
	cache->newer[newest] = cache->older[oldest] = (unsigned char)slot;
	cache->newest = slot;
}

static void mpatrol_write_put_name(struct writer *writer, struct name_cache *cache, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	if (!length) {
		buf_add_char(&writer->out, 0);
		return;
	}
	if (length > MPATROL_NAME) {
		length = MPATROL_NAME;
		writer->cut_count++;
	}
	const uint64_t hash = hash_bytes(name, length);
	size_t slot = find_name(cache, name, length, hash);

	if (slot < cache->count) {
		use_slot(cache, slot);
		buf_add_char(&writer->out, (char)(slot + 1));
	} else {
		slot = mpatrol_write_take_slot(cache);
		cache->hashes[slot] = hash;
		memcpy(cache->names[slot], name, length);
		cache->names[slot][length] = '\0';
		buf_add_char(&writer->out, (char)(0x80 | (slot + 1)));
		buf_add(&writer->out, cache->names[slot], length + 1);
	}
}

static void put_event(void *context, const struct mpatrol_event *event)
{
	struct writer *writer = context;
	struct mpatrol_writer *s = writer->state;
	unsigned char *const begin = buf_room(&writer->out, 1 + 4 * LEB128_MAX);
	unsigned char *p = begin;
	const bool is_area = event->type == MPATROL_HEAP || event->type == MPATROL_INTERNAL;

	*p++ = (unsigned char)event->type;
	if (!is_area)
		p = leb128_put(p, event->index);
	if (event->type != MPATROL_FREE) {
		p = leb128_put(p, event->address);
		p = leb128_put(p, event->size);
	}
	if (!is_area)
		p = leb128_put(p, event->thread);
	writer->out.size += (size_t)(p - begin);
	if (is_area)
		return;
	mpatrol_write_put_name(writer, &s->functions, event->site.function);
	mpatrol_write_put_name(writer, &s->files, event->site.file);
	p = leb128_put(buf_room(&writer->out, LEB128_MAX), event->site.line);
	writer->out.size = (size_t)(p - writer->out.data);
}

static void mpatrol_write_begin(struct writer *writer)
{
	struct mpatrol_writer *s = writer->state;
	const struct mpatrol_events_options options = {
		.namer = writer->options.namer,
		.namer_context = writer->options.namer_context,
		.emit = put_event,
		.context = writer,
		.omissions = &writer->omissions,
	};

	s->events = mpatrol_events_new(&options);
}

static void mpatrol_write_put_word(struct buf *out, uint64_t value, unsigned size, bool big_endian)
{
	for (unsigned i = 0; i < size; i++)
		buf_add_char(out, (char)(value >> 8 * (big_endian ? size - 1 - i : i)));
}

/* Writes the header, with words of the target's size and byte order. */
static void put_header(struct writer *writer, const struct record_process *process)
{
	const unsigned size = record_process_is_wide(process) ? 8 : 4;

	buf_add_str(&writer->out, MPATROL_MAGIC);
	mpatrol_write_put_word(&writer->out, 1, size, process->big_endian);
	mpatrol_write_put_word(&writer->out, MPATROL_VERSION, size, process->big_endian);
}

static void mpatrol_put(struct writer *writer, const struct record *record)
{
	struct mpatrol_writer *s = writer->state;

	if (!writer->has_process)
		put_header(writer, &record->process);
	writer->calls_put = mpatrol_events_put(s->events, record);
}

static void mpatrol_finish(struct writer *writer)
{
	struct mpatrol_writer *s = writer->state;

	if (!writer->has_process)
		return;
	writer->calls_put = mpatrol_events_finish(s->events);
	buf_add_str(&writer->out, MPATROL_MAGIC);
}

static void mpatrol_write_end(struct writer *writer)
{
	struct mpatrol_writer *s = writer->state;

	mpatrol_events_free(s->events);
}

const struct writer_ops mpatrol_writer_ops = {
	.state_size = sizeof(struct mpatrol_writer),
	.begin = mpatrol_write_begin,
	.needs_process = true,
	.around = mpatrol_put,
	.finish = mpatrol_finish,
	.end = mpatrol_write_end,
};
