/* Tests the parser of /proc/PID/maps, and ELF files that are damaged on purpose. */
#include "config.h"
#include "base/buf.h"
#include "base/util.h"
#include "symbols/elf/elf_file.h"
#include "symbols/objects/load_layout.h"
#include "symbols/names/names.h"
#include "long.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_lines_of_maps_are_parsed(void **state)
{
	static const char text[] = "00400000-00401000 r--p 00000000 fe:01 1234                               /bin/a b "
				   " c\n"
				   "00401000-00402000 r-xs 00001000 103:1f 1234                      "
				   "/bin/new\\012line\n"
				   "00402000-00403000 -w-p 7ffff000 00:00 0 \n"
				   "00403000-00404000 rwxp 00000000 00:01 18446744073709551615 /x (deleted)\n"
				   "7fff00000000-7fff00021000 rw-p 00000000 00:00 0                          [stack]\n"
				   "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  "
				   "[vsyscall]";
	struct maps maps;

	assert_int_equal(maps_parse(xstrdup(text), &maps), 0);
	assert_int_equal(maps.count, 6);
	const struct mapping *m = maps.items;

	assert_int_equal(m[0].start, 0x400000);
	assert_int_equal(m[0].end, 0x401000);
	assert_int_equal(m[0].dev_major, 0xfe);
	assert_int_equal(m[0].dev_minor, 1);
	assert_int_equal(m[0].inode, 1234);
	assert_true(m[0].read && !m[0].write && !m[0].exec && !m[0].shared && !m[0].deleted);
	assert_string_equal(m[0].path, "/bin/a b  c");
	assert_true(m[1].exec && m[1].shared);
	assert_int_equal(m[1].offset, 0x1000);
	assert_int_equal(m[1].dev_major, 0x103);
	assert_int_equal(m[1].dev_minor, 0x1f);
	assert_string_equal(m[1].path, "/bin/new\nline");
	assert_true(!m[2].read && m[2].write);
	assert_int_equal(m[2].offset, 0x7ffff000);
	assert_string_equal(m[2].path, "");
	assert_int_equal(m[3].inode, UINT64_MAX);
	assert_true(m[3].deleted);
	assert_string_equal(m[3].path, "/x");
	assert_string_equal(m[4].path, "[stack]");
	assert_string_equal(m[5].path, "[vsyscall]");

	assert_null(maps_find(&maps, 0x3fffff));
	assert_ptr_equal(maps_find(&maps, 0x400000), &m[0]);
	assert_ptr_equal(maps_find(&maps, 0x400fff), &m[0]);
	assert_ptr_equal(maps_find(&maps, 0x401000), &m[1]);
	assert_null(maps_find(&maps, 0x404000));
	assert_ptr_equal(maps_find(&maps, 0xffffffffff600fff), &m[5]);
	assert_null(maps_find(&maps, UINT64_MAX));
	maps_free(&maps);

	/* The kernel may return a part of the text twice. */
	assert_int_equal(maps_parse(xstrdup("2000-3000 r--p 0 0:0 0\n1000-3000 r--p 0 0:0 0\n"
					    "3000-4000 r--p 0 0:0 0 \n"),
				    &maps),
			 0);
	assert_int_equal(maps.count, 2);
	maps_free(&maps);
	assert_int_equal(maps_parse(xstrdup(""), &maps), 0);
	assert_int_equal(maps.count, 0);
	assert_null(maps_find(&maps, 5));
	maps_free(&maps);
}

/* In smaps a mapping has memory tags if its VmFlags line has the word mt. A VmFlags line describes the last mapping
 * that is listed before it. */
