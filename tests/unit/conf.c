/* Tests what the parser of modules' descriptions accepts. */
#include "config.h"
#include "conf_util.h"

static const struct function *row(const char *text)
{
	return &parsed(text)->functions[0];
}

/* ---- Values ---- */

#define PROTOTYPE                                                                                                      \
	"alloc void *get(size_t n, int i, unsigned u, int *pair, char **name, bool b): id=return, publishes-early, "

static const struct {
	const char *text;
	struct value value;
} values[] = {
	{"n", ARG(0)},
	{"i", ARG_INT(1)},
	{"u", ARG_UINT(2)},
	{"pair", ARG(3)},
	{"b", {VALUE_ARG, 5, 0, TYPE_UINT8, 0}},
	{"arg2", ARG(1)},
	{"(int)arg2", ARG_INT(1)},
	{"(short)n", {VALUE_ARG, 0, 0, TYPE_INT16, 0}},
	{"return", RESULT},
	{"*pair", POINTEE_INT(3, 0)},
	{"pair[1]", POINTEE_INT(3, 1)},
	{"pair[255]", POINTEE_INT(3, 255)},
	{"*name", POINTEE(4, 0)},
	{"*arg5", POINTEE(4, 0)},
	{"(int)*name", POINTEE_INT(4, 0)},
	{"(uint16_t)name[2]", {VALUE_POINTEE, 4, 2, TYPE_UINT16, 0}},
	{"12", CONST(12)},
	{"0x10", CONST(16)},
	{"-1", CONST(UINT64_MAX)},
	{"3*4", CONST(12)},
	{"n*n", ARG_TIMES(0, 0)},
	{"n*i", {VALUE_ARG_TIMES, 0, 1, TYPE_WORD, TYPE_INT}},
	{"i * n", {VALUE_ARG_TIMES, 1, 0, TYPE_INT, TYPE_WORD}},
	{"n*8", ARG_SCALED(0, 8)},
	{"8*i", {VALUE_ARG_SCALED, 1, 0, TYPE_INT, 8}},
	{"return*4", RESULT_SCALED(0, 4)},
	{"(return+1)*4", RESULT_SCALED(1, 4)},
	{"pages(n)", ARG_PAGES(0)},
	{"strsize(name)", STRING_SIZE(4)},
	{"strsize(return)", RESULT_STRING_SIZE},
	{"wcssize(name)", WIDE_SIZE(4)},
	{"wcssize( return )", RESULT_WIDE_SIZE},
	{"namehash(name)", NAME_OF(4)},
	{"livesize(n)", LIVE_SIZE(0, TYPE_WORD, 0)},
	{"livesize(i)", LIVE_SIZE(1, TYPE_INT, 0)},
	{"kept(n)", KEPT(0, TYPE_WORD, 0)},
};

static void test_value_expressions_are_parsed(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char *const text = xasprintf(PROTOTYPE "size=%s\n", values[i].text);
		const struct value got = row(text)->size, expected = values[i].value;

		if (got.kind != expected.kind || got.a != expected.a || got.b != expected.b ||
		    got.type != expected.type || got.number != expected.number)
			fail_msg("%s is {%d, %d, %d, %d, %ju}", values[i].text, got.kind, got.a, got.b, got.type,
				 (uintmax_t)got.number);
		free(text);
	}
	/* A parameter may have the name of a function of the description language: pages, strsize. */
	assert_int_equal(row("alloc void *get(int pages, int strsize): id=return, size=pages*strsize")->size.kind,
			 VALUE_ARG_TIMES);
}

/* ---- Types ---- */

