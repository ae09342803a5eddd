/* Tests debug information that is damaged on purpose, and files that are truncated while they are read. */
#include "config.h"
#include "long.h"
#include "signature_util.h"
#include "symbols_util.h"
#include "base/buf.h"
#include "symbols/elf/elf_file.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUNDS 3000

static const char source[] =
	"struct node { struct node *next; struct { int a : 3; double d; } in; enum { A, B = 5 } kind; };\n"
	"union either { int i; float f; char text[8]; };\n"
	"struct whole { struct node node; union either either[3][2]; long last; };\n"
	"typedef int (*callback)(const char *, ...);\n"
	"int plain(int a, const char *b, double c) { return a + *b + c; }\n"
	"struct node nodes(struct node value, struct node *list, struct whole *w) { return value; }\n"
	"float _Complex other(callback call, union either e, float _Complex z, _Bool yes,\n"
	"                     const volatile short *const *p)\n"
	"{ return z + e.f + call(0) + yes; }\n"
	"static __attribute__((noinline)) long moved(long a, long unused, struct whole *w) { return a + w->last; }\n"
	"long caller(long a, struct whole *w) { return moved(a, 3, w) + moved(a + 1, 4, w); }\n";

static unsigned random_state = 1;

static unsigned random_next(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % below;
}

/* ---- Damage ---- */

struct part {
	size_t offset, size;
};

/* Finds the sections with debug information; .debug_info becomes the first part. Returns their number. */
static size_t find_parts(const char *path, struct part *parts, size_t most)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t names, count = 1;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	parts[0] = (struct part){0};
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : "";

		if (strncmp(name, ".debug", 6) != 0 || !header.sh_size || count == most)
			continue;
		parts[!strcmp(name, ".debug_info") ? 0 : count++] = (struct part){header.sh_offset, header.sh_size};
	}
	elf_end(elf);
	close(fd);
	assert_true(parts[0].size > 100);
	return count;
}

static void damage(unsigned char *bytes, const struct part *parts, size_t count)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	const unsigned places = 1 + random_next(8);

	for (unsigned i = 0; i < places; i++) {
		/* Most of the damage is in .debug_info, the first part. */
		const struct part *part = &parts[random_next(3) ? 0 : random_next((unsigned)count)];
		unsigned char *at = bytes + part->offset + random_next((unsigned)part->size);

		if (!random_next(3) && part->size > 100 && at + 4 <= bytes + part->offset + part->size) {
			/* If these bytes are a reference to an entry, they refer to another place afterwards. */
			const uint32_t offset = random_next((unsigned)parts[0].size);

			memcpy(at, &offset, sizeof(offset));
		} else {
			*at = random_next(2) ? values[random_next(5)] : (unsigned char)random_next(256);
		}
	}
}

/* ---- Reading all signatures of a file ---- */

struct reading {
	const struct object *object;
	unsigned found;
};

static bool read_one(void *context, const struct elf_symbol *symbol)
{
	struct reading *reading = context;
	char *text = signature_text_at(reading->object, symbol->value + reading->object->bias);

	reading->found += strcmp(text, "none") != 0;
	free(text);
	return true;
}

/* Returns the number of functions with a signature. */
static unsigned read_all(const char *name)
{
	struct object *object = test_object(name);
	struct reading reading = {.object = object};

	assert_non_null(object);
	elf_file_functions(object->file, read_one, &reading);
	test_object_free(object);
	return reading.found;
}

static void test_damaged_debug_information_is_read_to_its_end(void **state)
{
	static const char *const builds[] = {"gcc -g -O2 -gdwarf-5", "gcc -g -O0 -gdwarf-4", "clang -g -O2",
					     "gcc -g -fdebug-types-section -gdwarf-4"};
	char *path = xasprintf("%s/damaged", test_folder);
	unsigned found = 0, whole = 0;

	test_write("s.c", source);
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		struct part parts[16];
		size_t size;

		if (i == 2 && !test_has("clang"))
			continue;
		assert_int_equal(test_run("%s -shared -fPIC -nostdlib -o good s.c", builds[i]), 0);
		assert_int_equal(read_all("good"), 5);
		char *good = xasprintf("%s/good", test_folder);
		char *bytes = read_file(good, 1u << 20, &size);
		const size_t count = find_parts(good, parts, ARRAY_SIZE(parts));

		for (unsigned round = 0; round < ROUNDS / ARRAY_SIZE(builds); round++) {
			unsigned char *copy = xmalloc(size);
			const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

			memcpy(copy, bytes, size);
			damage(copy, parts, count);
			assert_int_equal(write_all(fd, copy, size, NULL), 0);
			close(fd);
			free(copy);
			found += read_all("damaged");
			whole += 5;
		}
		free(bytes);
		free(good);
	}
	free(path);
	print_message("%u of %u signatures were there\n", found, whole);
	assert_true(found > whole / 4 && found < whole);
}

