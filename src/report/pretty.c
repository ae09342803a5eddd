#include "config.h"
#include "report/pretty.h"

#include <inttypes.h>

/* Texts that are replaced. If two texts have the same beginning, the longer one comes first. */
static const struct {
	const char *from, *to;
} words[] = {
	{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
	{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>", "std::string"},
	{"std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string"},
	{"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >", "std::wstring"},
	{"std::basic_string_view<char, std::char_traits<char> >", "std::string_view"},
	{"std::__cxx11::", "std::"},
	{"std::__1::", "std::"},
	{"[abi:cxx11]", ""},
	{"(anonymous namespace)::", ""},
};

/* Template arguments that are usually the defaults. At the end of a list of arguments, pretty_name() leaves each of
 * them out, with the comma before it. */
static const char *const defaults[] = {
	"std::allocator<", "std::less<", "std::char_traits<", "std::default_delete<", "std::hash<", "std::equal_to<",
};

static bool pretty_begins(const char *text, const char *with, size_t *length)
{
	*length = strlen(with);
	return !strncmp(text, with, *length);
}

/* Returns the position after the `>` that ends the template arguments at `text`, or NULL. */
static const char *end_of_arguments(const char *text)
{
	unsigned depth = 1;

	for (; *text; text++) {
		if (*text == '<')
			depth++;
		else if (*text == '>' && text[-1] != '-' && !--depth)
			return text + 1;
	}
	return NULL;
}

/* Returns the length of an argument like ", std::allocator<...>" at the beginning of the text; returns 0 if there is
 * none. */
static size_t default_argument(const char *text)
{
	size_t length;

	if (!pretty_begins(text, ", ", &length))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		const char *argument = text + 2;

		if (!pretty_begins(argument, defaults[i], &length))
			continue;
		const char *end = end_of_arguments(argument + length);

		return end ? (size_t)(end - text) : 0;
	}
	return 0;
}

/* Returns the length of the default arguments at `text`, if they end a list of template arguments. Returns 0 if another
 * argument follows, because without the default arguments it would be in another place of the list. */
static size_t last_arguments(const char *text)
{
	const char *end = text;
	size_t length;

	while ((length = default_argument(end)))
		end += length;
	return *end == '>' || (*end == ' ' && end[1] == '>') ? (size_t)(end - text) : 0;
}

void pretty_name(struct buf *out, const char *name)
{
	while (*name) {
		size_t length = last_arguments(name), i = 0;

		if (length) {
			name += length;
			continue;
		}
		while (i < ARRAY_SIZE(words) && !pretty_begins(name, words[i].from, &length))
			i++;
		if (i < ARRAY_SIZE(words)) {
			buf_add_str(out, words[i].to);
			name += length;
		} else if (*name == ' ' && name[1] == '>' && out->size && out->data[out->size - 1] != '-') {
			/* Since C++11, "> >" can be written without the blank. */
			name++;
		} else {
			buf_add_char(out, *name++);
		}
	}
}

void pretty_frame_name(struct buf *out, const struct profile_frame *frame)
{
	if (frame->function)
		pretty_name(out, frame->function);
	else
		buf_printf(out, "0x%" PRIx64, frame->module ? frame->offset : frame->address);
}