static const struct {
	const char *declaration;
	unsigned type, param; /* enum value_type, enum param_type */
} types[] = {
	{"int x", TYPE_INT, PARAM_INT},
	{"signed x", TYPE_INT, PARAM_INT},
	{"unsigned x", TYPE_UINT, PARAM_UINT},
	{"unsigned int x", TYPE_UINT, PARAM_UINT},
	{"const int x", TYPE_INT, PARAM_INT},
	{"int const x", TYPE_INT, PARAM_INT},
	{"enum mode x", TYPE_INT, PARAM_INT},
	{"int32_t x", TYPE_INT, PARAM_INT},
	{"uint32_t x", TYPE_UINT, PARAM_UINT},
	{"pid_t x", TYPE_INT, PARAM_INT},
	{"mode_t x", TYPE_UINT, PARAM_OCTAL},
	{"socklen_t x", TYPE_UINT, PARAM_UINT},
	{"key_t x", TYPE_INT, PARAM_HEX},
	{"error_t x", TYPE_INT, PARAM_ERROR},
	{"wchar_t x", TYPE_INT, PARAM_WCHAR},
	{"hex int x", TYPE_INT, PARAM_HEX},
	{"hex unsigned x", TYPE_UINT, PARAM_HEX},
	{"char x", TYPE_INT8, PARAM_CHAR},
	{"signed char x", TYPE_INT8, PARAM_INT8},
	{"unsigned char x", TYPE_UINT8, PARAM_UINT8},
	{"int8_t x", TYPE_INT8, PARAM_INT8},
	{"uint8_t x", TYPE_UINT8, PARAM_UINT8},
	{"bool x", TYPE_UINT8, PARAM_BOOL},
	{"_Bool x", TYPE_UINT8, PARAM_BOOL},
	{"short x", TYPE_INT16, PARAM_INT16},
	{"unsigned short int x", TYPE_UINT16, PARAM_UINT16},
	{"int16_t x", TYPE_INT16, PARAM_INT16},
	{"uint16_t x", TYPE_UINT16, PARAM_UINT16},
	{"long x", TYPE_WORD, PARAM_LONG},
	{"unsigned long int x", TYPE_WORD, PARAM_SIZE},
	{"long unsigned x", TYPE_WORD, PARAM_SIZE},
	{"size_t x", TYPE_WORD, PARAM_SIZE},
	{"ssize_t x", TYPE_WORD, PARAM_LONG},
	{"hex long x", TYPE_WORD, PARAM_HEX_LONG},
	{"uintptr_t x", TYPE_WORD, PARAM_HEX_LONG},
	{"intptr_t x", TYPE_WORD, PARAM_LONG},
	{"pthread_t x", TYPE_WORD, PARAM_HEX_LONG},
	{"void *x", TYPE_WORD, PARAM_POINTER},
	{"void*const x", TYPE_WORD, PARAM_POINTER},
	{"void *restrict x", TYPE_WORD, PARAM_POINTER},
	{"const struct item *x", TYPE_WORD, PARAM_POINTER},
	{"Item &x", TYPE_WORD, PARAM_POINTER},
	{"item_t **x", TYPE_WORD, PARAM_POINTER},
	{"const char *x", TYPE_WORD, PARAM_STRING},
	{"char const *x", TYPE_WORD, PARAM_STRING},
	{"out char *x", TYPE_WORD, PARAM_STRING},
	{"const wchar_t *x", TYPE_WORD, PARAM_WIDE},
	{"unsigned char *x", TYPE_WORD, PARAM_POINTER},
	{"char **x", TYPE_WORD, PARAM_POINTER},
	{"char *const *x", TYPE_WORD, PARAM_STRINGS},
	{"char *const x[]", TYPE_WORD, PARAM_STRINGS},
	{"char *x[]", TYPE_WORD, PARAM_POINTER},
	{"const char *const x[4]", TYPE_WORD, PARAM_STRINGS},
	{"out char **x", TYPE_WORD, PARAM_INDIRECT},
	{"out void **x", TYPE_WORD, PARAM_INDIRECT},
	{"out size_t *x", TYPE_WORD, PARAM_INDIRECT},
	{"int *x", TYPE_WORD, PARAM_POINTER},
	{"out int *x", TYPE_WORD, PARAM_INTS},
	{"out int x[2]", TYPE_WORD, PARAM_INTS},
	{"int x[2]", TYPE_WORD, PARAM_INTS},
	{"out socklen_t *x", TYPE_WORD, PARAM_INTS},
	{"char x[]", TYPE_WORD, PARAM_STRING},
	{"char x[20]", TYPE_WORD, PARAM_STRING},
	{"int x[static 4]", TYPE_WORD, PARAM_POINTER},
	{"int x[2][3]", TYPE_WORD, PARAM_POINTER},
	{"void (*x)(void *, int (*)(int))", TYPE_WORD, PARAM_FUNCTION},
	{"const struct sockaddr *x, socklen_t n", TYPE_WORD, PARAM_SOCKADDR},
	{"out struct sockaddr *x, out socklen_t *n", TYPE_WORD, PARAM_SOCKADDR},
	{"const struct sockaddr *x", TYPE_WORD, PARAM_POINTER},
	{"const struct sockaddr *x, char n", TYPE_WORD, PARAM_POINTER},
	{"int64_t x", TYPE_WORD, PARAM_INT64},
	{"unsigned long long x", TYPE_WORD, PARAM_UINT64},
	{"long long x", TYPE_WORD, PARAM_INT64},
	{"uint64_t x", TYPE_WORD, PARAM_UINT64},
	{"off_t x", TYPE_WORD, PARAM_LONG},
	{"off64_t x", TYPE_WORD, PARAM_INT64},
};

