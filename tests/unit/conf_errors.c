/* Tests messages about errors in modules' descriptions, in files that are not text, and in tables. */
#include "config.h"
#include "conf_util.h"
#include "modules/known.h"

static char folder[64];

/* ---- Errors ---- */

#define GET "alloc void *get(size_t n): id=return"

static const struct {
	const char *text, *said; /* the message after "d/own.conf:" */
} errors[] = {
	{"", "1: no function is described; add a line like 'alloc "},
	{"# nothing\n\n", "2: no function is described"},
	{"module a\n", "1: no function is described"},
	{"get\n", "1: 'get' begins no statement; statements begin with module, resource, prefixes, include, "
		  "enum, flags, union"},
	{"\n  " GET "\n", "2: 'alloc' is indented, which continues a statement, but no statement is above it"},
	{"module\n", "1: the end of the line is no name of a module, which has at most 64 letters, digits"},
	{"module a/b\n", "1: '/' has no meaning here; quote a text that has more than letters, digits"},
	{"module \"a b\"\n", "1: 'a b' is no name of a module"},
	{"module \"\x1b[2J\"\n", "1: the byte 0x1b is no part of a text"},
	{"module a\nmodule b\n", "2: a file describes only one module, and this file already names it 'a'"},
	{"module a version 2\n", "1: a version is written version=1.2"},
	{"module a version=1.\n", "1: '1.' is no version"},
	{"module a version=70000\n", "1: '70000' is no version"},
	{"module a b\n", "1: 'b' is unexpected: a module has"},
	{"resource\n", "1: the end of the line is no type of a resource"},
	{"resource a\nresource a\n", "2: a resource 'a' is described already"},
	{"resource a noun\n", "1: found the end of the line where '=' is expected: write noun=..."},
	{"resource a noun=\"\"\n", "1: found '' where noun is expected: a word, or a text in \"\""},
	{"resource a fast\n", "1: 'fast' is no property of a resource; its properties are noun=, unit="},
	{"resource a refcount calls\n", "1: a resource can have only one of the words refcount, calls and range"},
	{"prefixes\n", "1: the end of the line is no prefix"},
	{"alloc\n", "1: found the end of the line where a C type is expected"},
	{"alloc get(size_t n): id=return\n", "1: the type of the result is missing: write it before 'get', as C does"},
	{"alloc void *(size_t n): id=return\n",
	 "1: found '(' where the function's name is expected; quote a pattern of C++ names"},
	{"alloc void *get: id=return\n", "1: found ':' where the parameters in brackets are expected"},
	{"alloc void *get(size_t n: id=return\n", "1: found ':' where ',' or the ')' after the parameters is expected"},
	{"alloc void *get(size_t n, void): id=return\n", "1: a parameter cannot be void"},
	{"alloc void *get(int a, long a): id=return\n", "1: two parameters are called 'a'"},
	{"alloc void *get(int return): id=return\n", "1: 'return' is no name for parameter 1"},
	{"alloc void *get(int arg2): id=return\n", "1: 'arg2' is no name for parameter 1"},
	{"alloc void *get(int a-b): id=return\n", "1: 'a-b' is no name for parameter 1"},
	{"alloc void *3get(int a): id=return\n", "1: found '3get' where the function's name is expected"},
	{"alloc void *get(int (a)): id=return\n", "1: found 'a' where the '*' of a pointer to a function is expected"},
	{"alloc void *get(int a[2: id=return\n", "1: a '[' without its ']'"},
	{"alloc void *get(struct *p): id=return\n",
	 "1: found '*' where the name of a struct, union or enum is expected"},
	{"alloc void *get(int n) __attribute__: id=return\n", "1: an attribute is written __attribute__((NAME))"},
	{"alloc void *get(int n) __attribute__((x): id=return\n", "1: a '(' without its ')'"},
	{"alloc \"\": id=return\n", "1: the pattern is empty and matches no function"},
	{"alloc \"get[a-\": id=return\n", "1: the pattern 'get[a-' has a '[' without its ']'"},
	{"alloc \"a[]::get[abi:b][c\": id=return\n", "1: the pattern 'a[]::get[abi:b][c' has a '[' without its ']'"},
	{"alloc \"get: id=return\n", "1: a text without its end: close it by a \" on the same line"},
	{"alloc void *get(size_t n) id=return\n", "1: found 'id' where ':' is expected"},
	{"alloc void *get(size_t n):\n",
	 "1: the end of the line is no property of 'alloc'; its properties are id, size, keeps"},
	{"alloc void *get(size_t n): released=n\n", "1: 'released' is no property of 'alloc'"},
	{"alloc void *get(size_t n): size=n\n", "1: the id is missing: add id=return, or id=*NAME of a parameter"},
	{"free void put(void *p)\n", "1: the id is missing: add id=NAME of a parameter"},
	{"realloc void *r(void *p): id=return\n", "1: the released id is missing: add released=NAME of a parameter"},
	{GET ", id=n\n", "1: 'id' is given twice"},
	{GET " size=n\n", "1: found 'size' where ',' or the end of the statement is expected"},
	{GET ", size\n", "1: found the end of the line where '=' is expected: write size=..."},
	{GET ", size=m\n", "1: 'm' is no value; known are: n, arg1 to arg6, return, numbers, *NAME"},
	{GET ",\n\tsize=m\n", "2: 'm' is no value"},
	{GET ", size=arg7\n", "1: argument 7 is out of reach: functrace reads only the first 6"},
	{GET ", size=arg0\n", "1: 'arg0' is no value"},
	{"alloc void *get(int a, int b, int c, int d, int e, int f, int g): id=return, size=g\n",
	 "1: argument 7 is out of reach"},
	{GET ", size=*n\n", "1: argument 1 is no pointer"},
	{"alloc void *get(void *p): id=return, size=*p\n", "1: argument 1 points to a type that cannot be read"},
	{"alloc void *get(int *p): id=return, size=p[256]\n",
	 "1: found '256' where an index from 0 to 255 is expected"},
	{"alloc void *get(int *p): id=return, size=p[1\n", "1: a '[' without its ']'"},
	{GET ", size=n*n*n\n", "1: a product has two factors, no more"},
	{GET ", size=n*return\n", "1: the factors of a product are two arguments, an argument and a number"},
	{GET ", size=(return+n)*2\n",
	 "1: the sum of the result and a number, times another number, is written (return+1)*4"},
	{GET ", size=(double)n\n", "1: the type in brackets before a value must be an integer or a pointer"},
	{GET ", size=strsize(n\n", "1: a '(' without its ')'"},
	{GET ", size=18446744073709551616\n", "1: '18446744073709551616' is no value"},
	{"alloc void *get(double x, size_t n): id=return, size=n\n",
	 "1: parameter 1 is a floating-point number, which is not among the integer arguments (except in i386 "
	 "programs, where it is on the stack): leave it out of the prototype, except for i386"},
	{"alloc void *get(long double x, size_t n): id=return, size=n\n", "1: parameter 1 is a floating-point number"},
	{"alloc void *get(uint64_t x, size_t n): id=return, size=n\n", "1: parameter 1 has 8 bytes in any program"},
	{"alloc void *get(int x, off_t n): id=return, size=n\n", "1: parameter 2 has 8 bytes in any program"},
	{"alloc void *get(struct s x, size_t n): id=return, size=n\n", "1: parameter 1 is a struct by value"},
	{"alloc void *get(gsize n): id=return, size=n\n",
	 "1: the type of parameter 1 is not known here: write what it is"},
	{"free struct s put(void *p): id=p\n", "1: 'put' returns a struct by value"},
	{"alloc struct s get(void): id=return\n", "1: the result of get cannot be read as a number"},
	{"alloc void get(size_t n): id=return\n", "1: get returns void, so it has no result to use"},
	{"alloc void get(int **p): id=*p, succeeds=zero\n", "1: get returns void, so it has no result to use"},
	{"alloc int get(int **p): id=*p\n", "1: get returns a number: say which results mean success (succeeds=zero, "},
	{"free int put(void *p): id=p, can-fail\n", "1: put returns a number: say which results mean success"},
	{"free void put(void *p): id=p, can-fail\n", "1: a function that returns void cannot report a failure"},
	{"free \"put*\": id=arg1, can-fail\n", "1: put* can fail: say which results mean success"},
	{"free void *put(void *p): id=return\n", "1: a release is recorded at the function's entry"},
	{"alloc void *get(void): id=return, count=2\n", "1: count is for ids that a pointer leads to: id=*NAME"},
	{"alloc void get(int *p): id=*p, count=256\n",
	 "1: found '256' where a number of ids from 1 to 255 is expected"},
	{GET ", succeeds=often\n", "1: 'often' is no condition of success; known are nonzero, zero"},
	{GET ", if n < 3\n", "1: '<' is no comparison here; there are ==, !=, <=, & "},
	{GET ", if return == 3\n", "1: a condition is checked at the call's entry"},
	{GET ", if n == 3 and n == 4 or n == 5\n", "1: join all conditions by 'and', or all of them by 'or'"},
	{GET ", if n == 3 and n == 4 and n == 5 and n == 6\n", "1: there are more than 3 conditions"},
	{GET ", if n is dead\n", "1: found 'dead' where 'live' or 'not live' is expected"},
	{GET ", if n is live in a\n", "1: 'a' is no resource that is described above"},
	{GET ", resource=a\n", "1: 'a' is no resource that is described above"},
	{GET ", prefixed\n", "1: the file has no prefixes: name them in a line like 'prefixes je_ mi_'"},
	{"alloc \"*get\": id=return, prefixed\n", "1: a pattern cannot have prefixes: write '*' in their place"},
	{GET ", replaces-if n == 1\n", "1: extent and replaces-if need a resource with the word range"},
	{"resource a\nresource b\n" GET "\n", "3: there are several resources: name one of them with resource=TYPE"},
	{"resource a calls\n" GET ", resource=a\n", "2: the resource 'a' has the word calls, so no function allocates"},
	{"resource a\ncall void f(void): resource=a\n", "2: the resource 'a' is allocated and released"},
	{"resource a unit=byte\n" GET "\n", "2: the size is missing: add size=..., because 'a' is counted in bytes"},
	{GET "\nfree void put(void *p): id=p\n" GET "\n",
	 "3: 'get' is described in line 1 already; a function has one line "},
	{"enum\n", "1: the end of the line is no name of a type: flags mode_flags { READ = 1 }"},
	{"enum a-b { C }\n", "1: 'a-b' is no name of a type"},
	{"enum a ( C )\n", "1: found '(' where the '{' before the values is expected"},
	{"enum a { }\n", "1: the enum has no values"},
	{"enum a { B C }\n", "1: found 'C' where ',' or the '}' after the last value is expected"},
	{"enum a { B,\n\tC\n} d\n", "3: found 'd' after the '}'"},
	{"enum a { B }\nenum a { C }\n", "2: 'a' is described already"},
	{"enum a { B = C }\n", "1: found 'C' where a number is expected"},
	{"enum a { B = 09 }\n", "1: '09' is no octal number"},
	{"enum a { B, C, B }\n", "1: two values are called 'B'"},
	{"flags a { B = 1 on i386 x86_64,\n\tB = 1 on i386 }\n", "2: two values are called 'B'"},
	{"enum a { B = 1 << 64 }\n", "1: a number can be shifted by 0 to 63 bits"},
	{"flags a { B }\n", "1: the bits of 'B' are missing: write B = 1"},
	{"flags a { B = 4 of 3 }\n", "1: 'B' has bits that its mask does not have"},
	{"flags a { B = 4 on mips }\n", "1: 'mips' is no processor; known are x86_64, i386, aarch64 and armv7l"},
	{"flags a { \"\" = 4 }\n", "1: found '' where the name of a value is expected: a word"},
	{"alloc void *get(hex void *p): id=return\n", "1: 'hex' needs the type of an int or a long"},
	{"alloc void *get(out int n): id=return\n", "1: 'out' needs a pointer that the function fills"},
	{"alloc void *get(int a, out void *n): id=return\n",
	 "1: 'out' needs a pointer that the function fills, to a number"},
	{"free void get(void *p): id=p, errno\n",
	 "1: a function that returns void does not show whether errno was set"},
	{"module a families\n", "1: found the end of the line where '=' is expected: write families=..."},
	{"include memory\n", "1: 'memory' cannot be included; the only such statement is 'include constants'"},
	{"include constants again\n", "1: 'again' cannot be included"},
	{"include constants\nenum clock_id { A }\n", "2: 'clock_id' is described already"},
	{GET ", code=\n", "1: the end of the line is no name of code in functrace"},
	{GET ", code=mine\n", "1: 'mine' is no name of code in functrace"},
	{"free void put(void *p): id=p, code=object\n", "1: 'code' is no property of 'free'"},
	{"enum a : double { B }\n", "1: the type of an enum must be an integer, a pointer or a pointer to a function"},
	{"enum a : char * { B }\n", "1: the type of an enum must be an integer"},
	{"enum a : int b { B }\n", "1: a type without a name is expected here"},
	{"flags a : int { B = 1 }\n",
	 "1: flags have type int or mode_t; mode_t shows bits without a name as an octal number"},
	{"union a { 1: int }\n", "1: the type for all other values is missing: write union argument : int"},
	{"union a : float { 1: int }\n", "1: the type for all other values is missing"},
	{"union a : int { B: int }\n", "1: found 'B' where a number is expected"},
	{"union a : int { 1 int }\n", "1: found 'int' where ':' and a type are expected"},
	{"union a : int { 1: struct s }\n", "1: a union has only numbers and pointers, and this type is neither"},
	{"union a : int { 1: void b[n] }\n", "1: a type without a name is expected here"},
	{"union a : int { 1: int }\nunion b : int { 1: a }\n", "2: a union has only numbers and pointers"},
	{"union a : int { 1: int }\nalloc a get(void): id=return\n", "2: the type of a result cannot be a union"},
	{"union a : int { 1: int }\nalloc void *get(a n): id=return\n",
	 "2: the parameter on which the type depends is missing: add by NAME"},
	{"union a : int { 1: int }\nalloc void *get(a n by m): id=return\n", "2: 'm' is no parameter that -a shows"},
	{"alloc void *get(void to[m]): id=return\n", "1: 'm' is no parameter that -a shows"},
	{"alloc void *get(void to[n*m], int n): id=return\n", "1: 'm' is no parameter that -a shows"},
	{"alloc void *get(void to[n*2], int n): id=return\n", "1: found '2' where the name of another parameter"},
	{"alloc void *get(void to[n], gsize m, int n): id=return\n", "1: 'n' is no parameter that -a shows"},
	{"alloc void *get(int to[<=n], int n): id=return\n", "1: '<=' is for arrays of char and wchar_t"},
	{"alloc void *get(int n, int m if n): id=return\n", "1: found ')' where 'has' and the bits are expected"},
	{"alloc void *get(int n, void m[n] if n has 1): id=return\n",
	 "1: a parameter with a length cannot have a condition"},
	{"alloc void *get(int \"n\"): id=return, size=n\n", "1: 'n' is no value"},
	{"alloc \x7f\n", "1: '\\x7f' has no meaning here"},
	{"\xc3\xa9\n", "1: '\\xc3' has no meaning here"},
};

