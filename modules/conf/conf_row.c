#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"
#include "modules/row_code.h"
#include "base/glob.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Parses a table row: `alloc void *pool_get(struct pool *p, size_t n): id=return, size=n` */

#define SYMBOL_MAX   1000
#define PREFIXED_MAX 60 /* maximum length of a name in bytes, without the prefix */

enum {
	ON_ALLOC = 1 << ROLE_ALLOC,
	ON_RELEASE = 1 << ROLE_RELEASE,
	ON_REALLOC = 1 << ROLE_REALLOC,
	ON_CALL = 1 << ROLE_CALL
};
#define ON_ALL (ON_ALLOC | ON_RELEASE | ON_REALLOC | ON_CALL)

enum attribute_kind {
	TAKES_NOTHING,
	TAKES_VALUE,
	TAKES_COUNT,
	TAKES_SUCCESS,
	TAKES_TEXT,
	TAKES_RESOURCE,
	TAKES_CODE,
	TAKES_IF,
	TAKES_CONDITION,
	TAKES_PREFIXED
};

static const struct conf_row_attribute {
	const char *word;
	unsigned char kind; /* enum attribute_kind */
	unsigned char on;   /* mask of the roles whose rows may have the attribute */
	unsigned short at;  /* offset of the attribute's field in struct function */
} attributes[] = {
#define FIELD(name) offsetof(struct function, name)
	{"id", TAKES_VALUE, ON_ALL, FIELD(id)},
	{"size", TAKES_VALUE, ON_ALLOC | ON_REALLOC | ON_CALL, FIELD(size)},
	{"released", TAKES_VALUE, ON_REALLOC, FIELD(released)},
	{"last", TAKES_VALUE, ON_RELEASE, FIELD(last)},
	{"extent", TAKES_VALUE, ON_RELEASE | ON_REALLOC, FIELD(extent)},
	{"keeps", TAKES_VALUE, ON_ALLOC, FIELD(keeps)},
	{"count", TAKES_COUNT, ON_ALLOC, FIELD(id_count)},
	{"succeeds", TAKES_SUCCESS, ON_ALL, FIELD(success)},
	{"family", TAKES_TEXT, ON_ALL, FIELD(family)},
	{"name", TAKES_TEXT, ON_ALL, FIELD(name)},
	{"resource", TAKES_RESOURCE, ON_ALL, FIELD(resource)},
	{"if", TAKES_IF, ON_ALL, FIELD(conditions)},
	{"replaces-if", TAKES_CONDITION, ON_ALLOC | ON_REALLOC, FIELD(replaces)},
	{"stays-if", TAKES_CONDITION, ON_REALLOC, FIELD(stays)},
	{"prefixed", TAKES_PREFIXED, ON_ALL, 0},
	{"can-fail", TAKES_NOTHING, ON_RELEASE, FIELD(can_fail)},
	{"fails-unknown", TAKES_NOTHING, ON_RELEASE, FIELD(fails_unknown)},
	{"may-release-none", TAKES_NOTHING, ON_RELEASE | ON_REALLOC, FIELD(may_release_none)},
	{"releases-anyway", TAKES_NOTHING, ON_RELEASE | ON_REALLOC, FIELD(releases_anyway)},
	{"publishes-early", TAKES_NOTHING, ON_ALLOC | ON_CALL, FIELD(publishes_early)},
	{"unless-live", TAKES_NOTHING, ON_ALLOC, FIELD(unless_live)},
	{"throws", TAKES_NOTHING, ON_ALL, FIELD(throws)},
	{"zero-size-releases", TAKES_NOTHING, ON_REALLOC, FIELD(zero_size_releases)},
	{"errno", TAKES_NOTHING, ON_ALL, FIELD(sets_errno)},
	{"code", TAKES_CODE, ON_ALLOC | ON_CALL, 0},
#undef FIELD
};

static const char *const roles[] = {
	[ROLE_ALLOC] = "alloc", [ROLE_RELEASE] = "free", [ROLE_REALLOC] = "realloc", [ROLE_CALL] = "call"};