static void test_parameter_types_are_parsed(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char *const text = xasprintf("free void put(%s, ...);: id=x\n", types[i].declaration);
		const struct function *const f = row(text);

		if (f->id.kind != VALUE_ARG || f->id.type != types[i].type || f->params[0].type != types[i].param ||
		    (f->params[0].name && strcmp(f->params[0].name, "x")))
			fail_msg("%s is of type %d, parameter %d (%s)", types[i].declaration, f->id.type,
				 f->params[0].type, f->params[0].name ? f->params[0].name : "none");
		free(text);
	}
	const struct function *const f =
		row("alloc void *get(int, const char *, size_t c, int d, int e, int f, int g): "
		    "id=return, size=c");

	assert_string_equal(f->params[0].name, "arg1");
	assert_string_equal(f->params[1].name, "arg2");
	assert_int_equal(f->params[1].type, PARAM_STRING);
	assert_string_equal(f->params[5].name, "f");
	assert_int_equal(row("alloc void *get(void): id=return")->params[0].type, PARAM_END);
	/* A declaration as it is in a header. */
	assert_string_equal(row("alloc extern void *get(size_t n, ...) __attribute__((malloc, alloc_size(1)))\n\t"
				"__attribute__((cold)); : id=return, size=n")
				    ->symbol,
			    "get");
	assert_int_equal(row("alloc void *get(): id=return")->params[0].type, PARAM_END);
}

/* ---- Success ---- */

static const struct {
	const char *text;
	unsigned success, result;
	bool can_fail;
} successes[] = {
	{"alloc void *f(void): id=return", OK_NONZERO, TYPE_WORD, false},
	{"alloc size_t f(void): id=return", OK_NONZERO, TYPE_WORD, false},
	{"alloc unsigned f(void): id=return", OK_NONZERO, TYPE_UINT, false},
	{"alloc int f(void): id=return", OK_NOT_NEGATIVE, TYPE_INT, false},
	{"alloc long f(void): id=return", OK_NOT_NEGATIVE, TYPE_WORD, false},
	{"alloc bool f(int **p): id=*p", OK_NONZERO, TYPE_UINT8, false},
	{"alloc void f(int **p): id=*p", OK_ALWAYS, TYPE_WORD, false},
	{"alloc int f(int **p): id=*p, succeeds=zero", OK_ZERO, TYPE_INT, false},
	{"alloc int f(int **p): id=*p, succeeds=not-minus-1", OK_NOT_MINUS_1, TYPE_INT, false},
	{"alloc int f(int **p): id=*p, succeeds=nonzero", OK_NONZERO, TYPE_INT, false},
	{"alloc int f(int **p): id=*p, succeeds=not-negative", OK_NOT_NEGATIVE, TYPE_INT, false},
	{"alloc int f(int **p): id=*p, succeeds=always", OK_ALWAYS, TYPE_INT, false},
	{"alloc \"f*\": id=return", OK_NONZERO, TYPE_WORD, false},
	{"alloc \"f*\": id=this", OK_ALWAYS, TYPE_WORD, false},
	{"alloc int \"f*\": id=return", OK_NOT_NEGATIVE, TYPE_INT, false},
	{"free void f(void *p): id=p", OK_ALWAYS, TYPE_WORD, false},
	{"free int f(void *p): id=p", OK_ALWAYS, TYPE_INT, false},
	{"free int f(void *p): id=p, succeeds=zero", OK_ZERO, TYPE_INT, true},
	{"free bool f(void *p): id=p, can-fail", OK_NONZERO, TYPE_UINT8, true},
	{"realloc void *f(void *p): id=return, released=p", OK_NONZERO, TYPE_WORD, true},
	{"call void f(void)", OK_ALWAYS, TYPE_WORD, false},
	{"call int f(void): succeeds=zero", OK_ZERO, TYPE_INT, false},
};

