/* Copies an ELF file into a sealed file in memory (memfd). Sections that are mapped with the program keep their
 * offsets; the other sections follow, then the section header table. A section that is left out becomes SHT_NOBITS.
 * Holes of the file stay holes, which need no memory. */
#include "config.h"
#include "base/util.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/private_copy.h"
#include "symbols/elf/refused_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOTAL_MAX  (sizeof(void *) == 8 ? UINT64_C(4) << 30 : UINT64_C(256) << 20)
#define PLACE_MAX  (TOTAL_MAX / 2) /* sections that keep their offsets must end below it */
#define ALT_MAX    8192            /* bytes of .gnu_debugaltlink */
#define PACKED_MAX (64u << 20)     /* bytes of .gnu_debugdata */
#define CHUNK      ((size_t)128 << 10)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

struct making {
	int fd;
	const struct stat *st;
	unsigned parts;
	struct elf_headers headers;
	int to;       /* descriptor of the copy */
	uint64_t top; /* offset in the copy at which the next section is stored */
	char *chunk;  /* a buffer of CHUNK bytes */
};

/* ---- Which sections are copied ---- */

static bool is_debug_name(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8);
}

/* Returns true for the name of a debug section that functrace does not read: an index, or macros. */
static bool is_unread_name(const char *name)
{
	static const char *const unread[] = {"aranges", "gnu_pubnames", "gnu_pubtypes", "macinfo",
					     "macro",   "names",        "pubnames",     "pubtypes"};
	const char *const part = strchr(name, '_') + 1;

	for (size_t i = 0; i < ARRAY_SIZE(unread); i++) {
		const size_t length = strlen(unread[i]);

		if (!strncmp(part, unread[i], length) && (!part[length] || part[length] == '.'))
			return true;
	}
	return false;
}

static bool is_frames_name(const char *name)
{
	return !strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame") || !strcmp(name, ".eh_frame") ||
	       !strcmp(name, ".eh_frame_hdr");
}

/* Returns true if the section belongs to one of the wanted parts. */
static bool private_copy_is_wanted(const struct making *making, const unsigned char *section)
{
	const char *const name = elf_headers_name(&making->headers, section);

	switch (elf_field_get(&making->headers, section, SHDR_TYPE)) {
	case SHT_NULL:
	case SHT_NOBITS:
		return false;
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
		return making->parts & COPY_SYMBOLS;
	case SHT_STRTAB: /* including the section names */
	case SHT_NOTE:
		return true;
	default:
		break;
	}
	if (is_frames_name(name))
		return making->parts & COPY_FRAMES;
	if (!strcmp(name, ".gnu_debugdata"))
		return making->parts & COPY_SYMBOLS;
	if (!strcmp(name, ".gnu_debuglink"))
		return true;
	return (making->parts & COPY_DEBUG) && is_debug_name(name) && !is_unread_name(name);
}

/* ---- Limits ---- */

/* Returns the size of a section after decompression; returns 0 if it is not compressed. */
static uint64_t unpacked_size(const struct making *making, const unsigned char *section)
{
	const struct elf_headers *const headers = &making->headers;
	const uint64_t offset = elf_field_get(headers, section, SHDR_OFFSET);
	const bool is_old = !strncmp(elf_headers_name(headers, section), ".zdebug_", 8);
	unsigned char head[sizeof(Elf64_Chdr)] = {0};
	uint64_t size = 0;

	if (!is_old && !(elf_field_get(headers, section, SHDR_FLAGS) & SHF_COMPRESSED))
		return 0;
	if (elf_field_get(headers, section, SHDR_SIZE) < sizeof(head) ||
	    !elf_read_at(making->fd, offset, head, sizeof(head)))
		return 0;
	if (!is_old)
		return elf_field_get(headers, head, CHDR_SIZE);
	for (size_t i = 4; i < 12; i++) /* "ZLIB" is followed by the size in 8 bytes, the most significant first */
		size = size << 8 | head[i];
	return size;
}

static void leave_out(const struct making *making, unsigned char *section)
{
	elf_field_set(&making->headers, section, SHDR_TYPE, SHT_NOBITS);
	elf_field_set(&making->headers, section, SHDR_FLAGS,
		      elf_field_get(&making->headers, section, SHDR_FLAGS) & ~(uint64_t)SHF_COMPRESSED);
}

