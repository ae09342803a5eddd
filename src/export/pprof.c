/* Writes a profile for pprof, compressed by gzip: for each stack the allocated and the live blocks and bytes of memory.
 * protoc-c generates the C code for the protobuf messages from pprof.proto. Only memory is written. */
#include "config.h"
#include "export/export.h"

#ifdef HAVE_PROTOBUF_C

#include "base/msg.h"
#include "base/utf8.h"
#include "export/locations.h"
#include "src/export/pprof.pb-c.h"
#include "base/time_units.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* Addresses of mappings are multiples of this. */
#define PAGE UINT64_C(4096)

struct pprof {
	Pprof__Profile *message;                               /* all its parts are allocated by malloc() */
	size_t samples, mappings, locations, functions, texts; /* capacities of the message's arrays */
	struct intern_pool strings;
	struct hash text_of;     /* interned string -> 1 + index of the text */
	struct hash mapping_of;  /* index of the path, and address -> id */
	struct hash function_of; /* indexes of name and file -> id */
	struct places places;
	struct hash location_of; /* number of a place, or of a function without a stack -> id */
	struct buf room;
};

/* Returns the index of a text. Bytes that are not UTF-8, which the format requires, become U+FFFD. */
static int64_t text_index(struct pprof *pprof, const char *text)
{
	struct buf clean = {0};

	for (const char *p = text; *p;) {
		const size_t size = utf8_size((const unsigned char *)p);

		buf_add(&clean, size ? p : "\xef\xbf\xbd", size ? size : strlen("\xef\xbf\xbd"));
		p += size ? size : 1;
	}
	const char *const interned = string_intern(&pprof->strings, buf_str(&clean));
	uint64_t *const index = hash_place(&pprof->text_of, (uintptr_t)interned);

	buf_free(&clean);
	if (!*index) {
		Pprof__Profile *const message = pprof->message;

		ARRAY_GROW(message->texts, pprof->texts, message->n_texts);
		message->texts[message->n_texts++] = xstrdup(interned);
		*index = message->n_texts;
	}
	return (int64_t)*index - 1;
}

static Pprof__Figure *figure_new(struct pprof *pprof, const char *name, const char *unit)
{
	Pprof__Figure *const figure = xmalloc(sizeof(*figure));

	pprof__figure__init(figure);
	figure->name = text_index(pprof, name);
	figure->unit = text_index(pprof, unit);
	return figure;
}

/* Returns the mapping for an object; adds it if it is new. from: the object's first address; 0 if unknown. */
static Pprof__Mapping *pprof_mapping_of(struct pprof *pprof, const char *path, const char *build_id, uint64_t from)
{
	Pprof__Profile *const message = pprof->message;
	const int64_t file = text_index(pprof, path);
	uint64_t *const id = hash_place(&pprof->mapping_of, hash_mix((uint64_t)file) ^ from);

	if (!*id) {
		Pprof__Mapping *const mapping = xmalloc(sizeof(*mapping));

		pprof__mapping__init(mapping);
		mapping->id = *id = message->n_mappings + 1;
		mapping->from = from;
		mapping->file = file;
		mapping->build_id = text_index(pprof, build_id ? build_id : "");
		/* Prevents pprof from searching for names itself. */
		mapping->has_functions = mapping->has_files = mapping->has_lines = mapping->has_inlined = true;
		ARRAY_GROW(message->mappings, pprof->mappings, message->n_mappings);
		message->mappings[message->n_mappings++] = mapping;
	}
	return message->mappings[*id - 1];
}

/* Returns the id of the mapping that contains the frame; 0 if there is none. */
static uint64_t mapping_id(struct pprof *pprof, const struct profile_frame *frame)
{
	if (!frame->module || !frame->address)
		return 0;
	const uint64_t call = frame->address - 1;
	/* If the frame has no offset, the object's first address is unknown. */
	Pprof__Mapping *const mapping =
		pprof_mapping_of(pprof, frame->module, frame->build_id, frame->offset ? call - frame->offset : 0);

	/* Profiles do not contain the end of an object, so the mapping ends after the highest frame in it. */
	if (mapping->from && call >= mapping->to)
		mapping->to = add_saturated(call | (PAGE - 1), 1);
	return mapping->id;
}

