/* Compares names with addr2line's, address by address. Tests separate debug files, build-ids and the places of
 * objects. */
#include "config.h"
#include "symbols/names/names.h"
#include "symbols/objects/mapped_object.h"
#include "long.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE 0x7000000000

static const char cxx_source[] =
	"#include <algorithm>\n"
	"#include <cstdio>\n"
	"#include <cstdlib>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"namespace shop {\n"
	"template <typename T> struct Shelf {\n"
	"	std::vector<T> items;\n"
	"	void put(const T &item) { items.push_back(item); }\n"
	"	T *largest();\n"
	"};\n"
	"template <typename T> T *Shelf<T>::largest()\n"
	"{\n"
	"	return items.empty() ? nullptr : &*std::max_element(items.begin(), items.end());\n"
	"}\n"
	"namespace {\n"
	"int hidden(int x) { return x * 3 + rand(); }\n"
	"}\n"
	"static inline int twice(int x)\n"
	"{\n"
	"	return hidden(x) + hidden(x + 1);\n"
	"}\n"
	"class Till {\n"
	"	std::map<std::string, int> sums;\n"
	"public:\n"
	"	virtual ~Till() {}\n"
	"	virtual void add(const std::string &who, int n) { sums[who] += twice(n); }\n"
	"	bool operator<(const Till &o) const { return sums.size() < o.sums.size(); }\n"
	"	int total() const\n"
	"	{\n"
	"		int t = 0;\n"
	"		auto each = [&](const std::pair<const std::string, int> &p) { t += "
	"p.second; };\n"
	"		std::for_each(sums.begin(), sums.end(), each);\n"
	"		return t;\n"
	"	}\n"
	"};\n"
	"}\n"
	"extern \"C\" int plain_name(int n) { return n < 2 ? 1 : n * plain_name(n - 1); }\n"
	"static std::string global_text(\"text\");\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	shop::Shelf<std::string> shelf;\n"
	"	shop::Till till;\n"
	"	for (int i = 0; i < argc; i++) {\n"
	"		shelf.put(argv[i]);\n"
	"		till.add(argv[i], i);\n"
	"	}\n"
	"	try {\n"
	"		if (argc > 5)\n"
	"			throw std::string(\"too many\");\n"
	"	} catch (const std::string &s) {\n"
	"		puts(s.c_str());\n"
	"	}\n"
	"	printf(\"%s %d %d\\n\", shelf.largest()->c_str(), till.total(), "
	"plain_name(argc));\n"
	"	return 0;\n"
	"}\n";

static const char c_source[] = "#include <stdlib.h>\n"
			       "#include <stdio.h>\n"
			       "struct node { struct node *next; int value; };\n"
			       "static inline struct node *make(struct node *next, int value)\n"
			       "{\n"
			       "	struct node *n = malloc(sizeof(*n));\n"
			       "	n->next = next;\n"
			       "	n->value = value;\n"
			       "	return n;\n"
			       "}\n"
			       "static __attribute__((noinline)) int sum(struct node *n, int f)\n"
			       "{\n"
			       "	return n ? n->value * f + sum(n->next, f) : 0;\n"
			       "}\n"
			       "int weird(int n) __attribute__((cold));\n"
			       "int weird(int n)\n"
			       "{\n"
			       "	if (n > 3)\n"
			       "		abort();\n"
			       "	return n;\n"
			       "}\n"
			       "int main(int argc, char **argv)\n"
			       "{\n"
			       "	struct node *list = NULL;\n"
			       "	for (int i = 0; i < argc; i++)\n"
			       "		list = make(make(list, i), weird(i));\n"
			       "	printf(\"%d\\n\", sum(list, argc));\n"
			       "	return 0;\n"
			       "}\n";

static const char rust_source[] = "use std::collections::HashMap;\n"
				  "trait Named { fn name(&self) -> String; }\n"
				  "struct Dog<T>(T);\n"
				  "impl<T: std::fmt::Debug> Named for Dog<T> {\n"
				  "    fn name(&self) -> String { format!(\"{:?}\", self.0) }\n"
				  "}\n"
				  "#[inline(never)]\n"
				  "fn count(words: &[String]) -> HashMap<String, usize> {\n"
				  "    let mut m = HashMap::new();\n"
				  "    for w in words { *m.entry(w.clone()).or_insert(0) += 1; }\n"
				  "    m\n"
				  "}\n"
				  "fn main() {\n"
				  "    let words: Vec<String> = std::env::args().collect();\n"
				  "    let m = count(&words);\n"
				  "    let d: Box<dyn Named> = Box::new(Dog(m.len()));\n"
				  "    println!(\"{} {}\", d.name(), words.iter().map(|w| w.len()).sum::<usize>());\n"
				  "}\n";

/* ---- Against addr2line ---- */

static struct names *new_names(const char *sysroot, const char *debug_path)
{
	const struct names_options options = {.sysroot = sysroot, .debug_path = debug_path};

	return names_new(&options);
}

static void add(struct names *names, uint64_t from, uint64_t size, const char *name, const char *build_id)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", test_folder, name);
	const struct record_object object = {.from = from, .to = from + size, .path = path};
	const struct record_build_id id = {.from = from, .hex = build_id};

	names_add_object(names, &object, NULL);
	if (build_id)
		names_add_build_id(names, &id);
	free(path);
}

