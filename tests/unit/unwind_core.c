/* Unwinds stacks in core files of programs for other processors. tests/unit/cores/signed.c, indexed.c and small.py say
 * how the files were made. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/aarch64/aarch64.h"
#include "base/util.h"
#include "unwind/unwind.h"

#define FRAMES 32

extern const struct arch arch_arm;

struct core {
	int fd;
	Elf *elf;
	struct stack_snapshot snapshot;
	uint64_t vdso, vdso_size;
};

/* Finds the part of the core that contains an address; returns false if there is none. */
static bool core_part(struct core *core, uint64_t address, GElf_Phdr *phdr)
{
	size_t count = 0;

	elf_getphdrnum(core->elf, &count);
	for (size_t n = 0; n < count; n++)
		if (gelf_getphdr(core->elf, (int)n, phdr) && phdr->p_type == PT_LOAD && address >= phdr->p_vaddr &&
		    address - phdr->p_vaddr < phdr->p_filesz)
			return true;
	return false;
}

static ssize_t core_read(void *context, uint64_t address, void *data, size_t size)
{
	struct core *core = context;
	GElf_Phdr phdr;

	if (!core_part(core, address, &phdr))
		return -1;
	const uint64_t skip = address - phdr.p_vaddr;

	if (size > phdr.p_filesz - skip)
		size = phdr.p_filesz - skip;
	return pread(core->fd, data, size, (off_t)(phdr.p_offset + skip));
}

/* Returns the offset of the registers in struct elf_prstatus. */
static size_t registers_at(const struct core *core)
{
	return gelf_getclass(core->elf) == ELFCLASS64 ? 112 : 72;
}

/* Takes the registers or the vdso's address from a note. `desc` points to the note's data, which are at the offset `at`
 * of the core file. */
static void take_note(struct core *core, unsigned type, uint64_t at, const char *desc, size_t size)
{
	const size_t registers = registers_at(core);

	if (type == NT_PRSTATUS) {
		assert_true(size >= registers + core->snapshot.arch->registers.size);
		memcpy(&core->snapshot.regs, desc + registers, core->snapshot.arch->registers.size);
	}
	if (type == NT_AUXV) {
		Elf_Data *auxv = elf_getdata_rawchunk(core->elf, (int64_t)at, size, ELF_T_AUXV);
		GElf_auxv_t entry;

		for (int i = 0; gelf_getauxv(auxv, i, &entry); i++)
			if (entry.a_type == AT_SYSINFO_EHDR)
				core->vdso = entry.a_un.a_val;
	}
}

static const char *file_of(const char *name)
{
	static char path[4096];
	const char *top = getenv("TOP_SRCDIR");

	snprintf(path, sizeof(path), "%s/tests/unit/cores/%s", top ? top : "..", name);
	return path;
}

/* Opens the core of a program of tests/unit/cores. */
static void core_open(struct core *core, const char *program, const struct arch *arch)
{
	char *name = xasprintf("%s.core", program);
	GElf_Phdr phdr;
	GElf_Nhdr note;
	size_t at_name, at_desc;

	*core = (struct core){.snapshot = {.arch = arch, .read = core_read, .context = core}};
	elf_version(EV_CURRENT);
	core->fd = open(file_of(name), O_RDONLY | O_CLOEXEC);
	core->elf = elf_begin(core->fd, ELF_C_READ, NULL);
	free(name);
	assert_non_null(core->elf);
	assert_non_null(gelf_getphdr(core->elf, 0, &phdr));
	assert_int_equal(phdr.p_type, PT_NOTE);
	Elf_Data *data = elf_getdata_rawchunk(core->elf, (int64_t)phdr.p_offset, phdr.p_filesz, ELF_T_NHDR);

	for (size_t at = 0; (at = gelf_getnote(data, at, &note, &at_name, &at_desc)) > 0;)
		take_note(core, note.n_type, phdr.p_offset + at_desc, (const char *)data->d_buf + at_desc,
			  note.n_descsz);
	if (core->vdso && core_part(core, core->vdso, &phdr))
		core->vdso_size = phdr.p_filesz;
}

