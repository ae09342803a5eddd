/* A library with an indirect function. The function is bound lazily, so that the dynamic linker's trampoline calls its
 * resolver. */
#include <stdint.h>

extern void (*lazy_resolver_hook)(void);

static void lazy_implementation(void (*then)(void))
{
	then();
	__asm__ volatile("" ::: "memory");
}

static void (*lazy_resolver(void))(void (*)(void))
{
	if (lazy_resolver_hook)
		lazy_resolver_hook();
	return lazy_implementation;
}

void lazy_function(void (*then)(void)) __attribute__((ifunc("lazy_resolver")));
