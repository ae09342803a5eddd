/* Builds profiles for pprof: see pprof_build.h. protoc-c generates the C code for the protobuf messages from
 * pprof.proto. */
#include "config.h"
#include "export/pprof_build.h"

#ifdef HAVE_PROTOBUF_C

#include "base/buf.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "src/export/pprof.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* Addresses of mappings are multiples of this. */
#define PAGE UINT64_C(4096)

struct pprof_build {
	Pprof__Profile *message;                                         /* all its parts are allocated by malloc() */
	size_t samples, mappings, locations, functions, texts, comments; /* capacities of the message's arrays */
	struct hash text_of;     /* hash of a text, or a number after it -> 1 + index of the text */
	struct hash mapping_of;  /* hash of indexes of texts and of an address, or a number after it -> id */
	struct hash function_of; /* indexes of name and file -> id */
};

/* Appends the text, with U+FFFD for each byte that is not UTF-8. */
static void pprof_add_utf8(struct buf *clean, const char *text)
{
	while (*text) {
		const size_t size = utf8_size((const unsigned char *)text);

		buf_add(clean, size ? text : "\xef\xbf\xbd", size ? size : strlen("\xef\xbf\xbd"));
		text += size ? size : 1;
	}
}

static int64_t text_index(struct pprof_build *build, const char *text)
{
	Pprof__Profile *const message = build->message;
	struct buf room = {0};
	uint64_t *index;

	pprof_add_utf8(&room, text);
	const char *const clean = buf_str(&room);
	uint64_t key = hash_bytes(clean, strlen(clean));

	/* Another text may have this hash. Then the next number that is free is the text's key. */
	while (*(index = hash_place(&build->text_of, key)) && strcmp(message->texts[*index - 1], clean) != 0)
		key++;
	if (!*index) {
		ARRAY_GROW(message->texts, build->texts, message->n_texts);
		message->texts[message->n_texts++] = xstrdup(clean);
		*index = message->n_texts;
	}
	buf_free(&room);
	return (int64_t)*index - 1;
}

struct pprof_build *pprof_build_new(void)
{
	struct pprof_build *const build = xcalloc(1, sizeof(*build));

	build->message = xmalloc(sizeof(*build->message));
	pprof__profile__init(build->message);
	text_index(build, ""); /* the format requires it to be the first one */
	return build;
}

void pprof_build_free(struct pprof_build *build)
{
	pprof__profile__free_unpacked(build->message, NULL);
	hash_free(&build->text_of);
	hash_free(&build->mapping_of);
	hash_free(&build->function_of);
	free(build);
}

static Pprof__Figure *figure_new(struct pprof_build *build, const char *name, const char *unit)
{
	Pprof__Figure *const figure = xmalloc(sizeof(*figure));

	pprof__figure__init(figure);
	figure->name = text_index(build, name);
	figure->unit = text_index(build, unit);
	return figure;
}

void pprof_build_figures(struct pprof_build *build, const struct pprof_figure *figures, size_t count, const char *shown)
{
	Pprof__Profile *const message = build->message;

	message->n_figures = count;
	message->figures = xcalloc(count, sizeof(*message->figures));
	for (size_t i = 0; i < count; i++)
		message->figures[i] = figure_new(build, figures[i].name, figures[i].unit);
	message->shown_figure = text_index(build, shown);
	message->period_figure = figure_new(build, "space", "bytes");
	message->period = 1;
}

void pprof_build_times(struct pprof_build *build, int64_t begin_ns, int64_t duration_ns)
{
	build->message->begin_ns = begin_ns;
	build->message->duration_ns = duration_ns;
}

void pprof_build_comment(struct pprof_build *build, const char *text)
{
	Pprof__Profile *const message = build->message;

	ARRAY_GROW(message->comments, build->comments, message->n_comments);
	message->comments[message->n_comments++] = text_index(build, text);
}

uint64_t pprof_build_mapping(struct pprof_build *build, const char *path, const char *build_id, uint64_t from)
{
	Pprof__Profile *const message = build->message;
	const int64_t file = text_index(build, path), id_text = text_index(build, build_id ? build_id : "");
	uint64_t key = hash_mix((uint64_t)file << 32 | (uint64_t)id_text) ^ from;

	for (;; key++) {
		uint64_t *const id = hash_place(&build->mapping_of, key);

		if (!*id) {
			Pprof__Mapping *const mapping = xmalloc(sizeof(*mapping));

			pprof__mapping__init(mapping);
			mapping->id = *id = message->n_mappings + 1;
			mapping->from = from;
			mapping->file = file;
			mapping->build_id = id_text;
			/* Prevents pprof from searching for names itself. */
			mapping->has_functions = mapping->has_files = true;
			mapping->has_lines = mapping->has_inlined = true;
			ARRAY_GROW(message->mappings, build->mappings, message->n_mappings);
			message->mappings[message->n_mappings++] = mapping;
			return mapping->id;
		}
		const Pprof__Mapping *const known = message->mappings[*id - 1];

		if (known->file == file && known->build_id == id_text && known->from == from)
			return *id;
	}
}

