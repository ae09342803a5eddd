// Blocks that begin after the start of the allocator's memory for them: those of the program's own operator new
// follow a header; aligned ones, with some allocators, begin at the next multiple. Pointers to first bytes keep some
// blocks of each kind, some point to others, and nothing points to the rest.
#include "target.h"
#include <malloc.h>
#include <new>

static const size_t header = 16;
static const unsigned kept_count = 4, lost_count = 10, led_count = 3;
static void *volatile kept[2 * kept_count];

NOINLINE void *operator new(size_t size)
{
	char *room = static_cast<char *>(malloc(header + size));

	if (!room)
		throw std::bad_alloc();
	memset(room, 1, malloc_usable_size(room));
	KEEP(room);
	return room + header;
}

NOINLINE void operator delete(void *p) noexcept
{
	if (p)
		free(static_cast<char *>(p) - header);
}

static NOINLINE void *make(bool is_aligned)
{
	if (!is_aligned)
		return ::operator new(200);
	void *const p = aligned_alloc(512, 1024);

	if (p)
		memset(p, 1, malloc_usable_size(p));
	return p;
}

static NOINLINE void make_all(bool is_aligned)
{
	for (unsigned i = 0; i < kept_count; i++)
		kept[i + is_aligned * kept_count] = make(is_aligned);
	for (unsigned i = 0; i < lost_count; i++) {
		void *volatile p = make(is_aligned);

		if (i < led_count)
			*static_cast<void *volatile *>(p) = make(is_aligned);
		p = nullptr;
	}
}

int main()
{
	make_all(false);
	wipe_stack();
	make_all(true);
	wipe_stack();
	say("ready");
	wait_for_input_end();
	return 0;
}
