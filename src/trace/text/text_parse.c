/* Parses the line of a call. Needs no information from other lines. */
#include "config.h"
#include "trace/text/text_read.h"
#include "base/time_units.h"

#include <string.h>

const char *text_decimal(const char *p, uint64_t *value)
{
	const char *const first = p;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++) {
		const unsigned digit = (unsigned)(*p - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	*value = v;
	return p > first ? p : NULL;
}

/* Parses `HH:MM:SS.f]`, with any number of digits after the point. Returns the address after the bracket, or NULL. */
static const char *parse_time(const char *p, uint64_t *ns)
{
	uint64_t part, seconds = 0, scale = NS_PER_SECOND;

	for (unsigned i = 0; i < 3; i++) {
		if (!(p = text_decimal(p, &part)) || part >= (i ? 60 : 1000000))
			return NULL;
		seconds = seconds * 60 + part;
		if (i < 2 && *p++ != ':')
			return NULL;
	}
	*ns = seconds * NS_PER_SECOND;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			*ns += (scale /= 10) * (uint64_t)(*p - '0');
	return *p == ']' ? p + 1 : NULL;
}

/* Parses the index, the context and the time. Returns the address of the name after them, or NULL. */
static const char *parse_head(const char *p, struct text_call *call)
{
	uint64_t context = 0;
	const char *after;

	if (!(p = text_decimal(p, &call->index)) || p[0] != '.' || p[1] != ' ')
		return NULL;
	p += 2;
	if (*p == '@') {
		if (!(p = text_hex(p + 1, &context)) || *p++ != ' ' || context > UINT32_MAX)
			return NULL;
	}
	call->context = (uint32_t)context;
	call->time_ns = TIME_NONE;
	if (*p == '[' && (after = parse_time(p + 1, &call->time_ns)))
		p = after + (*after == ' ');
	return p;
}

/* Parses the line backwards, from its end to the '(' before the id or the size. Returns the address of that '('; NULL
 * if the line does not end like a call. */
static const char *parse_tail(const char *begin, const char *end, struct text_call *call)
{
	const char *p = end;
	uint64_t size;

	call->release = p > begin && p[-1] == ')';
	p -= call->release;
	while (p > begin && p[-1] != 'x')
		p--;
	if (p - begin < 4 || p[-2] != '0' || text_hex(p, &call->id) != end - call->release)
		return NULL;
	p -= 3;
	if (call->release)
		return *p == '(' ? p : NULL;
	/* p points to the second blank of ") = 0x". */
	if (p - begin < 5 || memcmp(p - 3, ") = ", 4))
		return NULL;
	p -= 3;
	const char *const close = p;

	while (p > begin && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (text_decimal(p, &size) != close || p == begin)
		return NULL;
	/* The sp-rtrace tools print the size, a dword, as a signed number. */
	const bool negative = p[-1] == '-';

	if (negative && (!size || size > UINT64_C(0x80000000)))
		return NULL;
	call->size = negative ? UINT64_C(0x100000000) - size : size;
	p -= negative;
	return p > begin && p[-1] == '(' ? p - 1 : NULL;
}

bool text_ends_as_call(const char *line, size_t length)
{
	struct text_call call;
	const char *open = parse_tail(line, line + length, &call);

	return open && open > line;
}

bool text_parse_call(const char *line, size_t length, struct text_call *call)
{
	if (line[0] < '0' || line[0] > '9')
		return false;
	call->size = 0;
	const char *name = parse_head(line, call);

	if (!name || name >= line + length)
		return false;
	const char *open = parse_tail(name, line + length, call);

	if (!open || open == name)
		return false;
	call->name = (size_t)(name - line);
	call->name_length = (size_t)(open - name);
	return true;
}

bool text_is_arg(const char *line)
{
	return *line == '$' || (line[0] == '\t' && line[1] == '$');
}