static void test_each_error_has_its_message(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		if (parse(errors[i].text))
			fail_msg("accepted: %s", errors[i].text);
		char *const expected = xasprintf("d/own.conf:%s", errors[i].said);

		if (strncmp(buf_str(&said), expected, strlen(expected)))
			fail_msg("of '%s' it says: %s", errors[i].text, buf_str(&said));
		if (strchr(buf_str(&said), '\n'))
			fail_msg("of '%s' it says more: %s", errors[i].text, buf_str(&said));
		free(expected);
	}
}

/* All errors of a file are reported at once, each with its line, up to a limit. */
static void test_all_errors_are_reported_up_to_a_limit(void **state)
{
	struct buf text = {0};

	assert_null(parse("frob\nfree void put(int p): id=q\n" GET "\nalloc void *f(void): id=g\n"));
	assert_string_equal(strtok((char *)(uintptr_t)buf_str(&said), ";"), "d/own.conf:1: 'frob' begins no statement");
	assert_null(parse("frob\n\n# a\nfree void put(int p): id=q\n"));
	assert_non_null(strstr(buf_str(&said), "\nd/own.conf:4: 'q' is no value"));
	for (int i = 0; i < 1000; i++)
		buf_add_str(&text, "frob\n");
	assert_null(parse(buf_str(&text)));
	assert_non_null(strstr(buf_str(&said), "\nd/own.conf:20: "));
	assert_null(strstr(buf_str(&said), "\nd/own.conf:21: "));
	assert_non_null(strstr(buf_str(&said), "\nd/own.conf: no more than 20 errors are shown"));
	buf_free(&text);
}

