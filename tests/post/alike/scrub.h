/* Pointers that a function has left where the stack was would be taken for references. */
static __attribute__((noinline)) void scrub(void)
{
	volatile char left[8192];

	for (unsigned i = 0; i < sizeof(left); i++)
		left[i] = 0;
}
