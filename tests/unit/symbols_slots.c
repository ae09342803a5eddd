/* Tests how the slots of calls (words of the GOT) are found in ELF files for other processors. The test makes the
 * files. */
#include "config.h"
#include "arch/arch.h"
#include "base/buf.h"
#include "symbols/elf/elf_file.h"
#include "symbols/objects/mapped_object.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <elf.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN 0x8048000u
#define BIAS   0x10000u
#define GOT    0x3c0u /* the relocated words */

enum { HEADERS = 4, SYMBOLS = 2, RELOCATIONS = 5 };

struct image {
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	Elf32_Shdr sections[HEADERS];
	Elf32_Sym symbols[SYMBOLS];
	char strings[16];
	Elf32_Rel rel[RELOCATIONS];
	char pad[GOT - sizeof(Elf32_Ehdr) - sizeof(Elf32_Phdr) - HEADERS * sizeof(Elf32_Shdr) -
		 SYMBOLS * sizeof(Elf32_Sym) - 16 - RELOCATIONS * sizeof(Elf32_Rel)];
	uint32_t got[4];
};

_Static_assert(offsetof(struct image, got) == GOT, "no padding");

static uint16_t half(bool big, unsigned value)
{
	return big ? htobe16((uint16_t)value) : htole16((uint16_t)value);
}

static uint32_t word(bool big, uint32_t value)
{
	return big ? htobe32(value) : htole32(value);
}

static Elf32_Shdr section(bool big, uint32_t type, uint32_t offset, uint32_t size, uint32_t entry, uint32_t link)
{
	return (Elf32_Shdr){
		.sh_type = word(big, type),
		.sh_flags = word(big, SHF_ALLOC),
		.sh_addr = word(big, ORIGIN + offset),
		.sh_offset = word(big, offset),
		.sh_size = word(big, size),
		.sh_entsize = word(big, entry),
		.sh_link = word(big, link),
	};
}

static Elf32_Rel relocation(bool big, uint32_t address, uint32_t symbol, uint32_t type)
{
	return (Elf32_Rel){word(big, address), word(big, ELF32_R_INFO(symbol, type))};
}

/* Writes a program for a processor whose relocations have their addends at the relocated places. */
static void write_image(const char *path, bool big, unsigned machine, unsigned jump_slot, unsigned irelative)
{
	struct image image = {
		.header =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32,
					    big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT},
				.e_type = half(big, ET_EXEC),
				.e_machine = half(big, machine),
				.e_version = word(big, EV_CURRENT),
				.e_phoff = word(big, offsetof(struct image, segment)),
				.e_shoff = word(big, offsetof(struct image, sections)),
				.e_ehsize = half(big, sizeof(Elf32_Ehdr)),
				.e_phentsize = half(big, sizeof(Elf32_Phdr)),
				.e_phnum = half(big, 1),
				.e_shentsize = half(big, sizeof(Elf32_Shdr)),
				.e_shnum = half(big, HEADERS),
			},
		.segment =
			{
				.p_type = word(big, PT_LOAD),
				.p_vaddr = word(big, ORIGIN),
				.p_filesz = word(big, sizeof(struct image) - 4),
				.p_memsz = word(big, sizeof(struct image)),
				.p_flags = word(big, PF_R | PF_W),
			},
		.sections =
			{
				{0},
				section(big, SHT_DYNSYM, offsetof(struct image, symbols), sizeof(image.symbols),
					sizeof(Elf32_Sym), 2),
				section(big, SHT_STRTAB, offsetof(struct image, strings), sizeof(image.strings), 0, 0),
				section(big, SHT_REL, offsetof(struct image, rel), sizeof(image.rel), sizeof(Elf32_Rel),
					1),
			},
		.symbols = {{0}, {.st_name = word(big, 1)}},
		.strings = "\0malloc",
		.rel =
			{
				relocation(big, ORIGIN + GOT, 1, jump_slot),
				relocation(big, ORIGIN + GOT + 4, 0, irelative),
				/* The file does not contain the addends of the next two relocations. */
				relocation(big, ORIGIN + 0x100000, 0, irelative),
				relocation(big, ORIGIN + sizeof(image) - 6, 0, irelative),
				relocation(big, ORIGIN + GOT + 8, 0, irelative),
			},
		.got = {word(big, 0x5555), word(big, ORIGIN + 0x120), word(big, 0x90000000), 0},
	};
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(&image, sizeof(image), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static bool note_slot(void *context, const char *name, uint64_t resolver, uint64_t slot)
{
	buf_printf(context, "%s %llx %llx\n", name, (unsigned long long)resolver, (unsigned long long)slot);
	return true;
}

static bool note_first(void *context, const char *name, uint64_t resolver, uint64_t slot)
{
	note_slot(context, name, resolver, slot);
	return false;
}

static void test_addends_at_relocated_places_are_read(void **state)
{
	static const struct {
		bool big;
		unsigned machine, jump_slot, irelative;
	} kinds[] = {
		{false, EM_386, R_386_JMP_SLOT, R_386_IRELATIVE},
		{false, EM_ARM, R_ARM_JUMP_SLOT, R_ARM_IRELATIVE},
		{true, EM_ARM, R_ARM_JUMP_SLOT, R_ARM_IRELATIVE},
	};
	char *path = xasprintf("%s/rel", test_folder);
	const struct object object = {.open_path = path, .bias = BIAS};
	struct buf got = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		write_image(path, kinds[i].big, kinds[i].machine, kinds[i].jump_slot, kinds[i].irelative);
		got.size = 0;
		object_slots(&object, kinds[i].irelative, note_slot, &got);
		assert_string_equal(buf_str(&got), "malloc 0 80583c0\n"
						   " 8058120 80583c4\n"
						   " 90010000 80583c8\n");
		got.size = 0;
		object_slots(&object, kinds[i].irelative, note_first, &got);
		assert_string_equal(buf_str(&got), "malloc 0 80583c0\n");
	}
	buf_free(&got);
	free(path);
}

