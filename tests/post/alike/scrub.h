/* Clears the stack, because pointers that a function has left there would be taken for references. */
static __attribute__((noinline)) void scrub(void)
{
	volatile char left[8192];

	for (unsigned i = 0; i < sizeof(left); i++)
		left[i] = 0;
}
