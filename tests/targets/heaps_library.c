/* A library of heaps.c: variables of an object that dlopen(3) has loaded, some of them thread-local. */
__attribute__((visibility("default"))) void *volatile *heaps_variables(void);
__attribute__((visibility("default"))) void *volatile *heaps_thread_variables(void);

static void *volatile variables[64] = {(void *)1};
static __thread void *volatile thread_variables[64];

void *volatile *heaps_variables(void)
{
	return variables;
}

void *volatile *heaps_thread_variables(void)
{
	return thread_variables;
}
