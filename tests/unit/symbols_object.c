/* Objects of real programs in many layouts, against what the programs say of themselves. */
#include "config.h"
#include "symbols/object.h"
#include "symbols_util.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* Prints the addresses of a function of its own and of malloc, then waits for the end of its input.
 */
static const char program_source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <unistd.h>\n"
	"int data = 5;\n"
	"__attribute__((noinline)) int probe_me(int x) { return x * data + 41; }\n"
	"static __attribute__((noinline)) int local_one(int x) { return x - data + 7; }\n"
	"int main(void)\n"
	"{\n"
	"	char c;\n"
	"	void *(*m)(size_t) = malloc;\n"
	"	__asm__ volatile(\"\" : \"+r\"(m));\n"
	"	printf(\"%p %p %p\\n\", (void *)probe_me, (void *)local_one, (void *)m);\n"
	"	fflush(stdout);\n"
	"	while (read(0, &c, 1) == 1)\n"
	"		printf(\"%d\\n\", probe_me(c) + local_one(c)), fflush(stdout);\n"
	"	return 0;\n"
	"}\n";

static struct object_list list;

static uint64_t memory_word(pid_t pid, uint64_t address)
{
	char path[64];
	uint64_t word = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	const int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &word, 8, (off_t)address), 8);
	close(fd);
	return word;
}

static uint64_t file_word(const char *path, uint64_t offset)
{
	uint64_t word = 0;
	const int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &word, 8, (off_t)offset), 8);
	close(fd);
	return word;
}

static uint64_t offset_in_file(const struct elf_file *file, uint64_t value)
{
	size_t count;
	const struct elf_segment *segments = elf_file_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		if (value >= segments[i].vaddr && value - segments[i].vaddr < segments[i].file_size)
			return value - segments[i].vaddr + segments[i].offset;
	fail_msg("no segment has %llx", (unsigned long long)value);
	return 0;
}

/* The function is found by name in the object that holds its address, at exactly that address, and
 * the bytes there are the file's. */
static struct object *check_function(pid_t pid, const char *name, uint64_t address)
{
	struct object *object = objects_find(&list, address);
	struct elf_symbol symbol;

	assert_non_null(object);
	assert_true(elf_file_find(object->file, name, &symbol));
	assert_int_equal(object->bias + symbol.value, address);
	if (object->open_path)
		assert_int_equal(
			memory_word(pid, address),
			file_word(object->open_path, offset_in_file(object->file, symbol.value)));
	assert_int_equal((uint32_t)memory_word(pid, object->base), 0x464c457f);
	return object;
}

/* Every text range lies in its mapping; a tail begins where the segment ends, and ends with the
 * mapping. */
static void check_texts(pid_t pid, const struct object *object, bool expect_tail)
{
	struct maps maps;
	bool found = false;

	assert_int_equal(maps_read(pid, &maps), 0);
	assert_true(object->text_count > 0);
	for (size_t i = 0; i < object->text_count; i++) {
		const struct text_range *text = &object->text[i];
		const struct mapping *mapping = maps_find(&maps, text->start);

		assert_non_null(mapping);
		assert_true(mapping->exec);
		assert_true(text->start >= mapping->start && text->end <= mapping->end);
		assert_true(text->start < text->end && text->tail_start == text->end);
		assert_int_equal(text->shared, mapping->shared);
		if (text->tail_end != text->tail_start) {
			assert_int_equal(text->tail_end, mapping->end);
			assert_true(text->tail_end - text->tail_start < 4096);
			found = true;
		}
	}
	if (expect_tail)
		assert_true(found);
	maps_free(&maps);
}

struct addresses {
	unsigned long long probe_me, local_one, malloc;
};

static void parse_addresses(const struct waiting *program, struct addresses *addresses)
{
	assert_int_equal(sscanf(program->line, "%llx %llx %llx", &addresses->probe_me,
				&addresses->local_one, &addresses->malloc),
			 3);
}

static struct object *find_path(const char *part)
{
	for (size_t i = 0; i < list.count; i++)
		if (strstr(list.items[i]->path, part))
			return list.items[i];
	return NULL;
}

struct layout {
	const char *name, *needs, *compiler, *flags;
	bool is_static, stripped;
};

