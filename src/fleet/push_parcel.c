/* Writes and reads parcels: see push_parcel.h. A parcel is lines of a word and a value, an empty line, and the
 * profile. */
#include "config.h"
#include "fleet/push_parcel.h"

#include "base/terminal_escape.h"
#include "fleet/interval_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define NAME_MAX_BYTES 200 /* of a host or a service; longer names are cut */

static const char first_line[] = "functrace-push 1";

static void parcel_add_name(struct buf *out, const char *word, const char *name, const char *instead)
{
	char text[NAME_MAX_BYTES + 1];

	snprintf(text, sizeof(text), "%s", name && *name ? name : instead);
	plain_mask(text, strlen(text), '_');
	buf_printf(out, "%s %s\n", word, text);
}

int push_parcel_write(const struct watch_interval *interval, bool is_unsigned, struct buf *out)
{
	char *profile = NULL;
	size_t size = 0;
	FILE *const stream = open_memstream(&profile, &size);

	if (!stream)
		return -errno;
	int error = interval_profile_write(interval, is_unsigned, stream);

	if (!error && ferror(stream))
		error = -ENOMEM;
	if (fclose(stream) != 0 && !error)
		error = -ENOMEM;
	if (!error) {
		buf_printf(out, "%s\n", first_line);
		parcel_add_name(out, "service", interval->service, "unknown");
		parcel_add_name(out, "host", interval->host, "unknown");
		parcel_add_name(out, "build_id", interval->build_id, "");
		buf_printf(out, "pid %" PRIu64 "\nbegin %" PRIu64 "\nend %" PRIu64 "\nsize %zu\n\n",
			   (uint64_t)interval->pid, interval->begin_ns, interval->end_ns, size);
		buf_add(out, profile, size);
	}
	free(profile);
	return error;
}

/* Ends the line at *at, and sets *at to the next one. Returns what follows `word` and a blank; NULL if the line is
 * another one. */
static char *parcel_line(char **at, const char *word)
{
	char *const line = *at, *const end = line ? strchr(line, '\n') : NULL;
	const size_t length = strlen(word);

	if (!end || strncmp(line, word, length) != 0 || line[length] != ' ')
		return NULL;
	*end = '\0';
	*at = end + 1;
	return line + length + 1;
}

static const char *parcel_name(char **at, const char *word)
{
	char *const name = parcel_line(at, word);

	if (name)
		plain_mask(name, strlen(name), '_');
	return name;
}

static bool parcel_number(char **at, const char *word, uint64_t *number)
{
	const char *const text = parcel_line(at, word);

	return text && parse_number(text, UINT64_MAX, number);
}

bool push_parcel_read(char *data, size_t size, struct push_parcel *parcel)
{
	const size_t head = strlen(first_line);
	char *at = data + head + 1;
	uint64_t bytes;

	if (size <= head || strncmp(data, first_line, head) != 0 || data[head] != '\n')
		return false;
	parcel->service = parcel_name(&at, "service");
	parcel->host = parcel_name(&at, "host");
	parcel->build_id = parcel_name(&at, "build_id");
	if (!parcel->service || !*parcel->service || !parcel->host || !*parcel->host || !parcel->build_id ||
	    !parcel_number(&at, "pid", &parcel->pid) || !parcel_number(&at, "begin", &parcel->begin_ns) ||
	    !parcel_number(&at, "end", &parcel->end_ns) || !parcel_number(&at, "size", &bytes) || *at != '\n')
		return false;
	parcel->profile = (unsigned char *)at + 1;
	parcel->size = (size_t)(data + size - (at + 1));
	/* A file that was cut off, or that is no gzip file, would only be refused by the receiver. */
	return parcel->size == bytes && bytes > 2 && parcel->profile[0] == 0x1f && parcel->profile[1] == 0x8b;
}
