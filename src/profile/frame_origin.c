#include "config.h"
#include "profile/frame_origin.h"
#include "base/util.h"

#include <ctype.h>
#include <string.h>

static bool frame_origin_begins_with(const char *text, const char *const *beginnings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

bool profile_frame_is_runtime(const struct profile_frame *frame)
{
	static const char *const names[] = {
		"libc.so",  "libc-",   "libstdc++",  "libc++",     "libgcc_s",
		"ld-linux", "ld-musl", "libpthread", "linux-vdso",
	};

	return frame->module && frame_origin_begins_with(path_name(frame->module), names, ARRAY_SIZE(names));
}

/* Returns true if the word "operator" begins at `c` in the name. After it, '<', '(' and blanks are parts of the
 * function's own name. */
static bool begins_operator(const char *name, const char *c)
{
	static const char word[] = "operator";
	const char next = strncmp(c, word, sizeof(word) - 1) ? '_' : c[sizeof(word) - 1];

	return next != '_' && !isalnum((unsigned char)next) && (c == name || c[-1] == ':' || c[-1] == ' ');
}

/* Returns where the function's own name begins, so that its scope can be compared: after the return type in the name of
 * a C++ template instance, and at TYPE in the name of a function of a Rust trait, "<TYPE as TRAIT>::FUNCTION". */
static const char *own_name(const char *name)
{
	const char *start = name;
	int depth = 0;

	for (const char *c = name; *c && !(*c == '(' && !depth) && (depth || !begins_operator(name, c)); c++) {
		depth += (*c == '<') - (*c == '>');
		if (*c == ' ' && !depth)
			start = c + 1;
	}
	return start + (*start == '<');
}

bool profile_function_is_standard(const char *function)
{
	static const char *const scopes[] = {"std::", "__gnu_cxx::", "alloc::", "core::"};
	static const char *const operators[] = {"operator new", "operator delete"};

	return function && (frame_origin_begins_with(function, operators, ARRAY_SIZE(operators)) ||
			    frame_origin_begins_with(own_name(function), scopes, ARRAY_SIZE(scopes)));
}
