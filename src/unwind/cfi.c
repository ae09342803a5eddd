/* Opens the call frame information of an ELF file; see cfi.h. */
#include "config.h"
#include "unwind/cfi.h"
#include "unwind/cfi_check.h"
#include "base/util.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/elf_headers.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#define PHDR_MAX         4096
#define IMAGE_MAX        ((uint64_t)1 << 30) /* maximum bytes of an image; pages that are not written take no memory */
#define SEGMENT_READ_MAX ((uint64_t)64 << 20)
#define EH_FRAME_MAX     ((uint64_t)256 << 20)

static bool elf_fits(Elf *elf, const struct arch *arch)
{
	GElf_Ehdr ehdr;
	size_t phnum;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &ehdr) && ehdr.e_machine == arch->elf_machine &&
	       gelf_getclass(elf) == arch->elf_class && (ehdr.e_ident[EI_DATA] == ELFDATA2MSB) == arch->big_endian &&
	       !elf_getphdrnum(elf, &phnum) && phnum <= PHDR_MAX;
}

/* Finds the PT_GNU_EH_FRAME, and the PT_LOAD whose file bytes contain it. */
static bool find_eh_segments(Elf *elf, GElf_Phdr *header, GElf_Phdr *load)
{
	GElf_Phdr phdr;
	size_t phnum;
	bool found = false;

	if (elf_getphdrnum(elf, &phnum) || phnum > PHDR_MAX)
		return false;
	for (size_t i = 0; i < phnum && !found; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_GNU_EH_FRAME) {
			*header = phdr;
			found = true;
		}
	for (size_t i = 0; i < phnum && found; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && header->p_vaddr >= phdr.p_vaddr &&
		    header->p_vaddr - phdr.p_vaddr < phdr.p_filesz && phdr.p_filesz <= UINT64_MAX - phdr.p_vaddr &&
		    phdr.p_filesz <= UINT64_MAX - phdr.p_offset) {
			*load = phdr;
			return true;
		}
	return false;
}

/* The data that dwarf_getcfi_elf() would use: the sections .eh_frame and .eh_frame_hdr, else the segment
 * PT_GNU_EH_FRAME. */
struct eh_source {
	Elf_Data *data;
	struct cfi_header header;
	bool open_end;
	bool ambiguous;
};

/* Returns true if the range of the file is small enough and has no holes. fd: the file; -1: the ELF image is in
 * memory. */
static bool cfi_is_readable(int fd, uint64_t offset, uint64_t size)
{
	return size <= EH_FRAME_MAX && (fd < 0 || !elf_is_hollow(fd, offset, size));
}

static void find_eh_sections(Elf *elf, int fd, struct eh_source *source)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) || !names)
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(section, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		Elf_Data *data;

		if (!name || shdr.sh_type == SHT_NOBITS || (strcmp(name, ".eh_frame") && strcmp(name, ".eh_frame_hdr")))
			continue;
		data = cfi_is_readable(fd, shdr.sh_offset, shdr.sh_size) ? elf_rawdata(section, NULL) : NULL;
		if (!strcmp(name, ".eh_frame")) {
			source->ambiguous |= source->data || !data;
			source->data = data;
			source->header.eh_frame_address = shdr.sh_addr;
		} else if (data) {
			source->ambiguous |= source->header.bytes != NULL;
			source->header.bytes = data->d_buf;
			source->header.size = data->d_buf ? data->d_size : 0;
			source->header.address = shdr.sh_addr;
		}
	}
}

static bool image_size(Elf *elf, int fd, size_t *size)
{
	struct stat st;

	if (fd < 0)
		return elf_rawfile(elf, size);
	if (fstat(fd, &st))
		return false;
	*size = (size_t)st.st_size;
	return true;
}