static void test_descriptions_over_the_limits_are_refused(void **state)
{
	struct buf text = {0};
	char name[1100];

	for (int i = 0; i <= CONF_ROWS_MAX; i++)
		buf_printf(&text, "free void f%d(int a): id=a\n", i);
	assert_null(parse(buf_str(&text)));
	assert_string_equal(buf_str(&said), "d/own.conf:10001: a file describes no more than 10000 functions");
	text.size -= strlen("free void f10000(int a): id=a\n");
	assert_int_equal(parsed(buf_str(&text))->function_count, CONF_ROWS_MAX);
	text.size = 0;
	for (int i = 0; i <= CONF_GLOBS_MAX; i++)
		buf_printf(&text, "free \"f%d*\": id=this\nfree \"f%d\": id=this\n", i, i);
	assert_null(parse(buf_str(&text)));
	assert_non_null(strstr(buf_str(&said), "d/own.conf:2001: a file has at most 1000 patterns with wildcards"));
	memset(name, 'a', sizeof(name));
	text.size = 0;
	buf_printf(&text, "module %.65s\n", name);
	assert_null(parse(buf_str(&text)));
	text.size = 0;
	buf_printf(&text, "free void %.1001s(int a): id=a\n", name);
	assert_null(parse(buf_str(&text)));
	assert_string_equal(buf_str(&said), "d/own.conf:1: a function's name of 1001 bytes is too long");
	text.size = 0;
	buf_printf(&text, "prefixes p_\nfree void %.61s(int a): id=a, prefixed\n", name);
	assert_null(parse(buf_str(&text)));
	text.size = 0;
	for (int i = 0; i < 17; i++)
		buf_printf(&text, "resource r%d\n", i);
	assert_null(parse(buf_str(&text)));
	assert_string_equal(buf_str(&said), "d/own.conf:17: a file has at most 16 resources");
	/* A text that contains a zero byte, and an empty one. */
	assert_null(parse_bytes("alloc\n\0", 7));
	assert_string_equal(buf_str(&said), "d/own.conf:2: a byte of value 0: this is no text");
	assert_null(parse_bytes("", 0));
	/* The file's name is the module's name. */
	said.size = 0;
	assert_null(conf_parse("d/my pool.conf", GET, strlen(GET), &said));
	assert_non_null(strstr(buf_str(&said), "d/my pool.conf:1: the file's name cannot be the module's name"));
	buf_free(&text);
}