static bool is_debugdata(const struct making *making, const unsigned char *section)
{
	return !strcmp(elf_headers_name(&making->headers, section), ".gnu_debugdata");
}

/* Returns true if .gnu_debugdata is damaged or unpacks to more than the limit. libdwfl would unpack it without a
 * limit. */
static bool is_bomb(const struct making *making, const unsigned char *section)
{
	const uint64_t size = elf_field_get(&making->headers, section, SHDR_SIZE);
	char *packed = NULL, *unpacked = NULL;
	size_t unpacked_size;

	if (size <= PACKED_MAX)
		packed = xmalloc(size + 1);
	if (packed && elf_read_at(making->fd, elf_field_get(&making->headers, section, SHDR_OFFSET), packed, size))
		unpacked = elf_debugdata_unpack(packed, size, &unpacked_size);
	const bool is = !unpacked;

	free(packed);
	free(unpacked);
	return is;
}

/* Leaves out sections that are not wanted, not completely in the file, larger than their limit, or mostly a hole.
 * *total: bytes of all other sections, plus the decompressed bytes of compressed sections. Keeps only the first
 * .gnu_debugdata: a hostile file may have thousands, and each takes a second to unpack. */
static void choose_sections(struct making *making, uint64_t *total)
{
	bool has_packed = false;

	*total = 0;
	for (size_t i = 0; i < making->headers.section_count; i++) {
		unsigned char *const section = elf_headers_section(&making->headers, i);
		const uint64_t size = elf_field_get(&making->headers, section, SHDR_SIZE);
		const uint64_t offset = elf_field_get(&making->headers, section, SHDR_OFFSET);
		const bool packed = is_debugdata(making, section);

		if (elf_field_get(&making->headers, section, SHDR_TYPE) == SHT_NULL)
			continue;
		if (!private_copy_is_wanted(making, section) || !elf_is_in_file(making->st, offset, size) ||
		    size > elf_table_max(elf_field_get(&making->headers, section, SHDR_TYPE)) ||
		    elf_is_hollow(making->fd, offset, size) || (packed && (has_packed || is_bomb(making, section))))
			leave_out(making, section);
		else
			*total = add_saturated(add_saturated(*total, size), unpacked_size(making, section));
		has_packed |= packed;
	}
}

/* ---- Copying ---- */

/* Copies a range of bytes. Uses pwrite(2), because writing through a mapping would raise SIGBUS when memory runs
 * out. */
static bool copy_bytes(const struct making *making, uint64_t from, uint64_t size, uint64_t to)
{
	while (size) {
		const size_t part = size < CHUNK ? size : CHUNK;

		if (!elf_read_at(making->fd, from, making->chunk, part) ||
		    !write_all_at(making->to, making->chunk, part, to))
			return false;
		from += part;
		to += part;
		size -= part;
	}
	return true;
}

/* Copies the data between the file's holes. Returns false if the file is shorter, or if writing fails. */
static bool copy_data(const struct making *making, uint64_t from, uint64_t size, uint64_t to)
{
	const uint64_t end = from + size;

	while (from < end) {
		const off_t data = lseek(making->fd, (off_t)from, SEEK_DATA);

		if (data < 0 && errno == ENXIO) /* a hole up to the end of the file, unless the file was truncated */
			return lseek(making->fd, 0, SEEK_END) >= (off_t)end;
		/* A file system that does not report holes reports data everywhere. */
		const uint64_t start = data < (off_t)from ? from : (uint64_t)data;

		if (start >= end)
			return true;
		const off_t hole = lseek(making->fd, (off_t)start, SEEK_HOLE);
		const uint64_t stop = hole <= (off_t)start || hole > (off_t)end ? end : (uint64_t)hole;

		to += start - from;
		if (!copy_bytes(making, start, stop - start, to))
			return false;
		to += stop - start;
		from = stop;
	}
	return true;
}

/* Returns true if the section keeps its offset, because it is mapped with the program. */
static bool keeps_place(const struct making *making, const unsigned char *section)
{
	return elf_field_get(&making->headers, section, SHDR_FLAGS) & SHF_ALLOC;
}

static uint64_t part_end(const struct making *making, const unsigned char *entry, enum elf_field offset,
			 enum elf_field size)
{
	return add_saturated(elf_field_get(&making->headers, entry, offset),
			     elf_field_get(&making->headers, entry, size));
}

/* Returns true if a segment is copied. Without a section header table all PT_LOADs are copied, because then the symbols
 * can only be found by addresses in them. */
