#include "config.h"
#include "scan/capture/core_image.h"
#include "scan/capture/leave_allocator.h"
#include "scan/capture/core_parts.h"
#include "scan/capture/thread_registers.h"
#include "arch/abi.h"
#include "base/msg.h"
#include "symbols/names/data_names.h"
#include "symbols/objects/mapped_object.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

/* Offsets of the thread's id and registers in struct elf_prstatus, which depend only on the width of the processor's
 * words. */
#define PRSTATUS_PID(width)  ((width) == 8 ? 32u : 24u)
#define PRSTATUS_REGS(width) ((width) == 8 ? 112u : 72u)
/* Offsets of the process's id and its program's name in struct elf_prpsinfo. */
#define PRPSINFO_PID(width)  ((width) == 8 ? 24u : 12u)
#define PRPSINFO_NAME(width) ((width) == 8 ? 40u : 28u)
#define NAME_LENGTH          16u
#define PAGE                 4096u
#define ADDRESS_MAX          (1ull << 56) /* end of a program's addresses; x86-64's 57 bits include the kernel's */

struct piece {
	uint64_t start, end; /* range of addresses whose bytes are in the file */
	uint64_t at;
	bool is_variable;     /* true if the program has written the memory, or may write it */
	size_t next_variable; /* index of the first piece with is_variable at or after this one; piece_count: none */
};

struct core {
	Elf *elf;             /* libelf's handle, which may own the bytes of notes */
	unsigned char *bytes; /* the mapped bytes of the file */
	size_t size;
	uint64_t whole_size; /* number of bytes that the file must have according to its headers */
	const struct arch *arch;
	struct heap_image image;
	struct heap_mapping *mappings;
	size_t mapping_count, mapping_capacity;
	struct piece *pieces;
	size_t piece_count, piece_capacity;
	struct heap_thread *threads;
	size_t thread_count, thread_capacity;
	struct maps files;   /* the files that the process had mapped */
	int64_t time;        /* when the core file was written, in seconds since the Epoch */
	const char *sysroot; /* directory that is put before the files' paths, or NULL */
	struct snapshot_figures figures;
	pid_t pid;
	char name[NAME_LENGTH + 1];
	const char *program;
};

/* ---- Threads ---- */

static void core_image_take_thread(struct core *core, const unsigned char *bytes, size_t size)
{
	const struct arch *const arch = core->arch;
	const unsigned width = arch->pointer_size;
	const size_t at = PRSTATUS_REGS(width), room = arch->registers.size;
	struct arch_regs regs = {0};
	uint32_t tid;
	long number;

	if (size < at + room || room > sizeof(regs))
		return;
	memcpy(&tid, bytes + PRSTATUS_PID(width), sizeof(tid));
	memcpy(&regs, bytes + at, room);
	ARRAY_GROW(core->threads, core->thread_capacity, core->thread_count);
	struct heap_thread *thread = &core->threads[core->thread_count++];

	*thread = (struct heap_thread){
		.tid = (pid_t)tid, .pc = arch->registers.pc(&regs), .sp = arch->registers.sp(&regs)};
	scan_thread_add_words(thread, bytes + at, room, arch);
	if (arch->abi->thread_pointer)
		arch->abi->thread_pointer(&regs, &thread->thread_pointer);
	thread->in_syscall = arch->core.in_syscall && arch->core.in_syscall(&regs, &number);
	thread->is_outside = thread->in_syscall && !is_malloc_syscall(arch, number);
}

static void core_image_take_process(struct core *core, const unsigned char *bytes, size_t size)
{
	const unsigned width = core->arch->pointer_size;
	uint32_t pid;

	if (size < PRPSINFO_NAME(width) + NAME_LENGTH)
		return;
	memcpy(&pid, bytes + PRPSINFO_PID(width), sizeof(pid));
	memcpy(core->name, bytes + PRPSINFO_NAME(width), NAME_LENGTH);
	core->pid = (pid_t)pid;
}

/* ---- Memory ---- */

