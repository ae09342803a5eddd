/* Checks a file's headers before libelf opens it: libelf allocates and reads as many bytes as the headers say, which
 * may be a TiB. */
#include "config.h"
#include "symbols/elf/elf_headers.h"

Elf *elf_open(int fd, const struct stat *st, const char **reason)
{
	struct elf_headers headers;

	if (!elf_headers_read(fd, st, &headers, reason))
		return NULL;
	const char *const excess = elf_headers_excess(&headers, fd);

	elf_headers_free(&headers);
	if (excess) {
		*reason = excess;
		return NULL;
	}
	elf_version(EV_CURRENT);
	*reason = elf_reason_no_elf;
	/* Reads the file instead of mapping it, because SIGBUS would end this program if a mapped file was
	 * truncated. */
	return elf_begin(fd, ELF_C_READ, NULL);
}