/* Normalises a line of addr2line's answer. Removes " (discriminator N)". A line that ends with :0 or :? becomes "?",
 * because it names no source line (in "FILE:?", FILE is a name in the symbol table, and no such file exists). Removes
 * the suffix .cold of a function: for an extern "C" function of a C++ program, addr2line 2.40 prints the cold part's
 * symbol for the whole function. */
static void normalize(char *line)
{
	char *mark = strstr(line, " (discriminator");
	size_t length;

	if (mark)
		strcpy(mark, "\n");
	length = strlen(line);
	if (length > 6 && !strcmp(line + length - 6, ".cold\n"))
		strcpy(line + length - 6, "\n");
	else if (length > 3 && (!strcmp(line + length - 3, ":0\n") || !strcmp(line + length - 3, ":?\n")))
		strcpy(line, "?\n");
}

/* Returns the frames at an address in addr2line's form. */
static char *our_lines(struct names *names, uint64_t base, uint64_t address)
{
	const struct frame_name *lines;
	const size_t count = names_lookup(names, base + address + 1, &lines);
	char *text = xstrdup("");

	for (size_t i = 0; i < count; i++) {
		char *function = xasprintf("%s\n", lines[i].function ? lines[i].function : "??");
		char number[16], *longer;

		normalize(function);
		snprintf(number, sizeof(number), "%u", lines[i].line);
		longer = lines[i].line ? xasprintf("%s%s%s:%s\n", text, function, lines[i].file, number)
				       : xasprintf("%s%s?\n", text, function);
		free(function);
		free(text);
		text = longer;
		assert_int_equal(lines[i].inlined, i + 1 < count);
		assert_non_null(lines[i].module);
	}
	return text;
}

/* Reads the next answer of addr2line -a; false at the end. */
static bool their_lines(FILE *answers, char **line, size_t *size, uint64_t *address, char **text)
{
	if (!(*line) && getline(line, size, answers) <= 0)
		return false;
	if (sscanf(*line, "%" SCNx64, address) != 1)
		return false;
	*text = xstrdup("");
	for (;;) {
		if (getline(line, size, answers) <= 0) {
			free(*line);
			*line = NULL;
			return true;
		}
		if (!strncmp(*line, "0x", 2))
			return true;
		normalize(*line);
		if (**line == '/')
			path_normalise(*line);
		char *longer = xasprintf("%s%s", *text, *line);

		free(*text);
		*text = longer;
	}
}

struct comparison {
	size_t addresses, equal, excused, inlined;
};

/* Returns true if the answers differ only as known from addr2line 2.40. It prints the enclosing symbol for an innermost
 * inlined function without a mangled name, and at some addresses the unit's file with the line of an included file. So
 * only the first function's name, or the first file's name, may differ. */
static bool is_excused(const char *ours, const char *theirs)
{
	const char *our_file = strchr(ours, '\n'), *their_file = strchr(theirs, '\n');

	if (!our_file || !their_file)
		return false;
	const char *our_line = strchr(our_file, ':'), *their_line = strchr(their_file, ':');

	if (!our_line || !their_line || strcmp(our_line, their_line) != 0)
		return false;
	if (!strncmp(our_file, their_file, (size_t)(our_line - our_file)))
		return !memchr(ours, '(', (size_t)(our_file - ours)) && strchr(our_line, '\n')[1];
	return our_file - ours == their_file - theirs && !strncmp(ours, theirs, (size_t)(our_file - ours)) &&
	       strstr(their_file, "prog.");
}

