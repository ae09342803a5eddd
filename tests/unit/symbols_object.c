/* Compares the objects of real programs in many layouts with the addresses that the programs print themselves. */
#include "config.h"
#include "symbols/elf/elf_file.h"
#include "symbols/objects/mapped_object.h"
#include "long.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The program prints the addresses of one of its functions and of malloc, then waits for the end of its input. */
static const char program_source[] = "#include <stdio.h>\n"
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
	const struct elf_segment *segments = file->segments;

	for (size_t i = 0; i < file->segment_count; i++)
		if (value >= segments[i].vaddr && value - segments[i].vaddr < segments[i].file_size)
			return value - segments[i].vaddr + segments[i].offset;
	fail_msg("no segment has %llx", (unsigned long long)value);
	return 0;
}

/* Fails unless the object that contains the address has a function of that name at exactly that address, with the bytes
 * of its file. Returns the object. */
static struct object *check_function(pid_t pid, const char *name, uint64_t address)
{
	struct object *object = objects_find(&list, address);
	struct elf_symbol symbol;

	assert_non_null(object);
	assert_true(elf_file_find(object->file, name, &symbol));
	assert_int_equal(object->bias + symbol.value, address);
	if (object->open_path)
		assert_int_equal(memory_word(pid, address),
				 file_word(object->open_path, offset_in_file(object->file, symbol.value)));
	assert_int_equal((uint32_t)memory_word(pid, object->base), 0x464c457f);
	return object;
}

/* Fails unless every text range is inside its mapping, and each tail begins where the segment ends and ends with the
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
	assert_int_equal(sscanf(program->line, "%llx %llx %llx", &addresses->probe_me, &addresses->local_one,
				&addresses->malloc),
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
	bool is_long; /* only with CHECK_LONG, because other layouts use the same mechanisms */
};

static const struct layout layouts[] = {
	{"default", "gcc", "gcc", "", false, false, false},
	{"o0", "gcc", "gcc", "-O0", false, false, true},
	{"no-pie", "gcc", "gcc", "-no-pie", false, false, true},
	{"no-pie-64k", "gcc", "gcc", "-no-pie -Wl,-z,max-page-size=65536", false, false, false},
	{"noseparate", "gcc", "gcc", "-Wl,-z,noseparate-code", false, false, false},
	{"noseparate-64k", "gcc", "gcc", "-Wl,-z,noseparate-code,-z,max-page-size=65536", false, false, true},
	{"64k", "gcc", "gcc", "-Wl,-z,max-page-size=65536", false, false, true},
	{"2m", "gcc", "gcc", "-Wl,-z,max-page-size=2097152", false, false, false},
	{"static", "gcc", "gcc", "-static", true, false, true},
	{"static-pie", "gcc", "gcc", "-static-pie", true, false, false},
	{"static-noseparate", "gcc", "gcc", "-static -Wl,-z,noseparate-code", true, false, true},
	{"text-segment", "gcc", "gcc", "-no-pie -Wl,-Ttext-segment=0x7000000", false, false, false},
	{"omagic-like", "gcc", "gcc", "-Wl,-z,norelro,-z,noseparate-code", false, false, true},
	{"gold", "ld.gold", "gcc", "-fuse-ld=gold", false, false, false},
	{"gold-static", "ld.gold", "gcc", "-fuse-ld=gold -static", true, false, true},
	{"lld", "ld.lld", "gcc", "-fuse-ld=lld", false, false, false},
	{"lld-no-pie", "ld.lld", "gcc", "-fuse-ld=lld -no-pie", false, false, true},
	{"lld-separate", "ld.lld", "gcc", "-fuse-ld=lld -Wl,-z,separate-code", false, false, true},
	{"lld-loadable", "ld.lld", "gcc", "-fuse-ld=lld -Wl,-z,separate-loadable-segments", false, false, false},
	{"lld-static-64k", "ld.lld", "gcc", "-fuse-ld=lld -static -Wl,-z,max-page-size=65536", true, false, true},
	{"mold", "mold", "gcc", "-fuse-ld=mold", false, false, false},
	{"mold-no-pie", "mold", "gcc", "-fuse-ld=mold -no-pie", false, false, true},
	{"mold-static-pie", "mold", "gcc", "-fuse-ld=mold -static-pie", true, false, true},
	{"stripped", "gcc", "gcc", "-s -rdynamic", false, true, false},
	{"musl", "musl-gcc", "musl-gcc", "", false, false, false},
	{"musl-static", "musl-gcc", "musl-gcc", "-static", true, false, true},
};

