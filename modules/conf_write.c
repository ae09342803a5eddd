#include "config.h"
#include "modules/conf_write.h"
#include "modules/conf_write_types.h"

#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 110

/* A row, and how its parameters are declared: by what its values say of them. */
struct writing {
	const struct module *module;
	const struct function *function;
	const struct word_names *names;
	struct buf *text;
	unsigned params, known;               /* how many; of how many the row says what they are */
	bool is_pointee[FUNCTION_PARAMS];     /* what it points to is used */
	unsigned char types[FUNCTION_PARAMS]; /* enum value_type of the parameter, or of what it points to */
	bool is_used[FUNCTION_PARAMS];
};

static const char *type_name(unsigned type)
{
	static const char *const names[] = {
		[TYPE_WORD] = "size_t",          [TYPE_INT] = "int",    [TYPE_UINT] = "unsigned",
		[TYPE_INT8] = "signed char",     [TYPE_UINT8] = "bool", [TYPE_INT16] = "short",
		[TYPE_UINT16] = "unsigned short"};

	return names[type];
}

/* ---- Values ---- */

static const char *param_name(const struct writing *w, unsigned index)
{
	static char numbered[2][8];
	static unsigned next;

	if (!w->function->is_pattern)
		for (unsigned i = 0; i < FUNCTION_PARAMS && w->function->params[i].type; i++)
			if (i == index)
				return w->function->params[i].name;
	next = !next;
	snprintf(numbered[next], sizeof(numbered[next]), "arg%u", index + 1);
	return numbered[next];
}

/* What no prototype declares is as wide as a pointer. */
static unsigned declared_type(const struct writing *w, unsigned index)
{
	if (w->function->is_pattern)
		return TYPE_WORD;
	return index < w->known ? conf_param_type(&w->function->params[index]) : w->types[index];
}

/* A pointer of which the row says no more, but its values do. */
static bool is_untyped(const struct writing *w, unsigned index)
{
	return w->function->params[index].type == PARAM_POINTER && w->is_pointee[index];
}

/* Of what it points to; -1: it has none. */
static int declared_pointee(const struct writing *w, unsigned index)
{
	if (w->function->is_pattern)
		return TYPE_WORD;
	return index < w->known && !is_untyped(w, index) ? conf_param_pointee(&w->function->params[index])
							 : w->types[index];
}

static void add_argument(const struct writing *w, const struct value *value)
{
	if (value->type != declared_type(w, value->a))
		buf_printf(w->text, "(%s)", type_name(value->type));
	buf_add_str(w->text, param_name(w, value->a));
}

static void add_pointee(const struct writing *w, const struct value *value)
{
	if (value->type != declared_pointee(w, value->a))
		buf_printf(w->text, "(%s)", type_name(value->type));
	if (value->b)
		buf_printf(w->text, "%s[%u]", param_name(w, value->a), value->b);
	else
		buf_printf(w->text, "*%s", param_name(w, value->a));
}

static void add_function(const struct writing *w, const char *word, const struct value *value)
{
	buf_printf(w->text, "%s(%s", word, param_name(w, value->a));
	if (value->kind == VALUE_LIVE_SIZE || value->kind == VALUE_KEPT)
		buf_printf(w->text, ", %s", w->module->resources[value->b].type);
	buf_add_char(w->text, ')');
}

static void add_value(const struct writing *w, const struct value *value)
{
	static const char *const functions[] = {
		[VALUE_ARG_PAGES] = "pages", [VALUE_STRING_SIZE] = "strsize", [VALUE_WIDE_SIZE] = "wcssize",
		[VALUE_NAME] = "namehash",   [VALUE_LIVE_SIZE] = "livesize",  [VALUE_KEPT] = "kept"};

	switch (value->kind) {
	case VALUE_ARG:
		add_argument(w, value);
		break;
	case VALUE_RESULT:
		buf_add_str(w->text, "return");
		break;
	case VALUE_ARG_TIMES:
		add_argument(w, value);
		buf_printf(w->text, "*%s", param_name(w, value->b));
		break;
	case VALUE_POINTEE:
		add_pointee(w, value);
		break;
	case VALUE_CONST:
		conf_write_number(w->text, value->number);
		break;
	case VALUE_ARG_SCALED:
		add_argument(w, value);
		buf_add_char(w->text, '*');
		conf_write_number(w->text, value->number);
		break;
	case VALUE_RESULT_SCALED:
		buf_printf(w->text, "(return+%u)*", value->b);
		conf_write_number(w->text, value->number);
		break;
	case VALUE_RESULT_STRING_SIZE:
		buf_add_str(w->text, "strsize(return)");
		break;
	case VALUE_RESULT_WIDE_SIZE:
		buf_add_str(w->text, "wcssize(return)");
		break;
	default:
		add_function(w, functions[value->kind], value);
	}
}