struct taking {
	struct conf *conf;
	struct lexer *lexer;
	struct prototype prototype;
	struct conf_row row;
	uint32_t seen; /* mask of the attributes that were parsed */
	bool is_prefixed;
};

static bool conf_row_has(const struct taking *t, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (!strcmp(attributes[i].word, word))
			return t->seen >> i & 1;
	return false;
}

/* ---- Attributes ---- */

static bool take_success(struct taking *t)
{
	static const char *const words[] = {[OK_NONZERO] = "nonzero",
					    [OK_ZERO] = "zero",
					    [OK_NOT_MINUS_1] = "not-minus-1",
					    [OK_NOT_NEGATIVE] = "not-negative",
					    [OK_ALWAYS] = "always"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (lexer_take_word(t->lexer, words[i])) {
			t->row.function.success = (unsigned char)i;
			return true;
		}
	return lexer_error(t->lexer,
			   "%s is no condition of success; known are nonzero, zero, not-minus-1, not-negative, always",
			   lexer_shown(t->lexer));
}

static bool take_count(struct taking *t)
{
	const struct token token = t->lexer->token;

	if (token.kind != TOKEN_NUMBER || !token.number || token.number > UINT8_MAX)
		return lexer_error(t->lexer, "found %s where a number of ids from 1 to %d is expected",
				   lexer_shown(t->lexer), UINT8_MAX);
	t->row.function.id_count = (unsigned char)token.number;
	lexer_next(t->lexer);
	return true;
}

static bool conf_row_take_resource(struct taking *t)
{
	const struct token token = t->lexer->token;
	const int index = token.kind == TOKEN_WORD ? conf_resource(t->conf, token.text, token.length) : -1;

	if (index < 0)
		return lexer_error(t->lexer, "%s is no resource that is described above", lexer_shown(t->lexer));
	t->row.function.resource = (unsigned char)index;
	t->row.has_resource = true;
	lexer_next(t->lexer);
	return true;
}

/* Parses the name of a function in functrace that does what a description cannot express. */
static bool take_code(struct taking *t)
{
	const struct token token = t->lexer->token;
	struct function *const f = &t->row.function;

	f->look = token.kind == TOKEN_WORD ? row_code(token.text, token.length, &f->looks_again) : NULL;
	if (!f->look)
		return lexer_error(t->lexer, "%s is no name of code in functrace", lexer_shown(t->lexer));
	lexer_next(t->lexer);
	return true;
}

static bool take_content(struct taking *t, const struct conf_row_attribute *attribute)
{
	struct function *const f = &t->row.function;
	void *const field = (char *)f + attribute->at;
	const bool has_sign = attribute->kind >= TAKES_VALUE && attribute->kind <= TAKES_CODE;

	if (has_sign && !lexer_take_sign(t->lexer, "="))
		return lexer_error(t->lexer, "found %s where '=' is expected: write %s=...", lexer_shown(t->lexer),
				   attribute->word);
	switch (attribute->kind) {
	case TAKES_VALUE:
		return conf_take_value(t->conf, t->lexer, &t->prototype, field);
	case TAKES_COUNT:
		return take_count(t);
	case TAKES_SUCCESS:
		return take_success(t);
	case TAKES_TEXT:
		return (*(const char **)field = conf_take_text(t->conf, t->lexer, attribute->word)) != NULL;
	case TAKES_RESOURCE:
		return conf_row_take_resource(t);
	case TAKES_CODE:
		return take_code(t);
	case TAKES_IF:
		return conf_take_conditions(t->conf, t->lexer, &t->prototype, field, FUNCTION_CONDITIONS);
	case TAKES_CONDITION:
		return conf_take_conditions(t->conf, t->lexer, &t->prototype, field, 1);
	case TAKES_PREFIXED:
		t->is_prefixed = true;
		return true;
	default:
		*(bool *)field = true;
		return true;
	}
}

static bool unknown_attribute(struct taking *t)
{
	const unsigned on = 1u << t->row.function.role;
	char known[400] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].on & on)
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
						 attributes[i].word);
	return lexer_error(t->lexer, "%s is no property of '%s'; its properties are %s", lexer_shown(t->lexer),
			   roles[t->row.function.role], known);
}