static const struct layout layouts[] = {
	{"default", "gcc", "gcc", "", false, false},
	{"o0", "gcc", "gcc", "-O0", false, false},
	{"no-pie", "gcc", "gcc", "-no-pie", false, false},
	{"no-pie-64k", "gcc", "gcc", "-no-pie -Wl,-z,max-page-size=65536", false, false},
	{"noseparate", "gcc", "gcc", "-Wl,-z,noseparate-code", false, false},
	{"noseparate-64k", "gcc", "gcc", "-Wl,-z,noseparate-code,-z,max-page-size=65536", false,
	 false},
	{"64k", "gcc", "gcc", "-Wl,-z,max-page-size=65536", false, false},
	{"2m", "gcc", "gcc", "-Wl,-z,max-page-size=2097152", false, false},
	{"static", "gcc", "gcc", "-static", true, false},
	{"static-pie", "gcc", "gcc", "-static-pie", true, false},
	{"static-noseparate", "gcc", "gcc", "-static -Wl,-z,noseparate-code", true, false},
	{"text-segment", "gcc", "gcc", "-no-pie -Wl,-Ttext-segment=0x7000000", false, false},
	{"omagic-like", "gcc", "gcc", "-Wl,-z,norelro,-z,noseparate-code", false, false},
	{"gold", "ld.gold", "gcc", "-fuse-ld=gold", false, false},
	{"gold-static", "ld.gold", "gcc", "-fuse-ld=gold -static", true, false},
	{"lld", "ld.lld", "gcc", "-fuse-ld=lld", false, false},
	{"lld-no-pie", "ld.lld", "gcc", "-fuse-ld=lld -no-pie", false, false},
	{"lld-separate", "ld.lld", "gcc", "-fuse-ld=lld -Wl,-z,separate-code", false, false},
	{"lld-loadable", "ld.lld", "gcc", "-fuse-ld=lld -Wl,-z,separate-loadable-segments", false,
	 false},
	{"lld-static-64k", "ld.lld", "gcc", "-fuse-ld=lld -static -Wl,-z,max-page-size=65536", true,
	 false},
	{"mold", "mold", "gcc", "-fuse-ld=mold", false, false},
	{"mold-no-pie", "mold", "gcc", "-fuse-ld=mold -no-pie", false, false},
	{"mold-static-pie", "mold", "gcc", "-fuse-ld=mold -static-pie", true, false},
	{"stripped", "gcc", "gcc", "-s -rdynamic", false, true},
	{"musl", "musl-gcc", "musl-gcc", "", false, false},
	{"musl-static", "musl-gcc", "musl-gcc", "-static", true, false},
};

static void check_layout(const struct layout *layout)
{
	struct waiting program;
	struct addresses addresses;

	if (!test_has(layout->needs)) {
		print_message("layout %s: SKIPPED, there is no %s here\n", layout->name,
			      layout->needs);
		return;
	}
	assert_int_equal(test_run("%s -O1 -o layout program.c %s", layout->compiler, layout->flags),
			 0);
	waiting_start(&program, "./layout");
	parse_addresses(&program, &addresses);
	list = (struct object_list){0};
	assert_int_equal(objects_update(&list, program.pid, NULL, NULL, NULL), 0);
	struct object *object = check_function(program.pid, "probe_me", addresses.probe_me);

	if (!layout->stripped)
		check_function(program.pid, "local_one", addresses.local_one);
	struct object *libc = check_function(program.pid, "malloc", addresses.malloc);

	assert_int_equal(libc == object, layout->is_static);
	assert_non_null(strstr(object->path, "/layout"));
	assert_int_equal(elf_file_is_static(object->file), layout->is_static);
	assert_int_equal(!elf_file_interpreter(object->file), layout->is_static);
	if (libc != object)
		assert_false(elf_file_is_static(libc->file));
	for (size_t i = 0; i < list.count; i++)
		check_texts(program.pid, list.items[i], false);
	assert_non_null(find_path("[vdso]"));
	assert_int_equal(list.unread_count, 0);

	struct aux_info aux;

	assert_int_equal(aux_read(program.pid, &aux), 0);
	assert_int_equal(aux.entry, object->bias + elf_file_entry(object->file));
	assert_int_equal(aux.base != 0, !layout->is_static);
	assert_int_equal(aux.sysinfo_ehdr, find_path("[vdso]")->start);
	objects_free(&list);
	waiting_end(&program);
}

static void test_layouts(void **state)
{
	(void)state;
	test_write("program.c", program_source);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		print_message("layout %s\n", layouts[i].name);
		check_layout(&layouts[i]);
	}
}

static int setup(void **state)
{
	if (test_folder_make(state))
		return -1;
	test_write("program.c", program_source);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
	};

	return cmocka_run_group_tests_name("symbols_object", tests, setup, test_folder_remove);
}
