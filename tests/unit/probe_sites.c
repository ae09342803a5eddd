/* Tests which places of a file functrace-probes lets a user probe: probes_check_sites(). The files are made here, in
 * memory: good ones, ones with one wrong field, and damaged ones. */
#include "config.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "uprobe/probes_sites.h"

#define CODE_AT  0x1000u /* place of the code in the file */
#define DISTANCE 0x40u   /* from one function to the next */
#define ADDRESS  0x400000u

static const char *const functions[] = {"malloc", "je_calloc", "free", "_Znwm", "setjmp", "mallocs", "ma"};
enum { MALLOC, JE_CALLOC, FREE, NEW, SETJMP, MALLOCS, MA, FUNCTIONS };

/* A whole file. */
struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[FUNCTIONS + 1];
	char names[128];
	unsigned char padding[CODE_AT - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr) - 3 * sizeof(Elf64_Shdr) -
			      (FUNCTIONS + 1) * sizeof(Elf64_Sym) - 128];
	unsigned char code[FUNCTIONS * DISTANCE];
};

_Static_assert(offsetof(struct made, code) == CODE_AT, "the code is where the segment says");

static void make_file(struct made *f)
{
	static const unsigned char code[] = {0x89, 0xf8, 0x53, 0x31, 0xc0, 0x5b, 0xc3}; /* mov, push, xor, pop, ret */
	size_t at = 1;

	memset(f, 0, sizeof(*f));
	memcpy(f->header.e_ident, ELFMAG, SELFMAG);
	f->header.e_ident[EI_CLASS] = ELFCLASS64;
	f->header.e_machine = EM_X86_64;
	f->header.e_phoff = offsetof(struct made, segments);
	f->header.e_phentsize = sizeof(Elf64_Phdr);
	f->header.e_phnum = 2;
	f->header.e_shoff = offsetof(struct made, sections);
	f->header.e_shentsize = sizeof(Elf64_Shdr);
	f->header.e_shnum = 3;
	f->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				      .p_flags = PF_R | PF_X,
				      .p_offset = CODE_AT,
				      .p_vaddr = ADDRESS,
				      .p_filesz = sizeof(f->code),
				      .p_memsz = sizeof(f->code)};
	f->sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				      .sh_offset = offsetof(struct made, symbols),
				      .sh_size = sizeof(f->symbols),
				      .sh_link = 2};
	f->sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names), .sh_size = sizeof(f->names)};
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		f->symbols[i + 1] = (Elf64_Sym){.st_name = (uint32_t)at,
						.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
						.st_shndx = 1,
						.st_value = ADDRESS + i * DISTANCE,
						.st_size = sizeof(code)};
		strcpy(f->names + at, functions[i]);
		at += strlen(functions[i]) + 1;
		memcpy(f->code + i * DISTANCE, code, sizeof(code));
	}
}

/* Checks sites at these offsets from the code on. */
static int check_places(const struct made *f, const unsigned *places, size_t count, bool at_return)
{
	struct uprobe_site sites[4];
	const int fd = memfd_create("sites", MFD_CLOEXEC);

	assert_true(fd >= 0 && write_all_at(fd, f, sizeof(*f), 0) && count <= ARRAY_SIZE(sites));
	assert_false(ftruncate(fd, 1 << 20)); /* so that tables that are too long can be read */
	for (size_t i = 0; i < count; i++)
		sites[i] = (struct uprobe_site){.offset = CODE_AT + places[i]};
	const int error = probes_check_sites(fd, sites, count, at_return);

	close(fd);
	return error;
}

static int check_place(const struct made *f, unsigned place, bool at_return)
{
	return check_places(f, &place, 1, at_return);
}

/* The kernel emulates push, the second instruction of each function, so this is the only place. */
#define SITE 2u

static void test_only_the_chosen_place_of_a_function_is_allowed(void **state)
{
	struct made f;

	(void)state;
	make_file(&f);
	for (unsigned i = 0; i < DISTANCE; i++)
		assert_int_equal(check_place(&f, i, false), i == SITE ? 0 : -EACCES);
	assert_int_equal(check_place(&f, sizeof(f.code) + SITE, false), -EACCES);
	assert_int_equal(check_place(&f, 0u - CODE_AT, false), -EACCES);
}

