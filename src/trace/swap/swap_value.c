/* Converts arguments of SWAP messages to text and back. Contains the table of API ids. Recognises notes that are
 * written as other messages. */
#include "config.h"
#include "trace/swap/swap_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SHOWN 64 /* maximum number of elements of an array that are printed */

/* ---- Arguments ---- */

/* Appends the shortest text that strtod() converts to the same number. */
static void put_real(struct buf *out, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	buf_add_str(out, text);
}

static void put_item(struct buf *out, char type, const unsigned char *item)
{
	if (type == 'D')
		buf_printf(out, "%" PRId32, (int32_t)swap_dword(item));
	else if (type == 'F')
		buf_printf(out, "%g", swap_float(swap_dword(item)));
	else
		put_real(out, swap_double(swap_long(item)));
}

static void put_array(struct buf *out, const struct swap_arg *arg)
{
	const size_t item = arg->type == 'W' ? 8 : 4;

	buf_printf(out, "0x%" PRIx64 " {", arg->number);
	for (uint32_t i = 0; i < arg->count && i < ARRAY_SHOWN; i++) {
		buf_add_str(out, i ? ", " : "");
		put_item(out, arg->type, arg->items + i * item);
	}
	buf_add_str(out, arg->count > ARRAY_SHOWN ? ", ...}" : "}");
}

void swap_arg_text(struct buf *out, const struct swap_arg *arg)
{
	switch (arg->type) {
	case 'c':
		if (arg->number >= ' ' && arg->number < 0x7f && arg->number != '\'' && arg->number != '\\')
			buf_printf(out, "'%c'", (char)arg->number);
		else
			buf_printf(out, "'\\x%02x'", (unsigned)arg->number);
		break;
	case 'b':
		buf_add_str(out, arg->number ? "true" : "false");
		break;
	case 'd':
		buf_printf(out, "%" PRId32, (int32_t)arg->number);
		break;
	case 'x':
		buf_printf(out, "%" PRIu64, arg->number);
		break;
	case 'p':
		buf_printf(out, "0x%" PRIx64, arg->number);
		break;
	case 'f':
	case 'w':
		put_real(out, arg->real);
		break;
	case 's':
		buf_add_str(out, arg->text);
		break;
	case 'D':
	case 'F':
	case 'W':
		put_array(out, arg);
		break;
	default: /* types v and n have no value */
		break;
	}
}