/* Compares each `step`th address of the file's functions. */
static struct comparison compare(const char *tool, const char *program, uint64_t origin, unsigned step)
{
	struct comparison result = {0};
	struct names *names = new_names(NULL, NULL);
	char *line = NULL, *path = xasprintf("%s/answers", test_folder), *text;
	size_t size = 0, shown = 0;
	uint64_t address;

	assert_int_equal(test_run("${NM:-nm} -S %s | awk '$3 ~ /[tTwWi]/ && NF == 4 {print \"0x\" $1, \"0x\" $2}' | "
				  "sort -u | while read a n; do i=$((a)); while [ $i -lt $((a+n)) ]; do "
				  "echo $i; i=$((i+%u)); done; done | awk '{printf \"0x%%x\\n\", $1}' | "
				  "%s -a -i -f -C -e %s >answers",
				  program, step, tool, program),
			 0);
	add(names, BASE + origin, 1u << 30, program, NULL);
	FILE *answers = fopen(path, "r");

	assert_non_null(answers);
	while (their_lines(answers, &line, &size, &address, &text)) {
		char *ours = our_lines(names, BASE, address);
		const char *newline = strchr(text, '\n');

		result.addresses++;
		result.equal += !strcmp(ours, text);
		result.excused += strcmp(ours, text) && is_excused(ours, text);
		result.inlined += newline && strchr(newline + 1, '\n') && strchr(newline + 1, '\n')[1];
		if (strcmp(ours, text) && !is_excused(ours, text) && shown++ < 8)
			print_message("%s 0x%lx\n--- addr2line\n%s--- functrace\n%s", program, (unsigned long)address,
				      text, ours);
		free(ours);
		free(text);
	}
	fclose(answers);
	free(line);
	free(path);
	names_free(names);
	print_message("%s: %zu addresses, %zu with inlined frames, %zu equal, %zu where addr2line errs\n", program,
		      result.addresses, result.inlined, result.equal, result.excused);
	return result;
}

/* Compares the file's names with those of `tool`. origin: the address of file offset 0, as the file's program headers
 * give it. */
static void check_equal(const char *tool, const char *program, uint64_t origin, unsigned step)
{
	const struct comparison result = compare(tool, program, origin, step);

	assert_true(result.addresses > 100);
	assert_true(result.inlined > 0);
	assert_int_equal(result.equal + result.excused, result.addresses);
	assert_true(result.excused * 50 <= result.addresses);
}

/* The "..." of a variadic function is no parameter, as in debug information. */
static void test_parameters_of_mangled_names_are_counted(void **state)
{
	assert_int_equal(names_parameters("_Z4nonev"), 0);
	assert_int_equal(names_parameters("_ZNK3Box3putEil"), 2);
	assert_int_equal(names_parameters("_Z5printPKcz"), 1);
	assert_int_equal(names_parameters("_Z4packIJcdEEiiDpT_"), 2);
	assert_int_equal(names_parameters("_ZN3Box5countE"), -1);
	assert_int_equal(names_parameters("main"), -1);
}

static void test_names_of_c_agree_with_addr2line(void **state)
{
	assert_int_equal(test_run("gcc -g -O2 -o c-o2 prog.c && gcc -g -O1 -gdwarf-4 -no-pie -o "
				  "c-dwarf4 ./prog.c"),
			 0);
	check_equal("addr2line", "c-o2", 0, 1);
	check_equal("addr2line", "c-dwarf4", 0x400000, 1);
}

static void test_names_of_cxx_agree_with_addr2line(void **state)
{
	const unsigned step = test_is_long() ? 1 : 7;

	if (!test_has("g++")) {
		print_message("SKIPPED: there is no g++ here\n");
		skip();
	}
	assert_int_equal(test_run("g++ -g -O2 -o cxx-o2 prog.cc"), 0);
	check_equal("addr2line", "cxx-o2", 0, step);
	if (!test_is_long())
		return;
	assert_int_equal(test_run("g++ -g -O3 -gdwarf-4 -o cxx-o3 $PWD/prog.cc"), 0);
	check_equal("addr2line", "cxx-o3", 0, step);
}