/* Replaces the object's file by one whose slots have not been read. */
static void forget_file(struct object *object)
{
	elf_file_free(object->file);
	object->file = xcalloc(1, sizeof(*object->file));
}

/* Only the slots of calls are returned; the file is read once. */
static void test_only_slots_of_calls_are_returned(void **state)
{
	char *path = xasprintf("%s/calls", test_folder);
	struct object object = {.open_path = path, .bias = BIAS};
	struct buf got = {0};

	write_image(path, false, EM_386, R_386_JMP_SLOT, R_386_IRELATIVE);
	forget_file(&object);
	object_call_slots(&object, R_386_COPY, R_386_32, note_slot, &got);
	assert_int_equal(got.size, 0);
	for (unsigned i = 0; i < 2; i++) {
		forget_file(&object);
		got.size = 0;
		object_call_slots(&object, i ? R_386_JMP_SLOT : R_386_GLOB_DAT, i ? R_386_GLOB_DAT : R_386_JMP_SLOT,
				  note_slot, &got);
		assert_string_equal(buf_str(&got), "malloc 0 80583c0\n");
	}
	assert_int_equal(remove(path), 0);
	object.bias = 0;
	got.size = 0;
	object_call_slots(&object, R_386_JMP_SLOT, R_386_GLOB_DAT, note_slot, &got);
	assert_string_equal(buf_str(&got), "malloc 0 80483c0\n");
	forget_file(&object);
	got.size = 0;
	object_call_slots(&object, R_386_JMP_SLOT, R_386_GLOB_DAT, note_slot, &got);
	assert_int_equal(got.size, 0);
	elf_file_free(object.file);
	buf_free(&got);
	free(path);
}

/* Reading the slots of a damaged file ends, whatever the file contains. */
static void test_damaged_relocations_are_read_to_their_end(void **state)
{
	char *path = xasprintf("%s/damaged", test_folder);
	struct object object = {.open_path = path, .bias = BIAS};
	unsigned found = 0;

	srand(11);
	for (unsigned i = 0; i < 3000; i++) {
		struct buf got = {0};

		write_image(path, false, EM_386, R_386_JMP_SLOT, R_386_IRELATIVE);
		FILE *file = fopen(path, "r+");

		assert_non_null(file);
		for (unsigned n = 0; n < 1 + i % 3; n++) {
			assert_int_equal(fseek(file, rand() % (int)(offsetof(struct image, pad) - 52) + 52, SEEK_SET),
					 0);
			fputc(rand() >> 7 & (i & 1 ? 0xff : 0x03), file);
		}
		assert_int_equal(fclose(file), 0);
		forget_file(&object);
		object_call_slots(&object, R_386_JMP_SLOT, R_386_GLOB_DAT, note_slot, &got);
		found += got.size != 0;
		buf_free(&got);
	}
	assert_in_range(found, 300, 2999);
	elf_file_free(object.file);
	free(path);
}

static void test_origin_of_an_elf_file_is_read(void **state)
{
	char *path = xasprintf("%s/origin", test_folder), *text = xasprintf("%s/text", test_folder);
	uint64_t origin = 1;

	test_write("text", "no ELF file\n");
	assert_false(elf_origin_read(text, &origin));
	assert_false(elf_origin_read("/dev/null", &origin));
	assert_false(elf_origin_read(test_folder, &origin));
	assert_false(elf_origin_read("", &origin));
	assert_int_equal(origin, 1);
	write_image(path, true, EM_ARM, R_ARM_JUMP_SLOT, R_ARM_IRELATIVE);
	assert_true(elf_origin_read(path, &origin));
	assert_int_equal(origin, ORIGIN);
	free(path);
	free(text);
}

static void test_state_bit_is_cleared_only_for_arm(void **state)
{
	assert_int_equal(arch_code_address(EM_ARM, 0x8001), 0x8000);
	assert_int_equal(arch_code_address(EM_ARM, 0x8000), 0x8000);
	assert_int_equal(arch_code_address(EM_386, 0x8001), 0x8001);
	assert_int_equal(arch_code_address(EM_X86_64, UINT64_MAX), UINT64_MAX);
	assert_int_equal(arch_code_address(EM_AARCH64, 0x8001), 0x8001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addends_at_relocated_places_are_read),
		cmocka_unit_test(test_only_slots_of_calls_are_returned),
		cmocka_unit_test(test_damaged_relocations_are_read_to_their_end),
		cmocka_unit_test(test_origin_of_an_elf_file_is_read),
		cmocka_unit_test(test_state_bit_is_cleared_only_for_arm),
	};

	return cmocka_run_group_tests_name("symbols_slots", tests, test_folder_make, test_folder_remove);
}