static void test_tagged_mappings_are_marked(void **state)
{
	static const char text[] = "1000-2000 rw-p 00000000 00:00 0 \nSize: 4 kB\nVmFlags: rd wr mr mw me ac sd \n"
				   "2000-5000 rw-p 00000000 00:00 0 [heap]\nVmFlags: rd wr mr mw me ac mt sd \n"
				   "9000-a000 rw-p 00000000 00:00 0 \nVmFlags: rd mt\n"
				   "a000-b000 rw-p 00000000 00:00 0 mt \nVmFlags: rd mth\nName: mt\n"
				   "VmFlags: rd\nb000-";
	struct maps maps;

	assert_int_equal(maps_parse(xstrdup("1000-2000 rw-p 0 0:0 0\n2000-3000 rw-p 0 0:0 0\n8000-9800 rw-p 0 0:0 0\n"
					    "a000-b000 rw-p 0 0:0 0\n"),
				    &maps),
			 0);
	maps_mark_tags(text, &maps);
	assert_false(maps.items[0].has_tags);
	assert_true(maps.items[1].has_tags);
	assert_true(maps.items[2].has_tags);
	maps_mark_tags("", &maps);
	maps_mark_tags("VmFlags: rd mt", &maps);
	assert_false(maps.items[0].has_tags);
	maps_free(&maps);
	assert_int_equal(maps_read_tags(getpid(), &maps), 0);
}

/* In smaps the flags um and ui say that userfaultfd provides the mapping's missing pages. */
static void test_mappings_with_userfaultfd_are_marked(void **state)
{
	static const char text[] = "1000-2000 rw-s 00000000 00:01 7 /um um\nSize: 4 kB um\nVmFlags: rd wr sh uw \n"
				   "2000-3000 rw-s 00000000 00:01 8 /x\nVmFlags: rd wr sh um \n"
				   "3000-4000 rw-s 00000000 00:01 8 /x\nVmFlags: rd wr uw sh ui\n"
				   "7000-8000 rw-s 00000000 00:01 8 /x\nVmFlags: um\n";
	bool has_waiters[3] = {false};
	struct maps maps;

	assert_int_equal(
		maps_parse(xstrdup("1000-2000 rw-s 0 0:1 7\n2000-3000 rw-s 0 0:1 8\n3000-4000 rw-s 0 0:1 8\n"), &maps),
		0);
	maps_mark_waiters(text, &maps, has_waiters);
	assert_false(has_waiters[0]);
	assert_true(has_waiters[1]);
	assert_true(has_waiters[2]);
	maps_free(&maps);
}

/* A flag is searched for only in the mapping's own line: with 65,000 mappings, searching the rest of smaps for each of
 * them would take minutes. */
static void test_flags_are_read_only_from_the_mappings_own_line(void **state)
{
	const size_t count = 65000;
	struct buf lines = {0}, smaps = {0};
	struct maps maps;

	for (size_t i = 0; i < count; i++) {
		const uint64_t start = 0x10000 + i * 0x2000;

		buf_printf(&lines, "%" PRIx64 "-%" PRIx64 " rw-s 0 0:1 7\n", start, start + 0x1000);
		buf_printf(&smaps, "%" PRIx64 "-%" PRIx64 " rw-s 00000000 00:01 7\nVmFlags: rd wr sh mr mw me ms%s\n",
			   start, start + 0x1000, i == count - 1 ? " um" : "");
	}
	buf_add(&lines, "", 1);
	buf_add(&smaps, "", 1);
	assert_int_equal(maps_parse(xstrdup((const char *)lines.data), &maps), 0);
	assert_int_equal(maps.count, count);
	bool *const has_waiters = xcalloc(count, sizeof(*has_waiters));

	maps_mark_waiters((const char *)smaps.data, &maps, has_waiters);
	assert_false(has_waiters[0]);
	assert_false(has_waiters[count - 2]);
	assert_true(has_waiters[count - 1]);
	free(has_waiters);
	maps_free(&maps);
	buf_free(&lines);
	buf_free(&smaps);
}

/* AArch64's kernel maps [vdso] between the segments of the dynamic linker, which are 64 KiB apart. The linker's extent
 * in traces then ends with its first segment. A mapping without a name in that gap has no such effect. */