static void find_eh_program_header(Elf *elf, int fd, struct eh_source *source)
{
	GElf_Phdr phdr, load;
	int32_t pointer;
	size_t size;

	if (!find_eh_segments(elf, &phdr, &load) || phdr.p_filesz < 12 || phdr.p_filesz > EH_FRAME_MAX ||
	    !image_size(elf, fd, &size))
		return;
	Elf_Data *header = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz, ELF_T_BYTE);

	if (!header || !header->d_buf)
		return;
	memcpy(&pointer, (const char *)header->d_buf + 4, sizeof(pointer));
	const uint64_t address = phdr.p_vaddr + 4 + (uint64_t)(int64_t)pointer;
	const uint64_t offset = address - phdr.p_vaddr + phdr.p_offset;

	if (offset >= size || !cfi_is_readable(fd, offset, size - offset))
		return;
	source->data = elf_getdata_rawchunk(elf, (int64_t)offset, size - offset, ELF_T_BYTE);
	source->header = (struct cfi_header){header->d_buf, header->d_size, phdr.p_vaddr, address};
	source->open_end = true;
}

static bool eh_is_harmless(Elf *elf, int fd)
{
	struct eh_source source = {0};
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);

	find_eh_sections(elf, fd, &source);
	if (!source.data && !source.ambiguous) {
		source = (struct eh_source){0};
		find_eh_program_header(elf, fd, &source);
	}
	return ident && source.data && source.data->d_buf && !source.ambiguous &&
	       cfi_is_harmless(ident, source.data, true, &source.header, source.open_end);
}

static int cfi_begin(struct cfi *cfi, const struct arch *arch)
{
	if (!cfi->elf || !elf_fits(cfi->elf, arch)) {
		cfi_close(cfi);
		return -ENOEXEC;
	}
	if (eh_is_harmless(cfi->elf, cfi->fd))
		cfi->eh_cfi = dwarf_getcfi_elf(cfi->elf);
	return 0;
}

int cfi_open_file(struct cfi *cfi, int fd, const struct arch *arch)
{
	const char *reason;
	struct stat st;

	*cfi = (struct cfi){.fd = fd};
	cfi->elf = fstat(fd, &st) ? NULL : elf_open(fd, &st, &reason);
	const int error = cfi_begin(cfi, arch);
	/* Symbols are read through a second handle of libelf, which is closed here, so that their data does not stay in
	 * memory. */
	Elf *const elf = error ? NULL : elf_open(fd, &st, &reason);

	if (elf)
		cfi_read_starts(cfi, elf);
	elf_end(elf);
	return error;
}

void cfi_close(struct cfi *cfi)
{
	if (cfi->eh_cfi)
		dwarf_cfi_end(cfi->eh_cfi);
	cfi_debug_close(&cfi->debug);
	if (cfi->elf)
		elf_end(cfi->elf);
	if (cfi->fd >= 0)
		close(cfi->fd);
	free(cfi->image);
	free(cfi->eh_storage);
	free(cfi->index.bytes);
	*cfi = (struct cfi){.fd = -1};
}

static bool cfi_read_memory(struct stack_memory *memory, uint64_t address, unsigned char *to, uint64_t size)
{
	const struct stack_snapshot *snapshot = memory->snapshot;

	while (size) {
		const ssize_t got = snapshot->read ? snapshot->read(snapshot->context, address, to, size) : -1;

		if (got <= 0 || (uint64_t)got > size)
			return false;
		address += (uint64_t)got;
		to += got;
		size -= (uint64_t)got;
	}
	return true;
}

/* Reads the ELF header and program headers, which are the same in memory as in the file. Section headers may not be
 * mapped; so the copied ELF header is changed to say that the file has none. */