/* clang writes no .debug_aranges, and uses other forms of ranges and lines than gcc. */
static void test_names_of_clang_agree_with_addr2line(void **state)
{
	if (!test_has("clang")) {
		print_message("SKIPPED: there is no clang here\n");
		skip();
	}
	/* binutils 2.40 does not support all of clang's DWARF 5. */
	if (!test_has("llvm-addr2line"))
		print_message("clang's DWARF 5: SKIPPED, there is no llvm-addr2line here\n");
	assert_int_equal(test_run("clang -g -gdwarf-5 -O2 -o clang-c prog.c && clang -gdwarf-4 -O2 "
				  "-ffunction-sections -fuse-ld=lld -o clang-4 prog.c || "
				  "cp clang-c clang-4"),
			 0);
	if (test_has("llvm-addr2line"))
		check_equal("llvm-addr2line", "clang-c", 0, 1);
	check_equal("addr2line", "clang-4", 0, 1);
}

static void test_names_of_rust_agree_with_addr2line(void **state)
{
	const unsigned step = test_is_long() ? 29 : 97;

	if (!test_has("rustc")) {
		print_message("SKIPPED: there is no rustc here\n");
		skip();
	}
	assert_int_equal(test_run("rustc -g -O -Csymbol-mangling-version=v0 -o rust-v0 prog.rs"), 0);
	check_equal("addr2line", "rust-v0", 0, step);
	if (!test_is_long())
		return;
	assert_int_equal(test_run("rustc -g -O -o rust-legacy prog.rs"), 0);
	check_equal("addr2line", "rust-legacy", 0, step);
}

/* ---- Where names come from ---- */

/* Returns the end of a symbol in a file of the folder, as nm prints it. */
static uint64_t symbol_end(const char *program, const char *symbol)
{
	char *path = xasprintf("%s/log", test_folder), *text;
	unsigned long address = 0, size = 0;

	assert_int_equal(test_run("${NM:-nm} -S %s | awk '$4 == \"%s\" {print $1, $2}'", program, symbol), 0);
	text = read_file(path, 4096, NULL);
	assert_non_null(text);
	assert_int_equal(sscanf(text, "%lx %lx", &address, &size), 2);
	free(text);
	free(path);
	return address + size;
}

static uint64_t symbol_address(const char *program, const char *symbol)
{
	char *path = xasprintf("%s/log", test_folder), *text;
	unsigned long address = 0;

	assert_int_equal(test_run("${NM:-nm} %s | awk '$3 == \"%s\" {print $1}'", program, symbol), 0);
	text = read_file(path, 4096, NULL);
	assert_non_null(text);
	assert_int_equal(sscanf(text, "%lx", &address), 1);
	free(text);
	free(path);
	return address;
}

/* Looks up a return address 3 bytes into the function `sum` of a program loaded at BASE. Fails unless the outermost
 * frame has the name `function` and a line of sum() in `file` (NULL: none). */
static void check_sum(struct names *names, uint64_t sum, const char *function, const char *file)
{
	const struct frame_name *lines;
	const size_t count = names_lookup(names, BASE + sum + 3, &lines);

	assert_true(count > 0);
	if (function)
		assert_string_equal(lines[count - 1].function, function);
	else
		assert_null(lines[count - 1].function);
	if (file) {
		assert_non_null(lines[count - 1].file);
		assert_non_null(strstr(lines[count - 1].file, file));
		assert_true(lines[count - 1].line >= 11 && lines[count - 1].line <= 14);
	} else {
		assert_null(lines[count - 1].file);
		assert_int_equal(lines[count - 1].line, 0);
	}
	assert_false(lines[count - 1].inlined);
	assert_non_null(lines[count - 1].module);
}

static char *build_id_of(const char *program)
{
	char *path = xasprintf("%s/log", test_folder), *text, *id;

	assert_int_equal(test_run("readelf -n %s | sed -n 's/.*Build ID: //p'", program), 0);
	text = read_file(path, 4096, NULL);
	id = xstrndup(text, strcspn(text, "\n"));
	assert_true(strlen(id) >= 16);
	free(text);
	free(path);
	return id;
}

static void check_program(const char *program, const char *debug_path, uint64_t sum, const char *function,
			  const char *file)
{
	struct names *names = new_names(NULL, debug_path);

	print_message("%s\n", program);
	add(names, BASE, 1u << 20, program, NULL);
	check_sum(names, sum, function, file);
	names_free(names);
}

