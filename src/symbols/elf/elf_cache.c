/* Caches ELF files by their key. A file is read once, however many processes map it, and is kept after exec and exit,
 * because a build runs the same compiler thousands of times. */
#include "config.h"
#include "symbols/elf/elf_file.h"

#include <pthread.h>
#include <string.h>

#define UNUSED_MAX       512
#define UNUSED_BYTES_MAX (64u << 20)

/* Protects the variables below, and the reference counts of all files. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct hash cache; /* hash of a key -> elf_file; a second file with the same hash is not cached */
static struct elf_file *newest, *oldest;
static size_t unused_count, unused_bytes;

void elf_key_of(const struct stat *st, struct elf_key *key)
{
	*key = (struct elf_key){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_sec = (uint64_t)st->st_mtim.tv_sec,
		.mtime_nsec = (uint64_t)st->st_mtim.tv_nsec,
	};
}

static uint64_t key_mix(const struct elf_key *key)
{
	uint64_t mix = hash_mix(key->device + 1);

	mix = hash_mix(mix ^ key->inode);
	mix = hash_mix(mix ^ key->size);
	mix = hash_mix(mix ^ key->mtime_sec);
	return hash_mix(mix ^ key->mtime_nsec);
}

bool elf_key_equal(const struct elf_key *a, const struct elf_key *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size && a->mtime_sec == b->mtime_sec &&
	       a->mtime_nsec == b->mtime_nsec && a->from_memory == b->from_memory;
}

static bool is_cached(const struct elf_file *file)
{
	return hash_get_ptr(&cache, key_mix(&file->key)) == file;
}

static void unused_take_out(struct elf_file *file)
{
	*(file->cached.newer ? &file->cached.newer->cached.older : &newest) = file->cached.older;
	*(file->cached.older ? &file->cached.older->cached.newer : &oldest) = file->cached.newer;
	file->cached.newer = file->cached.older = NULL;
	unused_count--;
	unused_bytes -= file->cached.bytes;
}

static void unused_put_in(struct elf_file *file)
{
	file->cached.older = newest;
	*(newest ? &newest->cached.newer : &oldest) = file;
	newest = file;
	unused_count++;
	unused_bytes += file->cached.bytes;
}

static void take_reference(struct elf_file *file)
{
	if (!file->cached.references++)
		unused_take_out(file);
}

struct elf_file *elf_cache_find(const struct elf_key *key)
{
	pthread_mutex_lock(&lock);
	struct elf_file *file = hash_get_ptr(&cache, key_mix(key));

	if (file && elf_key_equal(&file->key, key))
		take_reference(file);
	else
		file = NULL;
	pthread_mutex_unlock(&lock);
	return file;
}

void elf_cache_add(struct elf_file *file)
{
	const uint64_t mix = key_mix(&file->key);

	pthread_mutex_lock(&lock);
	if (!hash_get(&cache, mix))
		hash_set_ptr(&cache, mix, file);
	pthread_mutex_unlock(&lock);
}

void elf_file_ref(struct elf_file *file)
{
	pthread_mutex_lock(&lock);
	take_reference(file);
	pthread_mutex_unlock(&lock);
}

static void unreference(struct elf_file *file)
{
	if (--file->cached.references)
		return;
	if (!is_cached(file)) {
		elf_file_free(file);
		return;
	}
	unused_put_in(file);
	while (oldest && (unused_count > UNUSED_MAX || unused_bytes > UNUSED_BYTES_MAX)) {
		struct elf_file *victim = oldest;

		unused_take_out(victim);
		hash_remove(&cache, key_mix(&victim->key), NULL);
		elf_file_free(victim);
	}
}

void elf_file_unref(struct elf_file *file)
{
	if (!file)
		return;
	pthread_mutex_lock(&lock);
	unreference(file);
	pthread_mutex_unlock(&lock);
}

struct elf_file *elf_file_read(int fd, const struct stat *st, const char **reason)
{
	struct elf_key key;

	elf_key_of(st, &key);
	struct elf_file *file = elf_cache_find(&key);

	if (file)
		return file;
	Elf *elf = elf_open(fd, st, reason);

	if (elf)
		file = elf_file_new(elf, 0, reason);
	elf_end(elf);
	if (file) {
		file->key = key;
		elf_cache_add(file);
	}
	return file;
}