static unsigned char *read_headers(struct stack_memory *memory, uint64_t start, const struct arch *arch, size_t *size)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} ehdr;
	const bool is64 = arch->elf_class == ELFCLASS64;
	const size_t ehdr_size = is64 ? sizeof(ehdr.e64) : sizeof(ehdr.e32);
	const size_t phdr_size = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	if (!cfi_read_memory(memory, start, ehdr.ident, ehdr_size) || memcmp(ehdr.ident, ELFMAG, SELFMAG) ||
	    ehdr.ident[EI_CLASS] != arch->elf_class || memory->swap)
		return NULL;
	const uint64_t phoff = is64 ? ehdr.e64.e_phoff : ehdr.e32.e_phoff;
	const size_t phnum = is64 ? ehdr.e64.e_phnum : ehdr.e32.e_phnum;

	if (phoff > 1 << 20 || !phnum || phnum > PHDR_MAX)
		return NULL;
	*size = phoff + phnum * phdr_size;
	if (*size < ehdr_size)
		*size = ehdr_size;
	elf_forget_sections(&ehdr, ehdr_size);
	unsigned char *headers = calloc(1, *size);

	if (!headers)
		return NULL;
	if (!cfi_read_memory(memory, start + phoff, headers + phoff, phnum * phdr_size)) {
		free(headers);
		return NULL;
	}
	memcpy(headers, ehdr.ident, ehdr_size);
	return headers;
}

/* Makes an image of the headers, and of the segment with .eh_frame at its file offset. The other bytes of the image are
 * zero, in pages that are not touched. */
static unsigned char *read_image(struct stack_memory *memory, uint64_t start, unsigned char *headers,
				 size_t headers_size, size_t *size)
{
	GElf_Phdr header, load, phdr;
	uint64_t base = 0;
	unsigned char *image = NULL;
	Elf *elf = elf_memory((char *)headers, headers_size);
	size_t phnum;

	if (!elf || elf_getphdrnum(elf, &phnum) || !find_eh_segments(elf, &header, &load))
		goto out;
	/* The ELF header is at file offset 0 and at address `start`. */
	for (size_t i = 0; i < phnum; i++)
		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && phdr.p_offset < 4096) {
			base = phdr.p_vaddr - phdr.p_offset;
			break;
		}
	if (load.p_filesz > SEGMENT_READ_MAX || load.p_offset > IMAGE_MAX - SEGMENT_READ_MAX)
		goto out;
	*size = load.p_offset + load.p_filesz;
	if (*size < headers_size)
		*size = headers_size;
	image = calloc(1, *size);
	if (!image)
		goto out;
	if (!cfi_read_memory(memory, start + (load.p_vaddr - base), image + load.p_offset, load.p_filesz)) {
		free(image);
		image = NULL;
		goto out;
	}
	memcpy(image, headers, headers_size);
out:
	if (elf)
		elf_end(elf);
	return image;
}

int cfi_open_memory(struct cfi *cfi, struct stack_memory *memory, uint64_t start, const struct arch *arch)
{
	size_t headers_size, size = 0;
	unsigned char *headers;

	*cfi = (struct cfi){.fd = -1};
	elf_version(EV_CURRENT);
	headers = read_headers(memory, start, arch, &headers_size);
	if (!headers)
		return -ENOEXEC;
	cfi->image = read_image(memory, start, headers, headers_size, &size);
	free(headers);
	if (!cfi->image)
		return -ENOEXEC;
	cfi->elf = elf_memory((char *)cfi->image, size);
	const int error = cfi_begin(cfi, arch);

	if (!error)
		cfi_read_starts(cfi, cfi->elf);
	return error;
}

static Dwarf_Frame *frame_of(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame = NULL;

	return cfi && !dwarf_cfi_addrframe(cfi, address, &frame) ? frame : NULL;
}

Dwarf_Frame *cfi_frame(struct cfi *cfi, uint64_t address)
{
	Dwarf_Frame *frame = frame_of(cfi->eh_cfi, address);

	return frame ? frame : frame_of(cfi_debug_frame(cfi), address);
}

