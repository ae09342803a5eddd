/* The program of the traces in this folder: three stacks, one of them released. Built with
 *     CC -g -Os -fno-builtin -funwind-tables -Wl,-z,max-page-size=4096,-z,noseparate-code -o prog prog.c */
#include <stdlib.h>

static void *kept[4];

__attribute__((noinline)) static void *make(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

__attribute__((noinline)) static void forget(int times)
{
	for (int i = 0; i < times; i++) {
		kept[i] = make(100 + (size_t)i);
		__asm__ volatile("" : : : "memory");
	}
}

__attribute__((noinline)) static void release(void)
{
	void *block = make(2000);

	__asm__ volatile("" : : : "memory");
	free(block);
	__asm__ volatile("" : : : "memory");
}

int main(void)
{
	kept[3] = calloc(3, 11);
	forget(3);
	release();
	return 0;
}
