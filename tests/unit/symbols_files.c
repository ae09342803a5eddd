/* Tests files that debug information names. Whatever such a file is, functrace looks names up in a limited time and
 * finds the names that the program itself contains. */
#include "config.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/names/names.h"
#include "symbols/elf/private_copy.h"
#include "long.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BASE     UINT64_C(0x100000000)
#define PATIENCE 60 /* seconds */

static const char source[] = "int helper(int n) { return n + 1; }\n"
			     "int sum(int n) { int s = 0; while (n--) s += helper(n); return s; }\n"
			     "int main(int argc, char **argv) { (void)argv; return sum(argc); }\n";

/* A place at which a program names a file with debug information, and commands that make such a program. */
struct place {
	const char *name;
	const char *commands; /* they build the program `prog` and the file */
	const char *file;
	bool is_needed; /* without the file not even the function's name is found */
	bool has_line;  /* even without the file the line is known */
};

static const struct place places[] = {
	{
		.name = "debuglink",
		.commands = "gcc -g -O1 -Wl,--build-id=none -o whole p.c && objcopy --only-keep-debug whole p.debug && "
			    "strip -g -o prog whole && objcopy --add-gnu-debuglink=p.debug prog",
		.file = "p.debug",
	},
	{
		.name = "folder of build-ids",
		.commands = "gcc -g -O1 -Wl,--build-id=0xabcdef0123456789 -o whole p.c && mkdir -p dbg/.build-id/ab && "
			    "objcopy --only-keep-debug whole dbg/.build-id/ab/cdef0123456789.debug && "
			    "strip -g -o prog whole",
		.file = "dbg/.build-id/ab/cdef0123456789.debug",
	},
	{
		.name = "name made of the program's",
		.commands = "gcc -g -O1 -Wl,--build-id=none -o prog.debug p.c && strip -g -o prog prog.debug",
		.file = "prog.debug",
	},
	{
		.name = ".dwo",
		.commands = "gcc -g -O1 -gsplit-dwarf -c -o p.o p.c && gcc -o prog p.o",
		.file = "p.dwo",
		.has_line = true,
	},
	{
		.name = "dwz's link",
		.commands = "gcc -g -O1 -o prog p.c && printf '%s/alt\\0abcdefghijklmnopqrst' $PWD > p.link && "
			    "objcopy --add-section .gnu_debugaltlink=p.link prog && cp prog alt",
		.file = "alt",
		.has_line = true,
	},
	{
		.name = "the program itself",
		.commands = "gcc -g -O1 -o prog p.c",
		.file = "prog",
		.is_needed = true,
	},
};

static void make_place(const struct place *place)
{
	assert_int_equal(test_run("rm -rf prog* whole p.* dbg alt"), 0);
	test_write("p.c", source);
	assert_int_equal(test_run("%s", place->commands), 0);
}

static uint64_t address_of(const char *symbol)
{
	uint64_t address;
	char line[64] = "";

	assert_int_equal(test_run("${NM:-nm} prog | grep ' %s$' > address", symbol), 0);
	char *path = xasprintf("%s/address", test_folder);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	free(path);
	assert_int_equal(sscanf(line, "%" SCNx64, &address), 1);
	return address;
}

/* Looks up the name and the line of sum(): copies the name, returns the line. */
static unsigned look_up(uint64_t address, char name[64])
{
	char *folder = xasprintf("%s/dbg", test_folder), *path = xasprintf("%s/prog", test_folder);
	const struct names_options options = {.debug_path = folder};
	const struct record_object object = {.from = BASE, .to = BASE + (1u << 20), .path = path};
	struct names *names = names_new(&options);
	const struct frame_name *lines;

	names_add_object(names, &object, NULL);
	const size_t count = names_lookup(names, BASE + address + 1, &lines);
	const unsigned line = count ? lines[0].line : 0;

	assert_true(count > 0);
	snprintf(name, 64, "%s", lines[0].function ? lines[0].function : "");
	names_free(names);
	free(path);
	free(folder);
	return line;
}

static char *path_of(const struct place *place)
{
	return xasprintf("%s/%s", test_folder, place->file);
}

/* ---- Special files in place of the file with debug information ---- */

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static void make_device(const char *path)
{
	assert_int_equal(symlink("/dev/zero", path), 0);
}