ssize_t cfi_code(struct cfi *cfi, uint64_t address, void *data, size_t size)
{
	GElf_Phdr phdr;
	size_t phnum;

	if (cfi->fd < 0 || elf_getphdrnum(cfi->elf, &phnum))
		return -ENOTSUP;
	for (size_t i = 0; i < phnum; i++) {
		if (!gelf_getphdr(cfi->elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) ||
		    address < phdr.p_vaddr || address - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		const uint64_t skip = address - phdr.p_vaddr, left = phdr.p_filesz - skip;
		const ssize_t got = pread(cfi->fd, data, size < left ? size : left, (off_t)(phdr.p_offset + skip));

		return got < 0 ? -ENOTSUP : got;
	}
	return 0;
}

/* Sets cfi->eh.bytes to the bytes from address `from` to the end of the segment. */
static bool eh_bytes(struct cfi *cfi, const GElf_Phdr *load, uint64_t from)
{
	const uint64_t skip = from - load->p_vaddr, size = load->p_filesz - skip;

	if (cfi->image) {
		cfi->eh.bytes = cfi->image + load->p_offset + skip;
	} else {
		if (size > EH_FRAME_MAX || !(cfi->eh_storage = malloc(size)))
			return false;
		if (pread(cfi->fd, cfi->eh_storage, size, (off_t)(load->p_offset + skip)) != (ssize_t)size)
			return false;
		cfi->eh.bytes = cfi->eh_storage;
	}
	cfi->eh.address = from;
	cfi->eh.size = size;
	return true;
}

/* Fills cfi->eh only if .eh_frame_hdr has the form that linkers write (LSB specification, 10.6.2): all numbers have 4
 * bytes, the pointer to .eh_frame is relative to its own address, and the table's numbers are relative to the
 * header. */
const struct eh_frame *cfi_eh_frame(struct cfi *cfi)
{
	static const unsigned char form[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					     DW_EH_PE_datarel | DW_EH_PE_sdata4};
	struct {
		unsigned char form[4];
		int32_t eh_frame;
		uint32_t count;
	} head;
	GElf_Phdr header, load;

	if (cfi->eh_tried)
		return &cfi->eh;
	cfi->eh_tried = true;
	if (!find_eh_segments(cfi->elf, &header, &load) ||
	    load.p_filesz - (header.p_vaddr - load.p_vaddr) < sizeof(head))
		return &cfi->eh;
	const uint64_t at = load.p_offset + (header.p_vaddr - load.p_vaddr);

	if (cfi->image)
		memcpy(&head, cfi->image + at, sizeof(head));
	else if (pread(cfi->fd, &head, sizeof(head), (off_t)at) != sizeof(head))
		return &cfi->eh;
	const uint64_t eh_frame = header.p_vaddr + 4 + (uint64_t)(int64_t)head.eh_frame;

	if (memcmp(head.form, form, sizeof(form)) || eh_frame < load.p_vaddr ||
	    eh_frame - load.p_vaddr >= load.p_filesz)
		return &cfi->eh;
	if (!eh_bytes(cfi, &load, eh_frame < header.p_vaddr ? eh_frame : header.p_vaddr)) {
		cfi->eh.bytes = NULL;
		return &cfi->eh;
	}
	cfi->eh.header = header.p_vaddr;
	cfi->eh.table = header.p_vaddr + sizeof(head);
	cfi->eh.count = (cfi->eh.size - (cfi->eh.table - cfi->eh.address)) / 8;
	if (cfi->eh.count > head.count)
		cfi->eh.count = head.count;
	return &cfi->eh;
}

/* An entry of the table in .eh_frame_hdr. */
struct eh_entry {
	int32_t start, fde; /* relative to the header */
} __attribute__((packed));

bool cfi_function(struct cfi *cfi, uint64_t address, uint64_t *start)
{
	const struct eh_frame *eh = cfi_eh_frame(cfi);
	const struct eh_entry *table =
		eh->bytes ? (const struct eh_entry *)(eh->bytes + (eh->table - eh->address)) : NULL;
	const size_t below = table ? COUNT_UP_TO(table, eh->count, .start, (int64_t)(address - eh->header)) : 0;
	Dwarf_Frame *frame = below ? frame_of(cfi->eh_cfi, address) : NULL;

	if (!frame)
		return false; /* .eh_frame does not describe the address */
	free(frame);
	*start = eh->header + (uint64_t)(int64_t)table[below - 1].start;
	return true;
}
