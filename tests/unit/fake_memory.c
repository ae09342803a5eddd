/* The fake kernel's memory: a text with a few functions, room for copies after it, and stacks. */
#include "config.h"
#include "tests/unit/fake_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset); /* the C library's */

#define CODE(bytes)  (const unsigned char *)(bytes), sizeof(bytes) - 1
#define SIZE_OF_COPY ARCH_SLOT_SIZE
#define BREAKPOINT   0xcc
#define FIRST_COPY   (sizeof(places) / sizeof(places[0]) - FAKE_COPIES)

/* The first instruction of a place decides how a task steps over a breakpoint there. */
static const struct fake_place places[] = {
	{"malloc", FAKE_TEXT + 0x100, 4, "malloc", CODE("\x48\x83\xec\x18\xc3")},           /* sub: copied */
	{"free", FAKE_TEXT + 0x200, 2, "free", CODE("\x41\x54\xc3")},                       /* push: copied */
	{"memalign", FAKE_TEXT + 0x240, 1, "memalign", CODE("\x53\xc3")},                   /* one byte: copied */
	{"calloc", FAKE_TEXT + 0x300, 6, "calloc", CODE("\xc7\xf8\0\0\0\0\xc3")},           /* xbegin: in place */
	{"realloc", FAKE_TEXT + 0x380, 2, "realloc", CODE("\xeb\x08\x90\x90\x90\x90\xc3")}, /* jmp: emulated */
	{"site", FAKE_TEXT + 0x405, 3, NULL, CODE("\x48\x89\xc3\xc3")},                     /* after a call: mov */
	{"sysite", FAKE_TEXT + 0x445, 2, NULL, CODE("\x0f\x05\x90\x90")},                   /* after a call: syscall */
	{"syscall", FAKE_TEXT + 0x500, 2, NULL, CODE("\x0f\x05\xc3")},
	{"restorer", FAKE_TEXT + 0x520, 7, NULL, CODE("\x48\xc7\xc0\x0f\0\0\0\x0f\x05")},
	{"away", FAKE_TEXT + 0x600, 1, NULL, CODE("\x90\x90\x90\x90")},
	{"copy0", FAKE_TAIL, 0, NULL, NULL, 0},
	{"copy1", FAKE_TAIL + SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy2", FAKE_TAIL + 2 * SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy3", FAKE_TAIL + 3 * SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy4", FAKE_TAIL + 4 * SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy5", FAKE_TAIL + 5 * SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy6", FAKE_TAIL + 6 * SIZE_OF_COPY, 0, NULL, NULL, 0},
	{"copy7", FAKE_TAIL + 7 * SIZE_OF_COPY, 0, NULL, NULL, 0},
};

static struct fake_memory *memories[FAKE_MEMORIES_MAX];
static size_t memory_count;

const struct fake_place *fake_place_n(size_t n)
{
	return n < sizeof(places) / sizeof(places[0]) ? &places[n] : NULL;
}

const struct fake_place *fake_place_named(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!strcmp(places[i].name, name))
			return &places[i];
	fake_fail("there is no place '%s'", name);
	return &places[0];
}

const char *fake_place_text(uint64_t address)
{
	static char texts[4][40];
	static unsigned turn;
	char *text = texts[turn++ % 4];

	snprintf(text, sizeof(texts[0]), "0x%llx", (unsigned long long)address);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (address == places[i].address)
			snprintf(text, sizeof(texts[0]), "%s", places[i].name);
		else if (address > places[i].address && address - places[i].address < SIZE_OF_COPY)
			snprintf(text, sizeof(texts[0]), "%s+%u", places[i].name,
				 (unsigned)(address - places[i].address));
	return text;
}

/* ---- The bytes ---- */

static struct fake_memory *memory_add(const char *name)
{
	struct fake_memory *memory = xcalloc(1, sizeof(*memory));
	struct stat st;

	if (memory_count == FAKE_MEMORIES_MAX) {
		fake_fail("too many memories");
		free(memory);
		return memories[0];
	}
	memory->fd = memfd_create("fake memory", MFD_CLOEXEC);
	if (memory->fd < 0 || fstat(memory->fd, &st) < 0)
		abort();
	memory->inode = st.st_ino;
	snprintf(memory->name, sizeof(memory->name), "%s", name);
	memories[memory_count++] = memory;
	return memory;
}

void fake_memory_put(const struct fake_memory *memory, uint64_t address, const void *data, size_t size)
{
	if (__real_pwrite(memory->fd, data, size, (off_t)address) != (ssize_t)size)
		abort();
}

void fake_memory_read(const struct fake_memory *memory, uint64_t address, void *data, size_t size)
{
	memset(data, 0, size);
	if (pread(memory->fd, data, size, (off_t)address) < 0)
		abort();
}

#define PATCH "\x90\x90"

static void original_text(const struct fake_memory *memory, unsigned char text[FAKE_TEXT_END - FAKE_TEXT])
{
	memset(text, 0, FAKE_TEXT_END - FAKE_TEXT);
	for (size_t i = 0; i < FIRST_COPY; i++) {
		memcpy(text + (places[i].address - FAKE_TEXT), places[i].code, places[i].size);
		/* A call with a fixed target (opcode e8) precedes each return site. */
		if (strstr(places[i].name, "site"))
			text[places[i].address - FAKE_TEXT - 5] = 0xe8;
	}
	if (memory->patched)
		memcpy(text + (memory->patched->address - FAKE_TEXT), PATCH, sizeof(PATCH) - 1);
}