static void test_vdso_in_a_hole_ends_the_linkers_extent(void **state)
{
	static const struct {
		const char *hole;
		uint64_t lookup_end;
	} cases[] = {
		{"", 0x142000},
		{"130000-138000 rw-p 0 0:0 0\n", 0x142000},
		{"132000-134000 r--p 0 0:0 0 [vvar]\n134000-135000 r-xp 0 0:0 0 [vdso]\n", 0x127000},
		{"130000-131000 r-xp 0 8:1 6 /other\n", 0x127000},
	};
	struct elf_segment segments[] = {
		{.vaddr = 0, .offset = 0, .file_size = 0x262e0, .mem_size = 0x262e0, .exec = true},
		{.vaddr = 0x3ece8, .offset = 0x2ece8, .file_size = 0x24e8, .mem_size = 0x2690, .write = true},
	};
	struct elf_file file = {.segments = segments, .segment_count = 2};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("100000-127000 r-xp 0 8:1 5 /ld.so\n%s13e000-140000 r--p 2e000 8:1 5 /ld.so\n"
				       "140000-142000 rw-p 30000 8:1 5 /ld.so\n",
				       cases[i].hole);
		struct object object = {.file = &file, .bias = 0x100000};
		bool taken[8] = {0};
		struct maps maps;

		assert_int_equal(maps_parse(xstrdup(text), &maps), 0);
		layout_fill(&maps, 0, &object, taken);
		assert_int_equal(object.start, 0x100000);
		assert_int_equal(object.end, 0x142000);
		assert_int_equal(object.lookup_end, cases[i].lookup_end);
		assert_int_equal(object.text_count, 1);
		free(object.text);
		maps_free(&maps);
		free(text);
	}
}

static void test_invalid_maps_are_refused(void **state)
{
	static const char *const bad[] = {
		"x",
		"\n",
		"1000-2000\n",
		"1000-2000 r--p\n",
		"1000-2000 r--",
		"1000-2000 r--p 0 0:0",
		"1000-2000 r--p 0 0:0 \n",
		"1000-2000 r--p 0 0:0 1x /a\n",
		"1000-2000 r--p 0 0:0 18446744073709551616 /a\n",
		"2000-1000 r--p 0 0:0 0\n",
		"1000-1000 r--p 0 0:0 0\n",
		"10000000000000000-20000000000000000 r--p 0 0:0 0\n",
		"1000-2000 r--p 0 100000000:0 0\n",
		"1000-2000 r--p 0 0-0 0\n",
		"-1000-2000 r--p 0 0:0 0\n",
		"1000-2000 r--p 0 0:0 0\ngarbage",
	};
	struct maps maps;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(maps_parse(xstrdup(bad[i]), &maps), -EINVAL);
		assert_null(maps.items);
	}
	assert_int_equal(maps_read(0x7fffffff, &maps), -ENOENT);
	assert_int_equal(maps_read(getpid(), &maps), 0);
	const struct mapping *own = maps_find(&maps, (uintptr_t)test_invalid_maps_are_refused);

	assert_non_null(own);
	assert_true(own->exec && own->inode && strstr(own->path, "symbols_hostile"));
	maps_free(&maps);
}

/* ---- Damaged ELF files ---- */

static unsigned random_state = 1;

static unsigned random_next(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % below;
}

static bool look_at(void *context, const struct elf_symbol *symbol)
{
	size_t *length = context;

	*length += strlen(symbol->name) + 1;
	return true;
}

/* Reads the file as the tracer does; returns true if it was recognised as an ELF file. */
static bool read_as_tracer(const char *path)
{
	const char *reason = NULL;
	const int fd = open(path, O_RDONLY);
	struct elf_symbol symbol;
	size_t length = 0;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct elf_file *file = elf ? elf_file_new(elf, 0, &reason) : NULL;

	elf_end(elf);
	close(fd);
	if (!file) {
		assert_true(!elf || reason);
		return false;
	}
	elf_file_functions(file, look_at, &length);
	elf_file_find(file, "sum", &symbol);
	assert_true(strlen(elf_file_build_id(file)) <= 2 * BUILD_ID_BYTES);
	elf_file_free(file);
	return true;
}

static void read_as_names(const char *path)
{
	const struct names_options options = {0};
	struct names *names = names_new(&options);
	const struct record_object object = {0x10000000, 0x10010000, path};
	const struct frame_name *lines;

	names_add_object(names, &object, NULL);
	for (unsigned at = 0; at < 0x2000; at += 61) {
		const size_t count = names_lookup(names, 0x10000000 + at + 1, &lines);

		assert_true(count >= 1);
		for (size_t i = 0; i < count; i++)
			assert_string_equal(lines[i].module, path);
	}
	names_free(names);
}

