#include "config.h"
#include "symbols/object.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AUXV_MAX (64u << 10)

/* The i-th (type, value) pair of entries whose words have `word` bytes. */
static void pair_at(const char *data, size_t word, size_t i, uint64_t *type, uint64_t *value)
{
	const char *at = data + i * 2 * word;

	if (word == 8) {
		memcpy(type, at, 8);
		memcpy(value, at + 8, 8);
	} else {
		uint32_t narrow[2];

		memcpy(narrow, at, 8);
		*type = narrow[0];
		*value = narrow[1];
	}
}

/* Nothing in the file says how wide its words are. Seen in words of 8 bytes, a 32-bit program's
 * vector has values in the upper half of the types, for some values are not 0. */
static bool has_wide_words(const char *data, size_t size)
{
	for (size_t i = 0; (i + 1) * 16 <= size; i++) {
		uint64_t type, value;

		pair_at(data, 8, i, &type, &value);
		if (type == AT_NULL)
			return true;
		if (type > UINT16_MAX)
			return false;
	}
	return false;
}

int aux_read(pid_t pid, struct aux_info *aux)
{
	char path[32];
	size_t size;

	*aux = (struct aux_info){0};
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	char *data = read_file(path, AUXV_MAX, &size);

	if (!data)
		return -errno;
	if (!size) { /* the address space has gone, or there never was one */
		free(data);
		return -ESRCH;
	}
	const size_t word = has_wide_words(data, size) ? 8 : 4;

	for (size_t i = 0; (i + 1) * 2 * word <= size; i++) {
		uint64_t type, value;

		pair_at(data, word, i, &type, &value);
		switch (type) {
		case AT_PHDR:
			aux->phdr = value;
			break;
		case AT_PHENT:
			aux->phent = value;
			break;
		case AT_PHNUM:
			aux->phnum = value;
			break;
		case AT_ENTRY:
			aux->entry = value;
			break;
		case AT_BASE:
			aux->base = value;
			break;
		case AT_SYSINFO_EHDR:
			aux->sysinfo_ehdr = value;
			break;
		default:
			break;
		}
		if (type == AT_NULL)
			break;
	}
	free(data);
	return 0;
}
