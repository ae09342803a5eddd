#include "config.h"
#include "analysis/select.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct address_range {
	uint64_t from, to;   /* the object */
	uint64_t start, end; /* the part of it that is looked for */
};

struct selection {
	struct stage stage;
	struct select_options options;
	struct address_range *ranges; /* of the matching objects that are mapped now */
	size_t count, capacity;
};

/* Objects looked at for --call-address; a path's part that more have says nothing. */
enum { RANGES_MAX = 4096 };

/* A file of event numbers is the user's own; this only keeps a mistyped device from filling memory.
 */
enum { INDEX_FILE_MAX = 1 << 28 };

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool parse_index(const char *line, uint64_t *value)
{
	char *end;

	if (*line < '0' || *line > '9')
		return false;
	errno = 0;
	*value = strtoull(line, &end, 0);
	return !errno && !end[strspn(end, " \t\r")];
}

int index_set_read(struct index_set *set, const char *path, size_t *line)
{
	size_t size;
	char *text = read_file(path, INDEX_FILE_MAX, &size);
	int error = 0;

	*set = (struct index_set){0};
	if (!text)
		return -errno;
	*line = 1;
	for (char *p = text; p < text + size && !error; (*line)++) {
		char *end = memchr(p, '\n', (size_t)(text + size - p));
		uint64_t value;

		if (!end)
			end = text + size;
		*end = '\0';
		p += strspn(p, " \t\r");
		if (*p && *p != '#') {
			if (!parse_index(p, &value)) {
				error = -EINVAL;
				break;
			}
			ARRAY_GROW(set->items, set->capacity, set->count);
			set->items[set->count++] = value;
		}
		p = end + 1;
	}
	free(text);
	if (error)
		index_set_free(set);
	else if (set->count)
		qsort(set->items, set->count, sizeof(*set->items), compare_numbers);
	return error;
}

void index_set_free(struct index_set *set)
{
	free(set->items);
	*set = (struct index_set){0};
}

static bool index_set_has(const struct index_set *set, uint64_t index)
{
	return set->count &&
	       bsearch(&index, set->items, set->count, sizeof(index), compare_numbers);
}

static bool parse_hex(const char *text, size_t length, uint64_t *value)
{
	char digits[24] = "0x";

	if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		length -= 2;
	}
	if (!length || length > sizeof(digits) - 3)
		return false;
	memcpy(digits + 2, text, length);
	return parse_number(digits, UINT64_MAX, value);
}

bool call_address_parse(const char *text, struct call_address *address)
{
	const char *colon = strrchr(text, ':');
	const char *plus = colon ? strchr(colon, '+') : NULL;

	if (!plus || colon == text ||
	    !parse_hex(colon + 1, (size_t)(plus - colon - 1), &address->start) ||
	    !parse_hex(plus + 1, strlen(plus + 1), &address->size) || !address->size)
		return false;
	address->object = xstrndup(text, (size_t)(colon - text));
	return true;
}

void call_address_free(struct call_address *address)
{
	free(address->object);
	*address = (struct call_address){0};
}

/* The page of the first PT_LOAD's address in the ELF file: 0 for shared objects and
 * position-independent programs. False when the file cannot be read. */
static bool elf_first_page(const char *sysroot, const char *path, uint64_t *page)
{
	char *full = xasprintf("%s%s", sysroot ? sysroot : "", path);
	const int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found = false;
	struct stat stat;
	size_t count = 0;
	GElf_Phdr phdr;
	Elf *elf;

	free(full);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	/* A trace can name anything, a terminal or a device too. */
	elf = fstat(fd, &stat) || !S_ISREG(stat.st_mode) ? NULL
							 : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &count))
		for (size_t i = 0; i < count && !found; i++)
			if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD) {
				*page = align_down(phdr.p_vaddr - phdr.p_offset, 4096);
				found = true;
			}
	elf_end(elf);
	close(fd);
	return found;
}

static void forget_overlapped(struct selection *selection, const struct record_object *object)
{
	size_t kept = 0;

	for (size_t i = 0; i < selection->count; i++) {
		const struct address_range *range = &selection->ranges[i];

		if (range->to <= object->from || range->from >= object->to)
			selection->ranges[kept++] = *range;
	}
	selection->count = kept;
}

static void take_object(struct selection *selection, const struct record_object *object)
{
	const struct call_address *address = selection->options.call_address;
	uint64_t page;

	if (object->from >= object->to)
		return;
	forget_overlapped(selection, object);
	if (!strstr(text_or_empty(object->path), address->object) || selection->count == RANGES_MAX)
		return;
	/* Without the file: an address that lies in the mapped object as it is must be absolute. */
	if (!elf_first_page(selection->options.sysroot, text_or_empty(object->path), &page))
		page = address->start >= object->from && address->start < object->to ? object->from
										     : 0;
	struct address_range range = {.from = object->from,
				      .to = object->to,
				      .start = address->start - page + object->from};

	range.end = add_saturated(range.start, address->size);
	ARRAY_GROW(selection->ranges, selection->capacity, selection->count);
	selection->ranges[selection->count++] = range;
}

static bool goes_through(const struct selection *selection, const struct record_call *call)
{
	for (uint32_t i = 0; i < call->frame_count; i++)
		for (size_t k = 0; k < selection->count; k++)
			if (call->frames[i] >= selection->ranges[k].start &&
			    call->frames[i] < selection->ranges[k].end)
				return true;
	return false;
}

static bool is_selected(const struct selection *selection, const struct record_call *call)
{
	const struct select_options *options = &selection->options;

	if (options->by_context &&
	    !(options->context_mask ? call->context & options->context_mask : !call->context))
		return false;
	if (options->include && !index_set_has(options->include, call->index))
		return false;
	if (options->exclude && index_set_has(options->exclude, call->index))
		return false;
	return !options->call_address || goes_through(selection, call);
}

static int put(struct stage *stage, const struct record *record)
{
	struct selection *selection = (struct selection *)stage;
	const struct select_options *options = &selection->options;

	if (record->type == RECORD_CALL && !is_selected(selection, &record->call))
		return 0;
	if (record->type == RECORD_CONTEXT && options->by_context &&
	    !(record->context.id & options->context_mask))
		return 0;
	if (record->type == RECORD_OBJECT && options->call_address)
		take_object(selection, &record->object);
	return stage_put(stage->next, record);
}

static void selection_free(struct stage *stage)
{
	free(((struct selection *)stage)->ranges);
	free(stage);
}

struct stage *select_new(struct stage *next, const struct select_options *options)
{
	struct selection *selection = xmalloc(sizeof(*selection));

	*selection = (struct selection){
		.stage = {.put = put,
			  .finish = stage_finish_next,
			  .free = selection_free,
			  .next = next},
		.options = *options,
	};
	return &selection->stage;
}