static void make_terminal(const char *path)
{
	assert_int_equal(symlink("/dev/tty", path), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_large(const char *path)
{
	assert_int_equal(test_run("cp whole.keep '%s' && truncate -s 1T '%s'", path, path), 0);
}

static void make_hole(const char *path)
{
	test_write("empty", "");
	assert_int_equal(test_run("cp empty '%s' && truncate -s 1T '%s'", path, path), 0);
}

static void make_loop(const char *path)
{
	assert_int_equal(symlink(path, path), 0);
}

static void test_special_files_do_not_block_lookups(void **state)
{
	static const struct {
		const char *name;
		void (*make)(const char *path);
	} kinds[] = {
		{"a fifo", make_fifo},
		{"a socket", make_socket},
		{"a device", make_device},
		{"a terminal", make_terminal},
		{"a folder", make_folder},
		{"a TiB after the file", make_large},
		{"a TiB without data", make_hole},
		{"a link to itself", make_loop},
	};
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		make_place(&places[i]);
		const uint64_t address = address_of("sum");
		char *path = path_of(&places[i]);

		assert_int_equal(look_up(address, name), 2);
		assert_string_equal(name, "sum");
		assert_int_equal(test_run("cp '%s' whole.keep", path), 0);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			assert_int_equal(unlink(path) && rmdir(path), 0);
			kinds[k].make(path);
			print_message("%s: %s\n", places[i].name, kinds[k].name);
			alarm(PATIENCE);
			const unsigned line = look_up(address, name);

			alarm(0);
			/* make_large adds bytes after the file's data. They matter only for a debuglink, because
			 * functrace does not compute the CRC of a file of more than 4 GiB. */
			if (places[i].has_line)
				assert_int_equal(line, 2);
			else if (kinds[k].make != make_large)
				assert_int_equal(line, 0);
			if (!places[i].is_needed)
				assert_string_equal(name, "sum");
		}
		free(path);
	}
}

/* ---- Files that are truncated while they are read ---- */

struct cutter {
	char *path, *keep;
	bool stop;
};

/* Truncates the file and fills it again, in place. */
static void *cut_again_and_again(void *context)
{
	struct cutter *cutter = context;
	size_t size;
	char *whole = read_file(cutter->keep, 16u << 20, &size);

	while (!__atomic_load_n(&cutter->stop, __ATOMIC_RELAXED)) {
		FILE *file = fopen(cutter->path, "r+");

		if (!file)
			break;
		if (ftruncate(fileno(file), 0) || fwrite(whole, 1, size, file) != size)
			break;
		fclose(file);
	}
	free(whole);
	return NULL;
}

static void test_files_truncated_during_lookups_are_read(void **state)
{
	const unsigned cuts = test_is_long() ? 150 : 20;
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		make_place(&places[i]);
		const uint64_t address = address_of("sum");
		struct cutter cutter = {.path = path_of(&places[i]), .keep = xasprintf("%s/whole.keep", test_folder)};
		pthread_t thread;

		print_message("%s\n", places[i].name);
		assert_int_equal(test_run("cp '%s' whole.keep", cutter.path), 0);
		assert_int_equal(pthread_create(&thread, NULL, cut_again_and_again, &cutter), 0);
		for (unsigned n = 0; n < cuts; n++) {
			const unsigned line = look_up(address, name);

			assert_true(line == 0 || line == 2);
			if (!places[i].is_needed)
				assert_string_equal(name, "sum");
		}
		__atomic_store_n(&cutter.stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		free(cutter.path);
		free(cutter.keep);
	}
}

/* All that was read before the truncation is in memory. */
static void test_data_read_before_a_truncation_is_kept(void **state)
{
	char *path = xasprintf("%s/prog", test_folder);
	const struct record_object object = {.from = BASE, .to = BASE + (1u << 20), .path = path};
	struct names *names = names_new(&(struct names_options){0});
	const struct frame_name *lines;

	make_place(&places[ARRAY_SIZE(places) - 1]);
	const uint64_t sum = address_of("sum"), helper = address_of("helper");

	names_add_object(names, &object, NULL);
	assert_int_equal(names_lookup(names, BASE + sum + 1, &lines), 1);
	assert_int_equal(truncate(path, 64), 0);
	assert_int_equal(names_lookup(names, BASE + helper + 1, &lines), 1);
	assert_string_equal(lines[0].function, "helper");
	assert_int_equal(lines[0].line, 1);
	names_free(names);
	free(path);
}

/* ---- Tables that claim to be large ---- */

/* Moves the program's table of that type to the end of the file and gives it `size` bytes: a hole if is_hole, else
 * bytes of value 1. */
static void claim(uint64_t type, uint64_t size, bool is_hole)
{
	char *path = xasprintf("%s/prog", test_folder);
	struct elf_headers headers;
	const char *reason;
	struct stat st;
	const int fd = open(path, O_RDWR);

	assert_true(fd >= 0 && !fstat(fd, &st));
	assert_true(elf_headers_read(fd, &st, &headers, &reason));
	for (size_t i = 0; i < headers.section_count; i++) {
		unsigned char *section = elf_headers_section(&headers, i);

		if (elf_field_get(&headers, section, SHDR_TYPE) != type)
			continue;
		elf_field_set(&headers, section, SHDR_OFFSET, (uint64_t)st.st_size);
		elf_field_set(&headers, section, SHDR_SIZE, size);
	}
	elf_field_set(&headers, headers.ehdr, EHDR_SHOFF, (uint64_t)st.st_size + size);
	if (!is_hole) {
		char *bytes = xcalloc(1, size);

		memset(bytes, 1, size);
		assert_int_equal(pwrite(fd, bytes, size, st.st_size), size);
		free(bytes);
	}
	assert_int_equal(pwrite(fd, headers.ehdr, headers.ehdr_size, 0), headers.ehdr_size);
	assert_true(pwrite(fd, headers.sections, headers.section_count * headers.section_size,
			   st.st_size + (off_t)size) > 0);
	elf_headers_free(&headers);
	close(fd);
	free(path);
}