static void test_success_depends_on_the_result(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(successes); i++) {
		const struct function *const f = row(successes[i].text);

		if (f->success != successes[i].success || f->result != successes[i].result ||
		    f->can_fail != successes[i].can_fail)
			fail_msg("%s: success %d, result %d, can fail %d", successes[i].text, f->success, f->result,
				 f->can_fail);
	}
}

/* ---- A whole file ---- */

static const char whole[] =
	"\xef\xbb\xbf# A pool.\r\n"
	"\r\n"
	"module my.pool-2 \"objects of my pool\" version=3.14   # with a comment\r\n"
	"resource object \"objects of the pool\" noun=\"pool object\" unit=byte left=\"never returned\"\r\n"
	"resource ref refcount\r\n"
	"resource visit \"visits # are counted\" calls\r\n"
	"\t# Indented comments and blank lines are nothing.\r\n"
	"prefixes je_, mi_\r\n"
	"prefixes tc_\r\n"
	"alloc void *get(struct pool *p, size_t n):\r\n"
	"\tid=return, size=n,\r\n"
	"# in between\r\n"
	"\r\n"
	"    resource=object, family=pool, name=\"the get\"\r\n"
	"alloc void *malloc(size_t): id=return, size=arg1, prefixed, resource=object\n"
	"free void put(void *p, int what): id=p, resource=object, if what == 1 and p is live in object and "
	"what !& 0x8, may-release-none, fails-unknown\n"
	"free void put(void *p, int what): id=p, resource=ref, if what or p <= 4 or p is not live in ref\n"
	"alloc \"Parser::Parser(*)\": id=this, resource=ref\n"
	"call void visit(const char *path): resource=visit";

