/* Reads the mpatrol tracing format, of any word size, byte order and version that was ever written. */
#include "config.h"
#include "base/hash.h"
#include "trace/mpatrol/mpatrol_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool mpatrol_detect(const unsigned char *data, size_t size)
{
	return size >= 4 && !memcmp(data, MPATROL_MAGIC, 4);
}

static void mpatrol_reader_begin(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;

	s->seed = random_seed();
}

static void mpatrol_read_end(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;

	for (size_t i = 0; i < MPATROL_SLOTS_READ; i++) {
		free(s->functions[i]);
		free(s->files[i]);
	}
	hash_free(&s->live);
	hash_free(&s->handles);
	hash_free(&s->taken);
	free(s->blocks);
	free(s->unused);
	buf_free(&s->site_text);
}

/* ---- The header ---- */

static uint64_t get_word(const unsigned char *p, unsigned size, bool big_endian)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)p[big_endian ? size - 1 - i : i] << 8 * i;
	return value;
}

/* Finds the size and byte order of words from the eight bytes after the magic number. The first word is 1. The second
 * word, the version, is never 0, so two words of four bytes do not look like one word of eight. */
static bool recognise_words(struct mpatrol_reader *s, const unsigned char *p)
{
	s->wide = get_word(p, 8, false) == 1 || get_word(p, 8, true) == 1;
	s->big_endian = get_word(p, 4, false) != 1;
	if (s->wide)
		s->big_endian = get_word(p, 8, true) == 1;
	return s->wide || get_word(p, 4, s->big_endian) == 1;
}

static int mpatrol_read_header(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;

	if (reader_fill(reader, 12) < 12)
		return reader_cut_off(reader, "the header");
	if (memcmp(reader->data + reader->start, MPATROL_MAGIC, 4) != 0)
		return reader_damage(reader, 0, "this does not begin as an mpatrol trace");
	if (!recognise_words(s, reader->data + reader->start + 4))
		return reader_damage(reader, 4, "the header's first word is not 1 in any size and byte order");
	const unsigned word = s->wide ? 8 : 4, size = 4 + 2 * word;

	if (reader_fill(reader, size) < size)
		return reader_cut_off(reader, "the header");
	const uint64_t version = get_word(reader->data + reader->start + 4 + word, word, s->big_endian);

	if (version >= MPATROL_TOO_NEW || !version)
		return reader_damage(reader, 4 + word,
				     "the format's version is %" PRIu64 "; versions below %d are known", version,
				     MPATROL_TOO_NEW);
	s->version = (unsigned)version;
	s->has_source = s->version >= MPATROL_SOURCE;
	reader_skip(reader, size);
	return 1;
}

static struct record *mpatrol_read_enqueue(struct mpatrol_reader *s, enum record_type type)
{
	s->queue[s->queued].type = type;
	return &s->queue[s->queued++];
}

static int mpatrol_read_begin(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;
	const int status = mpatrol_read_header(reader);

	if (status != 1)
		return status;
	s->begun = true;
	snprintf(s->origin, sizeof(s->origin), "mpatrol %u.%u.%u", s->version / 10000, s->version / 100 % 100,
		 s->version % 100);
	mpatrol_read_enqueue(s, RECORD_PROCESS)->process = (struct record_process){
		.version_major = s->version / 10000,
		.version_minor = s->version / 100 % 100,
		.pointer_size = s->wide ? 8 : 4,
		.big_endian = s->big_endian,
		.no_timestamps = true,
		.origin = s->origin,
	};
	mpatrol_read_enqueue(s, RECORD_RESOURCE)->resource =
		(struct record_resource){.id = 1, .type = "memory", .desc = "memory allocation in bytes"};
	return 1;
}

/* ---- Blocks ---- */

static struct mpatrol_live *block_of(const struct mpatrol_reader *s, uint64_t index)
{
	const uint64_t *number = hash_get(&s->live, index ^ s->seed);

	return number ? &s->blocks[*number] : NULL;
}

static void mpatrol_read_add_block(struct mpatrol_reader *s, uint64_t index, uint64_t address, uint64_t size)
{
	size_t number;

	if (s->unused_count) {
		number = s->unused[--s->unused_count];
	} else {
		ARRAY_GROW(s->blocks, s->block_capacity, s->block_count);
		number = s->block_count++;
	}
	hash_set(&s->live, index ^ s->seed, number);
	s->blocks[number] = (struct mpatrol_live){address, size};
}

