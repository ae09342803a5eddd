/* Functions that targets with contexts share. They print the expected contexts of each allocation and release, one
 * line each:
 *
 *     context + SIZE NAME,NAME...    an allocation of that size (- for a release of such a block), and its contexts, in
 *                                    the order of their names; - for none
 */
#ifndef CONTEXTS_H
#define CONTEXTS_H

#include "target.h"
#include "../../context/context.h"
#include <dlfcn.h>

/* The functions of the context library: the program's own copy, or that of a library that is loaded. */
static unsigned int (*context_create)(const char *name);
static void (*context_enter)(unsigned int id), (*context_exit)(unsigned int id);

__attribute__((unused)) static void use_library(const char *path)
{
	void *const library = dlopen(path, RTLD_NOW);

	CHECK(library);
	*(void **)&context_create = dlsym(library, "sp_context_create");
	*(void **)&context_enter = dlsym(library, "sp_context_enter");
	*(void **)&context_exit = dlsym(library, "sp_context_exit");
	CHECK(context_create && context_enter && context_exit);
}

static void say_alloc(size_t size, const char *contexts)
{
	say("context + %zu %s", size, contexts);
	expect_alloc(1, size, "malloc");
}

static void say_release(size_t size, const char *contexts)
{
	say("context - %zu %s", size, contexts);
	expect_release(1, size, "free");
}

static NOINLINE void *take(size_t size, const char *contexts)
{
	say_alloc(size, contexts);
	void *p = malloc(size);

	KEEP(p);
	return p;
}

static NOINLINE void give(void *p, size_t size, const char *contexts)
{
	say_release(size, contexts);
	free(p);
	KEEP(p);
}

/* Allocates a block and releases it in the same contexts. */
static NOINLINE void use(size_t size, const char *contexts)
{
	void *const p = take(size, contexts);

	give(p, size, contexts);
}

#endif