static void test_whole_file_is_parsed(void **state)
{
	const struct module *const module = parsed(whole);
	const struct function *const f = module->functions;

	assert_string_equal(module->name, "my.pool-2");
	assert_string_equal(module->summary, "objects of my pool");
	assert_int_equal(module->version_major, 3);
	assert_int_equal(module->version_minor, 14);
	assert_int_equal(module->resource_count, 3);
	assert_string_equal(module->resources[0].type, "object");
	assert_string_equal(module->resources[0].desc, "objects of the pool");
	assert_string_equal(module->resources[0].noun, "pool object");
	assert_string_equal(module->resources[0].unit, "byte");
	assert_string_equal(module->resources[0].left, "never returned");
	assert_string_equal(module->resources[1].desc, "objects of my pool");
	assert_string_equal(module->resources[1].noun, "ref");
	assert_null(module->resources[1].unit);
	assert_int_equal(module->resources[1].flags, KIND_REFCOUNT);
	assert_string_equal(module->resources[2].desc, "visits # are counted");
	assert_int_equal(module->resources[2].flags, KIND_CALL);
	assert_string_equal(module->prefixes[0], "je_");
	assert_string_equal(module->prefixes[1], "mi_");
	assert_string_equal(module->prefixes[2], "tc_");
	assert_null(module->prefixes[3]);
	assert_int_equal(module->function_count, 6);
	assert_string_equal(f[0].symbol, "get");
	assert_string_equal(f[0].name, "the get");
	assert_string_equal(f[0].family, "pool");
	assert_int_equal(f[0].size.a, 1);
	assert_string_equal(f[1].symbol, "*malloc");
	assert_false(f[1].is_pattern);
	assert_true(f[2].may_release_none && f[2].fails_unknown);
	assert_int_equal(f[2].conditions[0].test, TEST_EQUALS);
	assert_int_equal(f[2].conditions[0].value.type, TYPE_INT);
	assert_int_equal(f[2].conditions[0].other.number, 1);
	assert_int_equal(f[2].conditions[1].test, TEST_LIVE);
	assert_int_equal(f[2].conditions[1].resource, 0);
	assert_int_equal(f[2].conditions[2].test, TEST_LACKS);
	assert_false(f[2].conditions[0].or_next || f[2].conditions[1].or_next || f[2].conditions[2].or_next);
	assert_int_equal(f[3].resource, 1);
	assert_int_equal(f[3].conditions[0].test, TEST_DIFFERS);
	assert_int_equal(f[3].conditions[1].test, TEST_AT_MOST);
	assert_int_equal(f[3].conditions[2].test, TEST_NOT_LIVE);
	assert_int_equal(f[3].conditions[2].resource, 1);
	assert_true(f[3].conditions[0].or_next && f[3].conditions[1].or_next && !f[3].conditions[2].or_next);
	assert_string_equal(f[4].symbol, "Parser::Parser(*)");
	assert_true(f[4].is_pattern && f[4].throws);
	assert_false(f[0].throws);
	assert_int_equal(f[5].role, ROLE_CALL);
	assert_int_equal(f[5].resource, 2);
}

static void test_properties_are_parsed(void **state)
{
	const struct module *const module = parsed(
		"resource map range, zero-is-id group ends-in-child folds-in-object nested\n"
		"alloc void *m(void *p, size_t n, int flags): id=return, size=n, replaces-if flags & 0x10, keeps=n, "
		"throws\n"
		"free int u(void *p, size_t n): id=p, extent=n, last=n, succeeds=zero\n"
		"realloc void *r(void *p, size_t n): id=return, released=p, extent=n, size=n, releases-anyway, "
		"zero-size-releases, may-release-none, stays-if n == 3\n"
		"alloc int two(int *p): id=*p, count=2, succeeds=zero, publishes-early, size=3\n");
	const struct resource *const r = module->resources;
	const struct function *const f = module->functions;

	assert_true(r->is_range && r->zero_is_id && r->of_group && r->folds_in_object && r->is_nested);
	assert_true(r->ends_in_child);
	assert_int_equal(f[0].replaces.test, TEST_HAS);
	assert_int_equal(f[0].replaces.other.number, 0x10);
	assert_int_equal(f[0].keeps.a, 1);
	assert_true(f[0].throws);
	assert_int_equal(f[1].extent.a, 1);
	assert_int_equal(f[1].last.kind, VALUE_ARG);
	assert_int_equal(f[2].stays.test, TEST_EQUALS);
	assert_int_equal(f[2].stays.other.number, 3);
	assert_true(f[2].releases_anyway && f[2].zero_size_releases && f[2].may_release_none);
	assert_int_equal(f[3].id_count, 2);
	assert_true(f[3].publishes_early);
	assert_string_equal(r->unit, "byte");
}