static void check_claim(uint64_t type, uint64_t size, bool is_hole, const char *wanted)
{
	char *path = xasprintf("%s/prog", test_folder);
	const char *reason = "nothing is wrong";
	char name[64];
	struct stat st;

	make_place(&places[ARRAY_SIZE(places) - 1]);
	const uint64_t address = address_of("sum");

	claim(type, size, is_hole);
	const int fd = open_regular(path, &st);
	Elf *elf = elf_open(fd, &st, &reason);

	if (wanted)
		assert_string_equal(reason, wanted);
	assert_int_equal(!elf, wanted != NULL);
	elf_end(elf);
	close(fd);
	/* The debug information has not moved. */
	assert_int_equal(look_up(address, name), 2);
	assert_string_equal(name, "sum");
	free(path);
}

static void test_tables_that_claim_to_be_large_are_refused(void **state)
{
	check_claim(SHT_SYMTAB, UINT64_C(1) << 30, true,
		    "its table of symbols is larger than 192 MiB, the most that is read");
	check_claim(SHT_SYMTAB, UINT64_C(100) << 20, true, "most of one of its tables is a hole in the file");
	check_claim(SHT_SYMTAB, UINT64_C(4) << 20, false, NULL);
	check_claim(SHT_DYNSYM, UINT64_C(1) << 40, true,
		    "its table of symbols is larger than 192 MiB, the most that is read");
	check_claim(SHT_RELA, UINT64_C(1) << 40, true,
		    "its table of relocations is larger than 256 MiB, the most that is read");
	check_claim(SHT_NOTE, UINT64_C(1) << 40, true, "its notes are larger than 1 MiB, the most that is read");
}

/* Returns the number of packed tables in a copy of the file. */
static size_t packed_copied(const char *path)
{
	struct private_copy copy;
	struct elf_headers headers;
	const char *reason = NULL;
	struct stat st;
	const int fd = open_regular(path, &st);
	size_t count = 0;

	assert_true(private_copy_make(fd, &st, COPY_SYMBOLS, &copy, &reason));
	assert_int_equal(fstat(copy.fd, &st), 0);
	assert_true(elf_headers_read(copy.fd, &st, &headers, &reason));
	for (size_t i = 0; i < headers.section_count; i++) {
		const unsigned char *const section = elf_headers_section(&headers, i);

		count += !strcmp(elf_headers_name(&headers, section), ".gnu_debugdata") &&
			 elf_field_get(&headers, section, SHDR_TYPE) == SHT_PROGBITS;
	}
	elf_headers_free(&headers);
	private_copy_end(&copy);
	close(fd);
	return count;
}

/* Unpacking a table may take a second, and a hostile file may have thousands. */
static void test_only_one_packed_table_is_copied(void **state)
{
	char *path = xasprintf("%s/packed", test_folder);

	if (!test_has("xz") || !test_has("objcopy")) {
		print_message("SKIPPED: there is no xz or no objcopy here\n");
		skip();
	}
	test_write("packed.c", source);
	assert_int_equal(test_run("cc -o packed packed.c && cp packed table && xz -f table && "
				  "objcopy --add-section .gnu_debugdata=table.xz packed"),
			 0);
	assert_int_equal(packed_copied(path), 1);
	assert_int_equal(test_run("for i in 1 2 3; do objcopy --add-section .gnu_more$i=table.xz "
				  "packed || exit; done && "
				  "for i in 1 2 3; do objcopy --rename-section .gnu_more$i=.gnu_debugdata packed || "
				  "exit; done; test $(readelf -SW packed | grep -c gnu_debugdata) = 4"),
			 0);
	assert_int_equal(packed_copied(path), 1);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_special_files_do_not_block_lookups),
		cmocka_unit_test(test_files_truncated_during_lookups_are_read),
		cmocka_unit_test(test_data_read_before_a_truncation_is_kept),
		cmocka_unit_test(test_tables_that_claim_to_be_large_are_refused),
		cmocka_unit_test(test_only_one_packed_table_is_copied),
	};

	return cmocka_run_group_tests_name("symbols_files", tests, test_folder_make, test_folder_remove);
}
