/* Functions that the parts of heaps.c share: addresses of blocks are stored in a form that looks like no pointer, and
 * the program logs its pointers. A block has a number; its address exists as a pointer only where a plan plants one. */
#ifndef HEAPS_H
#define HEAPS_H

#include "target.h"
#include <limits.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BLOCKS_MAX 1024
#define LOG_MAX    (1u << 17)

/* For the compiler this reads and writes the array. */
#define USED(array) __asm__ volatile("" : : "r"(array) : "memory")

/* Clears the registers that calls may leave unchanged, also the widest ones, by which the C library copies. */
static NOINLINE void wipe_registers(void)
{
#if defined(__x86_64__) || defined(__i386__)
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroall" : : : "memory");
	else if (__builtin_cpu_supports("sse2"))
		__asm__ volatile(
			"pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
			"pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7"
			:
			:
			: "memory");
#endif
#ifdef __x86_64__
#define WIDE(a, b, c, d)                                                                                               \
	"vpxorq %%zmm" #a ", %%zmm" #a ", %%zmm" #a "\n vpxorq %%zmm" #b ", %%zmm" #b ", %%zmm" #b "\n"                \
	"vpxorq %%zmm" #c ", %%zmm" #c ", %%zmm" #c "\n vpxorq %%zmm" #d ", %%zmm" #d ", %%zmm" #d "\n"
	if (__builtin_cpu_supports("avx512f"))
		__asm__ volatile(WIDE(16, 17, 18, 19) WIDE(20, 21, 22, 23) WIDE(24, 25, 26, 27) WIDE(28, 29, 30, 31)
				 :
				 :
				 : "memory");
	__asm__ volatile(
		"xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n xor %%edi, %%edi\n xor %%r8d, %%r8d\n"
		"xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d"
		:
		:
		: "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
#endif
}

/* Clears the 64 words below the caller's stack pointer. A called function could not clear them, because its own frame
 * would be there. They contain no data of the caller: it calls functions, so it has no red zone. */
static inline __attribute__((always_inline)) void wipe_next(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %%rdx\n mov $64, %%ecx\n 1: push $0\n dec %%ecx\n jnz 1b\n mov %%rdx, %%rsp"
			 :
			 :
			 : "rcx", "rdx", "cc", "memory");
#elif defined(__i386__)
	__asm__ volatile("mov %%esp, %%edx\n mov $64, %%ecx\n 1: push $0\n dec %%ecx\n jnz 1b\n mov %%edx, %%esp"
			 :
			 :
			 : "ecx", "edx", "cc", "memory");
#endif
}

/* Clears the stack memory where functions that have returned may have left pointers, and the registers that calls may
 * leave unchanged. */
static NOINLINE void wipe_all(void)
{
	wipe_stack();
	wipe_registers();
}

static inline __attribute__((always_inline)) void wipe(void)
{
	wipe_next();
	wipe_all();
}

/* The addresses of the blocks in a form that looks like no pointer: divided by 16 (blocks begin at multiples of 16),
 * with the highest bit set. shown() multiplies by 16, which drops that bit. Without the bit, the number could be the
 * address of a block: valgrind's heap begins at 64 MiB, which is 1 GiB / 16. */
static volatile uintptr_t sixteenths[BLOCKS_MAX], sizes[BLOCKS_MAX];

static inline uintptr_t sixteenth_of(uintptr_t address)
{
	return address / 16 | ~(UINTPTR_MAX >> 1);
}

static NOINLINE void hide(unsigned number, const void *block, size_t size)
{
	CHECK(number < BLOCKS_MAX && (uintptr_t)block % 16 == 0);
	sixteenths[number] = sixteenth_of((uintptr_t)block);
	sizes[number] = size;
}

/* Returns an address in a block. The offset -1 means the end of the requested bytes. */
static NOINLINE char *shown(unsigned number, long offset)
{
	return (char *)(sixteenths[number] * 16) + (offset < 0 ? (long)sizes[number] : offset);
}

/* Returns true if the word is an address in a block, or less than 16 bytes after its requested bytes. */
static NOINLINE int block_at(uintptr_t word)
{
	static uintptr_t lowest = UINTPTR_MAX, highest;

	if (!highest)
		for (unsigned i = 0; i < BLOCKS_MAX; i++)
			if (sixteenths[i]) {
				lowest = sixteenths[i] < lowest ? sixteenths[i] : lowest;
				highest = sixteenths[i] > highest ? sixteenths[i] : highest;
			}
	if (sixteenth_of(word) < lowest || sixteenth_of(word) > highest + (1 << 16))
		return 0;
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		if (sixteenths[i] && word - sixteenths[i] * 16 < sizes[i] + 16)
			return 1;
	return 0;
}

/* ---- The log: lines of a letter and three hexadecimal numbers ---- */

static char log_text[LOG_MAX];
static size_t log_size;

static NOINLINE void log_number(uintptr_t number)
{
	log_text[log_size++] = ' ';
	for (int shift = (int)sizeof(number) * 8 - 4; shift >= 0; shift -= 4)
		log_text[log_size++] = "0123456789abcdef"[(number >> shift) & 15];
}

static NOINLINE void log_line(char what, uintptr_t one, uintptr_t two, unsigned three)
{
	CHECK(log_size + 3 * (2 * sizeof(one) + 1) + 2 < LOG_MAX);
	log_text[log_size++] = what;
	log_number(one);
	log_number(two);
	log_number(three);
	log_text[log_size++] = '\n';
}

/* Logs that a root has a pointer to a block; `keeper` is a number for reports. what: 'r', or 'k' if an interior pointer
 * keeps the block, 'm' if it may keep it. */
static NOINLINE void log_root(char what, unsigned number, long offset, unsigned keeper)
{
	log_line(what, (uintptr_t)shown(number, offset), number, keeper);
}

static NOINLINE void log_write(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, log_text, log_size) == (ssize_t)log_size && close(fd) == 0);
}

#endif
