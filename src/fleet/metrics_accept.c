/* Reads Accept headers: see metrics_accept.h. */
#include "config.h"
#include "fleet/metrics_accept.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A part of a header, without white space at its ends. */
struct accept_part {
	const char *text;
	size_t size;
};

/* Returns the part up to the next separator outside of quotation marks. *at gets the place after the separator, or
 * NULL after the last part. */
static struct accept_part accept_next(const char **at, const char *end, char separator)
{
	const char *begin = *at, *last = begin;
	bool is_quoted = false;

	for (; last < end && (is_quoted || *last != separator); last++) {
		if (is_quoted && *last == '\\' && last + 1 < end)
			last++;
		else if (*last == '"')
			is_quoted = !is_quoted;
	}
	*at = last < end ? last + 1 : NULL;
	while (begin < last && isspace((unsigned char)*begin))
		begin++;
	while (last > begin && isspace((unsigned char)last[-1]))
		last--;
	return (struct accept_part){begin, (size_t)(last - begin)};
}

static bool accept_is(struct accept_part part, const char *word)
{
	return part.size == strlen(word) && !strncasecmp(part.text, word, part.size);
}

/* Returns 1000 for a weight of 1; 0 if it is not a number from 0 to 1 with at most three decimals. */
static unsigned accept_weight(struct accept_part value)
{
	unsigned weight = 0, unit = 1000;

	if (!value.size || value.size > 5 || (value.size > 1 && value.text[1] != '.'))
		return 0;
	for (size_t i = 0; i < value.size; i += i ? 1 : 2, unit /= 10) {
		if (!isdigit((unsigned char)value.text[i]))
			return 0;
		weight += (unsigned)(value.text[i] - '0') * unit;
	}
	return weight <= 1000 ? weight : 0;
}

/* Reads the parameters of a media type. Returns its weight; 0 if its version is not known. */
static unsigned accept_parameters(const char *at, const char *end, bool is_open)
{
	unsigned weight = 1000;

	while (at) {
		const struct accept_part part = accept_next(&at, end, ';');
		const char *value_at = part.text;
		const struct accept_part name = accept_next(&value_at, part.text + part.size, '=');

		if (!value_at)
			continue;
		const char *rest = value_at;
		struct accept_part value = accept_next(&rest, part.text + part.size, '\0');

		if (value.size >= 2 && value.text[0] == '"' && value.text[value.size - 1] == '"')
			value = (struct accept_part){value.text + 1, value.size - 2};
		if (accept_is(name, "q"))
			weight = accept_weight(value);
		else if (is_open && accept_is(name, "version") && !accept_is(value, "1.0.0") &&
			 !accept_is(value, "0.0.1"))
			return 0;
	}
	return weight;
}

enum metrics_format metrics_accept(const char *header)
{
	/* the weights of OpenMetrics, and of the text format by ranges of falling precision */
	static const char *const ranges[] = {"text/plain", "text/*", "*/*"};
	unsigned open = 0, plain = 0;
	size_t precision = ARRAY_SIZE(ranges);

	for (const char *at = header; at;) {
		const struct accept_part part = accept_next(&at, header + strlen(header), ',');
		const char *parameters = part.text, *const end = part.text + part.size;
		const struct accept_part type = accept_next(&parameters, end, ';');

		if (accept_is(type, "application/openmetrics-text")) {
			const unsigned weight = accept_parameters(parameters, end, true);

			open = weight > open ? weight : open;
		}
		for (size_t i = 0; i <= precision && i < ARRAY_SIZE(ranges); i++) {
			if (!accept_is(type, ranges[i]))
				continue;
			const unsigned weight = accept_parameters(parameters, end, false);

			plain = i < precision || weight > plain ? weight : plain;
			precision = i;
		}
	}
	return open && open >= plain ? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
}