static void test_separate_debug_files_are_found(void **state)
{
	assert_int_equal(test_run("gcc -g -O2 -o whole prog.c && objcopy --only-keep-debug whole "
				  "whole.debug && strip -o bare whole"),
			 0);
	const uint64_t sum = symbol_address("whole", "sum");
	char *id = build_id_of("whole");

	check_program("whole", NULL, sum, "sum", "/prog.c");
	check_program("bare", NULL, sum, NULL, NULL);

	assert_int_equal(test_run("mkdir -p linked/.debug && cp bare linked/bare && cp whole.debug "
				  "linked/.debug/ && cd linked && objcopy "
				  "--add-gnu-debuglink=.debug/whole.debug bare"),
			 0);
	check_program("linked/bare", NULL, sum, "sum", "/prog.c");

	/* The CRC in the link must be the file's. */
	assert_int_equal(test_run("mkdir -p wrong && cp linked/bare wrong/bare && objcopy "
				  "--remove-section .note.gnu.build-id wrong/bare && gcc -g -O0 -o "
				  "wrong/whole.debug prog.c"),
			 0);
	check_program("wrong/bare", NULL, sum, NULL, NULL);

	assert_int_equal(test_run("d=dbg/.build-id/%.2s && mkdir -p $d && cp whole.debug "
				  "$d/%s.debug",
				  id, id + 2),
			 0);
	char *folder = xasprintf("%s/dbg", test_folder);

	check_program("bare", folder, sum, "sum", "/prog.c");
	check_program("bare", "relative:/nowhere::", sum, NULL, NULL);

	/* The program's file was removed, but its debug file still exists. */
	struct names *names = new_names(NULL, folder);

	add(names, BASE, 1u << 20, "gone", id);
	check_sum(names, sum, "sum", "/prog.c");
	names_free(names);
	free(folder);

	if (test_has("xz")) {
		assert_int_equal(test_run("cp whole.debug m && strip -g m && xz -f m && objcopy "
					  "--add-section .gnu_debugdata=m.xz bare mini"),
				 0);
		check_program("mini", NULL, sum, "sum", NULL);
	}
	free(id);
}

static void test_all_forms_of_debug_information_are_read(void **state)
{
	static const char *const flags[] = {
		"-gz=zlib",
		"-gsplit-dwarf",
		"-gdwarf-2",
		"-flto",
		"-fdebug-types-section",
		"-no-pie -Wl,-z,max-page-size=65536",
		"-gdwarf-5",
		"-gdwarf-3",
		"-O0",
	};

	/* The last three options use no mechanism that the others do not use, so only CHECK_LONG builds with them. */
	const size_t count = ARRAY_SIZE(flags) - (test_is_long() ? 0 : 3);

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(test_run("rm -f form; gcc -g -O2 -o form prog.c %s", flags[i]), 0);
		const uint64_t sum = symbol_address("form", "sum");
		const bool fixed = strstr(flags[i], "no-pie");

		print_message("%s\n", flags[i]);
		struct names *names = new_names(NULL, NULL);

		add(names, BASE + (fixed ? 0x400000 : 0), 1u << 20, "form", NULL);
		check_sum(names, sum, "sum", "/prog.c");
		names_free(names);
	}
}

/* Files may be for another processor. */
static void test_files_for_other_processors_are_read(void **state)
{
	static const struct {
		const char *target, *symbol;
		bool is_long;
	} targets[] = {
		{"aarch64-linux-gnu", "sum", false},
		{"armv7-linux-gnueabihf", "sum", true},
		{"armv7-linux-gnueabihf -mthumb", "sum", false},
		{"i386-linux-gnu -fPIC", "sum", false},
	};

	if (!test_has("clang") || !test_has("ld.lld")) {
		print_message("SKIPPED: clang and lld make these files\n");
		skip();
	}
	test_write("foreign.c", "struct node { struct node *next; int value; };\n\n\n\n\n\n\n\n\n\n"
				"int sum(struct node *n, int f)\n{\n"
				"	return n ? n->value * f + sum(n->next, f) : 0;\n}\n");
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (targets[i].is_long && !test_is_long())
			continue;
		if (test_run("clang --target=%s -g -O1 -c -o f.o foreign.c && ld.lld -shared -o "
			     "foreign.so f.o",
			     targets[i].target)) {
			print_message("%s: SKIPPED, clang cannot make it\n", targets[i].target);
			continue;
		}
		print_message("%s\n", targets[i].target);
		uint64_t sum = symbol_address("foreign.so", targets[i].symbol);
		struct names *names = new_names(NULL, NULL);

		add(names, BASE, 1u << 20, "foreign.so", NULL);
		check_sum(names, sum, "sum", "/foreign.c");

		/* Looks up the return address of a call at the function's very end. In Thumb code return addresses have
		 * the lowest bit set. */
		const bool thumb = strstr(targets[i].target, "thumb");
		const struct frame_name *lines;
		const uint64_t end = BASE + symbol_end("foreign.so", "sum");

		assert_int_equal(names_lookup(names, thumb ? end | 1 : end, &lines), 1);
		assert_string_equal(lines[0].function, "sum");
		names_free(names);
	}
}