/* A program is truncated while it is traced, as when a build overwrites it. */
static void test_signatures_stay_after_a_truncation(void **state)
{
	char *path = xasprintf("%s/cut", test_folder);

	test_write("s.c", source);
	assert_int_equal(test_run("gcc -g -O2 -shared -fPIC -nostdlib -o cut s.c"), 0);
	for (unsigned round = 0; round < 2; round++) {
		struct object *object = test_object("cut");

		assert_non_null(object);
		const uint64_t plain = test_address(object, "plain"), caller = test_address(object, "caller");
		const struct signature *before = round ? object_signature(object, plain, &(bool){false}) : NULL;

		assert_int_equal(truncate(path, 512), 0);
		/* Data that the reader has read before are in memory, independent of the file. */
		assert_int_equal(!object_signature(object, caller, &(bool){false}), !round);
		assert_ptr_equal(object_signature(object, plain, &(bool){false}), before);
		if (before)
			assert_string_equal(before->params[1].name, "b");
		test_object_free(object);
		assert_int_equal(test_run("gcc -g -O2 -shared -fPIC -nostdlib -o cut s.c"), 0);
	}
	free(path);
}

/* dwz has moved the debug information that several programs have in common to another file, which is missing. The types
 * in that file are unknown: none is taken for another type or for void, and no parameter is missing. */
static void test_types_in_a_missing_common_file_are_unknown(void **state)
{
	static const char *const builds[] = {"gcc -g -O0", "gcc -g -O2"};
	char *path = xasprintf("%s/common", test_folder);

	if (!test_has("dwz")) {
		print_message("SKIPPED: there is no dwz here\n");
		free(path);
		skip();
	}
	test_write("s.c", source);
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		for (unsigned program = 0; program < 3; program++)
			assert_int_equal(test_run("%s -shared -fPIC -nostdlib -o common%u s.c", builds[i], program), 0);
		assert_int_equal(test_run("dwz -m common common0 common1 common2"), 0);
		struct object *whole = test_object("common0"), *lost = test_object("common1");

		assert_signature(whole, "plain", "int:i4 (int:i4 a, const char:c1* b, double:f8 c)");
		assert_int_equal(unlink(path), 0);
		assert_signature(lost, "plain", "?:uo0 (?:uo0 a, ?:uo0 b, ?:uo0 c)");
		assert_signature(lost, "nodes", "?:uo0 (?:uo0, ?:uo0, ?:uo0 w)");
		assert_signature(lost, "caller", "?:uo0 (?:uo0 a, ?:uo0 w)");
		test_object_free(whole);
		test_object_free(lost);
	}
	free(path);
}

/* ---- Debug information that no compiler writes ---- */

/* The source, in assembler, of a library with a unit that describes `victim`. It is a format string for: the number of
 * the language in DWARF, entries inside of `victim`, text after the unit. The abbreviations are: 2: a function with a
 * name and a mangled name; 3: a parameter; 4: a struct with members; 5: a struct without members; 6: a member; 7: a
 * function with a list of ranges; 8: a bit field. */
static const char unit_begin[] = ".text\n.globl victim\n.type victim,@function\nvictim: ret\n.Lend:\n.size victim,1\n"
				 ".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n"
				 ".byte 1,0x11,1, 0x13,0x05, 0x11,0x01, 0x12,0x06, 0,0\n"
				 ".byte 2,0x2e,1, 0x03,0x08, 0x6e,0x08, 0x11,0x01, 0x12,0x06, 0,0\n"
				 ".byte 3,0x05,0, 0x03,0x08, 0x49,0x13, 0,0\n"
				 ".byte 4,0x13,1, 0x03,0x08, 0x0b,0x0b, 0,0\n"
				 ".byte 5,0x13,0, 0x03,0x08, 0x0b,0x0b, 0,0\n"
				 ".byte 6,0x0d,0, 0x03,0x08, 0x49,0x13, 0x38,0x0b, 0,0\n"
				 ".byte 7,0x2e,0, 0x55,0x17, 0,0\n"
				 ".byte 8,0x0d,0, 0x03,0x08, 0x49,0x13, 0x38,0x0b, 0x0d,0x0b, 0x0c,0x0d, 0,0\n"
				 ".byte 0\n"
				 ".section .debug_info,\"\",@progbits\n"
				 ".Lunit: .long .Lall-.Lversion\n.Lversion: .value 4\n.long .Labbrev\n.byte 8\n"
				 ".byte 1\n.value %u\n.quad victim\n.long .Lend-victim\n"
				 ".byte 2\n.string \"victim\", \"_R6victim\"\n.quad victim\n.long .Lend-victim\n%s"
				 ".byte 0\n.Lall:\n%s"
				 ".section .note.GNU-stack,\"\",@progbits\n";

