/* Cores of other processors' programs, walked on this one. How they were made: tests/unit/cores/signed.c, small.py. */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "arch/aarch64.h"
#include "base/util.h"
#include "unwind/unwind.h"

#define FRAMES 32

struct core {
	char *bytes;
	size_t size;
	struct stack_snapshot snapshot;
	uint64_t vdso, vdso_size;
};

static Elf64_Phdr core_phdr(const struct core *core, unsigned n)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr = {0};

	memcpy(&ehdr, core->bytes, sizeof(ehdr));
	if (n < ehdr.e_phnum)
		memcpy(&phdr, core->bytes + ehdr.e_phoff + n * sizeof(phdr), sizeof(phdr));
	return phdr;
}

static ssize_t core_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct core *core = context;

	for (unsigned n = 1;; n++) {
		const Elf64_Phdr phdr = core_phdr(core, n);
		const uint64_t skip = address - phdr.p_vaddr;

		if (phdr.p_type != PT_LOAD)
			return -1;
		if (address < phdr.p_vaddr || skip >= phdr.p_filesz)
			continue;
		if (size > phdr.p_filesz - skip)
			size = phdr.p_filesz - skip;
		memcpy(data, core->bytes + phdr.p_offset + skip, size);
		return (ssize_t)size;
	}
}

/* Where the registers are in a struct elf_prstatus of 64 bits. */
#define PRSTATUS_REGISTERS 112

static void take_note(struct core *core, unsigned type, const char *desc, size_t size)
{
	Elf64_auxv_t entry;

	if (type == NT_PRSTATUS) {
		assert_true(size >= PRSTATUS_REGISTERS + core->snapshot.arch->regset_size);
		memcpy(&core->snapshot.regs, desc + PRSTATUS_REGISTERS, core->snapshot.arch->regset_size);
	}
	for (size_t i = 0; type == NT_AUXV && i + sizeof(entry) <= size; i += sizeof(entry)) {
		memcpy(&entry, desc + i, sizeof(entry));
		if (entry.a_type == AT_SYSINFO_EHDR)
			core->vdso = entry.a_un.a_val;
	}
}

static void core_open(struct core *core, const char *path, const struct arch *arch)
{
	*core = (struct core){.snapshot = {.arch = arch, .read = core_read, .context = core}};
	core->bytes = read_file(path, 1 << 20, &core->size);
	assert_non_null(core->bytes);
	const Elf64_Phdr notes = core_phdr(core, 0);

	for (size_t at = notes.p_offset; at < notes.p_offset + notes.p_filesz;) {
		Elf64_Nhdr note;

		memcpy(&note, core->bytes + at, sizeof(note));
		at += sizeof(note) + ((note.n_namesz + 3) & ~3u);
		take_note(core, note.n_type, core->bytes + at, note.n_descsz);
		at += (note.n_descsz + 3) & ~3u;
	}
	for (unsigned n = 1; core_phdr(core, n).p_type == PT_LOAD; n++)
		if (core_phdr(core, n).p_vaddr == core->vdso)
			core->vdso_size = core_phdr(core, n).p_filesz;
	assert_true(core->vdso_size > 0);
}

/* The name of the function of a program at fixed addresses. */
static const char *name_at(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(section, NULL), i, &symbol); i++)
			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && address >= symbol.st_value &&
			    address - symbol.st_value < symbol.st_size)
				return elf_strptr(elf, shdr.sh_link, symbol.st_name);
	}
	return "?";
}

/* The frames' functions, "!" before one that a signal has interrupted, and whether the walk was cut. */
static char *walk_of(struct core *core, const char *program, bool *cut)
{
	struct unwind_frame frames[FRAMES];
	struct unwinder *unwinder = unwinder_new(getpid(), core->snapshot.arch, UNWIND_ROWS);
	const int fd = open(program, O_RDONLY | O_CLOEXEC);
	char *text = xstrdup("");

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(elf);
	unwinder_add(unwinder, 0x400000, 0x401000, 0, program, NULL);
	unwinder_add(unwinder, core->vdso, core->vdso + core->vdso_size, core->vdso, NULL, NULL);
	const size_t count = unwind_stack(unwinder, &core->snapshot, frames, FRAMES, 0, cut);

	for (size_t i = 0; i < count; i++) {
		const bool in_vdso = frames[i].pc - core->vdso < core->vdso_size;
		const bool is_exact = i == 0 || frames[i].signal;
		const char *name = in_vdso ? "[vdso]" : name_at(elf, frames[i].pc - !is_exact);
		char *longer = xasprintf("%s%s%s%s", text, i ? " " : "", frames[i].signal ? "!" : "", name);

		free(text);
		text = longer;
	}
	elf_end(elf);
	close(fd);
	unwinder_free(unwinder);
	return text;
}

static const char *file_of(const char *name)
{
	static char path[4096];
	const char *top = getenv("TOP_SRCDIR");

	snprintf(path, sizeof(path), "%s/tests/unit/cores/%s", top ? top : "..", name);
	return path;
}

/* Return addresses are signed, but for that of `leaf`, which is in its register. */
static void test_aarch64_signed(void **state)
{
	struct core core;
	bool cut;

	(void)state;
	core_open(&core, file_of("aarch64-signed.core"), &arch_aarch64);
	char *frames = walk_of(&core, file_of("aarch64-signed"), &cut);

	assert_string_equal(frames, "last before_last handler [vdso] !leaf middle outer entry _start");
	assert_false(cut);
	free(frames);
	free(core.bytes);
}

/* A leaf whose register has its own address, as code that has no rule for a call leaves it: an end, and no loop. */
static void test_aarch64_own_return(void **state)
{
	struct core core;
	bool cut;

	(void)state;
	core_open(&core, file_of("aarch64-signed.core"), &arch_aarch64);
	core.snapshot.regs.words[A64_PC] = 0x400160;              /* last */
	core.snapshot.regs.words[A64_LR] = 0x400158 | 5ull << 48; /* behind careless's call, signed */
	char *frames = walk_of(&core, file_of("aarch64-signed"), &cut);

	assert_string_equal(frames, "last careless");
	assert_true(cut);
	free(frames);
	free(core.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aarch64_signed),
		cmocka_unit_test(test_aarch64_own_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