static void add_condition(const struct writing *w, const struct condition *condition)
{
	static const char *const signs[] = {[TEST_EQUALS] = "==",
					    [TEST_DIFFERS] = "!=",
					    [TEST_AT_MOST] = "<=",
					    [TEST_HAS] = "&",
					    [TEST_LACKS] = "!&"};

	add_value(w, &condition->value);
	if (condition->test == TEST_LIVE || condition->test == TEST_NOT_LIVE) {
		buf_printf(w->text, " is %slive in %s", condition->test == TEST_LIVE ? "" : "not ",
			   w->module->resources[condition->resource].type);
		return;
	}
	buf_printf(w->text, " %s ", signs[condition->test]);
	add_value(w, &condition->other);
}

/* ---- Prototypes ---- */

static void use_argument(struct writing *w, unsigned index, unsigned type, bool is_pointee)
{
	if (index >= w->params)
		w->params = index + 1;
	/* What it points to says more than that it is a pointer. */
	if (w->is_used[index] && (w->is_pointee[index] || !is_pointee))
		return;
	w->is_used[index] = true;
	w->is_pointee[index] = is_pointee;
	w->types[index] = (unsigned char)type;
}

static void use_value(struct writing *w, const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
	case VALUE_RESULT:
	case VALUE_CONST:
	case VALUE_RESULT_SCALED:
	case VALUE_RESULT_STRING_SIZE:
	case VALUE_RESULT_WIDE_SIZE:
		return;
	case VALUE_ARG_TIMES:
		use_argument(w, value->b, (unsigned)value->number, false);
		use_argument(w, value->a, value->type, false);
		return;
	default:
		use_argument(w, value->a, value->type, value->kind == VALUE_POINTEE);
	}
}

static void use_all(struct writing *w)
{
	const struct function *const f = w->function;

	while (w->params < FUNCTION_PARAMS && f->params[w->params].type)
		w->params++;
	w->known = w->params;
	for (size_t i = 0; i < FUNCTION_CONDITIONS; i++) {
		use_value(w, &f->conditions[i].value);
		use_value(w, &f->conditions[i].other);
	}
	use_value(w, &f->replaces.value);
	use_value(w, &f->replaces.other);
	use_value(w, &f->stays.value);
	use_value(w, &f->stays.other);
	use_value(w, &f->id);
	use_value(w, &f->size);
	use_value(w, &f->released);
	use_value(w, &f->last);
	use_value(w, &f->extent);
	use_value(w, &f->keeps);
}

/* A parameter of which the row does not say what it is, by what is made of it. */
static void add_unknown(const struct writing *w, unsigned index)
{
	static const char *const pointers[] = {
		[TYPE_WORD] = "void **",           [TYPE_INT] = "int *",    [TYPE_UINT] = "unsigned *",
		[TYPE_INT8] = "signed char *",     [TYPE_UINT8] = "bool *", [TYPE_INT16] = "short *",
		[TYPE_UINT16] = "unsigned short *"};

	if (w->is_pointee[index])
		buf_add_str(w->text, pointers[w->types[index]]);
	else if (w->is_used[index])
		buf_printf(w->text, "%s ", type_name(w->types[index]));
	else
		buf_add_str(w->text, "void *");
	buf_add_str(w->text, param_name(w, index));
}

static bool is_plain_release(const struct function *f)
{
	return f->role == ROLE_RELEASE && !f->can_fail;
}

/* The row says what it returns, and so that it is of that type. */
static bool has_returns(const struct function *f)
{
	return f->returns.type && f->returns.type != PARAM_NONE && conf_param_type(&f->returns) == f->result;
}