static struct object *victim_of(unsigned language, const char *inside, const char *after)
{
	char *const text = xasprintf(unit_begin, language, inside, after);

	test_write("victim.s", text);
	free(text);
	assert_int_equal(test_run("gcc -shared -nostdlib -o victim victim.s"), 0);
	return test_object("victim");
}

#define RUST   0x1c
#define LEVELS 8

/* Each of several levels of Rust's structs contains the next level many times: the reader gives up. */
static void test_deeply_nested_structs_are_given_up(void **state)
{
	static const char *const types[] = {"String", "Other"};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct buf inside = {0};
		bool is_late = false;

		buf_printf(
			&inside,
			".byte 3\n.string \"a\"\n.long .Lstring-.Lunit\n.byte 0\n.Lstring: .byte 4\n"
			".string \"%s\"\n.byte 24\n.byte 6\n.string \"vec\"\n.long .Llevel0-.Lunit\n.byte 0\n.byte 0\n",
			types[i]);
		for (unsigned level = 0; level < LEVELS; level++)
			buf_printf(
				&inside,
				".Llevel%u: .byte 4\n.string \"\"\n.byte 24\n"
				".rept 255\n.byte 6\n.string \"\"\n.long .Llevel%u-.Lunit\n.byte 0\n.endr\n.byte 0\n",
				level, level + 1);
		buf_printf(&inside, ".Llevel%u: .byte 5\n.string \"\"\n.byte 24\n", LEVELS);
		struct object *object = victim_of(RUST, buf_str(&inside), "");

		assert_null(object_signature(object, test_address(object, "victim"), &is_late));
		assert_false(is_late);
		test_object_free(object);
		buf_free(&inside);
	}
}

#define C99 0x0c

/* A bit field at an impossible place ends the list of members, which is marked with "...". */
static void test_impossible_bit_fields_end_the_members(void **state)
{
	static const struct {
		int size, from;
		const char *text;
	} fields[] = {
		{20, -8, "{0:struct word m; 2:4+20:struct word bits}8/1"},
		{20, -130, "{0:struct word m...}8/1"},
		{20, 13, "{0:struct word m...}8/1"},
		{0, 0, "{0:struct word m...}8/1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *const inside =
			xasprintf(".byte 3\n.string \"a\"\n.long .Lstruct-.Lunit\n.byte 0\n.Lword: .byte 5\n"
				  ".string \"word\"\n.byte 4\n.Lstruct: .byte 4\n.string \"s\"\n.byte 8\n"
				  ".byte 6\n.string \"m\"\n.long .Lword-.Lunit\n.byte 0\n"
				  ".byte 8\n.string \"bits\"\n.long .Lword-.Lunit\n.byte 0, %d\n.sleb128 %d\n.byte 0\n",
				  fields[i].size, fields[i].from);
		struct object *object = victim_of(C99, inside, "");
		char *const expected = xasprintf("void (struct s%s a)", fields[i].text);

		assert_signature(object, "victim", expected);
		free(expected);
		test_object_free(object);
		free(inside);
	}
}

#define SHARERS 400

/* Each of many functions refers to one list of 65536 ranges. The reader keeps no more ranges than its limit for a
 * file. */
static void test_shared_ranges_stay_within_the_limit(void **state)
{
	struct rusage before, after;
	bool is_late = false;

	if (!test_is_long()) {
		print_message("SKIPPED: the reader takes seconds for these ranges; set CHECK_LONG to run this test\n");
		skip();
	}
	char *const inside = xasprintf(".byte 0\n.rept %u\n.byte 7\n.long .Lranges\n.endr\n", SHARERS);
	struct object *object = victim_of(C99, inside,
					  ".section .debug_ranges,\"\",@progbits\n.Lranges:\n"
					  ".rept 65536\n.quad 16, 17\n.endr\n.quad 0, 0\n");

	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	object_signature(object, test_address(object, "victim"), &is_late);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	assert_true(after.ru_maxrss - before.ru_maxrss < 512 * 1024);
	test_object_free(object);
	free(inside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_debug_information_is_read_to_its_end),
		cmocka_unit_test(test_signatures_stay_after_a_truncation),
		cmocka_unit_test(test_types_in_a_missing_common_file_are_unknown),
		cmocka_unit_test(test_deeply_nested_structs_are_given_up),
		cmocka_unit_test(test_impossible_bit_fields_end_the_members),
		cmocka_unit_test(test_shared_ranges_stay_within_the_limit),
	};

	return cmocka_run_group_tests_name("signature_hostile", tests, test_folder_make, test_folder_remove);
}
