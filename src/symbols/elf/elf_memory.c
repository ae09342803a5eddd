/* Reads ELF files from the memory of their mappings: [vdso], and files that cannot be read. */
#include "config.h"
#include "symbols/elf/elf_file.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX  ((size_t)64 << 10)
#define WHOLE_MAX ((size_t)1 << 20)
#define IMAGE_MAX ((uint64_t)256 << 20)

/* Reads memory of a process up to the first unmapped byte. Returns the number of bytes. */
static size_t read_process(void *context, uint64_t address, void *data, size_t size)
{
	const int *mem = context;
	size_t done = 0;

	while (done < size) {
		const ssize_t got = pread(*mem, (char *)data + done, size - done, (off_t)(address + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

void elf_forget_sections(void *image, size_t size)
{
	const unsigned char *ident = image;

	if (size >= sizeof(Elf64_Ehdr) && ident[EI_CLASS] == ELFCLASS64) {
		Elf64_Ehdr *ehdr = image;

		ehdr->e_shoff = 0;
		ehdr->e_shnum = ehdr->e_shstrndx = 0;
	} else if (size >= sizeof(Elf32_Ehdr) && ident[EI_CLASS] == ELFCLASS32) {
		Elf32_Ehdr *ehdr = image;

		ehdr->e_shoff = 0;
		ehdr->e_shnum = ehdr->e_shstrndx = 0;
	}
}

/* Gets the size of the part of the file that its segments cover, and the address of file offset 0. Returns false if the
 * program headers are damaged or too large. */
static bool measure(Elf *elf, uint64_t *size, uint64_t *origin)
{
	uint64_t total = 0;
	size_t count;
	bool found = false;

	*size = *origin = 0;
	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			return false;
		if (phdr.p_type != PT_LOAD)
			continue;
		if (!found)
			*origin = phdr.p_vaddr - phdr.p_offset;
		found = true;
		if (phdr.p_offset > IMAGE_MAX || phdr.p_filesz > IMAGE_MAX - phdr.p_offset)
			return false;
		total += phdr.p_filesz; /* this cannot overflow: at most 2^16 times IMAGE_MAX */
		if (phdr.p_offset + phdr.p_filesz > *size)
			*size = phdr.p_offset + phdr.p_filesz;
	}
	return found && total <= 2 * IMAGE_MAX;
}

static void elf_memory_read_segments(const struct elf_memory *memory, Elf *elf, uint64_t bias, char *image)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD)
			memory->read(memory->context, bias + phdr.p_vaddr, image + phdr.p_offset, phdr.p_filesz);
	}
}

static struct elf_file *parse_image(char *image, size_t size, uint64_t bias, const char **reason)
{
	Elf *elf = elf_memory(image, size);
	struct elf_file *file = elf ? elf_file_new(elf, bias, reason) : NULL;

	elf_end(elf);
	if (!file && !elf)
		*reason = elf_reason_no_elf;
	return file;
}

static struct elf_file *read_by_segments(const struct elf_memory *memory, uint64_t header, size_t head_size,
					 const char **reason)
{
	char *head = xcalloc(1, head_size), *image = NULL;
	struct elf_file *file = NULL;
	uint64_t size, origin;
	Elf *elf = NULL;

	head_size = memory->read(memory->context, header, head, head_size);
	elf_forget_sections(head, head_size);
	elf = elf_memory(head, head_size);
	*reason = "its headers in memory are damaged";
	if (!elf || !measure(elf, &size, &origin))
		goto out;
	if (size < head_size)
		size = head_size;
	image = calloc(1, size);
	if (!image)
		goto out;
	memcpy(image, head, head_size);
	elf_memory_read_segments(memory, elf, header - origin, image);
	elf_forget_sections(image, size);
	file = parse_image(image, size, header - origin, reason);
out:
	elf_end(elf);
	free(image);
	free(head);
	return file;
}

/* Reads a file that is mapped as a whole, with its section header table. Its key is the hash of its contents, so the
 * cache has one copy for all processes. */
static struct elf_file *read_whole(const struct elf_memory *memory, uint64_t start, size_t size, const char **reason)
{
	char *image = xcalloc(1, size);
	struct elf_file *file;

	*reason = "its memory cannot be read";
	size = memory->read(memory->context, start, image, size);
	const struct elf_key key = {.inode = hash_bytes(image, size), .size = size};

	file = size ? elf_cache_find(&key) : NULL;
	if (!file && size) {
		file = parse_image(image, size, 0, reason);
		if (file) {
			file->key = key;
			elf_cache_add(file);
		}
	}
	free(image);
	return file;
}

struct elf_file *elf_file_from_memory(const struct elf_memory *memory, uint64_t header, uint64_t mapping_end,
				      bool whole, const char **reason)
{
	const size_t most = whole ? WHOLE_MAX : HEAD_MAX;
	const uint64_t there = mapping_end - header;
	const size_t size = there < most ? there : most;

	elf_version(EV_CURRENT);
	return whole ? read_whole(memory, header, size, reason) : read_by_segments(memory, header, size, reason);
}

struct elf_file *elf_file_from_process(pid_t pid, uint64_t header, uint64_t mapping_end, bool whole,
				       const char **reason)
{
	int mem = proc_open(pid, "mem", O_RDONLY);

	if (mem < 0) {
		*reason = "neither the file nor the process's memory can be opened";
		return NULL;
	}
	const struct elf_memory memory = {.read = read_process, .context = &mem};
	struct elf_file *file = elf_file_from_memory(&memory, header, mapping_end, whole, reason);

	close(mem);
	return file;
}