/* ---- The right file ---- */

static int saved_stderr = -1;

static void stderr_catch(void)
{
	char *path = xasprintf("%s/said", test_folder);

	fflush(stderr);
	saved_stderr = dup(2);
	assert_non_null(freopen(path, "w", stderr));
	free(path);
}

static char *stderr_caught(void)
{
	char *path = xasprintf("%s/said", test_folder), *text;

	dup2(saved_stderr, 2);
	close(saved_stderr);
	text = read_file(path, 65536, NULL);
	free(path);
	assert_non_null(text);
	return text;
}

static void test_files_with_another_build_id_give_no_names(void **state)
{
	assert_int_equal(test_run("gcc -g -O2 -o one prog.c && gcc -g -O2 -DX -Wl,--build-id=0x"
				  "0123456789abcdef0123456789abcdef -o two prog.c"),
			 0);
	const uint64_t sum = symbol_address("one", "sum");
	char *id = build_id_of("one");
	struct names *names = new_names(NULL, NULL);

	stderr_catch();
	add(names, BASE, 1u << 20, "one", id);
	check_sum(names, sum, "sum", "/prog.c");
	add(names, BASE, 1u << 20, "two", id);
	check_sum(names, sum, NULL, NULL);
	check_sum(names, sum + 4, NULL, NULL);
	add(names, BASE, 1u << 20, "two", id);
	check_sum(names, sum, NULL, NULL);
	char *said = stderr_caught();

	assert_non_null(strstr(said, "two is not the file that was traced"));
	assert_non_null(strstr(said, "0123456789abcdef0123456789abcdef"));
	assert_non_null(strstr(said, id));
	assert_int_equal(strchr(said, '\n')[1], '\0'); /* the message appears once */
	free(said);

	/* A system root is tried first; the path itself only if the build-id proves that it is the same file. */
	names_free(names);
	assert_int_equal(test_run("mkdir -p root%s && cp two root%s/one", test_folder, test_folder), 0);
	char *root = xasprintf("%s/root", test_folder);

	names = new_names(root, NULL);
	add(names, BASE, 1u << 20, "one", NULL);
	check_sum(names, symbol_address("two", "sum"), "sum", "/prog.c");
	add(names, BASE, 1u << 20, "whole", NULL);
	check_sum(names, sum, NULL, NULL);
	stderr_catch();
	add(names, BASE, 1u << 20, "one", id);
	check_sum(names, sum, "sum", "/prog.c");
	free(stderr_caught());
	names_free(names);

	/* The tracer's own path to the file, the last argument, is tried first. If no file is there, the object's path
	 * is used only if the build-id proves that it is right. */
	const struct record_object object = {BASE, BASE + (1u << 20), "/no/such/file"};
	const struct record_build_id bid = {BASE, id};
	char *open_path = xasprintf("%s/one", test_folder);

	names = new_names(NULL, NULL);
	names_add_object(names, &object, open_path);
	names_add_build_id(names, &bid);
	check_sum(names, sum, "sum", "/prog.c");
	names_add_object(names, &(struct record_object){BASE, BASE + (1u << 20), open_path}, "/proc/1/nothing");
	check_sum(names, sum, NULL, NULL);
	names_add_object(names, &(struct record_object){BASE, BASE + (1u << 20), open_path}, "/proc/1/nothing");
	names_add_build_id(names, &bid);
	check_sum(names, sum, "sum", "/prog.c");
	names_free(names);
	free(open_path);
	free(root);
	free(id);
}

