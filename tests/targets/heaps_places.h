/* Memory of heaps.c outside of blocks, in which pointers are kept, and the ways in which they are stored there. */
#ifndef HEAPS_PLACES_H
#define HEAPS_PLACES_H

#include "heaps_blocks.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PLACES_MAX 32
#define SLOTS      64 /* words of a place in variables */
#define BYTES      (256u << 10)
#define KEYS_MAX   64

/* In the order of PLACES in tests/generate/heap_plans.py. */
enum place {
	IN_BSS,
	IN_DATA,
	IN_TLS,
	IN_LIBRARY,
	IN_LIBRARY_TLS,
	IN_ANONYMOUS,
	IN_SHARED,
	IN_MEMFD,
	IN_SYSTEM_V,
	IN_FILE,
	IN_FILE_PRIVATE,
	IN_BREAK,
	IN_SPARSE,
	IN_MEMFD_PRIVATE
};
/* How a pointer is stored in a place, in the order of STORES. */
enum store { DIRECTLY, BY_CHILD, BY_SECOND_MAPPING, BY_WRITE };
/* Changes to a place after a pointer is stored, in the order of AFTERS. */
enum after { NOTHING, READ_ONLY, NO_ACCESS, DONT_NEED };

static struct place_memory {
	void *volatile *words;
	int fd, id;
	size_t size;
} places[PLACES_MAX];

static void *volatile in_bss[PLACES_MAX][SLOTS], *volatile in_data[PLACES_MAX][SLOTS] = {{(void *)1}};
static __thread void *volatile in_tls[SLOTS];
static void *volatile *(*library_variables)(void), *volatile *(*library_thread_variables)(void);
static const char *library_path, *file_path;

static NOINLINE void load_library(void)
{
#ifndef NO_LIBRARIES
	void *library = library_variables ? NULL : dlopen(library_path, RTLD_NOW);

	if (library_variables)
		return;
	CHECK(library);
	library_variables = (void *volatile *(*)(void))(uintptr_t)dlsym(library, "heaps_variables");
	library_thread_variables = (void *volatile *(*)(void))(uintptr_t)dlsym(library, "heaps_thread_variables");
	CHECK(library_variables && library_thread_variables);
#endif
}

/* Maps the segment or file of a place a second time; returns NULL if the place has neither. */
static NOINLINE void *map_again(const struct place_memory *place)
{
	if (place->id >= 0)
		return shmat(place->id, NULL, 0);
	return place->fd >= 0 ? mmap(NULL, place->size, PROT_READ | PROT_WRITE, MAP_SHARED, place->fd, 0) : NULL;
}

static NOINLINE void unmap_again(const struct place_memory *place, void *address)
{
	CHECK((place->id >= 0 ? shmdt(address) : munmap(address, place->size)) == 0);
}

static NOINLINE void map_place(struct place_memory *place, enum place kind)
{
	const int is_shared =
		kind != IN_ANONYMOUS && kind != IN_SPARSE && kind != IN_FILE_PRIVATE && kind != IN_MEMFD_PRIVATE;
	int flags = is_shared ? MAP_SHARED : MAP_PRIVATE;

	place->size = kind == IN_SPARSE ? sizeof(void *) < 8 ? 64u << 20 : 1u << 30 : 2 * BYTES;
	if (kind == IN_MEMFD || kind == IN_MEMFD_PRIVATE)
		/* Different names, because a core file does not distinguish shared mappings from private ones, or files
		 * of the same name. */
		place->fd = (int)syscall(SYS_memfd_create, kind == IN_MEMFD ? "place" : "private", MFD_CLOEXEC);
	else if (kind == IN_FILE || kind == IN_FILE_PRIVATE)
		place->fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	else
		flags |= MAP_ANONYMOUS | MAP_NORESERVE;
	CHECK((flags & MAP_ANONYMOUS) || (place->fd >= 0 && ftruncate(place->fd, (off_t)place->size) == 0));
	place->words = (void *volatile *)mmap(NULL, place->size, PROT_READ | PROT_WRITE, flags, place->fd, 0);
	CHECK(place->words != MAP_FAILED);
	if (kind == IN_SPARSE)
		place->words += place->size / 2 / sizeof(void *);
}

static NOINLINE void make_place(unsigned number, enum place kind)
{
	struct place_memory *place = &places[number];

	*place = (struct place_memory){NULL, -1, -1, 0};
	switch (kind) {
	case IN_BSS:
		place->words = in_bss[number];
		break;
	case IN_DATA:
		place->words = in_data[number];
		break;
	case IN_TLS:
		place->words = in_tls;
		break;
	case IN_LIBRARY:
		load_library();
		place->words = library_variables();
		break;
	case IN_LIBRARY_TLS:
		load_library();
		place->words = library_thread_variables();
		break;
	case IN_BREAK:
		place->words = (void *volatile *)sbrk(4096);
		CHECK(place->words != (void *)-1);
		place->words = (void *volatile *)(((uintptr_t)place->words + 15) / 16 * 16);
		break;
	case IN_SYSTEM_V:
		place->size = 2 * BYTES;
		place->id = shmget(IPC_PRIVATE, place->size, 0600);
		CHECK(place->id >= 0);
		place->words = (void *volatile *)shmat(place->id, NULL, 0);
		CHECK(place->words != (void *)-1);
		/* The segment ends with the program; Linux allows to attach it once more. */
		CHECK(shmctl(place->id, IPC_RMID, NULL) == 0);
		break;
	default:
		map_place(place, kind);
	}
}

static NOINLINE void store(const struct place_memory *place, unsigned slot, enum store how, unsigned number,
			   long offset)
{
	void *volatile *again;
	char *word;
	pid_t child;

	switch (how) {
	case DIRECTLY:
		place->words[slot] = shown(number, offset);
		return;
	case BY_CHILD:
		child = fork();
		CHECK(child >= 0);
		if (!child) {
			place->words[slot] = shown(number, offset);
			_exit(0);
		}
		CHECK(waitpid(child, NULL, 0) == child);
		return;
	case BY_SECOND_MAPPING:
		again = (void *volatile *)map_again(place);
		CHECK(again && again != MAP_FAILED);
		again[slot] = shown(number, offset);
		unmap_again(place, (void *)again);
		return;
	case BY_WRITE:
		word = shown(number, offset);
		CHECK(pwrite(place->fd, &word, sizeof(word), (off_t)(slot * sizeof(word))) == sizeof(word));
		word = NULL;
		USED(&word);
	}
}

static NOINLINE void change_place(unsigned number, enum after after)
{
	const struct place_memory *place = &places[number];

	if (after == DONT_NEED)
		CHECK(madvise((void *)place->words, place->size, MADV_DONTNEED) == 0);
	else if (after)
		CHECK(mprotect((void *)place->words, place->size, after == READ_ONLY ? PROT_READ : PROT_NONE) == 0);
}

/* ---- Values of keys ---- */

static pthread_key_t keys[KEYS_MAX];
static unsigned key_count;

static NOINLINE void store_key(unsigned key, unsigned number, long offset)
{
	while (key_count <= key)
		CHECK(pthread_key_create(&keys[key_count++], NULL) == 0);
	CHECK(pthread_setspecific(keys[key], shown(number, offset)) == 0);
}

#endif