static const char *result_type(const struct function *f)
{
	if (f->result != TYPE_WORD)
		return type_name(f->result);
	if (f->size.kind == VALUE_RESULT_SCALED || (f->size.kind == VALUE_RESULT && f->id.kind != VALUE_RESULT))
		return "size_t";
	if (!is_plain_release(f) && (f->success != OK_ALWAYS || f->id.kind == VALUE_RESULT))
		return "void *";
	/* Of a type that is not shown, for where there is no result there is no errno to look at. */
	return f->sets_errno ? "long double" : "void";
}

static void add_prototype(struct writing *w)
{
	const struct function *const f = w->function;
	const char *const result = result_type(f);

	if (f->is_pattern && f->result == TYPE_WORD) {
		buf_printf(w->text, "\"%s\"", f->symbol);
		return;
	}
	if (has_returns(f))
		conf_write_param(w->names, &f->returns, "", w->text);
	else
		buf_printf(w->text, "%s%s", result, strchr(result, '*') ? "" : " ");
	if (f->is_pattern) {
		buf_printf(w->text, "\"%s\"", f->symbol);
		return;
	}
	buf_printf(w->text, "%s(", f->symbol + (f->symbol[0] == '*'));
	for (unsigned i = 0; i < w->params && i < FUNCTION_PARAMS; i++) {
		buf_add_str(w->text, i ? ", " : "");
		if (i < w->known && !is_untyped(w, i))
			conf_write_param(w->names, &f->params[i], f->params[i].name, w->text);
		else
			add_unknown(w, i);
	}
	buf_add_str(w->text, w->params ? ")" : "void)");
}

/* ---- Rows ---- */

/* Begins with what a function does, in a line of its own where this one is full. */
static void begin(struct writing *w, size_t *line, bool *is_first, const char *word)
{
	buf_add_str(w->text, *is_first ? ":" : ",");
	if (w->text->size - *line > LINE_WIDTH - 30) {
		buf_add_str(w->text, "\n\t");
		*line = w->text->size;
	} else {
		buf_add_char(w->text, ' ');
	}
	buf_add_str(w->text, word);
	*is_first = false;
}

static void add_text(struct buf *text, const char *value)
{
	buf_printf(text, "\"%s\"", value);
}

static void add_conditions(const struct writing *w)
{
	const struct condition *const conditions = w->function->conditions;

	for (size_t i = 0; i < FUNCTION_CONDITIONS && conditions[i].test; i++) {
		if (i)
			buf_add_str(w->text, conditions[i - 1].or_next ? " or " : " and ");
		add_condition(w, &conditions[i]);
	}
}

static bool says_success(const struct function *f)
{
	/* With errno, a release that says nothing of it has failed where it returns -1. */
	if (is_plain_release(f))
		return f->sets_errno && !f->fails_unknown && !f->may_release_none;
	if (f->role == ROLE_CALL)
		return f->success != OK_ALWAYS;
	if (f->is_pattern && f->result == TYPE_WORD)
		return f->success != (f->id.kind == VALUE_RESULT ? OK_NONZERO : OK_ALWAYS);
	if (has_returns(f))
		return f->can_fail || f->result != TYPE_WORD || f->success != OK_NONZERO;
	return f->can_fail || f->result != TYPE_WORD || f->success != OK_NONZERO ? strcmp(result_type(f), "void") != 0
										 : false;
}

static void add_row(const struct module *module, const struct word_names *names, const struct function *f,
		    struct buf *text)
{
	static const char *const roles[] = {
		[ROLE_ALLOC] = "alloc", [ROLE_RELEASE] = "free", [ROLE_REALLOC] = "realloc", [ROLE_CALL] = "call"};
	static const char *const successes[] = {[OK_NONZERO] = "nonzero",
						[OK_ZERO] = "zero",
						[OK_NOT_MINUS_1] = "not-minus-1",
						[OK_NOT_NEGATIVE] = "not-negative",
						[OK_ALWAYS] = "always"};
	const struct {
		const char *word;
		const struct value *value;
	} values[] = {{"id=", &f->id},     {"size=", &f->size},     {"released=", &f->released},
		      {"last=", &f->last}, {"extent=", &f->extent}, {"keeps=", &f->keeps}};
	const bool is_cxx = f->role != ROLE_RELEASE && (f->is_pattern || !strncmp(f->symbol, "_Z", 2));
	const struct {
		const char *word;
		bool is_set;
	} words[] = {{"prefixed", f->symbol[0] == '*' && !f->is_pattern},
		     {"fails-unknown", f->fails_unknown},
		     {"may-release-none", f->may_release_none},
		     {"releases-anyway", f->releases_anyway},
		     {"unless-live", f->unless_live},
		     {"publishes-early", f->publishes_early},
		     {"throws", f->throws && !is_cxx},
		     {"zero-size-releases", f->zero_size_releases},
		     {"errno", f->sets_errno}};
	struct writing w = {.module = module, .names = names, .function = f, .text = text};
	size_t line = text->size;
	bool is_first = true;