static void test_names_follow_the_mapped_objects(void **state)
{
	const struct frame_name *lines;
	struct names *names = new_names(NULL, NULL);

	assert_int_equal(test_run("gcc -g -O2 -o one prog.c && sed s/sum/other/g prog.c >o.c && "
				  "gcc -g -O2 -o two o.c"),
			 0);
	const uint64_t sum = symbol_address("one", "sum");

	assert_int_equal(symbol_address("two", "other"), sum);
	assert_int_equal(names_lookup(names, BASE, &lines), 0);
	add(names, BASE, 0x5000, "one", NULL);
	check_sum(names, sum, "sum", "/prog.c");
	check_sum(names, sum, "sum", "/prog.c");

	/* The library was unloaded, and another one is at its place: the name is that of the new library. */
	add(names, BASE, 0x5000, "two", NULL);
	check_sum(names, sum, "other", "/o.c");
	/* The first library is loaded again at an address that overlaps its old place: the old address has no name any
	 * more. */
	add(names, BASE + 0x4000, 0x5000, "one", NULL);
	assert_int_equal(names_lookup(names, BASE + sum + 3, &lines), 0);
	assert_int_equal(names_lookup(names, BASE + 0x4000 + sum + 3, &lines), 1);
	assert_string_equal(lines[0].function, "sum");
	assert_non_null(strstr(lines[0].module, "/one"));

	/* The ends of an object: a return address at `to` belongs to the object, because its call ends there; a return
	 * address at `from` does not. */
	assert_int_equal(names_lookup(names, BASE + 0x9000, &lines), 1);
	assert_null(lines[0].function);
	assert_int_equal(names_lookup(names, BASE + 0x9001, &lines), 0);
	assert_int_equal(names_lookup(names, BASE + 0x4000, &lines), 0);
	assert_int_equal(names_lookup(names, 0, &lines), 0);
	assert_int_equal(names_lookup(names, UINT64_MAX, &lines), 0);

	/* If the path is not that of an ELF file (but of a device, a folder, a text, or of nothing), only the module
	 * has a name. */
	static const char *const odd[] = {"[vdso]", "/dev/null", "/tmp", "prog.c", ""};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		const struct record_object object = {BASE, BASE + 0x1000, odd[i]};

		names_add_object(names, &object, NULL);
		assert_int_equal(names_lookup(names, BASE + 5, &lines), 1);
		assert_string_equal(lines[0].module, odd[i]);
		assert_null(lines[0].function);
		assert_null(lines[0].file);
		assert_false(lines[0].inlined);
	}
	/* Records may be damaged. */
	names_add_object(names, &(struct record_object){BASE + 9, BASE + 9, "x"}, NULL);
	names_add_object(names, &(struct record_object){BASE + 9, BASE, "x"}, NULL);
	names_add_build_id(names, &(struct record_build_id){BASE + 77, "00"});
	names_add_build_id(names, &(struct record_build_id){BASE, "../../../../etc/passwd"});
	assert_int_equal(names_lookup(names, BASE + 5, &lines), 1);
	names_free(names);
}

/* A call may be the last instruction of a function. functrace looks up the byte before the return address, and so finds
 * that function and not the next one. */
static void test_return_address_at_the_end_belongs_to_its_function(void **state)
{
	const struct frame_name *lines;
	struct names *names = new_names(NULL, NULL);

	test_write("end.c", "#include <stdlib.h>\n"
			    "__attribute__((noinline)) void dies(void) { abort(); }\n"
			    "int after(int x) { return x; }\n"
			    "int main(void) { dies(); }\n");
	assert_int_equal(test_run("gcc -g -O1 -falign-functions=1 -fno-reorder-functions -o end end.c"), 0);
	const uint64_t after = symbol_address("end", "after");

	add(names, BASE, 0x5000, "end", NULL);
	assert_int_equal(names_lookup(names, BASE + after, &lines), 1);
	assert_string_equal(lines[0].function, "dies");
	assert_int_equal(lines[0].line, 2);
	assert_int_equal(names_lookup(names, BASE + after + 1, &lines), 1);
	assert_string_equal(lines[0].function, "after");
	names_free(names);
}

/* ---- debuginfod ---- */

static int server = -1;

