/* Reads an ELF file's header, segments and build-id. */
#include "config.h"
#include "symbols/elf/elf_file.h"
#include "arch/arch.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAX 256 /* maximum number of PT_LOADs that are read; real files have up to about ten */

void elf_build_id_to_hex(const void *bits, ssize_t size, char hex[BUILD_ID_HEX])
{
	static const char digits[] = "0123456789abcdef";
	ssize_t i = 0;

	for (; i < size && i < BUILD_ID_BYTES; i++) {
		const unsigned char byte = ((const unsigned char *)bits)[i];

		hex[2 * i] = digits[byte >> 4];
		hex[2 * i + 1] = digits[byte & 15];
	}
	hex[2 * i] = '\0';
}

static void read_interpreter(struct elf_file *file, Elf *elf, const GElf_Phdr *phdr)
{
	if (file->interpreter || phdr->p_filesz < 2 || phdr->p_filesz > PATH_MAX)
		return;
	const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz, ELF_T_BYTE);

	if (data && data->d_buf)
		file->interpreter = xstrndup(data->d_buf, data->d_size);
}

/* Reads the address of the global offset table. Returns true if the file is marked as a program (DF_1_PIE). Only this
 * mark distinguishes a static-pie program from a shared object: both are ET_DYN without an interpreter, as is ld.so. */
static bool elf_file_read_dynamic(struct elf_file *file, Elf *elf, const GElf_Phdr *phdr)
{
	bool is_pie = false;
	const size_t entry = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
	size_t count = entry ? phdr->p_filesz / entry : 0;

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, count * entry, ELF_T_DYN);

	for (size_t i = 0; data && i < count; i++) {
		GElf_Dyn dyn;

		if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_FLAGS_1)
			is_pie = dyn.d_un.d_val & DF_1_PIE;
		else if (dyn.d_tag == DT_PLTGOT)
			file->got = dyn.d_un.d_ptr;
	}
	return is_pie;
}

static void elf_file_add_segment(struct elf_file *file, const GElf_Phdr *phdr)
{
	if (file->segment_count == SEGMENTS_MAX || phdr->p_memsz < phdr->p_filesz || phdr->p_offset > INT64_MAX ||
	    phdr->p_filesz > INT64_MAX - phdr->p_offset || phdr->p_vaddr > UINT64_MAX - phdr->p_memsz)
		return;
	file->segments[file->segment_count++] = (struct elf_segment){
		.vaddr = phdr->p_vaddr,
		.offset = phdr->p_offset,
		.file_size = phdr->p_filesz,
		.mem_size = phdr->p_memsz,
		.exec = phdr->p_flags & PF_X,
		.write = phdr->p_flags & PF_W,
	};
}

static void read_program_headers(struct elf_file *file, Elf *elf, bool is_executable)
{
	size_t count = 0;
	bool is_pie = false;

	file->segments = xcalloc(SEGMENTS_MAX, sizeof(*file->segments));
	if (elf_getphdrnum(elf, &count) || count > PHDRS_MAX)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			break;
		if (phdr.p_type == PT_LOAD)
			elf_file_add_segment(file, &phdr);
		else if (phdr.p_type == PT_TLS)
			file->thread_bytes = add_saturated(phdr.p_memsz, phdr.p_align);
		else if (phdr.p_type == PT_INTERP)
			read_interpreter(file, elf, &phdr);
		else if (phdr.p_type == PT_DYNAMIC) {
			file->dynamic = phdr.p_vaddr;
			is_pie = elf_file_read_dynamic(file, elf, &phdr);
		}
	}
	file->is_static = !file->interpreter && (is_executable || is_pie);
	file->segments = xreallocarray(file->segments, file->segment_count, sizeof(*file->segments));
}

static bool has_go_section(Elf *elf)
{
	size_t names;
	GElf_Shdr shdr;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && (!strcmp(name, ".note.go.buildid") || !strcmp(name, ".go.buildinfo")))
			return true;
	}
	return false;
}

struct elf_file *elf_file_new(Elf *elf, uint64_t memory_bias, const char **reason)
{
	GElf_Ehdr ehdr;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr)) {
		*reason = elf_reason_no_elf;
		return NULL;
	}
	if (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN) {
		*reason = "it is an ELF file, but no program and no shared object";
		return NULL;
	}
	struct elf_file *file = xcalloc(1, sizeof(*file));

	file->cached.references = 1;
	file->machine = ehdr.e_machine;
	file->class = ehdr.e_ident[EI_CLASS];
	file->is_soft_float = arch_is_soft_float(ehdr.e_machine, ehdr.e_flags);
	read_program_headers(file, elf, ehdr.e_type == ET_EXEC);
	if (!file->segment_count) {
		elf_file_free(file);
		*reason = "its program headers are missing or damaged";
		return NULL;
	}
	const void *bits;
	const ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);

	elf_build_id_to_hex(bits, size, file->build_id);
	file->is_go = has_go_section(elf);
	elf_symbols_read(file, elf, memory_bias);
	return file;
}

void elf_file_free(struct elf_file *file)
{
	if (!file)
		return;
	elf_symbols_free(file);
	hash_free(&file->table.by_value);
	if (file->signatures)
		file->signatures_free(file->signatures);
	free(file->slots.call_slots);
	free(file->errno_place);
	free(file->segments);
	free(file->interpreter);
	free(file);
}

static bool note_value(void *context, const struct elf_symbol *symbol)
{
	struct elf_file *const file = context;

	if (!hash_get(&file->table.by_value, symbol->value))
		hash_set(&file->table.by_value, symbol->value, (uintptr_t)symbol->name);
	return true;
}

const char *elf_file_function_at(struct elf_file *file, uint64_t value)
{
	if (!file->table.by_value_read) {
		file->table.by_value_read = true;
		elf_file_functions(file, note_value, file);
	}
	return hash_get_ptr(&file->table.by_value, value);
}

uint64_t elf_file_origin(const struct elf_file *file)
{
	return file->segments[0].vaddr - file->segments[0].offset;
}

static bool first_segment(Elf *elf, uint64_t *origin)
{
	size_t count;
	GElf_Phdr phdr;

	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &phdr); i++)
		if (phdr.p_type == PT_LOAD) {
			*origin = phdr.p_vaddr - phdr.p_offset;
			return true;
		}
	return false;
}

bool elf_origin_read(const char *path, uint64_t *origin)
{
	const char *reason;
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd < 0)
		return false;
	Elf *elf = elf_open(fd, &st, &reason);
	const bool found = elf && first_segment(elf, origin);

	elf_end(elf);
	close(fd);
	return found;
}

bool elf_file_is_static(const struct elf_file *file)
{
	return file->is_static;
}

bool elf_file_is_soft_float(const struct elf_file *file)
{
	return file->is_soft_float;
}

bool elf_file_is_go(const struct elf_file *file)
{
	return file->is_go;
}

const char *elf_file_interpreter(const struct elf_file *file)
{
	return file->interpreter;
}

const char *elf_file_build_id(const struct elf_file *file)
{
	return file->build_id;
}

uint64_t elf_file_dynamic(const struct elf_file *file)
{
	return file->dynamic;
}

uint64_t elf_file_got(const struct elf_file *file)
{
	return file->got;
}

uint64_t elf_file_contexts(const struct elf_file *file)
{
	return file->contexts;
}
