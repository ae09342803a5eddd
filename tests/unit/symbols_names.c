/* Names against addr2line, address by address; separate debug files; build-ids; positions. */
#include "config.h"
#include "symbols/names.h"
#include "symbols/object.h"
#include "symbols_util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

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
			       "	printf(\"%d\\n\", sum(list, 2));\n"
			       "	return 0;\n"
			       "}\n";

static const char rust_source[] =
	"use std::collections::HashMap;\n"
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

static void add(struct names *names, uint64_t from, uint64_t size, const char *name,
		const char *build_id)
{
	char *path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", test_folder, name);
	const struct record_object object = {.from = from, .to = from + size, .path = path};
	const struct record_build_id id = {.from = from, .hex = build_id};

	names_add_object(names, &object, NULL);
	if (build_id)
		names_add_build_id(names, &id);
	free(path);
}

/* "??:0" and "??:?" are the same; " (discriminator N)" is of no interest. For an extern "C"
 * function of a C++ program with a cold part, addr2line 2.40 takes the cold part's symbol for all
 * of it: so that mark is taken off. */
static void normalize(char *line)
{
	char *mark = strstr(line, " (discriminator");
	const size_t length = strlen(line);

	if (length > 6 && !strcmp(line + length - 6, ".cold\n"))
		strcpy(line + length - 6, "\n");

	if (mark)
		strcpy(mark, "\n");
	else if (length > 3 && !strcmp(line + length - 3, ":0\n"))
		strcpy(line + length - 3, ":?\n");
}

/* The frames at an address in addr2line's form. */
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
		longer = xasprintf("%s%s%s:%s\n", text, function,
				   lines[i].file ? lines[i].file : "??",
				   lines[i].line ? number : "?");
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
	if (sscanf(*line, "%lx", address) != 1)
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
		char *longer = xasprintf("%s%s", *text, *line);

		free(*text);
		*text = longer;
	}
}

struct comparison {
	size_t addresses, equal, excused, inlined;
};

/* Where addr2line 2.40 is wrong: for an innermost inlined function that has no mangled name it
 * gives the symbol around it, and at some addresses the unit's file with the line of an included
 * one. Only the first function's name or the first file's name may differ then. */
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
	return our_file - ours == their_file - theirs &&
	       !strncmp(ours, theirs, (size_t)(our_file - ours)) && strstr(their_file, "prog.");
}

/* Compares each `step`th address of the file's functions. */
static struct comparison compare(const char *program, uint64_t origin, unsigned step)
{
	struct comparison result = {0};
	struct names *names = new_names(NULL, NULL);
	char *line = NULL, *path = xasprintf("%s/answers", test_folder), *text;
	size_t size = 0, shown = 0;
	uint64_t address;

	assert_int_equal(
		test_run(
			"nm -S %s | awk '$3 ~ /[tTwWi]/ && NF == 4 {print \"0x\" $1, \"0x\" $2}' | "
			"sort -u | while read a n; do i=$((a)); while [ $i -lt $((a+n)) ]; do "
			"echo $i; i=$((i+%u)); done; done | awk '{printf \"0x%%x\\n\", $1}' | "
			"addr2line -a -i -f -C -e %s >answers",
			program, step, program),
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
		result.inlined +=
			newline && strchr(newline + 1, '\n') && strchr(newline + 1, '\n')[1];
		if (strcmp(ours, text) && !is_excused(ours, text) && shown++ < 8)
			print_message("%s 0x%lx\n--- addr2line\n%s--- functrace\n%s", program,
				      (unsigned long)address, text, ours);
		free(ours);
		free(text);
	}
	fclose(answers);
	free(line);
	free(path);
	names_free(names);
	print_message(
		"%s: %zu addresses, %zu with inlined frames, %zu equal, %zu where addr2line errs\n",
		program, result.addresses, result.inlined, result.equal, result.excused);
	return result;
}

/* origin: where file offset 0 is in the file's own addresses. */
static void check_equal(const char *program, uint64_t origin, unsigned step)
{
	const struct comparison result = compare(program, origin, step);

	assert_true(result.addresses > 100);
	assert_true(result.inlined > 0);
	assert_int_equal(result.equal + result.excused, result.addresses);
	assert_true(result.excused * 50 <= result.addresses);
}

static void test_c(void **state)
{
	(void)state;
	assert_int_equal(test_run("gcc -g -O2 -o c-o2 prog.c && gcc -g -O1 -gdwarf-4 -no-pie -o "
				  "c-dwarf4 ./prog.c"),
			 0);
	check_equal("c-o2", 0, 1);
	check_equal("c-dwarf4", 0x400000, 1);
}

static void test_cxx(void **state)
{
	(void)state;
	if (!test_has("g++")) {
		print_message("SKIPPED: there is no g++ here\n");
		skip();
	}
	assert_int_equal(test_run("g++ -g -O2 -o cxx-o2 prog.cc && g++ -g -O3 -gdwarf-4 -o "
				  "cxx-o3 $PWD/prog.cc"),
			 0);
	check_equal("cxx-o2", 0, 1);
	check_equal("cxx-o3", 0, 1);
}

/* No .debug_aranges, other forms of ranges and lines. */
static void test_clang(void **state)
{
	(void)state;
	if (!test_has("clang")) {
		print_message("SKIPPED: there is no clang here\n");
		skip();
	}
	assert_int_equal(test_run("clang -g -O2 -o clang-c prog.c && clang -gdwarf-4 -O2 "
				  "-ffunction-sections -fuse-ld=lld -o clang-4 prog.c || "
				  "cp clang-c clang-4"),
			 0);
	check_equal("clang-c", 0, 1);
	check_equal("clang-4", 0, 1);
}

static void test_rust(void **state)
{
	(void)state;
	if (!test_has("rustc")) {
		print_message("SKIPPED: there is no rustc here\n");
		skip();
	}
	assert_int_equal(test_run("rustc -g -O -o rust-legacy prog.rs && rustc -g -O "
				  "-Csymbol-mangling-version=v0 -o rust-v0 prog.rs"),
			 0);
	check_equal("rust-legacy", 0, 29);
	check_equal("rust-v0", 0, 29);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_rust),
	};

	return cmocka_run_group_tests_name("symbols_names", tests, setup, test_folder_remove);
}
