/* Unpacks .gnu_debugdata: an ELF file that contains only a symbol table, packed by xz. */
#include "config.h"
#include "symbols/elf/elf_file.h"

#include <lzma.h>
#include <stdlib.h>

#define PACKED_MEMORY_MAX (256u << 20)
#define UNPACKED_MAX      ((size_t)512 << 20)

char *elf_debugdata_unpack(const void *data, size_t size, size_t *unpacked_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = size < UNPACKED_MAX / 4 ? size * 4 + 4096 : UNPACKED_MAX;
	char *image = NULL;
	lzma_ret result;

	if (lzma_stream_decoder(&stream, PACKED_MEMORY_MAX, 0) != LZMA_OK)
		return NULL;
	stream.next_in = data;
	stream.avail_in = size;
	do {
		char *larger = realloc(image, capacity);

		if (!larger)
			break;
		image = larger;
		stream.next_out = (uint8_t *)image + stream.total_out;
		stream.avail_out = capacity - stream.total_out;
		result = lzma_code(&stream, LZMA_FINISH);
		if (result == LZMA_STREAM_END) {
			*unpacked_size = stream.total_out;
			lzma_end(&stream);
			return image;
		}
		capacity *= 2;
	} while (result == LZMA_OK && !stream.avail_out && capacity <= UNPACKED_MAX);
	lzma_end(&stream);
	free(image);
	return NULL;
}