/* ---- Files ---- */

static void assert_refused(const char *path, const char *why)
{
	said.size = 0;
	assert_null(conf_read(path, &said));
	if (!strstr(buf_str(&said), why))
		fail_msg("of %s it says: %s", path, buf_str(&said));
}

static void test_unusable_files_are_refused(void **state)
{
	char *const path = xasprintf("%s/file.conf", folder);
	FILE *file;

	assert_refused(path, "No such file or directory");
	assert_refused(folder, "is a folder; give a file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, "is no regular file; write it into one");
	unlink(path);
	file = fopen(path, "w");
	for (unsigned i = 0; i <= CONF_SIZE_MAX; i++)
		putc('\n', file);
	fclose(file);
	assert_refused(path, "is longer than 1 MiB");
	assert_int_equal(truncate(path, CONF_SIZE_MAX), 0);
	assert_refused(path, "file.conf:1048576: no function is described");
	file = fopen(path, "w");
	fputs(GET, file);
	fclose(file);
	said.size = 0;
	struct conf *const read = conf_read(path, &said);

	assert_non_null(read);
	assert_string_equal(conf_module(read)->name, "file");
	conf_free(read);
	if (geteuid()) {
		assert_int_equal(chmod(path, 0), 0);
		assert_refused(path, "Permission denied");
	}
	unlink(path);
	free(path);
}

/* ---- Tables of users, and of functrace ---- */

static void test_own_modules_are_valid(void **state)
{
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++) {
		said.size = 0;
		assert_int_equal(module->api, MODULE_API);
		if (!module_check(module, &said))
			fail_msg("%s: %s", module->name, buf_str(&said));
		assert_non_null(module->summary);
		assert_ptr_equal(module_find(module->name), module);
	}
}