static void core_close(struct core *core)
{
	elf_end(core->elf);
	close(core->fd);
}

/* Returns the name of the function that contains the address, in a program with fixed addresses. */
static const char *name_at(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(elf_getdata(section, NULL), i, &symbol); i++)
			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && address >= (symbol.st_value & ~1ull) &&
			    address - (symbol.st_value & ~1ull) < symbol.st_size)
				return elf_strptr(elf, shdr.sh_link, symbol.st_name);
	}
	return "?";
}

/* Returns the names of the functions of all frames, for the core of a program of tests/unit/cores; "!" is before a
 * function that a signal has interrupted. *cut says whether the walk was truncated. The caller frees the names. */
static char *walk_of(struct core *core, const char *program, uint64_t start, bool *cut)
{
	struct unwind_frame frames[FRAMES];
	struct unwinder *unwinder = unwinder_new(getpid(), core->snapshot.arch, UNWIND_ROWS);
	const char *path = file_of(program);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = xstrdup("");
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(elf);
	unwinder_add(unwinder, start, start + 0x1000, 0, path, NULL);
	if (core->vdso_size)
		unwinder_add(unwinder, core->vdso, core->vdso + core->vdso_size, core->vdso, NULL, NULL);
	const size_t count = unwind_stack(unwinder, &core->snapshot, frames, FRAMES, 0, cut);

	for (size_t i = 0; i < count; i++) {
		const bool in_vdso = frames[i].pc - core->vdso < core->vdso_size;
		/* No call has entered a restorer, so its pc is exact. */
		const bool is_restorer = i + 1 < count && frames[i + 1].signal;
		const bool is_exact = i == 0 || frames[i].signal || is_restorer;
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

static uint64_t strip_of_48_bits(uint64_t return_address)
{
	return a64_strip(return_address, 48);
}

/* Returns the AArch64 port as it is on the machine that made the core file. The machine that runs the test may not sign
 * addresses, or may have longer ones. */
static const struct arch *signing_machine(void)
{
	static struct arch arch;

	arch = arch_aarch64;
	arch.unwind.strip = strip_of_48_bits;
	return &arch;
}

/* Return addresses are signed, except that of `leaf`, which is still in the register. */
static void test_signed_aarch64_stack_is_walked(void **state)
{
	struct core core;
	bool cut;

	core_open(&core, "aarch64-signed", signing_machine());
	assert_true(core.vdso_size > 0);
	char *frames = walk_of(&core, "aarch64-signed", 0x400000, &cut);

	assert_string_equal(frames, "last before_last handler [vdso] !leaf middle outer entry _start");
	assert_false(cut);
	free(frames);
	core_close(&core);
}

/* The return address of `careless` is in careless itself, because its call has changed the register and no rule says
 * so. The walk ends and does not loop. */
static void test_walk_ends_at_its_own_return_address(void **state)
{
	struct core core;
	bool cut;

	core_open(&core, "aarch64-signed", signing_machine());
	core.snapshot.regs.words[A64_PC] = 0x400160;              /* last */
	core.snapshot.regs.words[A64_LR] = 0x400158 | 5ull << 48; /* after careless's call, signed */
	char *frames = walk_of(&core, "aarch64-signed", 0x400000, &cut);

	assert_string_equal(frames, "last careless");
	assert_true(cut);
	free(frames);
	core_close(&core);
}

/* The walk uses the index of functions. On the stack are Thumb and ARM code that call each other, a frame pointer,
 * saved registers of the FPU, and a restorer like the C library's. */
static void test_arm_stack_is_walked_by_its_index(void **state)
{
	struct core core;
	bool cut;

	core_open(&core, "arm-indexed", &arch_arm);
	char *frames = walk_of(&core, "arm-indexed", 0x10000, &cut);

	assert_string_equal(frames, "last before_last handler restorer !leaf middle outer entry _start");
	assert_false(cut);
	free(frames);
	core_close(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed_aarch64_stack_is_walked),
		cmocka_unit_test(test_walk_ends_at_its_own_return_address),
		cmocka_unit_test(test_arm_stack_is_walked_by_its_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