static bool take_attribute(struct taking *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (!(attributes[i].on & 1u << t->row.function.role) || !lexer_is_word(t->lexer, attributes[i].word))
			continue;
		if (t->seen >> i & 1)
			return lexer_error(t->lexer, "%s is given twice", lexer_shown(t->lexer));
		t->seen |= 1u << i;
		lexer_next(t->lexer);
		return take_content(t, &attributes[i]);
	}
	return unknown_attribute(t);
}

static bool take_attributes(struct taking *t)
{
	if (t->lexer->token.kind == TOKEN_END)
		return !t->lexer->failed;
	if (!lexer_take_sign(t->lexer, ":"))
		return lexer_error(t->lexer, "found %s where ':' is expected, followed by id=..., size=...",
				   lexer_shown(t->lexer));
	do {
		if (!take_attribute(t))
			return false;
	} while (lexer_take_sign(t->lexer, ","));
	return t->lexer->token.kind == TOKEN_END
		       ? !t->lexer->failed
		       : lexer_error(t->lexer, "found %s where ',' or the end of the statement is expected",
				     lexer_shown(t->lexer));
}

/* ---- Defaults ---- */

static bool uses_result(const struct function *f)
{
	return module_is_of_result(&f->id) || module_is_of_result(&f->size) || module_is_of_result(&f->released) ||
	       module_is_of_result(&f->last) || module_is_of_result(&f->extent) || module_is_of_result(&f->keeps);
}

static bool ask_success(struct taking *t, const char *why)
{
	return lexer_error(t->lexer,
			   "%.*s %s: say which results mean success (succeeds=zero, succeeds=nonzero, "
			   "succeeds=not-minus-1, succeeds=not-negative, succeeds=always)",
			   (int)t->prototype.length, t->prototype.name, why);
}

/* Sets which results mean success, if the row does not name them. Returns false after an error. */
static bool choose_success(struct taking *t)
{
	struct function *const f = &t->row.function;
	const bool is_id = f->id.kind == VALUE_RESULT;

	/* A function that sets errno returns -1 on failure. */
	if (f->role == ROLE_RELEASE && f->sets_errno && !f->can_fail && !f->fails_unknown && !f->may_release_none &&
	    !f->releases_anyway && t->prototype.has_result && t->prototype.result.type != C_VOID) {
		f->can_fail = true;
		f->success = OK_NOT_MINUS_1;
		return true;
	}
	f->success = OK_ALWAYS;
	if (f->role == ROLE_CALL || (f->role == ROLE_RELEASE && !f->can_fail))
		return true;
	if (!t->prototype.has_result) {
		f->success = is_id ? OK_NONZERO : OK_ALWAYS;
		return !f->can_fail || f->role == ROLE_REALLOC || ask_success(t, "can fail");
	}
	switch (t->prototype.result.type) {
	case C_VOID:
		return f->role != ROLE_RELEASE ||
		       lexer_error(t->lexer,
				   "a function that returns void cannot report a failure: leave out can-fail");
	case C_POINTER:
	case C_UINT8: /* C_UINT8 is bool */
		f->success = OK_NONZERO;
		return true;
	case C_INT8:
	case C_INT16:
	case C_INT:
	case C_WORD:
		f->success = OK_NOT_NEGATIVE;
		return is_id || ask_success(t, "returns a number");
	default:
		f->success = OK_NONZERO;
		return is_id || ask_success(t, "returns a number");
	}
}

static bool check_result(struct taking *t)
{
	const unsigned char type = t->prototype.result.type;
	const bool is_used = uses_result(&t->row.function) || conf_row_has(t, "succeeds");

	t->row.function.result = conf_value_type(type);
	if (!t->prototype.has_result || !is_used || (type >= C_INT8 && type <= C_WIDE))
		return true;
	if (type == C_VOID)
		return lexer_error(t->lexer, "%.*s returns void, so it has no result to use", (int)t->prototype.length,
				   t->prototype.name);
	return lexer_error(t->lexer,
			   "the result of %.*s cannot be read as a number: its type must be an integer or a pointer",
			   (int)t->prototype.length, t->prototype.name);
}