static bool is_shown_as(const struct swap_arg *arg, const char *text)
{
	struct buf shown = {0};

	swap_arg_text(&shown, arg);
	const bool same = !strcmp(buf_str(&shown), text);

	buf_free(&shown);
	return same;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

struct swap_arg swap_arg_of(const char *text)
{
	const bool is_number = *text == '-' || (*text >= '0' && *text <= '9');
	struct swap_arg found = {.type = 's', .text = text};

	if (is_number) {
		const double real = strtod(text, NULL);
		const struct swap_arg forms[] = {
			{.type = 'p', .number = strtoull(text, NULL, 16)},
			{.type = 'x', .number = strtoull(text, NULL, 10)},
			{.type = 'd', .number = (uint32_t)strtol(text, NULL, 10)},
			{.type = 'w', .number = bits_of(real), .real = real},
		};

		for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
			if (is_shown_as(&forms[i], text))
				return forms[i];
	} else if (!strcmp(text, "true") || !strcmp(text, "false")) {
		found = (struct swap_arg){.type = 'b', .number = *text == 't'};
	} else if (text[0] == '\'' && text[1] && text[2] == '\'' && !text[3]) {
		const struct swap_arg c = {.type = 'c', .number = (unsigned char)text[1]};

		if (is_shown_as(&c, text))
			return c;
	}
	return found;
}

/* ---- API ids ---- */

#define NOTHROW "std::nothrow_t const&"

static const struct swap_api apis[] = {
	{SWAP_API_MARK, "da_mark", "", "", false},
	{SWAP_API_MALLOC, "malloc", "s", "size,", false},
	{SWAP_API_FREE, "free", "i", "ptr,", true},
	{SWAP_API_REALLOC, "realloc", "ns", "ptr,size,", false},
	{71, "calloc", "1s", "nmemb,size,", false},
	{72, "operator new(unsigned long)", "s", "size,", false},
	{73, "operator new[](unsigned long)", "s", "size,", false},
	{74, "operator delete(void*)", "i", "ptr,", true},
	{75, "operator delete[](void*)", "i", "ptr,", true},
	{76, "operator new(unsigned long, " NOTHROW ")", "sn", "size,nothrow,", false},
	{77, "operator new[](unsigned long, " NOTHROW ")", "sn", "size,nothrow,", false},
	{78, "operator delete(void*, " NOTHROW ")", "in", "ptr,nothrow,", true},
	{79, "operator delete[](void*, " NOTHROW ")", "in", "ptr,nothrow,", true},
	{80, "memset", "ids", "s,c,n,", false},
	{81, "memcmp", "ins", "s1,s2,n,", false},
	{82, "memcpy", "ins", "dest,src,n,", false},
	{SWAP_API_CREATE, "pthread_create", "", "", false},
	{92, "pthread_exit", "", "", false},
	/* The protocol has no ids for the following functions. */
	{SWAP_API_OTHER, "other", "s", "", false},
	{1001, "posix_memalign", "s", "", false},
	{1002, "aligned_alloc", "s", "", false},
	{1003, "memalign", "s", "", false},
	{1004, "valloc", "s", "", false},
	{1005, "pvalloc", "s", "", false},
	{1006, "reallocarray", "ns", "", false},
	{1007, "cfree", "i", "", true},
	{1008, "free_sized", "i", "", true},
	{1009, "free_aligned_sized", "i", "", true},
	{1010, "operator new(unsigned long, std::align_val_t)", "s", "", false},
	{1011, "operator new[](unsigned long, std::align_val_t)", "s", "", false},
	{1012, "operator delete(void*, std::align_val_t)", "i", "", true},
	{1013, "operator delete[](void*, std::align_val_t)", "i", "", true},
};

const struct swap_api *swap_api_find(uint32_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		if (apis[i].id == id)
			return &apis[i];
	return NULL;
}

static const struct swap_api *api_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		if (*apis[i].name == *name && !strcmp(apis[i].name, name))
			return &apis[i];
	return NULL;
}

/* Finds the API of an overload of operator new or delete. Overloads have the same API if they differ only in the type
 * of the size, or in whether they have a size parameter. Overloads with std::align_val_t have the same API with and
 * without std::nothrow_t. */
static const struct swap_api *api_of_operator(const char *function)
{
	const bool is_new = !strncmp(function, "operator new", 12),
		   is_delete = !strncmp(function, "operator delete", 15);
	const char *const rest = function + (is_new ? 12 : 15);

	if (!is_new && !is_delete)
		return NULL;
	const uint32_t array = !strncmp(rest, "[]", 2), of_delete = is_delete ? 2 : 0;

	if (strstr(rest, "align_val_t"))
		return swap_api_find(1010 + of_delete + array);
	return swap_api_find(72 + of_delete + array + (strstr(rest, "nothrow_t") ? 4 : 0));
}

const struct swap_api *swap_api_of(const char *function)
{
	const struct swap_api *api = api_named(function);

	if (!api)
		api = api_of_operator(function);
	/* Try again without the prefix of an allocator: je_malloc, _rjem_malloc. */
	for (const char *at = strchr(function, '_'); at && !api; at = strchr(at + 1, '_'))
		api = api_named(at + 1);
	return api ? api : swap_api_find(SWAP_API_OTHER);
}

const char *swap_api_map(void)
{
	static struct buf map;

	map.size = 0;
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		buf_printf(&map, "%" PRIu32 " %s\n", apis[i].id, apis[i].name);
	return buf_str(&map);
}

/* ---- Notes ---- */

bool swap_note_unmaps(const char *text, uint64_t *low, uint64_t *high)
{
	int end = 0;

	return sscanf(text, "unmapped 0x%" SCNx64 "-0x%" SCNx64 "%n", low, high, &end) == 2 && end &&
	       (text[end] == ' ' || !text[end]);
}
