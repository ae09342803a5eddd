/* Our own modules in the words of a description: what is read back has the same rows. */
#include "config.h"
#include "conf_util.h"
#include "modules/conf_write.h"
#include "modules/known.h"

static const char *where; /* the function that is compared */

static void same_number(const char *field, uint64_t a, uint64_t b)
{
	if (a != b)
		fail_msg("%s: %s was %ju, and is %ju", where, field, (uintmax_t)a, (uintmax_t)b);
}

static void same_text(const char *field, const char *a, const char *b)
{
	if (!a != !b || (a && strcmp(a, b)))
		fail_msg("%s: %s was %s, and is %s", where, field, a ? a : "none", b ? b : "none");
}

static void same_value(const char *field, const struct value *a, const struct value *b)
{
	same_number(field, a->kind, b->kind);
	same_number(field, a->a, b->a);
	same_number(field, a->b, b->b);
	same_number(field, a->type, b->type);
	same_number(field, a->number, b->number);
}

static void same_condition(const char *field, const struct condition *a, const struct condition *b)
{
	same_number(field, a->test, b->test);
	if (a->test == TEST_NONE)
		return;
	same_number(field, a->or_next, b->or_next);
	same_value(field, &a->value, &b->value);
	if (a->test == TEST_LIVE || a->test == TEST_NOT_LIVE)
		same_number(field, a->resource, b->resource);
	else
		same_value(field, &a->other, &b->other);
}

/* Without what no text can say: cases, and what is there only sometimes. */
static unsigned described(const struct param *param)
{
	switch (param->type) {
	case PARAM_WORD:
		return PARAM_INT;
	case PARAM_FLAGS_MODE:
		return PARAM_FLAGS;
	case PARAM_FLAGS:
		return param->words ? PARAM_FLAGS : PARAM_HEX;
	case PARAM_BYTES:
	case PARAM_NONE:
		return PARAM_POINTER;
	case PARAM_STRING_N:
		return PARAM_STRING;
	case PARAM_WIDE_N:
		return PARAM_WIDE;
	default:
		return param->type;
	}
}

static void same_param(const char *field, const struct param *a, const struct param *b)
{
	const unsigned type = described(a);

	same_text(field, a->name, b->name);
	same_number(field, type, b->type);
	same_number(field, a->is_result, b->is_result);
	if (type == PARAM_INTS)
		same_number(field, a->needs, b->needs);
	if (type == PARAM_SOCKADDR)
		same_number(field, a->with, b->with);
	if (!a->words || (type != PARAM_INT && type != PARAM_FLAGS))
		return;
	if (!b->words)
		fail_msg("%s: %s has lost its words", where, a->name);
	for (size_t i = 0; i == 0 || a->words[i - 1].name; i++) {
		same_text(field, a->words[i].name, b->words[i].name);
		same_number(field, a->words[i].value, b->words[i].value);
		same_number(field, a->words[i].mask, b->words[i].mask);
		same_number(field, a->words[i].on, b->words[i].on);
	}
}

#define SAME(field)       same_number(#field, a->field, b->field)
#define SAME_TEXT(field)  same_text(#field, a->field, b->field)
#define SAME_VALUE(field) same_value(#field, &a->field, &b->field)
#define IS_RELEASE(f)     ((f)->role == ROLE_RELEASE)
#define IDS(f)            ((f)->id_count ? (f)->id_count : 1)

