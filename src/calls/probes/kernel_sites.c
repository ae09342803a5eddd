#include "config.h"
#include "calls/probes/kernel_sites.h"
#include "breakpoints/breakpoints.h"
#include "base/msg.h"

#include <string.h>

#define CODE_MAX 4096 /* number of bytes of a function that are examined */

static bool is_of_family(const struct function *f, const char *family)
{
	return f->family && !strncmp(f->family, family, strlen(family));
}

/* Returns true if the kernel's program records all that the value needs. */
static bool is_recorded(const struct value *value)
{
	switch (value->kind) {
	case VALUE_NONE:
	case VALUE_RESULT:
	case VALUE_CONST:
		return true;
	case VALUE_ARG:
	case VALUE_ARG_PAGES:
		return value->a < UPROBE_ARGS;
	case VALUE_ARG_TIMES:
		return value->a < UPROBE_ARGS && value->b < UPROBE_ARGS;
	case VALUE_POINTEE:
		return !value->a && !value->b && value->type == TYPE_WORD;
	default:
		return false;
	}
}

bool kernel_site_is_hot(const struct probe *probe)
{
	const struct function *const f = probe->function;

	if (probe_is_hook(probe) || !is_heap_type(probe->wanted->kind->type) || probe->wanted->kind->is_range ||
	    f->is_pattern || f->look || (f->can_fail && f->role == ROLE_RELEASE) || f->role == ROLE_CALL ||
	    f->last.kind != VALUE_NONE || f->conditions[0].test != TEST_NONE || f->id_count > 1)
		return false;
	return is_recorded(&f->id) && is_recorded(&f->size) && is_recorded(&f->released) && is_recorded(&f->keeps) &&
	       is_recorded(&f->extent);
}

static bool is_named_as(const struct object *object, const char *const *names, size_t count)
{
	const char *const name = path_name(object->path);

	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Returns true if neither an exception nor a switch of stacks passes through functions of the object. A program whose
 * probed return is passed in such a way is killed by SIGILL. So only the C libraries and known allocators qualify, and
 * not a function of the program or of another library that has the name of one of theirs. */
static bool returns_plainly(const struct object *object)
{
	static const char *const names[] = {"libc.so",      "libc-2.",      "ld-musl-",
					    "libjemalloc.", "libmimalloc.", "libtcmalloc"};

	return is_named_as(object, names, ARRAY_SIZE(names));
}

static bool is_operator_new(const struct probe *probe)
{
	return kernel_site_is_hot(probe) && probe->function->role == ROLE_ALLOC && is_of_family(probe->function, "new");
}

static bool is_of_cxx_library(const struct probe *probe)
{
	static const char *const names[] = {"libstdc++.so", "libc++.so", "libc++abi.so"};

	return is_named_as(probe->object, names, ARRAY_SIZE(names));
}

bool kernel_site_is_named(const struct probe *probe)
{
	return is_operator_new(probe) && is_of_cxx_library(probe);
}

bool kernel_site_is_own_new(const struct probe *probe)
{
	return is_operator_new(probe) && !is_of_cxx_library(probe);
}

static uint64_t size_bits(const struct value *size)
{
	if (size->kind != VALUE_ARG && size->kind != VALUE_ARG_PAGES && size->kind != VALUE_ARG_TIMES)
		return 0;
	return UPROBE_HAS_SIZE | (size->kind == VALUE_ARG_TIMES ? UPROBE_TIMES : 0) |
	       (uint64_t)size->a << UPROBE_SIZE_SHIFT;
}

/* Returns the UPROBE_ bits for a function. */
static uint64_t record_bits(const struct process *p, const struct probe *probe)
{
	const struct function *const f = probe->function;
	uint64_t bits = size_bits(&f->size);

	/* Also without stacks in the trace: the first frames tell whether operator new has called malloc. */
	if (f->role != ROLE_RELEASE)
		bits |= UPROBE_RETURN | UPROBE_STACK;
	else if (p->tracer->set->calls.depth && p->tracer->set->calls.backtrace_all)
		bits |= UPROBE_STACK;
	/* A release, a call of -x, and a block that others may see before the call returns have their places in the
	 * order at the entry. */
	if (f->role != ROLE_ALLOC || f->publishes_early)
		bits |= UPROBE_ENTER;
	if (f->id.kind == VALUE_POINTEE)
		bits |= UPROBE_POINTEE;
	return bits;
}

const char *kernel_site_find(struct process *p, const struct breakpoint *b, struct uprobe_site *site)
{
	unsigned char code[CODE_MAX];
	uint64_t size = b->probe ? b->probe->start + b->probe->size - b->address : 0;
	bool is_hot = false;
	size_t offset;

	site->cookie = b->address;
	for (const struct probe *probe = b->probe; probe; probe = probe->next) {
		/* -x may name an allocator's function, too. */
		if (!kernel_site_is_hot(probe) && (probe_is_hook(probe) || probe->function->role != ROLE_CALL))
			return "they are traced for another reason, too";
		is_hot |= probe->function->role != ROLE_CALL;
		/* An exception may pass through operator new, and a probed return does not survive this. */
		if (probe->function->role != ROLE_RELEASE && is_of_family(probe->function, "new"))
			return "exceptions may pass through them";
		site->cookie |= record_bits(p, probe);
	}
	if (!is_hot)
		return "they are no allocator's functions";
	if ((site->cookie & UPROBE_RETURN) && !returns_plainly(b->probe->object))
		return "their file is not one of a known allocator";
	if (!b->probe->object->open_path || b->is_made || (b->address & ~UPROBE_ADDRESS))
		return "their code is in no file";
	size = size && size < sizeof(code) ? size : sizeof(code);
	while (size && breakpoints_read(p, b->address, code, size) < 0)
		size /= 2;
	/* The code in memory has another program's breakpoint. */
	if (size >= b->size && b->is_covered)
		memcpy(code, b->original, b->size);
	if (!size || !arch_uprobe_place(p->arch, code, size, probe_arguments(b->probe), &offset))
		return "the kernel cannot probe their first instruction";
	site->offset = offset;
	msg_debug(DBG_BREAKPOINT, 2, "kernel probe at %s+%zu of %s", b->probe->traced.shown, offset,
		  b->probe->object->path);
	return NULL;
}