static void remove_block(struct mpatrol_reader *s, uint64_t index)
{
	uint64_t number;

	if (!hash_remove(&s->live, index ^ s->seed, &number))
		return;
	ARRAY_GROW(s->unused, s->unused_capacity, s->unused_count);
	s->unused[s->unused_count++] = (size_t)number;
}

/* ---- Events ---- */

static uint32_t handle_of(struct mpatrol_reader *s, uint64_t thread)
{
	const uint64_t *known = hash_get(&s->handles, thread ^ s->seed);
	uint32_t handle = (uint32_t)thread;

	if (known)
		return (uint32_t)*known;
	while (!handle || !hash_set(&s->taken, handle ^ s->seed, 1))
		handle = ++s->last_handle;
	hash_set(&s->handles, thread ^ s->seed, handle);
	return handle;
}

static void mpatrol_read_put_thread(struct mpatrol_reader *s, uint64_t thread)
{
	if (thread == s->thread)
		return;
	s->thread = thread;
	s->thread_name[0] = '\0';
	const uint32_t tid = thread ? handle_of(s, thread) : 0;

	if (thread > UINT32_MAX)
		snprintf(s->thread_name, sizeof(s->thread_name), "0x%" PRIx64, thread);
	mpatrol_read_enqueue(s, RECORD_THREAD)->thread = (struct record_thread){tid, s->thread_name};
}

static struct record_call *mpatrol_read_put_call(struct mpatrol_reader *s, enum call_kind kind, const char *function)
{
	struct record *record = mpatrol_read_enqueue(s, RECORD_CALL);

	record->call = (struct record_call){
		.index = ++s->next_call, .time_ns = TIME_NONE, .resource = 1, .kind = kind, .function = function};
	return &record->call;
}

/* Adds a frame with the names of the caller. Its address is 0, because the trace does not contain the caller's
 * address. */
static void put_site(struct mpatrol_reader *s, struct record_call *call, const struct mpatrol_source *source)
{
	static const uint64_t unknown[1];
	const struct call_site site = {source->function, source->file, source->line};

	s->site_text.size = 0;
	call_site_text(&s->site_text, &site);
	if (!s->site_text.size)
		return;
	s->texts[0] = buf_str(&s->site_text);
	call->frames = unknown;
	call->frame_texts = s->texts;
	call->frame_count = 1;
	call->has_frames = true;
}

/* Adds the index of an allocation as an argument if indexes were skipped before it. */
static void mpatrol_read_put_index(struct mpatrol_reader *s, struct record_call *call, uint64_t index)
{
	if (index > s->last_index + 1 && index <= INT64_MAX) {
		snprintf(s->index_text, sizeof(s->index_text), "%" PRIu64, index);
		s->index_arg = (struct call_arg){MPATROL_INDEX_ARG, s->index_text};
		call->args = &s->index_arg;
		call->arg_count = 1;
	}
	if (index > s->last_index && index <= INT64_MAX)
		s->last_index = index;
	else
		s->last_index++;
}

static int take_allocation(struct reader *reader, bool reallocates)
{
	struct mpatrol_reader *s = reader->state;
	uint64_t index, address, size;
	struct mpatrol_source source;
	int status;

	if ((status = mpatrol_take_number(reader, &index)) != 1 ||
	    (status = mpatrol_take_number(reader, &address)) != 1 ||
	    (status = mpatrol_take_number(reader, &size)) != 1 || (status = mpatrol_take_source(reader, &source)) != 1)
		return status;
	struct mpatrol_live *block = block_of(s, index);

	if (reallocates && !block)
		reader_complain(reader, "the R record at byte %" PRIu64 " is of block %" PRIu64 ", which is not live",
				reader_offset(reader), index);
	mpatrol_read_put_thread(s, source.thread);
	/* Versions without R records write a reallocation as another A record of the same block. */
	if (block)
		mpatrol_read_put_call(s, CALL_RELEASE, "realloc")->id = block->address;
	struct record_call *call = mpatrol_read_put_call(s, CALL_ALLOC, block ? "realloc" : "malloc");

	call->id = address;
	call->size = size;
	put_site(s, call, &source);
	if (block) {
		*block = (struct mpatrol_live){address, size};
	} else {
		mpatrol_read_put_index(s, call, index);
		mpatrol_read_add_block(s, index, address, size);
	}
	return 1;
}