static uint64_t function_id(struct pprof *pprof, const char *name, const char *file)
{
	Pprof__Profile *const message = pprof->message;
	const int64_t name_index = text_index(pprof, name), file_index = text_index(pprof, file ? file : "");
	uint64_t *const id = hash_place(&pprof->function_of, (uint64_t)name_index << 32 | (uint64_t)file_index);

	if (*id)
		return *id;
	Pprof__Function *const function = xmalloc(sizeof(*function));

	pprof__function__init(function);
	function->id = *id = message->n_functions + 1;
	function->name = function->symbol = name_index;
	function->file = file_index;
	ARRAY_GROW(message->functions, pprof->functions, message->n_functions);
	message->functions[message->n_functions++] = function;
	return *id;
}

static Pprof__Location *location_new(struct pprof *pprof, size_t lines)
{
	Pprof__Profile *const message = pprof->message;
	Pprof__Location *const location = xmalloc(sizeof(*location));

	pprof__location__init(location);
	location->id = message->n_locations + 1;
	location->lines = xcalloc(lines, sizeof(*location->lines));
	ARRAY_GROW(message->locations, pprof->locations, message->n_locations);
	message->locations[message->n_locations++] = location;
	return location;
}

static void pprof_add_line(Pprof__Location *location, uint64_t function, unsigned number)
{
	Pprof__Line *const line = xmalloc(sizeof(*line));

	pprof__line__init(line);
	line->function = function;
	line->line = number;
	location->lines[location->n_lines++] = line;
}

/* Returns the id of the location for a place. The id is not the place's number, because calls without a stack have
 * locations, too. */
static uint64_t location_id(struct pprof *pprof, size_t number)
{
	uint64_t *const id = hash_place(&pprof->location_of, number);

	if (*id)
		return *id;
	const struct location *const place = &pprof->places.items[number];
	const struct profile_frame *const outer = place->frames[place->count - 1];
	Pprof__Location *const location = location_new(pprof, place->count);

	location->mapping = mapping_id(pprof, outer);
	location->address = export_call_address(outer->address);
	for (size_t i = 0; i < place->count; i++)
		pprof_add_line(
			location,
			function_id(pprof, export_frame_name(place->frames[i], &pprof->room), place->frames[i]->file),
			place->frames[i]->line);
	return *id = location->id;
}

/* Returns the id of a location that names the allocating function, for an allocation without a stack. */
static uint64_t stackless_id(struct pprof *pprof, const char *name)
{
	const uint64_t function = function_id(pprof, name, NULL);
	uint64_t *const id = hash_place(&pprof->location_of, function | UINT64_C(1) << 63);

	if (!*id) {
		Pprof__Location *const location = location_new(pprof, 1);

		pprof_add_line(location, function, 0);
		*id = location->id;
	}
	return *id;
}