static void check_layout(const struct layout *layout)
{
	struct waiting program;
	struct addresses addresses;

	if (!test_has(layout->needs)) {
		print_message("layout %s: SKIPPED, there is no %s here\n", layout->name, layout->needs);
		return;
	}
	assert_int_equal(test_run("%s -O1 -o layout program.c %s", layout->compiler, layout->flags), 0);
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
	objects_free(&list);
	waiting_end(&program);
}

static void test_functions_are_found_in_all_layouts(void **state)
{
	test_write("program.c", program_source);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		if (layouts[i].is_long && !test_is_long())
			continue;
		print_message("layout %s\n", layouts[i].name);
		check_layout(&layouts[i]);
	}
}

/* ---- Files that cannot be opened by their path ---- */

/* A library, and a program that uses it as the bytes of its input say: o dlopen, c dlclose, n dlmopen, s map its file
 * shared and executable, t map a page over the end of its text, e map program.c executable. */
static const char library_source[] =
	"int library_data = 3;\n"
	"__attribute__((noinline)) int library_function(int x) { return x * library_data; }\n"
	"#ifdef LARGE\n"
	"__asm__(\".text\\n.skip 9000\\n\");\n"
	"#endif\n"
	"__attribute__((noinline)) int library_other(int x) { return x - library_data; }\n";

static const char loader_source[] =
	"#define _GNU_SOURCE\n"
	"#include <dlfcn.h>\n"
	"#include <fcntl.h>\n"
	"#include <link.h>\n"
	"#include <stdio.h>\n"
	"#include <sys/mman.h>\n"
	"#include <unistd.h>\n"
	"static void *handle, *second;\n"
	"static char *last_page;\n"
	"static int each(struct dl_phdr_info *i, size_t n, void *d)\n"
	"{\n"
	"	for (int k = 0; k < i->dlpi_phnum; k++) {\n"
	"		const ElfW(Phdr) *p = &i->dlpi_phdr[k];\n"
	"		char *a = (char *)i->dlpi_addr + p->p_vaddr;\n"
	"		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && (char *)d >= a &&\n"
	"		    (char *)d < a + p->p_memsz)\n"
	"			last_page = (char *)((unsigned long)(a + p->p_memsz - 1) & "
	"~4095ul);\n"
	"	}\n"
	"	return 0;\n"
	"}\n"
	"static void *map(const char *path, int flags)\n"
	"{\n"
	"	int fd = open(path, O_RDONLY);\n"
	"	void *p = mmap(0, 4096, PROT_READ | PROT_EXEC, flags, fd, 0);\n"
	"	close(fd);\n"
	"	return p;\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	char c = 'o';\n"
	"	void *f = 0, *g = 0;\n"
	"	do {\n"
	"		if (c == 'o') f = dlsym(handle = dlopen(\"./liblayout.so\", RTLD_NOW), "
	"\"library_function\");\n"
	"		if (c == 'c') dlclose(handle), f = 0;\n"
	"		if (c == 'n') g = dlsym(second = dlmopen(LM_ID_NEWLM, \"./liblayout.so\", "
	"RTLD_NOW), \"library_function\");\n"
	"		if (c == 's') g = map(\"liblayout.so\", MAP_SHARED);\n"
	"		if (c == 'e') g = map(\"program.c\", MAP_PRIVATE);\n"
	"		if (c == 't') dl_iterate_phdr(each, f), g = mmap(last_page, 4096, "
	"PROT_READ, "
	"MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n"
	"		printf(\"%p %p\\n\", f, g);\n"
	"		fflush(stdout);\n"
	"	} while (read(0, &c, 1) == 1);\n"
	"	_exit(0);\n"
	"}\n";