/* Code, `look`, is what no text can say. */
static void same_function(const struct function *a, const struct function *b)
{
	where = a->symbol;
	SAME_TEXT(symbol);
	SAME_TEXT(name);
	SAME_TEXT(family);
	SAME(is_pattern);
	SAME(role);
	SAME(resource);
	for (size_t i = 0; i < FUNCTION_CONDITIONS; i++)
		same_condition("conditions", &a->conditions[i], &b->conditions[i]);
	same_condition("replaces", &a->replaces, &b->replaces);
	same_condition("stays", &a->stays, &b->stays);
	SAME_VALUE(id);
	SAME_VALUE(size);
	SAME_VALUE(released);
	SAME_VALUE(last);
	SAME_VALUE(extent);
	SAME_VALUE(keeps);
	same_number("id_count", IDS(a), IDS(b));
	SAME(result);
	if (IS_RELEASE(a))
		SAME(can_fail);
	else
		SAME(throws);
	/* Nobody asks whether a release that cannot fail has succeeded. */
	if (!IS_RELEASE(a) || a->can_fail)
		SAME(success);
	SAME(fails_unknown);
	SAME(may_release_none);
	SAME(releases_anyway);
	SAME(unless_live);
	SAME(publishes_early);
	SAME(zero_size_releases);
	SAME(sets_errno);
	for (size_t i = 0; i < FUNCTION_PARAMS && (a->params[i].type || b->params[i].type); i++)
		same_param("params", &a->params[i], &b->params[i]);
	same_param("returns", &a->returns, &b->returns);
}

static void same_resource(const struct resource *a, const struct resource *b)
{
	where = a->type;
	SAME_TEXT(type);
	SAME_TEXT(desc);
	SAME_TEXT(noun);
	SAME_TEXT(unit);
	SAME_TEXT(left);
	SAME(flags);
	SAME(zero_is_id);
	SAME(is_range);
	SAME(of_group);
	SAME(folds_in_object);
	SAME(is_nested);
}

static void same_module(const struct module *a, const struct module *b)
{
	where = a->name;
	SAME_TEXT(name);
	SAME_TEXT(summary);
	SAME(version_major);
	SAME(version_minor);
	SAME(resource_count);
	SAME(function_count);
	for (size_t i = 0; i < a->resource_count; i++)
		same_resource(&a->resources[i], &b->resources[i]);
	for (size_t i = 0; i < a->function_count; i++)
		same_function(&a->functions[i], &b->functions[i]);
	for (size_t i = 0; a->prefixes && a->prefixes[i]; i++)
		same_text("prefixes", a->prefixes[i], b->prefixes[i]);
}

static void test_own_modules(void **state)
{
	const struct module *module;

	(void)state;
	for (size_t i = 0; (module = module_known(i)); i++) {
		struct buf text = {0};

		conf_write(module, &text);
		same_module(module, parsed(buf_str(&text)));
		buf_free(&text);
	}
}

/* As it is written, so it is read and written again. */
static void test_words(void **state)
{
	static const char text[] =
		"module own \"a pool\" version=1.2\n"
		"resource object \"objects\" noun=\"object\" unit=\"byte\" left=\"never put\" refcount nested\n"
		"resource visit \"visits\" noun=\"visit\" calls\n"
		"prefixes je_\n"
		"flags how_words {\n"
		"\tFAST = 1, SLOW = 2 of 6, \"2<<\" = 4 on x86_64 i386\n"
		"}\n"
		"enum return_words {\n"
		"\tGOOD = 0, BAD = -1\n"
		"}\n"
		"\n"
		"alloc void *get(int n, const char *label): id=return, size=n*8, resource=object, if n != -1\n"
		"alloc \"Parser::Parser*\": id=arg1, size=(int)arg2, resource=object\n"
		"alloc int get_all(int *to, unsigned n, size_t each): id=to[1], size=n*each, count=2,\n"
		"\tsucceeds=zero, publishes-early, resource=object\n"
		"alloc return_words get_pair(out int pair[2], how_words how, const wchar_t *label, float weight,"
		" hex size_t mask, void (*done)(void), char *const *names, out void **last):\n"
		"\tid=*pair, count=2, succeeds=zero, errno, resource=object\n"
		"free bool put(void *p): id=p, succeeds=nonzero, prefixed, resource=object\n"
		"call void visit(void): resource=visit\n";
	struct buf again = {0};

	(void)state;
	conf_write(parsed(text), &again);
	assert_string_equal(buf_str(&again), text);
	buf_free(&again);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_modules), cmocka_unit_test(test_words)};
	const int status = cmocka_run_group_tests(tests, NULL, NULL);

	parse_done();
	return status;
}