static void core_image_add_segment(struct core *core, const GElf_Phdr *phdr)
{
	const uint64_t held = phdr->p_filesz < phdr->p_memsz ? phdr->p_filesz : phdr->p_memsz;
	const bool follows = !core->mapping_count || phdr->p_vaddr >= core->mappings[core->mapping_count - 1].end;

	/* ADDRESS_MAX also excludes the page with the kernel's old system calls (vsyscall). */
	if (!follows || !phdr->p_memsz || phdr->p_memsz > ADDRESS_MAX || phdr->p_vaddr > ADDRESS_MAX - phdr->p_memsz ||
	    phdr->p_vaddr % PAGE || phdr->p_offset > core->size || held > core->size - phdr->p_offset)
		return;
	const bool is_wide = phdr->p_memsz > SNAPSHOT_MAPPING_MAX;

	core->figures.left_out += is_wide ? phdr->p_memsz : 0;
	/* The missing bytes of a writable mapping may contain pointers: by default the kernel writes neither unchanged
	 * nor shared mappings of files to a core file. */
	if (!is_wide && (phdr->p_flags & PF_W))
		core->figures.unreadable += phdr->p_memsz - held;
	ARRAY_GROW(core->mappings, core->mapping_capacity, core->mapping_count);
	core->mappings[core->mapping_count++] =
		(struct heap_mapping){.start = phdr->p_vaddr,
				      .end = phdr->p_vaddr + phdr->p_memsz,
				      .readable = (phdr->p_flags & (PF_R | PF_W)) && !is_wide,
				      .writable = phdr->p_flags & PF_W,
				      .executable = phdr->p_flags & PF_X,
				      .path = ""};
	if (!held || is_wide)
		return;
	ARRAY_GROW(core->pieces, core->piece_capacity, core->piece_count);
	core->pieces[core->piece_count++] = (struct piece){.start = phdr->p_vaddr,
							   .end = phdr->p_vaddr + held,
							   .at = phdr->p_offset,
							   .is_variable = phdr->p_flags & PF_W};
}

/* Returns the program's name. A core file has at most 15 characters of it; a mapped file's path may have all. */
static const char *whole_name(const struct core *core)
{
	for (size_t i = 0; i < core->files.count && strlen(core->name) + 1 >= NAME_LENGTH; i++) {
		const char *const name = path_name(core->files.items[i].path);

		if (!strncmp(name, core->name, strlen(core->name)))
			return name;
	}
	return core->name;
}

static const struct piece *piece_at(const struct core *core, uint64_t address)
{
	const size_t count = COUNT_UP_TO(core->pieces, core->piece_count, .start, address);
	const struct piece *const piece = count ? &core->pieces[count - 1] : NULL;

	return piece && address < piece->end ? piece : NULL;
}

static const void *core_image_bytes_at(const struct heap_image *image, uint64_t address, size_t *size)
{
	const struct core *core = image->context;
	size_t next = COUNT_UP_TO(core->pieces, core->piece_count, .start, address);
	const struct piece *const piece = next ? &core->pieces[next - 1] : NULL;

	if (piece && address < piece->end && piece->is_variable) {
		*size = piece->end - address;
		return core->bytes + piece->at + (address - piece->start);
	}
	next = next < core->piece_count ? core->pieces[next].next_variable : next;
	*size = (next < core->piece_count ? core->pieces[next].start : UINT64_MAX) - address;
	return NULL;
}

static size_t core_image_read_any(void *context, uint64_t address, void *data, size_t size)
{
	const struct core *core = context;
	const struct piece *const piece = piece_at(core, address);

	if (!piece)
		return 0;
	const uint64_t there = piece->end - address;

	size = size < there ? size : there;
	memcpy(data, core->bytes + piece->at + (address - piece->start), size);
	return size;
}

static void join_files(struct core *core)
{
	struct object_memory memory = {core->mappings, core->mapping_count, core->arch, core_image_read_any, core};

	core->figures.unreadable = add_saturated(core->figures.unreadable,
						 core_omitted_bytes(&memory, &core->files, core->time, core->sysroot));
	core->mappings = core_mappings_join(&core->files, core->mappings, &core->mapping_count);
	memory.mappings = core->mappings;
	memory.count = core->mapping_count;
	for (size_t i = 0; i < core->mapping_count; i++)
		core->mappings[i].variables = segments_first_variable(&memory, i);
	for (size_t i = 0; i < core->piece_count; i++) {
		struct piece *const piece = &core->pieces[i];
		const size_t count = COUNT_UP_TO(core->mappings, core->mapping_count, .start, piece->start);

		piece->is_variable |= count && (core_is_constant(&memory, count - 1) ||
						core_is_read_only(&core->mappings[count - 1]));
		core->figures.bytes += piece->is_variable ? piece->end - piece->start : 0;
	}
	for (size_t i = core->piece_count, next = i; i-- > 0; core->pieces[i].next_variable = next)
		next = core->pieces[i].is_variable ? i : next;
}

/* ---- Control blocks of threads ---- */

#define CONTROL_BLOCK 1024 /* number of bytes of a control block that are searched for the thread's id */

static struct heap_thread *core_image_thread_of(struct core *core, const unsigned char *block)
{
	for (size_t i = 0; i < core->thread_count; i++)
		for (size_t at = 0; at < CONTROL_BLOCK; at += 4)
			if (!memcmp(block + at, &core->threads[i].tid, 4))
				return &core->threads[i];
	return NULL;
}

