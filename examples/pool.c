/* A pool of objects. functrace can trace these objects, because pool.conf describes the functions that take them from
 * the pool and put them back.
 *
 * The program takes parcels from a pool, sends them, and puts them back. It forgets to put back two kinds of parcels.
 * The pool is one array that is never released, so a trace of memory does not show these leaks.
 *
 *     cc -g -o pool pool.c
 *     functrace -e ./pool.conf -o pool.rtrace ./pool
 *
 * At the end functrace counts the parcels that were not put back ("5 parcels with 288 bytes never put back"), and
 *
 *     functrace-postproc -l -c -r pool.rtrace
 *
 * shows where they were taken: 3 parcels by send_letter, which forgets parcels without an address ("?"), and 2 by
 * weigh, which forgets all of its parcels. -e memory,./pool.conf traces memory and the pool in one run.
 */
#include <stdio.h>
#include <string.h>

#define POOL_SIZE 4096

struct pool {
	char bytes[POOL_SIZE];
	size_t used;
	unsigned taken;
};

static struct pool pool = {.used = 16};

/* Returns an object of `size` bytes, or NULL if the pool is full or the label is empty. */
void *pool_get(struct pool *from, size_t size, const char *label);
void *pool_get(struct pool *from, size_t size, const char *label)
{
	char *const object = from->bytes + from->used;

	size += 15 - (size + 15) % 16;
	if (size > POOL_SIZE - from->used || !*label)
		return NULL;
	from->used += size;
	from->taken++;
	return memset(object, 0, size);
}

/* Copies `count` objects of `each` bytes into the pool. Returns 0, or -1 if the pool is full. */
int pool_copy(struct pool *from, void **to, const void *of, unsigned count, size_t each);
int pool_copy(struct pool *from, void **to, const void *of, unsigned count, size_t each)
{
	const size_t size = count * each;

	if (size > POOL_SIZE - from->used)
		return -1;
	*to = memcpy(from->bytes + from->used, of, size);
	from->used += size + 15 - (size + 15) % 16;
	from->taken++;
	return 0;
}

/* Puts an object back. NULL has no effect. */
void pool_put(struct pool *to, void *object);
void pool_put(struct pool *to, void *object)
{
	if (object)
		to->taken--;
}

static void send_letter(const char *to)
{
	char *const parcel = pool_get(&pool, 64, to);

	if (!parcel)
		return;
	strncpy(parcel, to, 63);
	if (*to == '?')
		return; /* 1: the parcel is not put back */
	pool_put(&pool, parcel);
}

static unsigned weigh(const char *text)
{
	void *copy;
	unsigned sum = 0;

	if (pool_copy(&pool, &copy, text, 3, 16) < 0)
		return 0;
	for (size_t i = 0; i < 48; i++)
		sum += ((unsigned char *)copy)[i];
	return sum; /* 2: the copy is not put back */
}

int main(void)
{
	static const char *const names[] = {"anna", "?", "berta", "?", "carla", "?", ""};
	static const char text[48] = "three times sixteen characters, no more of them";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		send_letter(names[i]);
	unsigned sum = 0;

	for (int i = 0; i < 2; i++)
		sum += weigh(text);
	printf("%u\n", sum);
	printf("%u parcels are missing\n", pool.taken);
	return 0;
}
