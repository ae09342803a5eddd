/* Demangles names with libiberty.
 *
 * A mangled name can refer to parts of itself, so a name of some hundred bytes can have a demangled form of terabytes.
 * Therefore this file uses libiberty's callback functions, which produce the name in pieces without allocating, and
 * leaves them by longjmp() when the name gets too long. */
#include "config.h"
#include "symbols/names/names.h"
#include "base/buf.h"

#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MANGLED_MAX   65536
#define DEMANGLED_MAX 65536
/* The style of addr2line -C, nm -C and c++filt. */
#define STYLE       (DMGL_PARAMS | DMGL_ANSI)
#define STYLE_PLAIN DMGL_ANSI

struct demangling {
	struct buf text;
	jmp_buf too_long;
};

static void on_piece(const char *piece, size_t size, void *context)
{
	struct demangling *demangling = context;

	if (demangling->text.size + size > DEMANGLED_MAX)
		longjmp(demangling->too_long, 1);
	buf_add(&demangling->text, piece, size);
}

/* Demangles a name into demangling->text. Tries Rust first, because Rust's older mangled names are also valid C++ names
 * with another demangled form. */
static bool demangle(const char *symbol, int style, struct demangling *demangling)
{
	if (setjmp(demangling->too_long))
		return false;
	if (rust_demangle_callback(symbol, style, on_piece, demangling))
		return true;
	demangling->text.size = 0;
	return cplus_demangle_v3_callback(symbol, style, on_piece, demangling);
}

static char *demangle_in(const char *symbol, int style)
{
	char *name = NULL;

	/* Mangled names begin with _Z, _R, __Z (the linker's prefix) or _GLOBAL_. */
	if (symbol[0] != '_' || strnlen(symbol, MANGLED_MAX) == MANGLED_MAX)
		return NULL;
	struct demangling *demangling = xcalloc(1, sizeof(*demangling));

	if (demangle(symbol, style, demangling) && demangling->text.size)
		name = xstrdup(buf_str(&demangling->text));
	buf_free(&demangling->text);
	free(demangling);
	return name;
}

char *names_demangle(const char *symbol)
{
	return demangle_in(symbol, STYLE);
}

char *names_demangle_plain(const char *symbol)
{
	return demangle_in(symbol, STYLE_PLAIN);
}

/* Returns the function type in a mangled name; returns NULL if it is not the name of a function. */
static const struct demangle_component *function_type(const struct demangle_component *name)
{
	while (name && name->type == DEMANGLE_COMPONENT_CLONE)
		name = name->u.s_binary.left;
	if (!name || name->type != DEMANGLE_COMPONENT_TYPED_NAME)
		return NULL;
	name = name->u.s_binary.right;
	return name && name->type == DEMANGLE_COMPONENT_FUNCTION_TYPE ? name : NULL;
}

/* Returns true if the type is no parameter: it is "void", which means an empty list of parameters, or "...". */
static bool is_no_parameter(struct demangle_component *type)
{
	size_t size;
	char *name =
		type->type == DEMANGLE_COMPONENT_BUILTIN_TYPE ? cplus_demangle_print(STYLE, type, 16, &size) : NULL;
	const bool is_it = name && (!strcmp(name, "void") || !strcmp(name, "..."));

	free(name);
	return is_it;
}

int names_parameters(const char *symbol)
{
	void *memory = NULL;
	int count = 0;

	if (symbol[0] != '_' || strnlen(symbol, MANGLED_MAX) == MANGLED_MAX)
		return -1;
	const struct demangle_component *const name = cplus_demangle_v3_components(symbol, STYLE, &memory);
	const struct demangle_component *const type = function_type(name);
	const struct demangle_component *argument = type ? type->u.s_binary.right : NULL;

	for (; argument && argument->type == DEMANGLE_COMPONENT_ARGLIST; argument = argument->u.s_binary.right)
		count += argument->u.s_binary.left && !is_no_parameter(argument->u.s_binary.left);
	free(memory);
	return type ? count : -1;
}