/* libdwfl reads DEBUGINFOD_URLS at the program's start, so this program sets it and executes itself again. */
static void begin_with_server(char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	char number[16], url[64];

	if (getenv("FT_TEST_SERVER")) {
		server = atoi(getenv("FT_TEST_SERVER"));
		return;
	}
	server = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || bind(server, (struct sockaddr *)&address, size) || listen(server, 8) ||
	    getsockname(server, (struct sockaddr *)&address, &size)) {
		server = -1;
		return;
	}
	snprintf(number, sizeof(number), "%d", server);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
	setenv("FT_TEST_SERVER", number, 1);
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	setenv("DEBUGINFOD_MAXTIME", "2", 1);
	execv("/proc/self/exe", argv);
	server = -1;
}

static int asked; /* a pipe with a byte for each request */

/* Answers one request with "not found". Reads the whole request before it closes the connection: otherwise the
 * connection would be reset, and the client would try again. */
static void answer(int connection)
{
	static const char nothing[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	char question[4096];
	size_t used = 0;
	ssize_t got;

	while (used < sizeof(question) - 1) {
		got = read(connection, question + used, sizeof(question) - 1 - used);
		if (got <= 0)
			return;
		used += (size_t)got;
		question[used] = '\0';
		if (strstr(question, "\r\n\r\n"))
			break;
	}
	if (write(connection, nothing, sizeof(nothing) - 1) < 0)
		return;
	shutdown(connection, SHUT_WR);
	while (read(connection, question, sizeof(question)) > 0)
		;
}

/* Starts a process that answers until its parent ends, even if the test fails. */
static pid_t serve(void)
{
	const pid_t parent = getpid();
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(120);
		if (getppid() != parent)
			_exit(1);
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		for (;;) {
			const int connection = accept(server, NULL, NULL);

			if (connection < 0 || write(ends[1], "?", 1) < 0)
				_exit(1);
			answer(connection);
			close(connection);
		}
	}
	close(ends[1]);
	asked = ends[0];
	assert_int_equal(fcntl(asked, F_SETFL, O_NONBLOCK), 0);
	return pid;
}

static bool server_was_asked(void)
{
	char c;

	return read(asked, &c, 1) == 1;
}

static void test_debuginfod_is_asked_only_on_request(void **state)
{
	char *urls = getenv("DEBUGINFOD_URLS") ? xstrdup(getenv("DEBUGINFOD_URLS")) : NULL;

	if (server < 0 || !urls) {
		print_message("SKIPPED: no socket could be had\n");
		skip();
	}
	assert_int_equal(test_run("gcc -g -O2 -o unserved prog.c -Wl,--build-id=0x7777777777777777"
				  "7777777777777778"),
			 0);
	const uint64_t sum = symbol_address("unserved", "sum");

	assert_int_equal(test_run("strip unserved"), 0);
	setenv("DEBUGINFOD_CACHE_PATH", test_folder, 1);
	const pid_t pid = serve();

	check_program("unserved", NULL, sum, NULL, NULL);
	assert_false(server_was_asked());
	assert_string_equal(getenv("DEBUGINFOD_URLS"), urls);

	const struct names_options asking = {.debuginfod = true};
	struct names *names = names_new(&asking);

	add(names, BASE, 1u << 20, "unserved", NULL);
	check_sum(names, sum, NULL, NULL);
	names_free(names);
	if (!server_was_asked())
		print_message("--debuginfod: SKIPPED, libdwfl has no debuginfod client here\n");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(asked);
	free(urls);
}

static int setup(void **state)
{
	if (test_folder_make(state))
		return -1;
	test_write("prog.cc", cxx_source);
	test_write("prog.c", c_source);
	test_write("prog.rs", rust_source);
	return 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	begin_with_server(argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters_of_mangled_names_are_counted),
		cmocka_unit_test(test_names_of_c_agree_with_addr2line),
		cmocka_unit_test(test_names_of_cxx_agree_with_addr2line),
		cmocka_unit_test(test_names_of_clang_agree_with_addr2line),
		cmocka_unit_test(test_names_of_rust_agree_with_addr2line),
		cmocka_unit_test(test_separate_debug_files_are_found),
		cmocka_unit_test(test_all_forms_of_debug_information_are_read),
		cmocka_unit_test(test_files_for_other_processors_are_read),
		cmocka_unit_test(test_files_with_another_build_id_give_no_names),
		cmocka_unit_test(test_names_follow_the_mapped_objects),
		cmocka_unit_test(test_return_address_at_the_end_belongs_to_its_function),
		cmocka_unit_test(test_debuginfod_is_asked_only_on_request),
	};

	return cmocka_run_group_tests_name("symbols_names", tests, setup, test_folder_remove);
}