/* If the registers do not contain the thread pointers (i386), searches the memory for the control blocks of threads
 * whose thread pointer is in no note (gdb writes no such notes). The first and the third word of a control block are
 * its own address. */
static void find_control_blocks(struct core *core)
{
	const unsigned width = core->arch->pointer_size;
	const bool is_needed = core->arch->tls.has_self && !core->arch->abi->thread_pointer;

	for (size_t i = 0; is_needed && i < core->piece_count; i++) {
		const struct piece *piece = &core->pieces[i];
		const unsigned char *const bytes = core->bytes + piece->at;

		for (uint64_t at = 0; at + CONTROL_BLOCK <= piece->end - piece->start; at += 16) {
			if (arch_pointer(core->arch, bytes + at) != piece->start + at ||
			    arch_pointer(core->arch, bytes + at + 2 * width) != piece->start + at)
				continue;
			struct heap_thread *thread = core_image_thread_of(core, bytes + at);

			if (thread && !thread->thread_pointer)
				thread->thread_pointer = piece->start + at;
		}
	}
}

/* ---- The file ---- */

static void core_image_take_files(struct core *core, const unsigned char *bytes, size_t size)
{
	core_mappings_read(&core->files, core->arch, bytes, size);
}

typedef void (*note_taker)(struct core *core, const unsigned char *bytes, size_t size);

static note_taker taker_of(uint32_t type)
{
	return type == NT_PRSTATUS   ? core_image_take_thread
	       : type == NT_PRPSINFO ? core_image_take_process
	       : type == NT_FILE     ? core_image_take_files
				     : NULL;
}

/* Returns true if the note contains floating-point or vector registers, which follow the thread's other registers. */
static bool has_words(const struct arch_abi *abi, uint32_t type)
{
	return type == NT_FPREGSET || type == (uint32_t)abi->floats_set || type == (uint32_t)abi->vectors_set;
}

/* Sets the thread pointer from the note that contains it. */
static void take_thread_pointer(struct core *core, const unsigned char *bytes, size_t size)
{
	const struct arch_core *const has = &core->arch->core;
	const size_t entry = has->thread_entry ? has->thread_entry : core->arch->pointer_size;
	uint64_t *const pointer = &core->threads[core->thread_count - 1].thread_pointer;

	for (size_t at = 0; at + entry <= size && !*pointer && (!at || has->thread_entry); at += entry)
		*pointer = arch_pointer(core->arch, bytes + at + has->thread_at);
}

static void take_notes(struct core *core, Elf *elf, const GElf_Phdr *phdr)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)phdr->p_offset, phdr->p_filesz, ELF_T_NHDR);
	size_t name, desc;
	GElf_Nhdr note;

	for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
		const unsigned char *const bytes = (const unsigned char *)data->d_buf + desc;
		const note_taker take = taker_of(note.n_type);

		if (take)
			take(core, bytes, note.n_descsz);
		else if (has_words(core->arch->abi, note.n_type) && core->thread_count)
			scan_thread_add_words(&core->threads[core->thread_count - 1], bytes, note.n_descsz, core->arch);
		else if (note.n_type == core->arch->core.thread_note && core->thread_count)
			take_thread_pointer(core, bytes, note.n_descsz);
	}
}

/* Marks the mapping whose memory tags this segment contains. */
static void core_image_mark_tags(struct core *core, const GElf_Phdr *phdr)
{
	const size_t count = COUNT_UP_TO(core->mappings, core->mapping_count, .start, phdr->p_vaddr);
	struct heap_mapping *const m = count ? &core->mappings[count - 1] : NULL;

	if (m && phdr->p_vaddr < m->end)
		m->has_tags = true;
}

static bool core_image_read_segments(struct core *core, Elf *elf, uint32_t type)
{
	size_t count;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != type)
			continue;
		if (type == PT_LOAD)
			core_image_add_segment(core, &phdr);
		else if (type != PT_NOTE)
			core_image_mark_tags(core, &phdr);
		else
			take_notes(core, elf, &phdr);
	}
	return true;
}

static uint64_t later(uint64_t end, uint64_t offset, uint64_t size)
{
	const uint64_t other = add_saturated(offset, size);

	return end > other ? end : other;
}