static void test_omitted_statements_get_defaults(void **state)
{
	const struct module *module =
		parsed("alloc void *get(size_t n): id=return, size=n\nfree void put(void *p): id=p\n");

	assert_string_equal(module->name, "own");
	assert_string_equal(module->summary, "described in d/own.conf");
	assert_int_equal(module->version_major, 1);
	assert_int_equal(module->resource_count, 1);
	assert_string_equal(module->resources[0].type, "own");
	assert_string_equal(module->resources[0].noun, "object");
	assert_string_equal(module->resources[0].unit, "byte");
	assert_null(module->prefixes[0]);
	/* There is no unit if the size is constant or missing. */
	assert_null(parsed("alloc void *get(size_t n): id=return, size=1")->resources[0].unit);
	assert_null(parsed("alloc void *get(size_t n): id=return")->resources[0].unit);
	/* Calls have a resource of their own. */
	module = parsed("call void visit(void)\nalloc void *get(void): id=return");
	assert_int_equal(module->resource_count, 2);
	assert_string_equal(module->resources[0].type, "own-calls");
	assert_int_equal(module->resources[0].flags, KIND_CALL);
	assert_string_equal(module->resources[0].noun, "call");
	assert_int_equal(module->functions[1].resource, 1);
}

/* ---- What -a shows ---- */

static void same_param(const struct param *param, const char *name, unsigned type)
{
	if (!param->name || strcmp(param->name, name) || param->type != type)
		fail_msg("%s is %s, of type %u", name, param->name ? param->name : "none", param->type);
}

static void test_parameters_are_shown_by_type(void **state)
{
	const struct function *f =
		row("alloc void *get(float a, double b, int64_t c, out int pair[2], out char *name, "
		    "out struct sockaddr *addr, out socklen_t *len, char, bool h, int i, int j, int k, "
		    "int l): id=return, errno\n");
	static const unsigned expected[FUNCTION_PARAMS] = {PARAM_FLOAT,  PARAM_DOUBLE,   PARAM_INT64, PARAM_INTS,
							   PARAM_STRING, PARAM_SOCKADDR, PARAM_INTS,  PARAM_CHAR,
							   PARAM_BOOL,   PARAM_INT,      PARAM_INT,   PARAM_INT};
	static const char *const names[FUNCTION_PARAMS] = {"a",   "b",    "c", "pair", "name", "addr",
							   "len", "arg8", "h", "i",    "j",    "k"};

	for (size_t i = 0; i < FUNCTION_PARAMS; i++) {
		same_param(&f->params[i], names[i], expected[i]);
		assert_int_equal(f->params[i].is_result, i >= 3 && i <= 6);
	}
	assert_int_equal(f->params[3].needs, 2);
	assert_int_equal(f->params[6].needs, 1);
	assert_int_equal(f->params[5].with, 6);
	assert_true(f->sets_errno);
	same_param(&f->returns, "return", PARAM_POINTER);
	/* If the place of a parameter is unknown, this parameter and all after it are not shown. */
	f = row("call item_t get(int a, item_t b, int c)\n");
	same_param(&f->params[0], "a", PARAM_INT);
	assert_int_equal(f->params[1].type, PARAM_END);
	assert_int_equal(f->returns.type, PARAM_END);
	assert_false(f->sets_errno);
	f = row("call struct item get(int a)\n");
	assert_int_equal(f->params[0].type, PARAM_END);
	f = row("alloc const char *get(long double a, int b): id=return\n");
	assert_int_equal(f->params[0].type, PARAM_END);
	same_param(&f->returns, "return", PARAM_STRING);
	f = row("alloc \"get*\": id=arg1\n");
	assert_int_equal(f->params[0].type, PARAM_END);
}