static int64_t clamp(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Returns the growth, which may be negative; without a comparison `old` is 0. */
static int64_t pprof_difference(uint64_t now, uint64_t old)
{
	return clamp(now) - clamp(old);
}

static void add_locations(struct pprof *pprof, Pprof__Sample *sample, const struct profile_group *group)
{
	sample->locations = xcalloc(group->frame_count + 1, sizeof(*sample->locations));
	for (uint32_t i = 0; i < group->frame_count;)
		sample->locations[sample->n_locations++] = location_id(pprof, places_next(&pprof->places, group, &i));
	if (!group->frame_count)
		sample->locations[sample->n_locations++] = stackless_id(pprof, group->function);
}

static void add_sample(struct pprof *pprof, const struct profile_group *group)
{
	Pprof__Profile *const message = pprof->message;
	Pprof__Sample *const sample = xmalloc(sizeof(*sample));
	Pprof__Label *const label = xmalloc(sizeof(*label));
	const int64_t values[] = {
		pprof_difference(group->allocated.calls, group->old.allocated.calls),
		pprof_difference(group->allocated.bytes, group->old.allocated.bytes),
		pprof_difference(group->live.calls, group->old.live.calls),
		pprof_difference(group->live.bytes, group->old.live.bytes),
	};

	pprof__sample__init(sample);
	add_locations(pprof, sample, group);
	sample->n_values = ARRAY_SIZE(values);
	sample->values = xmalloc(sizeof(values));
	memcpy(sample->values, values, sizeof(values));
	pprof__label__init(label);
	label->key = text_index(pprof, "function");
	label->text = text_index(pprof, group->function);
	sample->n_labels = 1;
	sample->labels = xcalloc(1, sizeof(*sample->labels));
	sample->labels[0] = label;
	ARRAY_GROW(message->samples, pprof->samples, message->n_samples);
	message->samples[message->n_samples++] = sample;
}

/* Adds the program's mapping as the first one, because pprof takes the first mapping for that of the program. */
static void add_program(struct pprof *pprof, const struct profile *profile)
{
	const char *const path = profile_first_account(profile)->name;

	for (size_t i = 0; i < profile->frame_count; i++)
		if (profile->frames[i]->module && !strcmp(profile->frames[i]->module, path)) {
			mapping_id(pprof, profile->frames[i]);
			return;
		}
	pprof_mapping_of(pprof, path, NULL, 0);
}

static void add_head(struct pprof *pprof, const struct profile *profile)
{
	static const char *const figures[][2] = {{"alloc_objects", "count"},
						 {"alloc_space", "bytes"},
						 {"inuse_objects", "count"},
						 {"inuse_space", "bytes"}};
	Pprof__Profile *const message = pprof->message;

	text_index(pprof, "");
	message->n_figures = ARRAY_SIZE(figures);
	message->figures = xcalloc(message->n_figures, sizeof(*message->figures));
	for (size_t i = 0; i < message->n_figures; i++)
		message->figures[i] = figure_new(pprof, figures[i][0], figures[i][1]);
	message->shown_figure = text_index(pprof, "inuse_space");
	message->period_figure = figure_new(pprof, "space", "bytes");
	message->period = 1;
	message->begin_ns = profile->begin_sec > 0 && profile->begin_sec < INT64_MAX / (int64_t)NS_PER_SECOND
				    ? profile->begin_sec * (int64_t)NS_PER_SECOND
				    : 0;
	message->duration_ns = profile->has_times ? clamp(profile->end_since) : 0;
	message->comments = xcalloc(2, sizeof(*message->comments));
	message->comments[message->n_comments++] = text_index(pprof, "functrace " PACKAGE_VERSION);
	message->comments[message->n_comments++] = text_index(pprof, export_command(profile_first_account(profile)));
	add_program(pprof, profile);
}

/* The buffer to which protobuf-c appends the encoded message. */
struct gzip {
	ProtobufCBuffer base;
	z_stream stream;
	FILE *out;
};

static void compress_part(struct gzip *gzip, size_t size, const uint8_t *data, int flush)
{
	unsigned char out[16384];

	gzip->stream.next_in = (unsigned char *)(uintptr_t)data;
	gzip->stream.avail_in = (uInt)size;
	do {
		gzip->stream.next_out = out;
		gzip->stream.avail_out = sizeof(out);
		deflate(&gzip->stream, flush);
		fwrite(out, 1, sizeof(out) - gzip->stream.avail_out, gzip->out);
	} while (!gzip->stream.avail_out);
}

static void pprof_append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
	compress_part((struct gzip *)buffer, size, data, Z_NO_FLUSH);
}

static int write_packed(const Pprof__Profile *message, FILE *out)
{
	struct gzip gzip = {.base.append = pprof_append, .out = out};

	if (deflateInit2(&gzip.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		msg_error("there is no memory left to compress the profile in");
		return -ENOMEM;
	}
	pprof__profile__pack_to_buffer(message, &gzip.base);
	compress_part(&gzip, 0, NULL, Z_FINISH);
	deflateEnd(&gzip.stream);
	return 0;
}

static int pprof_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *const memory = export_memory(profile);
	struct pprof pprof = {.message = xmalloc(sizeof(*pprof.message))};

	(void)options;
	pprof__profile__init(pprof.message);
	add_head(&pprof, profile);
	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->resource == memory && !profile->groups[i]->is_uncompared)
			add_sample(&pprof, profile->groups[i]);
	const int error = write_packed(pprof.message, out);

	pprof__profile__free_unpacked(pprof.message, NULL);
	hash_free(&pprof.text_of);
	hash_free(&pprof.mapping_of);
	hash_free(&pprof.function_of);
	hash_free(&pprof.location_of);
	places_free(&pprof.places);
	intern_pool_free(&pprof.strings);
	buf_free(&pprof.room);
	return error;
}

#endif

const struct export export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.is_binary = true,
	.compares = true,
#ifdef HAVE_PROTOBUF_C
	.write = pprof_write,
#else
	.needs = "libprotobuf-c-dev and protobuf-c-compiler",
#endif
};