static int take_release(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;
	struct mpatrol_source source;
	uint64_t index;
	int status;

	if ((status = mpatrol_take_number(reader, &index)) != 1 || (status = mpatrol_take_source(reader, &source)) != 1)
		return status;
	const struct mpatrol_live *block = block_of(s, index);

	if (!block) {
		reader_complain(reader, "the F record at byte %" PRIu64 " is of block %" PRIu64 ", which is not live",
				reader_offset(reader), index);
		return 1;
	}
	mpatrol_read_put_thread(s, source.thread);
	struct record_call *call = mpatrol_read_put_call(s, CALL_RELEASE, "free");

	call->id = block->address;
	put_site(s, call, &source);
	remove_block(s, index);
	return 1;
}

static int take_area(struct reader *reader, bool is_internal)
{
	struct record_area area = {.is_internal = is_internal};
	int status;

	if ((status = mpatrol_take_number(reader, &area.from)) != 1 ||
	    (status = mpatrol_take_number(reader, &area.size)) != 1)
		return status;
	mpatrol_read_enqueue(reader->state, RECORD_AREA)->area = area;
	return 1;
}

/* Skips the trailer, which ends a trace. Bytes after it are ignored. */
static int take_trailer(struct reader *reader)
{
	const size_t size = reader_fill(reader, 4);

	if (size < 4 && reader->ended && !memcmp(reader->data + reader->start, MPATROL_MAGIC, size))
		return mpatrol_cut_off(reader);
	if (memcmp(reader->data + reader->start, MPATROL_MAGIC, 4) != 0)
		return reader_damage(reader, 0, "neither a record nor the trailer begins here");
	reader_skip(reader, 4);
	return 0;
}

/* Ends the reading of an input that has no trailer, and remarks that the program that wrote the trace was killed or
 * still runs. Returns 0 or a negative errno. */
static int without_trailer(struct reader *reader)
{
	const int status = reader_end(reader);

	if (!status && !reader->interrupted)
		reader_remark(reader, "the trace has no end mark: the program that wrote it was killed, or still runs");
	return status;
}

/* Parses one record of the file, and queues the records that it becomes: at most MPATROL_QUEUE, perhaps none. Returns
 * 1; 0 at the end; or a negative errno. */
static int take_record(struct reader *reader)
{
	struct mpatrol_reader *s = reader->state;
	int status;

	s->at = 0;
	const int type = mpatrol_take_byte(reader);

	switch (type) {
	case MPATROL_ALLOC:
	case MPATROL_REALLOC:
		status = take_allocation(reader, type == MPATROL_REALLOC);
		break;
	case MPATROL_FREE:
		status = take_release(reader);
		break;
	case MPATROL_HEAP:
	case MPATROL_INTERNAL:
		status = take_area(reader, type == MPATROL_INTERNAL);
		break;
	case 'M':
		return take_trailer(reader);
	case -1:
		return without_trailer(reader);
	default:
		return reader_damage(reader, 0, "no record has the type %02x", (unsigned)type);
	}
	if (status == 1)
		reader_skip(reader, s->at);
	return status;
}

static int mpatrol_next(struct reader *reader, struct record *record)
{
	struct mpatrol_reader *s = reader->state;

	if (s->stopped)
		return s->status;
	while (s->given == s->queued) {
		s->given = s->queued = 0;
		const int status = s->begun ? take_record(reader) : mpatrol_read_begin(reader);

		if (status != 1) {
			s->stopped = true;
			s->status = status;
			return status;
		}
	}
	*record = s->queue[s->given++];
	return 1;
}

const struct reader_ops mpatrol_reader_ops = {
	.detect = mpatrol_detect,
	.state_size = sizeof(struct mpatrol_reader),
	.begin = mpatrol_reader_begin,
	.next = mpatrol_next,
	.end = mpatrol_read_end,
};