static void parse_two(const struct waiting *program, unsigned long long *first, unsigned long long *second)
{
	*first = *second = 0;
	sscanf(program->line, "%llx", first);
	sscanf(strchr(program->line, ' '), "%llx", second);
}

static void build_library(const char *flags)
{
	test_write("library.c", library_source);
	test_write("loader.c", loader_source);
	assert_int_equal(test_run("gcc -O1 -shared -fPIC -o new.so library.c %s && mv new.so "
				  "liblayout.so && gcc -O1 -o loader loader.c -ldl",
				  flags),
			 0);
}

static void update(pid_t pid)
{
	assert_int_equal(objects_update(&list, pid, NULL, NULL, NULL), 0);
}

/* Drops the capabilities that allow to open /proc/PID/map_files and files without permission; `drop` false restores
 * them. */
static bool drop_capabilities(bool drop)
{
	static struct __user_cap_data_struct saved[2];
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (!drop)
		return !syscall(SYS_capset, &header, saved);
	if (syscall(SYS_capget, &header, saved))
		return false;
	memcpy(data, saved, sizeof(data));
	data[0].effective &= ~(1u << CAP_SYS_ADMIN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
	data[1].effective &= ~(1u << (CAP_CHECKPOINT_RESTORE - 32));
	return !syscall(SYS_capset, &header, data);
}

/* Runs the same check with and without the capabilities. */
static void check_with_and_without_capabilities(void (*check)(bool capable))
{
	if (geteuid())
		print_message("not root: /proc/PID/map_files is not tried\n");
	else
		check(true);
	assert_true(drop_capabilities(true));
	check(false);
	assert_true(drop_capabilities(false));
}

static void check_deleted_program(bool capable)
{
	struct waiting program;
	struct addresses addresses;

	assert_int_equal(test_run("gcc -O1 -o deleted program.c"), 0);
	waiting_start(&program, "./deleted");
	assert_int_equal(test_run("rm deleted && cp /bin/true deleted"), 0);
	parse_addresses(&program, &addresses);
	update(program.pid);
	struct object *object = check_function(program.pid, "probe_me", addresses.probe_me);

	check_function(program.pid, "local_one", addresses.local_one);
	assert_non_null(object->open_path);
	assert_non_null(strstr(object->open_path, capable ? "/map_files/" : "/exe"));
	assert_non_null(strstr(object->path, "/deleted"));
	assert_null(strstr(object->path, "(deleted)")); /* the build-id identifies the file */
	objects_free(&list);
	waiting_end(&program);
}

static void test_deleted_program_is_read(void **state)
{
	check_with_and_without_capabilities(check_deleted_program);
}

/* Another file has the library's path now. It must not be taken for the library, though its functions have the same
 * names. */
static void check_replaced_library(bool capable)
{
	struct waiting program;
	unsigned long long function, none;

	build_library("-Wl,--build-id=none");
	waiting_start(&program, "./loader");
	build_library("-O0 -DPADDING -Wl,-Ttext=0x5550");
	parse_two(&program, &function, &none);
	update(program.pid);
	struct object *object = check_function(program.pid, "library_function", function);
	struct elf_symbol symbol;

	if (capable)
		assert_non_null(strstr(object->open_path, "/map_files/"));
	else
		assert_null(object->open_path);
	assert_true(elf_file_find(object->file, "library_other", &symbol));
	assert_true(elf_file_has_symbols(object->file));
	assert_true(object->file->segment_count >= 4);
	assert_string_equal(elf_file_build_id(object->file), "");
	assert_non_null(strstr(object->path, "liblayout.so (deleted)"));
	check_texts(program.pid, object, true);

	/* The file is not read again, and the object stays the same. */
	const struct elf_file *file = object->file;

	update(program.pid);
	assert_ptr_equal(objects_find(&list, function), object);
	assert_ptr_equal(object->file, file);
	objects_free(&list);
	waiting_end(&program);
}

static void test_replaced_library_is_not_mistaken(void **state)
{
	check_with_and_without_capabilities(check_replaced_library);
}

static void test_program_in_a_memfd_is_read(void **state)
{
	struct waiting program;
	struct addresses addresses;
	const int fd = memfd_create("hidden", 0);
	size_t size;

	assert_int_equal(test_run("gcc -O1 -static -o memory program.c"), 0);
	char *path = xasprintf("%s/memory", test_folder);
	char *bytes = read_file(path, 64u << 20, &size);

	assert_non_null(bytes);
	assert_int_equal(write(fd, bytes, size), size);
	waiting_start_fd(&program, "hidden", fd);
	close(fd);
	parse_addresses(&program, &addresses);
	update(program.pid);
	struct object *object = check_function(program.pid, "local_one", addresses.local_one);

	assert_string_equal(object->path, "/memfd:hidden (deleted)");
	assert_non_null(object->open_path);
	objects_free(&list);
	waiting_end(&program);
	free(bytes);
	free(path);
}

/* A program that may be executed but not read. */
static void test_unreadable_program_is_read(void **state)
{
	struct waiting program;
	struct addresses addresses;

	assert_int_equal(test_run("gcc -O1 -rdynamic -o unreadable program.c; chmod 111 unreadable"), 0);
	waiting_start(&program, "./unreadable");
	parse_addresses(&program, &addresses);
	assert_true(drop_capabilities(true));
	struct object_list quick = {0};
	const int error = objects_update(&quick, program.pid, NULL, NULL, NULL);

	assert_true(drop_capabilities(false));
	if (error) {
		print_message("SKIPPED: an unreadable program's maps are not readable here\n");
	} else {
		list = quick;
		check_function(program.pid, "probe_me", addresses.probe_me);
		assert_null(objects_find(&list, addresses.probe_me)->open_path);
		objects_free(&list);
	}
	waiting_end(&program);
}

/* ---- Coming and going ---- */

static char changes[512];

static void on_removed(void *context, struct object *object)
{
	assert_ptr_equal(context, &list);
	assert_ptr_not_equal(objects_find(&list, object->text[0].start), object);
	strncat(changes, " -", 10);
	strncat(changes, strrchr(object->path, '/') + 1, 100);
}

static void on_added(void *context, struct object *object)
{
	assert_ptr_equal(context, &list);
	assert_ptr_equal(objects_find(&list, object->text[0].start), object);
	if (strrchr(object->path, '/')) {
		strncat(changes, " +", 10);
		strncat(changes, strrchr(object->path, '/') + 1, 100);
	}
}

static void check_changes(struct waiting *program, const char *expected)
{
	changes[0] = '\0';
	assert_int_equal(objects_update(&list, program->pid, on_removed, on_added, &list), 0);
	assert_string_equal(changes, expected);
}

static void test_loaded_and_unloaded_objects_are_reported(void **state)
{
	struct waiting program;
	unsigned long long function, copy;

	build_library("");
	waiting_start(&program, "./loader");
	changes[0] = '\0';
	assert_int_equal(objects_update(&list, program.pid, on_removed, on_added, &list), 0);
	assert_non_null(strstr(changes, " +loader"));
	assert_non_null(strstr(changes, " +liblayout.so"));
	assert_non_null(strstr(changes, " +libc.so.6"));
	assert_null(strstr(changes, " -"));
	check_changes(&program, "");
	parse_two(&program, &function, &copy);
	struct object *object = check_function(program.pid, "library_function", function);
	const struct elf_file *file = object->file;

	/* After a fork the child's list has the same objects as its parent's, and is independent of it. */
	struct object_list clone;

	objects_clone(&list, &clone);
	assert_int_equal(clone.count, list.count);
	assert_ptr_equal(objects_find(&clone, function)->file, file);
	assert_ptr_not_equal(objects_find(&clone, function), object);

	waiting_next(&program, 'c');
	check_changes(&program, " -liblayout.so");
	assert_null(objects_find(&list, function));
	assert_non_null(objects_find(&clone, function));
	objects_free(&clone);

	/* The file is known already. */
	waiting_next(&program, 'o');
	check_changes(&program, " +liblayout.so");
	parse_two(&program, &function, &copy);
	object = check_function(program.pid, "library_function", function);
	assert_ptr_equal(object->file, file);

	/* Between two reads of the maps the library was unmapped, and another file with its name was mapped at the same
	 * place.
	 */
	waiting_next(&program, 'c');
	build_library("-DANOTHER -O0");
	waiting_next(&program, 'o');
	check_changes(&program, " -liblayout.so +liblayout.so");
	parse_two(&program, &function, &copy);
	object = check_function(program.pid, "library_function", function);
	assert_ptr_not_equal(object->file, file);
	file = object->file;

	/* dlmopen() loads the library a second time: the copy is a second object of the same file. */
	waiting_next(&program, 'n');
	changes[0] = '\0';
	assert_int_equal(objects_update(&list, program.pid, on_removed, on_added, &list), 0);
	assert_non_null(strstr(changes, "+liblayout.so"));
	assert_null(strstr(changes, " -"));
	parse_two(&program, &function, &copy);
	struct object *second = check_function(program.pid, "library_function", copy);

	assert_ptr_not_equal(object, second);
	assert_ptr_equal(object->file, second->file);
	assert_ptr_equal(objects_find(&list, function), object);
	assert_true(second->end <= object->start || object->end <= second->start);

	/* Another process shares the file. */
	struct waiting other;
	struct object_list others = {0};

	waiting_start(&other, "./loader");
	assert_int_equal(objects_update(&others, other.pid, NULL, NULL, NULL), 0);
	parse_two(&other, &function, &copy);
	assert_ptr_equal(objects_find(&others, function)->file, file);
	objects_free(&others);
	waiting_end(&other);

	waiting_end(&program);
	assert_int_equal(objects_update(&list, program.pid, NULL, NULL, NULL), -ENOENT);
	assert_true(list.count > 4); /* a failed update does not change the list */
	objects_free(&list);
}

static void test_tails_end_where_other_mappings_begin(void **state)
{
	struct waiting program;
	unsigned long long function, other;

	build_library("");
	waiting_start(&program, "./loader");
	parse_two(&program, &function, &other);
	update(program.pid);
	struct object *object = objects_find(&list, function);

	check_texts(program.pid, object, true);
	assert_int_equal(object->text_count, 1);
	const struct text_range before = object->text[0];

	/* The program replaces the page with the text's end, where the tail was. The text of this library is one page,
	 * so nothing of it is left. */
	waiting_next(&program, 't');
	update(program.pid);
	assert_null(objects_find(&list, function));
	assert_true(before.tail_end > before.tail_start);
	waiting_end(&program);
	objects_free(&list);

	/* If a text is longer than a page, its other pages stay, without a tail. */
	build_library("-DLARGE -fno-toplevel-reorder");
	waiting_start(&program, "./loader");
	parse_two(&program, &function, &other);
	update(program.pid);
	object = check_function(program.pid, "library_function", function);
	const struct text_range whole = object->text[0];

	assert_true(whole.end - whole.start > 9000 && whole.tail_end > whole.tail_start);
	waiting_next(&program, 't');
	update(program.pid);
	assert_ptr_equal(check_function(program.pid, "library_function", function), object);
	assert_int_equal(object->text_count, 1);
	assert_int_equal(object->text[0].start, whole.start);
	assert_int_equal(object->text[0].end, whole.tail_end - 4096);
	assert_int_equal(object->text[0].tail_start, object->text[0].tail_end);
	waiting_end(&program);
	objects_free(&list);

	/* functrace sets no breakpoints in a shared mapping of the library's text. */
	build_library("-Wl,-z,noseparate-code");
	waiting_start(&program, "./loader");
	waiting_next(&program, 's');
	parse_two(&program, &function, &other);
	update(program.pid);
	object = objects_find(&list, other);
	assert_non_null(object);
	assert_ptr_not_equal(object, objects_find(&list, function));
	assert_int_equal(object->base, other);
	assert_true(object->text[0].shared);
	assert_int_equal(object->text[0].tail_start, object->text[0].tail_end);

	/* A file that is not an ELF file is reported. */
	assert_int_equal(list.unread_count, 0);
	waiting_next(&program, 'e');
	update(program.pid);
	update(program.pid);
	assert_int_equal(list.unread_count, 1);
	assert_non_null(strstr(list.unread[0], "/program.c: it is no ELF file"));
	waiting_end(&program);
	objects_free(&list);
}

/* ---- Symbols ---- */

static bool count_named(void *context, const struct elf_symbol *symbol)
{
	unsigned *counts = context;

	counts[0]++;
	if (!strcmp(symbol->name, "probe_me"))
		counts[1]++;
	if (!strcmp(symbol->name, "local_one"))
		counts[2]++;
	if (!strcmp(symbol->name, "by_hand"))
		counts[3]++;
	if (!strcmp(symbol->name, "data") || strchr(symbol->name, '@'))
		counts[4]++;
	return true;
}

static void check_symbols(const char *path, unsigned local)
{
	struct waiting program;
	struct addresses addresses;
	unsigned counts[5] = {0};

	print_message("symbols of %s\n", path);
	waiting_start(&program, path);
	parse_addresses(&program, &addresses);
	update(program.pid);
	struct object *object = check_function(program.pid, "probe_me", addresses.probe_me);

	if (local)
		check_function(program.pid, "local_one", addresses.local_one);
	elf_file_functions(object->file, count_named, counts);
	assert_int_equal(counts[1], 1);
	assert_int_equal(counts[2], local);
	assert_int_equal(counts[3], strstr(path, "headless") ? 0 : 1);
	assert_int_equal(counts[4], 0);
	objects_free(&list);
	waiting_end(&program);
}

static void test_all_symbol_tables_are_searched(void **state)
{
	test_write("hand.s", ".text\n.globl by_hand\nby_hand:\n\tnop\n\tret\n"
			     ".section .note.GNU-stack,\"\"\n");
	assert_int_equal(test_run("gcc -O1 -rdynamic -o full program.c hand.s"), 0);
	check_symbols("./full", 1);
	assert_int_equal(test_run("strip -o bare full"), 0);
	check_symbols("./bare", 0);
	if (test_has("xz")) {
		assert_int_equal(test_run("objcopy --only-keep-debug full debug && strip -g debug && "
					  "xz -k debug && objcopy --add-section .gnu_debugdata=debug.xz "
					  "bare mini"),
				 0);
		check_symbols("./mini", 1);
	} else {
		print_message(".gnu_debugdata: SKIPPED, there is no xz here\n");
	}
	/* No section headers: e_shoff (8 bytes at 40) and e_shnum, e_shstrndx (4 bytes at 60) are
	 * 0. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(test_run("cp full headless && for at in 40 41 42 43 44 45 46 47 60 61 62 "
					  "63; do "
					  "printf '\\000' | dd of=headless bs=1 conv=notrunc seek=$at; done"),
				 0);
		check_symbols("./headless", 0);
		assert_int_equal(test_run("gcc -O1 -rdynamic -Wl,--hash-style=%s -o full program.c "
					  "hand.s",
					  i ? "gnu" : "sysv"),
				 0);
	}
}

/* Of several versions of a symbol the default one is found. An IFUNC is marked as such. */
static void test_default_version_of_a_symbol_is_found(void **state)
{
	struct waiting program;
	struct addresses addresses;
	struct elf_symbol symbol;
	uint64_t newer = 0;

	test_write("versions.c", "__asm__(\".symver old_one,twice@V1\\n.symver new_one,twice@@V2\\n\"\n"
				 "	\".symver old_one,pair@V1\\n.symver new_one,pair@@V2\\n\"\n"
				 "	\".symver old_one,both@V1\\n.symver new_one,both@@V2\\n\"\n"
				 "	\".symver old_one,dual@V1\\n.symver new_one,dual@@V2\");\n"
				 "int old_one(int x) { return x + 1; }\n"
				 "int new_one(int x) { return x + 2; }\n"
				 "static int chosen(int x) { return x; }\n"
				 "static void *choose(void) { return chosen; }\n"
				 "int switched(int) __attribute__((ifunc(\"choose\")));\n");
	test_write("versions.map", "V1 { twice; pair; both; dual; switched; };\nV2 { } V1;\n");
	assert_int_equal(test_run("gcc -O1 -shared -fPIC -o libversions.so versions.c "
				  "-Wl,--version-script=versions.map && "
				  "gcc -O1 -o versions program.c -Wl,--no-as-needed "
				  "./libversions.so"),
			 0);
	for (int i = 0; i < 2; i++) {
		waiting_start(&program, "./versions");
		parse_addresses(&program, &addresses);
		update(program.pid);
		struct object *object = find_path("libversions.so");

		assert_non_null(object);
		assert_true(elf_file_find(object->file, "switched", &symbol));
		assert_true(symbol.is_ifunc && symbol.is_global);
		if (!i) { /* the library still has its symbol table, which the test strips below */
			assert_true(elf_file_find(object->file, "new_one", &symbol));
			newer = symbol.value;
		}
		/* The default version is found, whichever version comes first in the table. */
		static const char *const doubled[] = {"twice", "pair", "both", "dual"};

		for (size_t n = 0; n < ARRAY_SIZE(doubled); n++) {
			assert_true(elf_file_find(object->file, doubled[n], &symbol));
			assert_false(symbol.is_ifunc);
			assert_int_equal(symbol.value, newer);
		}
		assert_false(elf_file_find(object->file, "twice@V1", &symbol));
		assert_false(elf_file_find(object->file, "thrice", &symbol));
		objects_free(&list);
		waiting_end(&program);
		assert_int_equal(test_run("strip libversions.so"), 0);
	}
}

/* The program runs in another root, or in another mount namespace: its path is that of another file here, or of
 * none. */
static void test_program_in_another_root_is_read(void **state)
{
	struct waiting program;
	struct addresses addresses;

	if (geteuid()) {
		print_message("SKIPPED: only root can change the root\n");
		skip();
	}
	assert_int_equal(test_run("mkdir -p cell/inner && gcc -O1 -static -o cell/inner/prog "
				  "program.c && mkdir -p hidden && "
				  "printf '#!/bin/sh\\nexec chroot cell /inner/prog\\n' >rooted && "
				  "printf '#!/bin/sh\\nexec unshare -m sh -c \"mount -t tmpfs none "
				  "hidden && cp cell/inner/prog hidden/prog && exec hidden/prog\"\\n' "
				  ">mounted && chmod +x rooted mounted"),
			 0);
	for (int i = 0; i < 2; i++) {
		if (i && test_run("unshare -m true") != 0) { /* this fails in a chroot, for example */
			print_message("no mount namespace can be made here\n");
			skip();
		}
		waiting_start(&program, i ? "./mounted" : "./rooted");
		parse_addresses(&program, &addresses);
		assert_true(drop_capabilities(true));
		update(program.pid);
		assert_true(drop_capabilities(false));
		struct object *object = check_function(program.pid, "local_one", addresses.local_one);

		assert_non_null(object->open_path);
		objects_free(&list);
		waiting_end(&program);
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
		cmocka_unit_test(test_functions_are_found_in_all_layouts),
		cmocka_unit_test(test_deleted_program_is_read),
		cmocka_unit_test(test_replaced_library_is_not_mistaken),
		cmocka_unit_test(test_program_in_a_memfd_is_read),
		cmocka_unit_test(test_unreadable_program_is_read),
		cmocka_unit_test(test_loaded_and_unloaded_objects_are_reported),
		cmocka_unit_test(test_tails_end_where_other_mappings_begin),
		cmocka_unit_test(test_all_symbol_tables_are_searched),
		cmocka_unit_test(test_default_version_of_a_symbol_is_found),
		cmocka_unit_test(test_program_in_another_root_is_read),
	};

	return cmocka_run_group_tests_name("symbols_object", tests, setup, test_folder_remove);
}
