/* Tests the reader of descriptions of StackTrack's format: it must turn any bytes into a layout by which entries can be
 * read, or into a message that says what is wrong. The bytes after a NUL, if there is one, are then read as a trace of
 * that layout. */
#include "config.h"
#include "trace/reader.h"
#include "trace/stacktrack/stacktrack_layout.h"
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_layout(const struct stacktrack_format *format)
{
	check(format->payload_at + format->payload_size <= format->entry_size, "the payload is in the entry");
	check(format->sequence_at + 4 <= format->payload_at, "the head is before it");
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++) {
		const struct stacktrack_layout *const layout = &format->layouts[i];

		check(stacktrack_type(format, format->indexes[i]) == i, "a type is found by its index");
		for (unsigned m = 0; m < layout->member_count; m++)
			check(layout->members[m].offset + layout->members[m].size <= format->payload_size,
			      "a member is in the payload");
	}
}

static void read_trace(const struct stacktrack_format *format, const unsigned char *data, size_t size)
{
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	const struct reader_options options = {.encoding = encoding_find("stacktrack"), .layout = format};
	char error[512];
	struct record record;

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET), "there is a file");
	struct reader *const reader = reader_new(fd, &options, error, sizeof(error));

	while (reader && reader_next(reader, &record) == 1)
		;
	if (reader)
		reader_close(reader);
	else
		close(fd);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const unsigned char *const end = memchr(data, 0, size);
	const size_t length = end ? (size_t)(end - data) : size;
	struct stacktrack_format *const format = calloc(1, sizeof(*format));
	char error[256] = "";

	if (stacktrack_format_read((const char *)data, length, format, error, sizeof(error))) {
		check(!strncmp(error, "line ", 5) && strlen(error) > 8, "a reason is given");
	} else {
		check_layout(format);
		if (end)
			read_trace(format, end + 1, size - length - 1);
	}
	free(format);
	return 0;
}