static void test_only_allocators_functions_are_allowed(void **state)
{
	static const struct {
		int entry, at_return;
	} wanted[FUNCTIONS] = {[NEW] = {0, -EACCES},
			       [FREE] = {0, -EACCES},
			       [SETJMP] = {-EACCES, -EACCES},
			       [MALLOCS] = {-EACCES, -EACCES},
			       [MA] = {-EACCES, -EACCES}};
	struct made f;

	(void)state;
	make_file(&f);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		assert_int_equal(check_place(&f, i * DISTANCE + SITE, false), wanted[i].entry);
		assert_int_equal(check_place(&f, i * DISTANCE + SITE, true), wanted[i].at_return);
	}
}

static void test_one_wrong_site_refuses_all(void **state)
{
	struct made f;

	(void)state;
	make_file(&f);
	assert_int_equal(check_places(&f, (const unsigned[]){SITE, DISTANCE + SITE, SITE}, 3, false), 0);
	assert_int_equal(check_places(&f, (const unsigned[]){SITE, DISTANCE + SITE + 1, SITE}, 3, false), -EACCES);
}

/* Changes one field of a good file, and expects that malloc is not allowed. */
#define REFUSED_WITH(change)                                                                                           \
	do {                                                                                                           \
		make_file(&f);                                                                                         \
		assert_int_equal(check_place(&f, SITE, false), 0);                                                     \
		change;                                                                                                \
		assert_true(check_place(&f, SITE, false) < 0);                                                         \
	} while (0)

static void test_files_with_a_wrong_field_are_refused(void **state)
{
	struct made f;

	(void)state;
	REFUSED_WITH(f.header.e_ident[0] = 0);
	REFUSED_WITH(f.header.e_ident[EI_CLASS] = ELFCLASS32);
	REFUSED_WITH(f.header.e_machine = EM_AARCH64);
	REFUSED_WITH(f.header.e_phoff = UINT64_MAX);
	REFUSED_WITH(f.header.e_phoff = INT64_MAX);
	REFUSED_WITH(f.header.e_phnum = 0);
	REFUSED_WITH(f.header.e_phnum = 257);
	REFUSED_WITH(f.header.e_phnum = 10000);
	REFUSED_WITH(f.header.e_phentsize = 8);
	REFUSED_WITH(f.header.e_shoff = UINT64_MAX - 8);
	REFUSED_WITH(f.header.e_shnum = 0);
	REFUSED_WITH(f.header.e_shnum = 0xffff);
	REFUSED_WITH(f.header.e_shentsize = 8);
	REFUSED_WITH(f.segments[1].p_flags = PF_R);
	REFUSED_WITH(f.segments[1].p_type = PT_NOTE);
	REFUSED_WITH(f.segments[1].p_vaddr = ADDRESS + 1);
	REFUSED_WITH(f.segments[1].p_filesz = 2);
	REFUSED_WITH(f.segments[1].p_offset = INT64_MAX - 8);
	REFUSED_WITH(f.sections[1].sh_type = SHT_PROGBITS);
	REFUSED_WITH(f.sections[1].sh_link = 3);
	REFUSED_WITH(f.sections[1].sh_size = UINT64_MAX);
	REFUSED_WITH(f.sections[1].sh_offset = UINT64_MAX - 64);
	REFUSED_WITH(f.sections[2].sh_offset = UINT64_MAX - 64);
	REFUSED_WITH(f.sections[2].sh_size = 0);
	REFUSED_WITH(f.sections[2].sh_size = 5); /* the name ends within it */
	REFUSED_WITH(f.symbols[1].st_name = UINT32_MAX);
	REFUSED_WITH(f.symbols[1].st_shndx = SHN_UNDEF);
	REFUSED_WITH(f.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT));
	REFUSED_WITH(f.symbols[1].st_value = UINT64_MAX);
	REFUSED_WITH(f.code[0] = 0xc3); /* ret: the push is not reached from the entry */
}

/* Nothing that a file has makes the check fail in another way: a build with sanitizers shows it. */
static void test_damaged_files_do_no_harm(void **state)
{
	struct made f;
	unsigned seed = 1;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		make_file(&f);
		for (unsigned i = 0; i <= round % 4; i++) {
			unsigned char *const at =
				(unsigned char *)&f + (unsigned)rand_r(&seed) % offsetof(struct made, padding);

			*at = rand_r(&seed) % 3 ? (unsigned char)rand_r(&seed) : 0xff;
		}
		const int error = check_place(&f, SITE, round & 1);

		assert_true(error == 0 || (error < 0 && error > -200));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_chosen_place_of_a_function_is_allowed),
		cmocka_unit_test(test_only_allocators_functions_are_allowed),
		cmocka_unit_test(test_one_wrong_site_refuses_all),
		cmocka_unit_test(test_files_with_a_wrong_field_are_refused),
		cmocka_unit_test(test_damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
