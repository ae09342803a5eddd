/* A 32-bit program that needs no library: it prints a line and ends with status 6. */
static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

void _start(void);
void _start(void)
{
	static const char text[] = "32 bits\n";

	call(4, 1, (long)text, sizeof(text) - 1); /* write */
	call(1, 6, 0, 0);                         /* exit */
	for (;;)
		;
}