	use_all(&w);
	buf_printf(text, "%s ", roles[f->role]);
	add_prototype(&w);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].value->kind) {
			begin(&w, &line, &is_first, values[i].word);
			add_value(&w, values[i].value);
		}
	if (f->id_count > 1) {
		begin(&w, &line, &is_first, "count=");
		buf_printf(text, "%u", f->id_count);
	}
	if (says_success(f)) {
		begin(&w, &line, &is_first, "succeeds=");
		buf_add_str(text, successes[is_plain_release(f) ? OK_ALWAYS : f->success]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].is_set)
			begin(&w, &line, &is_first, words[i].word);
	if (f->family) {
		begin(&w, &line, &is_first, "family=");
		add_text(text, f->family);
	}
	if (f->name) {
		begin(&w, &line, &is_first, "name=");
		add_text(text, f->name);
	}
	if (module->resource_count > 1) {
		begin(&w, &line, &is_first, "resource=");
		buf_add_str(text, module->resources[f->resource].type);
	}
	if (f->replaces.test) {
		begin(&w, &line, &is_first, "replaces-if ");
		add_condition(&w, &f->replaces);
	}
	if (f->stays.test) {
		begin(&w, &line, &is_first, "stays-if ");
		add_condition(&w, &f->stays);
	}
	if (f->conditions[0].test) {
		begin(&w, &line, &is_first, "if ");
		add_conditions(&w);
	}
	buf_add_str(text, f->look ? "\n\t# and what code of the module says of it\n" : "\n");
}

/* ---- Modules ---- */

static void add_resource(const struct resource *resource, struct buf *text)
{
	const struct {
		const char *word;
		bool is_set;
	} words[] = {{"refcount", resource->flags & KIND_REFCOUNT},
		     {"calls", resource->flags & KIND_CALL},
		     {"zero-is-id", resource->zero_is_id},
		     {"range", resource->is_range},
		     {"group", resource->of_group},
		     {"ends-in-child", resource->ends_in_child},
		     {"folds-in-object", resource->folds_in_object},
		     {"nested", resource->is_nested}};

	buf_printf(text, "resource %s \"%s\" noun=", resource->type, resource->desc ? resource->desc : resource->type);
	add_text(text, resource->noun);
	if (resource->unit) {
		buf_add_str(text, " unit=");
		add_text(text, resource->unit);
	}
	if (resource->left) {
		buf_add_str(text, " left=");
		add_text(text, resource->left);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].is_set)
			buf_printf(text, " %s", words[i].word);
	if (resource->existing || resource->keeper)
		buf_add_str(text, "\n\t# and more that no text can say");
	buf_add_char(text, '\n');
}

void conf_write(const struct module *module, struct buf *text)
{
	struct word_names names;

	buf_printf(text, "module %s \"%s\" version=%u.%u\n", module->name,
		   module->summary ? module->summary : module->name, module->version_major, module->version_minor);
	for (size_t i = 0; i < module->resource_count; i++)
		add_resource(&module->resources[i], text);
	if (module->prefixes && module->prefixes[0]) {
		buf_add_str(text, "prefixes");
		for (const char *const *prefix = module->prefixes; *prefix; prefix++)
			buf_printf(text, " %s", *prefix);
		buf_add_char(text, '\n');
	}
	conf_write_words(module, &names, text);
	buf_add_char(text, '\n');
	for (size_t i = 0; i < module->function_count; i++)
		add_row(module, &names, &module->functions[i], text);
}