struct fake_memory *fake_memory_new(const char *name, bool has_tail)
{
	struct fake_memory *memory = memory_add(name);
	unsigned char text[FAKE_TEXT_END - FAKE_TEXT];

	memory->has_tail = has_tail;
	original_text(memory, text);
	if (ftruncate(memory->fd, FAKE_STACK_END) < 0)
		abort();
	fake_memory_put(memory, FAKE_TEXT, text, sizeof(text));
	return memory;
}

struct fake_memory *fake_memory_fork(const struct fake_memory *from, const char *name)
{
	struct fake_memory *memory = fake_memory_new(name, from->has_tail);
	const size_t size = FAKE_STACK_END - FAKE_STACK;
	unsigned char text[FAKE_TEXT_END - FAKE_TEXT], *stack = xmalloc(size);

	memory->refuses = from->refuses;
	memory->patched = from->patched;
	fake_memory_read(from, FAKE_TEXT, text, sizeof(text));
	fake_memory_put(memory, FAKE_TEXT, text, sizeof(text));
	fake_memory_read(from, FAKE_STACK, stack, size);
	fake_memory_put(memory, FAKE_STACK, stack, size);
	free(stack);
	return memory;
}

void fake_memory_end(struct fake_memory *memory)
{
	if (ftruncate(memory->fd, 0) < 0)
		abort();
}

struct fake_memory *fake_memory_of_fd(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	for (size_t i = 0; i < memory_count; i++)
		if (memories[i]->inode == st.st_ino)
			return memories[i];
	return NULL;
}

void fake_memories_free(void)
{
	for (size_t i = 0; i < memory_count; i++) {
		close(memories[i]->fd);
		free(memories[i]);
	}
	memory_count = 0;
}

void fake_memory_patch(struct fake_memory *memory, const struct fake_place *place)
{
	memory->patched = place;
	fake_memory_put(memory, place->address, PATCH, sizeof(PATCH) - 1);
}

/* ---- Writes of the tracer to the text ---- */

bool fake_has_breakpoint(const struct fake_memory *memory, uint64_t address)
{
	unsigned char byte;

	fake_memory_read(memory, address, &byte, 1);
	return byte == BREAKPOINT;
}

unsigned fake_text_differs(const struct fake_memory *memory)
{
	unsigned char now[FAKE_TEXT_END - FAKE_TEXT], original[FAKE_TEXT_END - FAKE_TEXT];
	unsigned count = 0;

	fake_memory_read(memory, FAKE_TEXT, now, sizeof(now));
	original_text(memory, original);
	for (size_t i = 0; i < sizeof(now); i++)
		count += now[i] != original[i];
	return count;
}

static size_t count_bytes(const unsigned char *bytes)
{
	size_t count = 0;

	for (size_t i = 0; i < SIZE_OF_COPY; i++)
		count += bytes[i] != 0;
	return count;
}

/* Notes the places that a write has changed. by: the task whose ptrace call wrote, 0 for /proc/PID/mem. */
static void note_changes(const struct fake_memory *memory, const unsigned char *before, const unsigned char *after,
			 pid_t by)
{
	char who[16] = "";

	if (by)
		snprintf(who, sizeof(who), "by %d: ", by);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const unsigned char *old = before + (places[i].address - FAKE_TEXT);
		const unsigned char *new = after + (places[i].address - FAKE_TEXT);
		const bool is_copy = i >= FIRST_COPY;

		if (memcmp(old, new, is_copy ? SIZE_OF_COPY : 1) == 0)
			continue;
		const bool is_planted = is_copy ? count_bytes(new) > count_bytes(old) : *new == BREAKPOINT;
		const char *const verb = is_planted ? "plant" : "clean";

		fake_note("%s%s %s %s", who, verb, memory->name, places[i].name);
		fake_point("%s %s %s", verb, memory->name, places[i].name);
	}
}

ssize_t fake_memory_write(struct fake_memory *memory, uint64_t address, const void *data, size_t size, pid_t by)
{
	unsigned char before[FAKE_TEXT_END - FAKE_TEXT], after[FAKE_TEXT_END - FAKE_TEXT];
	struct stat st;

	if (fstat(memory->fd, &st) == 0 && st.st_size == 0) {
		errno = EIO; /* the last task of the process has ended */
		return -1;
	}
	if (address < FAKE_TEXT || address >= FAKE_TEXT_END) {
		fake_memory_put(memory, address, data, size);
		return (ssize_t)size;
	}
	if (memory->refuses && !by) {
		errno = EIO;
		return -1;
	}
	fake_memory_read(memory, FAKE_TEXT, before, sizeof(before));
	fake_memory_put(memory, address, data, size);
	fake_memory_read(memory, FAKE_TEXT, after, sizeof(after));
	note_changes(memory, before, after, by);
	return (ssize_t)size;
}