static bool is_segment_wanted(const struct making *making, const unsigned char *segment)
{
	const uint64_t type = elf_field_get(&making->headers, segment, PHDR_TYPE);

	return type == PT_NOTE || (type == PT_LOAD && !making->headers.section_count);
}

static void forget_segment(const struct making *making, unsigned char *segment)
{
	elf_field_set(&making->headers, segment, PHDR_TYPE, PT_NULL);
}

static uint64_t segments_end(const struct elf_headers *headers)
{
	return elf_field_get(headers, headers->ehdr, EHDR_PHOFF) + headers->segment_count * headers->segment_size;
}

/* Returns the end of all segments and sections that keep their offsets. Leaves out those whose offsets are too high. */
static uint64_t measure_places(struct making *making)
{
	const struct elf_headers *const headers = &making->headers;
	uint64_t end = headers->ehdr_size;

	if (headers->segment_count)
		end = segments_end(headers);
	for (size_t i = 0; i < headers->segment_count; i++) {
		unsigned char *const segment = elf_headers_segment(headers, i);
		const uint64_t type = elf_field_get(headers, segment, PHDR_TYPE);
		const uint64_t top = part_end(making, segment, PHDR_OFFSET, PHDR_FILESZ);

		/* Drop PT_DYNAMIC: through the dynamic section libdwfl would find hash tables, which are not copied,
		 * and count the symbols by them. */
		if (type == PT_DYNAMIC && headers->section_count)
			forget_segment(making, segment);
		if (!is_segment_wanted(making, segment))
			continue;
		if (top > PLACE_MAX || top > (uint64_t)making->st->st_size) {
			if (type == PT_NOTE)
				forget_segment(making, segment);
			continue;
		}
		end = top > end ? top : end;
	}
	for (size_t i = 0; i < headers->section_count; i++) {
		unsigned char *const section = elf_headers_section(headers, i);
		const uint64_t top = part_end(making, section, SHDR_OFFSET, SHDR_SIZE);
		const uint64_t type = elf_field_get(headers, section, SHDR_TYPE);

		if (type == SHT_NULL || type == SHT_NOBITS || !keeps_place(making, section))
			continue;
		if (top > PLACE_MAX)
			leave_out(making, section);
		else if (top > end)
			end = top;
	}
	return end;
}

static bool copy_segments(struct making *making)
{
	const struct elf_headers *const headers = &making->headers;
	const uint64_t all = (uint64_t)making->st->st_size;

	for (size_t i = 0; i < headers->segment_count; i++) {
		const unsigned char *const segment = elf_headers_segment(headers, i);
		const uint64_t offset = elf_field_get(headers, segment, PHDR_OFFSET);
		const uint64_t top = part_end(making, segment, PHDR_OFFSET, PHDR_FILESZ);

		if (is_segment_wanted(making, segment) && top <= PLACE_MAX && top <= all &&
		    !copy_data(making, offset, top - offset, offset))
			return false;
	}
	return true;
}

static bool copy_sections(struct making *making)
{
	const struct elf_headers *const headers = &making->headers;

	for (size_t i = 0; i < headers->section_count; i++) {
		unsigned char *const section = elf_headers_section(headers, i);
		const uint64_t type = elf_field_get(headers, section, SHDR_TYPE);
		const uint64_t offset = elf_field_get(headers, section, SHDR_OFFSET);
		const uint64_t size = elf_field_get(headers, section, SHDR_SIZE);

		if (type == SHT_NULL || type == SHT_NOBITS)
			continue;
		if (keeps_place(making, section)) {
			if (!copy_data(making, offset, size, offset))
				return false;
			continue;
		}
		if (!copy_data(making, offset, size, making->top))
			return false;
		elf_field_set(headers, section, SHDR_OFFSET, making->top);
		making->top = (making->top + size + 15) & ~UINT64_C(15);
	}
	return true;
}

/* Writes the headers. To be called after the sections are copied, because a copied section may overlap them. */
static bool copy_headers(struct making *making)
{
	struct elf_headers *const headers = &making->headers;

	elf_field_set(headers, headers->ehdr, EHDR_SHOFF, headers->section_count ? making->top : 0);
	elf_field_set(headers, headers->ehdr, EHDR_SHNUM, headers->section_count);
	if (!headers->section_count)
		elf_field_set(headers, headers->ehdr, EHDR_SHSTRNDX, 0);
	elf_field_set(headers, headers->ehdr, EHDR_PHNUM, headers->segment_count);
	return write_all_at(making->to, headers->ehdr, headers->ehdr_size, 0) &&
	       write_all_at(making->to, headers->sections, headers->section_count * headers->section_size,
			    making->top) &&
	       write_all_at(making->to, headers->segments, headers->segment_count * headers->segment_size,
			    elf_field_get(headers, headers->ehdr, EHDR_PHOFF));
}