/* Parameters that depend on others. */
static void test_dependent_parameters_are_parsed(void **state)
{
	const struct function *f =
		row("include constants\n"
		    "union option : hex size_t { 1: void, 2 of 6: open_flags, 3: const char *,\n"
		    "\t010: clock_id }\n"
		    "call ssize_t get(out void to[count*each], size_t each, size_t count,\n"
		    "\tconst char text[<=each], wchar_t wide[<=each], mode_t mode if flags has 0100,\n"
		    "\topen_flags flags, option how by flags, hidden const tag &t, int \"arg1\")\n");
	static const struct {
		const char *name;
		unsigned type, with, times, needs;
	} expected[] = {{"to", PARAM_BYTES, 2, 2, 0},    {"each", PARAM_SIZE, 0, 0, 0},
			{"count", PARAM_SIZE, 0, 0, 0},  {"text", PARAM_STRING_N, 1, 0, 0},
			{"wide", PARAM_WIDE_N, 1, 0, 0}, {"mode", PARAM_OCTAL, 6, 0, 64},
			{"flags", PARAM_FLAGS, 0, 0, 0}, {"how", PARAM_HEX_LONG, 6, 0, 0},
			{"t", PARAM_NONE, 0, 0, 0},      {"arg1", PARAM_INT, 0, 0, 0}};
	const struct param_case *const cases = f->params[7].cases;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct param *const param = &f->params[i];

		same_param(param, expected[i].name, expected[i].type);
		assert_int_equal(param->with, expected[i].with);
		assert_int_equal(param->times, expected[i].times);
		assert_int_equal(param->needs, expected[i].needs);
		assert_int_equal(param->is_result, i == 0);
		assert_int_equal(param->cases != NULL, i == 7);
	}
	assert_int_equal(cases[0].value, 1);
	assert_int_equal(cases[0].type, PARAM_NONE);
	assert_int_equal(cases[1].mask, 6);
	assert_int_equal(cases[1].type, PARAM_FLAGS);
	assert_ptr_equal(cases[1].words, f->params[6].words);
	assert_int_equal(cases[2].type, PARAM_STRING);
	assert_int_equal(cases[3].value, 8);
	assert_int_equal(cases[3].type, PARAM_WORD);
	assert_int_equal(cases[4].type, PARAM_END);
	/* An array with neither void nor <= in its declaration is parsed like a pointer, except an array of int with a
	 * number as its length. */
	f = row("call void get(char text[n], int n, int pair[2], int more[])\n");
	same_param(&f->params[0], "text", PARAM_STRING);
	same_param(&f->params[2], "pair", PARAM_INTS);
	same_param(&f->params[3], "more", PARAM_POINTER);
}

/* The type of an enum or flags parameter decides how a value without a word is shown. */
static void test_types_of_enums_and_flags_are_parsed(void **state)
{
	const struct function *const f = row("enum a : void * { A = -1 }\n"
					     "enum b : hex size_t { B }\n"
					     "enum c : hex int { C }\n"
					     "enum d : void (*)(int) { D }\n"
					     "flags e : mode_t { E = 1 }\n"
					     "enum g : unsigned { G }\n"
					     "alloc a get(b b, c c, d d, e e, g g, a *h): id=return, size=*h, "
					     "succeeds=not-minus-1, if b == 1 and c == 2 and e & 3\n");
	static const unsigned expected[] = {PARAM_HEX_LONG,   PARAM_WORD, PARAM_FUNCTION,
					    PARAM_FLAGS_MODE, PARAM_UINT, PARAM_POINTER};

	same_param(&f->returns, "return", PARAM_POINTER);
	assert_string_equal(f->returns.words->name, "A");
	assert_int_equal(f->result, TYPE_WORD);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(f->params[i].type, expected[i]);
		assert_int_equal(f->params[i].words != NULL, i < 5);
	}
	assert_int_equal(f->conditions[0].value.type, TYPE_WORD);
	assert_int_equal(f->conditions[1].value.type, TYPE_INT);
	assert_int_equal(f->conditions[2].value.type, TYPE_INT);
}