static void damage(unsigned char *bytes, size_t size)
{
	const unsigned count = 1 + random_next(6);

	for (unsigned i = 0; i < count; i++) {
		/* Most of the damage is in the headers and tables. */
		const size_t at = random_next(3)   ? random_next(1024)
				  : random_next(2) ? size - 1 - random_next(4096)
						   : random_next((unsigned)size);
		static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

		bytes[at] = random_next(2) ? values[random_next(5)] : (unsigned char)random_next(256);
	}
}

static void test_damaged_elf_files_are_read_or_refused(void **state)
{
	static const char *const kinds[] = {"good.so", "headless.so", "mini.so"};
	const unsigned rounds = test_is_long() ? 400 : 100;
	char *path = xasprintf("%s/damaged", test_folder);
	unsigned taken = 0;

	test_write("s.c", "static int tiny(int x) { return x + 1; }\n"
			  "int sum(int a, int b) { return tiny(a) * b; }\n");
	assert_int_equal(test_run("gcc -g -O2 -shared -fPIC -o good.so s.c && cp good.so "
				  "headless.so && for at "
				  "in 40 41 42 43 44 45 46 47 60 61 62 63; do printf '\\000' | dd "
				  "of=headless.so bs=1 conv=notrunc seek=$at; done; cp good.so m; "
				  "strip -g m; "
				  "xz -f m && strip -o mini.so good.so && objcopy --add-section "
				  ".gnu_debugdata=m.xz mini.so || cp good.so mini.so"),
			 0);
	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		char *good = xasprintf("%s/%s", test_folder, kinds[kind]);
		size_t size;
		char *bytes = read_file(good, 1u << 20, &size);

		assert_non_null(bytes);
		assert_true(read_as_tracer(good));
		for (unsigned round = 0; round < rounds; round++) {
			unsigned char *copy = xmalloc(size);
			const size_t cut = random_next(10) ? size : random_next((unsigned)size);
			FILE *out = fopen(path, "w");

			memcpy(copy, bytes, size);
			damage(copy, size);
			assert_int_equal(fwrite(copy, 1, cut, out), cut);
			fclose(out);
			free(copy);
			taken += read_as_tracer(path);
			if (!(round % 4))
				read_as_names(path);
		}
		free(bytes);
		free(good);
	}
	print_message("%u of %u damaged files were taken\n", taken, 3 * rounds);
	assert_true(taken > 3 * rounds / 4 && taken < 3 * rounds);
	free(path);
}

/* A file may have a packed symbol table that unpacks to gigabytes. */
static void test_huge_packed_tables_are_refused(void **state)
{
	size_t size, unpacked = 0;
	char *path, *packed;

	if (!test_has("xz")) {
		print_message("SKIPPED: there is no xz here\n");
		skip();
	}
	if (test_is_long()) {
		path = xasprintf("%s/zeros.xz", test_folder);
		assert_int_equal(test_run("truncate -s 540000000 zeros && xz -0 --check=none zeros"), 0);
		packed = read_file(path, 16u << 20, &size);
		assert_non_null(packed);
		assert_null(elf_debugdata_unpack(packed, size, &unpacked));
		assert_null(elf_debugdata_unpack(packed, size / 2, &unpacked));
		free(packed);
		free(path);
	}
	assert_null(elf_debugdata_unpack("garbage", 7, &unpacked));
	assert_int_equal(test_run("head -c 3000000 /dev/zero | xz >few.xz"), 0);
	path = xasprintf("%s/few.xz", test_folder);
	packed = read_file(path, 1u << 20, &size);
	assert_null(elf_debugdata_unpack(packed, 0, &unpacked));
	char *image = elf_debugdata_unpack(packed, size, &unpacked);

	assert_non_null(image);
	assert_int_equal(unpacked, 3000000);
	free(image);
	assert_null(elf_debugdata_unpack(packed, size - 20, &unpacked));
	free(packed);
	free(path);
}