/* Returns the number of bytes that the file must have according to the offsets and sizes in its headers. */
static uint64_t whole_size(Elf *elf, const GElf_Ehdr *header)
{
	size_t count = header->e_phnum;
	uint64_t end = 0;
	GElf_Phdr phdr;

	/* With PN_XNUM, the number of segments is in the first section header, which the kernel writes last. */
	if (count == PN_XNUM) {
		end = later(end, header->e_shoff, header->e_shentsize);
		if (elf_getphdrnum(elf, &count))
			return end;
	}
	end = later(end, header->e_phoff, (uint64_t)count * header->e_phentsize);
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &phdr); i++)
		if (phdr.p_filesz && (phdr.p_type == PT_LOAD || phdr.p_type == PT_NOTE))
			end = later(end, phdr.p_offset, phdr.p_filesz);
	return end;
}

/* Reads the core file's headers, notes and segments into *core. Returns NULL, or a text that says what is wrong with
 * the file: "" if it is truncated. */
static const char *core_image_read(struct core *core, Elf *elf)
{
	GElf_Ehdr header;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_type != ET_CORE)
		return "it is no ELF core file";
	core->whole_size = whole_size(elf, &header);
	if (core->whole_size > core->size)
		return "";
	core->arch = arch_for_elf(header.e_machine, header.e_ident[EI_CLASS]);
	if (!core->arch || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return "it comes from a processor that this functrace does not know";
	if (!core_image_read_segments(core, elf, PT_LOAD) || !core->mapping_count)
		return "it contains no memory of the process";
	core_image_read_segments(core, elf, PT_NOTE);
	find_control_blocks(core);
	if (core->arch->tags.core_segment)
		core_image_read_segments(core, elf, core->arch->tags.core_segment);
	join_files(core);
	core->program = whole_name(core);
	return NULL;
}

/* Maps the file. Returns NULL, or a text that says what is wrong with it. */
static const char *map_file(struct core *core, const char *path)
{
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd < 0)
		return errno == ENOEXEC
			       ? "it is no regular file, and functrace must read its parts in any order; write the "
				 "output of a pipe to a file first"
			       : strerror(errno);
	core->size = (size_t)st.st_size;
	core->time = st.st_mtim.tv_sec;
	void *const bytes = core->size ? mmap(NULL, core->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	const int error = errno;

	close(fd);
	if (bytes == MAP_FAILED)
		return strerror(error);
	core->bytes = bytes;
	return bytes ? NULL : "it is empty";
}

static void core_image_explain(const struct core *core, const char *path, const char *wrong)
{
	char whole[32], held[32];

	if (core->whole_size > core->size)
		msg_error("the core file %s is truncated: by its headers it should have %s bytes, but it has %s. The "
			  "missing part may contain any pointer, so that no block is known to be lost; write the core "
			  "file again, with room for all of it (ulimit -c, the disk).",
			  path, number_grouped(core->whole_size, whole), number_grouped(core->size, held));
	else
		msg_error("cannot scan the core file %s: %s. The kernel writes a core file when a process crashes, "
			  "gcore writes one of a running process",
			  path, wrong);
}

struct core *core_open(const char *path, const char *sysroot)
{
	struct core *core = xcalloc(1, sizeof(*core));
	const char *wrong = map_file(core, path);

	core->sysroot = sysroot;
	elf_version(EV_CURRENT);
	if (!wrong) {
		core->elf = elf_memory((char *)core->bytes, core->size);
		wrong = core_image_read(core, core->elf);
	}
	if (wrong) {
		core_image_explain(core, path, wrong);
		core_free(core);
		return NULL;
	}
	core->figures.threads = core->thread_count;
	core->image = (struct heap_image){.mappings = core->mappings,
					  .n_mappings = core->mapping_count,
					  .threads = core->threads,
					  .n_threads = core->thread_count,
					  .arch = core->arch,
					  .is_partial = snapshot_is_partial(&core->figures),
					  .bytes = core_image_bytes_at,
					  .context = core};
	return core;
}

void core_free(struct core *core)
{
	if (!core)
		return;
	for (size_t i = 0; i < core->thread_count; i++)
		free((uint64_t *)(uintptr_t)core->threads[i].words);
	free(core->threads);
	maps_free(&core->files);
	free(core->mappings);
	free(core->pieces);
	if (core->elf)
		elf_end(core->elf);
	if (core->bytes)
		munmap(core->bytes, core->size);
	free(core);
}

const struct heap_image *core_image(const struct core *core)
{
	return &core->image;
}

const struct snapshot_figures *core_figures(const struct core *core)
{
	return &core->figures;
}

struct data_names *core_names(struct core *core)
{
	const struct objects_image image = {.maps = &core->files,
					    .memory = {.read = core_image_read_any, .context = core},
					    .machine = core->arch->elf_machine,
					    .time = core->time,
					    .sysroot = core->sysroot};

	return data_names_of_image(&image);
}

pid_t core_pid(const struct core *core)
{
	return core->pid;
}

const char *core_program(const struct core *core)
{
	return core->program;
}