static bool conf_row_check_values(struct taking *t)
{
	const struct function *const f = &t->row.function;

	if (f->role != ROLE_CALL && !conf_row_has(t, "id"))
		return lexer_error(t->lexer, "the id is missing: add %s",
				   f->role == ROLE_RELEASE ? "id=NAME of a parameter"
							   : "id=return, or id=*NAME of a parameter");
	if (f->role == ROLE_REALLOC && !conf_row_has(t, "released"))
		return lexer_error(t->lexer, "the released id is missing: add released=NAME of a parameter");
	if (module_is_of_result(&f->released) || module_is_of_result(&f->last) || module_is_of_result(&f->extent) ||
	    (f->role == ROLE_RELEASE && module_is_of_result(&f->id)))
		return lexer_error(t->lexer,
				   "a release is recorded at the function's entry, when there is no result yet");
	if (f->id_count > 1 && f->id.kind != VALUE_POINTEE)
		return lexer_error(t->lexer, "count is for ids that a pointer leads to: id=*NAME");
	return true;
}

static bool set_symbol(struct taking *t)
{
	struct function *const f = &t->row.function;
	const struct prototype *const prototype = &t->prototype;
	char prefixed[PREFIXED_MAX + 2] = "*";

	f->is_pattern = prototype->is_pattern;
	if (prototype->length > SYMBOL_MAX)
		return lexer_error(t->lexer, "a function's name of %zu bytes is too long", prototype->length);
	if (!t->is_prefixed) {
		f->symbol = conf_keep(t->conf, prototype->name, prototype->length);
	} else {
		if (f->is_pattern)
			return lexer_error(t->lexer, "a pattern cannot have prefixes: write '*' in their place");
		if (prototype->length > PREFIXED_MAX)
			return lexer_error(t->lexer, "a function's name of %zu bytes is too long after a prefix",
					   prototype->length);
		memcpy(prefixed + 1, prototype->name, prototype->length);
		f->symbol = conf_keep(t->conf, prefixed, prototype->length + 1);
	}
	if (f->is_pattern && glob_is_open(f->symbol))
		return lexer_error(t->lexer, "the pattern '%s' has a '[' without its ']'", f->symbol);
	if (f->is_pattern && f->symbol[glob_literal(f->symbol)] && t->conf->glob_count++ == CONF_GLOBS_MAX)
		return lexer_error(t->lexer,
				   "a file has at most %d patterns with wildcards: combine several into one, or write "
				   "names in full",
				   CONF_GLOBS_MAX);
	/* Only C++ functions throw. */
	f->throws |= f->role != ROLE_RELEASE && (f->is_pattern || !strncmp(f->symbol, "_Z", 2));
	return true;
}

bool conf_take_row(struct conf *conf, struct lexer *lexer, unsigned role, unsigned line)
{
	struct taking t = {.conf = conf, .lexer = lexer, .row = {.line = line}};
	struct function *const f = &t.row.function;

	f->role = (unsigned char)role;
	f->can_fail = role == ROLE_REALLOC;
	if (conf->row_count == CONF_ROWS_MAX)
		return lexer_error(lexer, "a file describes no more than %d functions", CONF_ROWS_MAX);
	if (!conf_take_prototype(lexer, &t.prototype) || !take_attributes(&t))
		return false;
	if (role == ROLE_RELEASE && conf_row_has(&t, "succeeds"))
		f->can_fail |= f->success != OK_ALWAYS && !f->releases_anyway;
	if (!conf_row_check_values(&t) || !check_result(&t) || (!conf_row_has(&t, "succeeds") && !choose_success(&t)) ||
	    !set_symbol(&t))
		return false;
	if (!conf_set_params(conf, lexer, &t.prototype, f))
		return false;
	f->releases_anyway &= role == ROLE_REALLOC;
	t.row.has_size = conf_row_has(&t, "size");
	ARRAY_GROW(conf->rows, conf->row_capacity, conf->row_count);
	conf->rows[conf->row_count++] = t.row;
	return true;
}