/* Users may write all forms that functrace's own descriptions have. */
static void test_rare_properties_are_parsed(void **state)
{
	const struct module *const module =
		parsed("module own \"a pool\" families=\"new and old\" version=2.3 "
		       "symbols=\"--symbol-address=get=0xADDRESS\"\n"
		       "resource fd keeper=__freeres descriptors\n"
		       "alloc int get(int n): id=n, succeeds=zero, code=terminal\n"
		       "alloc int see(int n): id=n, succeeds=zero, code=attached-size\n"
		       "free int put(int n): id=n, succeeds=zero, releases-anyway, fails-unknown, errno\n"
		       "free int end(int n): id=n, releases-anyway, errno\n");
	const struct function *const f = module->functions;

	assert_string_equal(module->families, "new and old");
	assert_string_equal(module->symbols, "--symbol-address=get=0xADDRESS");
	assert_int_equal(module->version_minor, 3);
	assert_string_equal(module->resources[0].keeper, "__freeres");
	assert_int_equal(module->resources[0].existing, EXISTING_DESCRIPTORS);
	assert_true(f[0].look && f[0].looks_again);
	assert_true(f[1].look && !f[1].looks_again);
	assert_int_equal(f[2].success, OK_ZERO);
	assert_false(f[2].can_fail || f[2].releases_anyway);
	assert_int_equal(f[3].success, OK_ALWAYS);
	assert_false(f[3].can_fail);
}

static void same_word(const struct param_word *word, const char *name, uint64_t value, uint64_t mask, unsigned on)
{
	if (!word->name || strcmp(word->name, name) || word->value != value || word->mask != mask || word->on != on)
		fail_msg("%s is %s = %#jx of %#jx on %u", name, word->name ? word->name : "none",
			 (uintmax_t)word->value, (uintmax_t)word->mask, word->on);
}

static void test_enums_and_flags_are_parsed(void **state)
{
	const struct function *f = row("flags mode_flags { READ = 0 of 3, WRITE = 1 of 3 on x86_64 armv7l,\n"
				       "\tMAKE = 0100, \"8<<\" = 8 << 28, LAST = 0x10,\n"
				       "};\n"
				       "enum color { RED, GREEN = 5, BLUE, NONE = -1 }\n"
				       "alloc enum color get(mode_flags a, const color b, mode_flags *c, color):\n"
				       "\tid=return, succeeds=zero\n");
	const struct param_word *const flags = f->params[0].words, *const color = f->params[1].words;

	same_param(&f->params[0], "a", PARAM_FLAGS);
	same_param(&f->params[1], "b", PARAM_INT);
	same_param(&f->params[2], "c", PARAM_POINTER);
	same_param(&f->params[3], "arg4", PARAM_INT);
	same_param(&f->returns, "return", PARAM_INT);
	assert_int_equal(f->result, TYPE_INT);
	assert_ptr_equal(f->returns.words, color);
	assert_ptr_equal(f->params[3].words, color);
	assert_null(f->params[2].words);
	same_word(&flags[0], "READ", 0, 3, 0);
	same_word(&flags[1], "WRITE", 1, 3, ON_X86_64 | ON_ARM);
	same_word(&flags[2], "MAKE", 64, 0, 0);
	same_word(&flags[3], "8<<", 0x80000000, 0, 0);
	same_word(&flags[4], "LAST", 16, 0, 0);
	assert_null(flags[5].name);
	same_word(&color[0], "RED", 0, 0, 0);
	same_word(&color[1], "GREEN", 5, 0, 0);
	same_word(&color[2], "BLUE", 6, 0, 0);
	same_word(&color[3], "NONE", UINT64_MAX, 0, 0);
	assert_null(color[4].name);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_expressions_are_parsed),
		cmocka_unit_test(test_parameter_types_are_parsed),
		cmocka_unit_test(test_parameters_are_shown_by_type),
		cmocka_unit_test(test_success_depends_on_the_result),
		cmocka_unit_test(test_enums_and_flags_are_parsed),
		cmocka_unit_test(test_whole_file_is_parsed),
		cmocka_unit_test(test_dependent_parameters_are_parsed),
		cmocka_unit_test(test_types_of_enums_and_flags_are_parsed),
		cmocka_unit_test(test_rare_properties_are_parsed),
		cmocka_unit_test(test_properties_are_parsed),
		cmocka_unit_test(test_omitted_statements_get_defaults),
	};
	const int status = cmocka_run_group_tests(tests, NULL, NULL);

	parse_done();
	return status;
}