static void test_invalid_tables_are_refused(void **state)
{
	static const struct resource good_resource = {.type = "object", .noun = "object"};
	static const struct function good_function = {.symbol = "get", .role = ROLE_ALLOC, .id = RESULT};
	static const struct resource calls = {.type = "visit", .noun = "visit", .flags = KIND_CALL};
	static const struct {
		struct function function;
		const char *said;
	} bad[] = {
		{{.role = ROLE_ALLOC, .id = RESULT}, "functions[0]: .symbol is missing"},
		{{.symbol = "f", .id = RESULT}, "functions[0] (f): .role is not in enum function_role"},
		{{.symbol = "f", .role = 5, .id = RESULT}, "functions[0] (f): .role is not in enum"},
		{{.symbol = "f", .role = ROLE_ALLOC}, ".id is missing"},
		{{.symbol = "f", .role = ROLE_REALLOC, .id = RESULT}, ".released is missing"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .resource = 1},
		 ".resource is no resource of the module"},
		{{.symbol = "f", .role = ROLE_CALL}, ".role does not fit its resource"},
		{{.symbol = "f", .role = ROLE_RELEASE, .id = ARG(6)},
		 ".id names an argument after the last one that functrace reads"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .size = ARG_TIMES(0, 6)}, ".size names an argument"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .size = {99, 0, 0, 0, 0}},
		 ".size has a kind that is not"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .size = {VALUE_ARG, 0, 0, 99, 0}},
		 ".size has a type that is not"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .keeps = KEPT(0, TYPE_INT, 1)},
		 ".keeps names a resource"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .success = 99}, ".success is not in enum success"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .result = 99}, ".result has a type that is not"},
		{{.symbol = "*f", .role = ROLE_ALLOC, .id = RESULT},
		 ".symbol has a prefix, and the module has no prefixes"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .conditions = {{.test = 99}}},
		 ".conditions has a test that is not"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .replaces = {.resource = 1}},
		 ".replaces names a resource"},
		{{.symbol = "f", .role = ROLE_ALLOC, .id = RESULT, .stays = {.resource = 1}},
		 ".stays names a resource"},
	};
	struct module module = {.api = MODULE_API,
				.name = "own",
				.resources = &good_resource,
				.resource_count = 1,
				.functions = &good_function,
				.function_count = 1};

	said.size = 0;
	assert_true(module_check(&module, &said));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		module.functions = &bad[i].function;
		said.size = 0;
		assert_false(module_check(&module, &said));
		if (!strstr(buf_str(&said), bad[i].said))
			fail_msg("it says %s, not %s", buf_str(&said), bad[i].said);
	}
	module.functions = &good_function;
	module.resources = &calls;
	assert_false(module_check(&module, &said));
	module.resources = &(struct resource){.type = "a b", .noun = "object"};
	assert_false(module_check(&module, &said));
	module.resources = &(struct resource){.type = "object"};
	assert_false(module_check(&module, &said));
	module.resources = &good_resource;
	module.resource_count = 0;
	assert_false(module_check(&module, &said));
	module.resource_count = 1;
	module.name = NULL;
	assert_false(module_check(&module, &said));
	module.name = "a/b";
	assert_false(module_check(&module, &said));
	module.name = "own";
	module.function_count = 0;
	assert_false(module_check(&module, &said));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_error_has_its_message),
		cmocka_unit_test(test_all_errors_are_reported_up_to_a_limit),
		cmocka_unit_test(test_descriptions_over_the_limits_are_refused),
		cmocka_unit_test(test_unusable_files_are_refused),
		cmocka_unit_test(test_invalid_tables_are_refused),
		cmocka_unit_test(test_own_modules_are_valid),
	};

	strcpy(folder, "conf-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	const int status = cmocka_run_group_tests(tests, NULL, NULL);

	rmdir(folder);
	parse_done();
	return status;
}