void pprof_build_cover(struct pprof_build *build, uint64_t mapping, uint64_t address)
{
	Pprof__Mapping *const covering = build->message->mappings[mapping - 1];

	if (address >= covering->to)
		covering->to = add_saturated(address | (PAGE - 1), 1);
}

uint64_t pprof_build_function(struct pprof_build *build, const char *name, const char *file)
{
	Pprof__Profile *const message = build->message;
	const int64_t name_index = text_index(build, name), file_index = text_index(build, file ? file : "");
	uint64_t *const id = hash_place(&build->function_of, (uint64_t)name_index << 32 | (uint64_t)file_index);

	if (*id)
		return *id;
	Pprof__Function *const function = xmalloc(sizeof(*function));

	pprof__function__init(function);
	function->id = *id = message->n_functions + 1;
	function->name = function->symbol = name_index;
	function->file = file_index;
	ARRAY_GROW(message->functions, build->functions, message->n_functions);
	message->functions[message->n_functions++] = function;
	return *id;
}

uint64_t pprof_build_location(struct pprof_build *build, uint64_t mapping, uint64_t address,
			      const struct pprof_line *lines, size_t count)
{
	Pprof__Profile *const message = build->message;
	Pprof__Location *const location = xmalloc(sizeof(*location));

	pprof__location__init(location);
	location->id = message->n_locations + 1;
	location->mapping = mapping;
	location->address = address;
	location->lines = xcalloc(count, sizeof(*location->lines));
	for (size_t i = 0; i < count; i++) {
		Pprof__Line *const line = xmalloc(sizeof(*line));

		pprof__line__init(line);
		line->function = lines[i].function;
		line->line = lines[i].number;
		location->lines[location->n_lines++] = line;
	}
	ARRAY_GROW(message->locations, build->locations, message->n_locations);
	message->locations[message->n_locations++] = location;
	return location->id;
}

void pprof_build_sample(struct pprof_build *build, const uint64_t *locations, size_t count, const int64_t *values)
{
	Pprof__Profile *const message = build->message;
	Pprof__Sample *const sample = xmalloc(sizeof(*sample));

	pprof__sample__init(sample);
	sample->n_locations = count;
	sample->locations = xcalloc(count + 1, sizeof(*sample->locations));
	memcpy(sample->locations, locations, count * sizeof(*locations));
	sample->n_values = message->n_figures;
	sample->values = xcalloc(message->n_figures, sizeof(*sample->values));
	memcpy(sample->values, values, message->n_figures * sizeof(*values));
	ARRAY_GROW(message->samples, build->samples, message->n_samples);
	message->samples[message->n_samples++] = sample;
}

static Pprof__Label *label_add(struct pprof_build *build, const char *key)
{
	Pprof__Sample *const sample = build->message->samples[build->message->n_samples - 1];
	Pprof__Label *const label = xmalloc(sizeof(*label));

	pprof__label__init(label);
	label->key = text_index(build, key);
	sample->labels = xreallocarray(sample->labels, sample->n_labels + 1, sizeof(*sample->labels));
	sample->labels[sample->n_labels++] = label;
	return label;
}

void pprof_build_label(struct pprof_build *build, const char *key, const char *text)
{
	Pprof__Label *const label = label_add(build, key);

	label->text = text_index(build, text);
}

void pprof_build_number(struct pprof_build *build, const char *key, int64_t number, const char *unit)
{
	Pprof__Label *const label = label_add(build, key);

	label->number = number;
	label->unit = text_index(build, unit);
}

/* The buffer to which protobuf-c appends the encoded message. */
struct pprof_gzip {
	ProtobufCBuffer base;
	z_stream stream;
	FILE *out;
};

static void compress_part(struct pprof_gzip *gzip, size_t size, const uint8_t *data, int flush)
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
	compress_part((struct pprof_gzip *)buffer, size, data, Z_NO_FLUSH);
}

int pprof_build_write(const struct pprof_build *build, FILE *out)
{
	struct pprof_gzip gzip = {.base.append = pprof_append, .out = out};

	if (deflateInit2(&gzip.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	pprof__profile__pack_to_buffer(build->message, &gzip.base);
	compress_part(&gzip, 0, NULL, Z_FINISH);
	deflateEnd(&gzip.stream);
	return 0;
}

int64_t pprof_clamp(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

#endif