/* The cache keeps files that are in use, and a limited number of unused files. */
static void test_cache_keeps_a_limited_number_of_files(void **state)
{
	struct elf_file *files[600];

	for (unsigned i = 0; i < 600; i++) {
		files[i] = xcalloc(1, sizeof(*files[i]));
		files[i]->cached.references = 1;
		files[i]->key.inode = i;
		files[i]->key.device = 99;
		elf_cache_add(files[i]);
	}
	for (unsigned i = 0; i < 600; i++) {
		const struct elf_key key = {.device = 99, .inode = i};

		assert_ptr_equal(elf_cache_find(&key), files[i]);
		elf_file_unref(files[i]);
	}
	for (unsigned i = 0; i < 600; i++)
		if (i != 7)
			elf_file_unref(files[i]);
	for (unsigned i = 0; i < 600; i++) {
		const struct elf_key key = {.device = 99, .inode = i};
		struct elf_file *found = elf_cache_find(&key);

		/* 7 is in use; of the 599 others the last 512 are kept. */
		if (i == 7 || i >= 600 - 512)
			assert_ptr_equal(found, files[i]);
		else
			assert_null(found);
		elf_file_unref(found);
	}
	const struct elf_key other = {.device = 99, .inode = 599, .mtime_nsec = 1};

	assert_null(elf_cache_find(&other));
	elf_file_unref(files[7]);
}

/* ---- Demangling ---- */

static void test_names_are_demangled_within_limits(void **state)
{
	static const struct {
		const char *mangled, *name;
	} known[] = {
		{"_Znwm", "operator new(unsigned long)"},
		{"_ZN4shop5ShelfIiE3putERKi", "shop::Shelf<int>::put(int const&)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"malloc", NULL},
		{"_start", NULL},
		{"_Z", NULL},
		{"_R", NULL},
		{"", NULL},
		{"_ZN", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		char *name = names_demangle(known[i].mangled);

		if (known[i].name)
			assert_string_equal(name ? name : "(null)", known[i].name);
		else
			assert_null(name);
		free(name);
	}
	static const struct {
		const char *mangled, *name;
	} plain[] = {
		{"_Znwm", "operator new"},
		{"_ZN4shop5ShelfIiE3putERKi", "shop::Shelf<int>::put"},
		{"_ZNK4shop4Till5totalEv", "shop::Till::total"},
		{"_Z5twiceIiET_S0_", "twice<int>"},
		{"_ZN1AclEi", "A::operator()"},
		{"_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"malloc", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		char *name = names_demangle_plain(plain[i].mangled);

		assert_true(!plain[i].name == !name);
		if (name)
			assert_string_equal(name, plain[i].name);
		free(name);
	}

	/* Each pair contains the one before twice, so the demangled name would have 2^40 parts. The demangler refuses
	 * it at once. */
	char text[4096] = "_Z1fSt4pairIiiE";

	for (unsigned i = 0; i < 40; i++) {
		char piece[32];

		/* substitutions: S_ is std::pair's template, S0_ pair<int,int>, then each new pair */
		if (i < 36)
			snprintf(piece, sizeof(piece), "S_IS%c_S%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
				 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
		else
			snprintf(piece, sizeof(piece), "S_IS1%c_S1%c_E", '0' + (int)i - 36, '0' + (int)i - 36);
		strcat(text, piece);
	}
	char *name = names_demangle(text);

	assert_null(name);

	/* Many nested pointers, without the type to which they point. */
	char *deep = xmalloc(200001);

	memset(deep, 'P', 200000);
	memcpy(deep, "_Z1f", 4);
	deep[200000] = '\0';
	assert_null(names_demangle(deep));
	deep[50000] = '\0';
	free(names_demangle(deep));
	free(deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_maps_are_parsed),
		cmocka_unit_test(test_vdso_in_a_hole_ends_the_linkers_extent),
		cmocka_unit_test(test_invalid_maps_are_refused),
		cmocka_unit_test(test_damaged_elf_files_are_read_or_refused),
		cmocka_unit_test(test_huge_packed_tables_are_refused),
		cmocka_unit_test(test_cache_keeps_a_limited_number_of_files),
		cmocka_unit_test(test_names_are_demangled_within_limits),
		cmocka_unit_test(test_tagged_mappings_are_marked),
		cmocka_unit_test(test_mappings_with_userfaultfd_are_marked),
		cmocka_unit_test(test_flags_are_read_only_from_the_mappings_own_line),
	};

	return cmocka_run_group_tests_name("symbols_hostile", tests, test_folder_make, test_folder_remove);
}