static bool is_unchanged(const struct making *making)
{
	const struct stat *const before = making->st;
	struct stat now;

	return !fstat(making->fd, &now) && now.st_size == before->st_size &&
	       now.st_mtim.tv_sec == before->st_mtim.tv_sec && now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* ---- The file in memory ---- */

static int new_file(uint64_t size)
{
	int fd = memfd_create("functrace", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("functrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && ftruncate(fd, (off_t)size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool seal_copy(int fd)
{
	return !fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

static int make_file(struct making *making, const char **reason)
{
	const struct elf_headers *const headers = &making->headers;
	uint64_t size;

	making->top = (measure_places(making) + 15) & ~UINT64_C(15);
	size = making->top + headers->section_count * headers->section_size;
	for (size_t i = 0; i < headers->section_count; i++) {
		const unsigned char *const section = elf_headers_section(headers, i);
		const uint64_t type = elf_field_get(headers, section, SHDR_TYPE);

		if (type != SHT_NULL && type != SHT_NOBITS && !keeps_place(making, section))
			size += elf_field_get(headers, section, SHDR_SIZE) + 15;
	}
	making->to = new_file(size);
	*reason = refused_memory;
	if (making->to < 0)
		return -1;
	making->chunk = xmalloc(CHUNK);
	const bool is_copied = copy_segments(making) && copy_sections(making) && copy_headers(making);

	free(making->chunk);
	if (is_copied && is_unchanged(making) && seal_copy(making->to))
		return making->to;
	if (!is_unchanged(making))
		*reason = refused_changed;
	close(making->to);
	return -1;
}

/* ---- The link to dwz's file ---- */

static void read_alt(const struct making *making, struct copied_altlink *alt)
{
	const struct elf_headers *const headers = &making->headers;
	char bytes[ALT_MAX];

	for (size_t i = 0; i < headers->section_count; i++) {
		const unsigned char *const section = elf_headers_section(headers, i);
		const uint64_t size = elf_field_get(headers, section, SHDR_SIZE);

		if (strcmp(elf_headers_name(headers, section), ".gnu_debugaltlink") != 0 || size > sizeof(bytes) ||
		    elf_field_get(headers, section, SHDR_TYPE) == SHT_NOBITS ||
		    !elf_read_at(making->fd, elf_field_get(headers, section, SHDR_OFFSET), bytes, size))
			continue;
		const size_t length = strnlen(bytes, size), id = size - length;

		if (length && length < size && id > 1 && id - 1 <= sizeof(alt->build_id)) {
			alt->path = xstrndup(bytes, length);
			alt->build_id_size = id - 1;
			memcpy(alt->build_id, bytes + length + 1, id - 1);
		}
		return;
	}
}

bool private_copy_make(int fd, const struct stat *st, unsigned parts, struct private_copy *copy, const char **reason)
{
	struct making making = {.fd = fd, .st = st, .parts = parts};
	uint64_t total;

	*copy = (struct private_copy){.fd = -1};
	if (!elf_headers_read(fd, st, &making.headers, reason))
		return false;
	if (segments_end(&making.headers) > PLACE_MAX)
		making.headers.segment_count = 0;
	if (parts & COPY_DEBUG)
		read_alt(&making, &copy->alt);
	choose_sections(&making, &total);
	if (total > TOTAL_MAX && (parts & COPY_DEBUG)) {
		copy->lacks_debug = true;
		making.parts &= ~COPY_DEBUG;
		choose_sections(&making, &total);
	}
	*reason = "it is larger than the largest file that functrace reads";
	if (total <= TOTAL_MAX)
		copy->fd = make_file(&making, reason);
	elf_headers_free(&making.headers);
	if (copy->fd < 0)
		private_copy_end(copy);
	return copy->fd >= 0;
}

void private_copy_end(struct private_copy *copy)
{
	if (copy->fd >= 0)
		close(copy->fd);
	free(copy->alt.path);
	*copy = (struct private_copy){.fd = -1};
}
