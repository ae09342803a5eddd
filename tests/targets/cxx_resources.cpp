/* cxx_resources: memory that C++ allocates in other ways: a class's own operator new, placement new, std::pmr,
 * make_shared, containers with an allocator. The code between the program and the traced functions makes no events; its
 * calls of traced functions do. */
#include "target.h"
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

static const char *const aligned_new = "operator new(" SIZE_T ", std::align_val_t)|operator new(" SIZE_T ")";
static const char *const aligned_delete = "operator delete(void*, " SIZE_T ", std::align_val_t)";
static const char *const sized_delete = "operator delete(void*, " SIZE_T ")";
static const char *const plain_new = "operator new(" SIZE_T ")";

/* From malloc, which is the event, not operator new. */
struct by_malloc {
	char bytes[36601];
	static void *operator new(size_t size)
	{
		return malloc(size);
	}
	static void operator delete(void *p)
	{
		free(p);
	}
};

/* From a pool: one block for many objects. */
struct by_pool {
	char bytes[1000];
	static char *pool;
	static unsigned used;
	static void *operator new(size_t size)
	{
		return pool + size * used++;
	}
	static void operator delete(void *)
	{
		used--;
	}
};
char *by_pool::pool;
unsigned by_pool::used;

/* From the global operator new, larger than requested. */
struct by_global {
	char bytes[36603];
	static void *operator new(size_t size)
	{
		return ::operator new(size + 1);
	}
	static void operator delete(void *p)
	{
		::operator delete(p);
	}
};

template <class T> struct c_allocator {
	typedef T value_type;
	c_allocator() = default;
	template <class U> c_allocator(const c_allocator<U> &)
	{
	}
	T *allocate(size_t count)
	{
		return static_cast<T *>(calloc(count, sizeof(T)));
	}
	void deallocate(T *p, size_t)
	{
		free(p);
	}
	bool operator==(const c_allocator &) const
	{
		return true;
	}
	bool operator!=(const c_allocator &) const
	{
		return false;
	}
};

static void classes(unsigned rounds)
{
	by_pool::pool = new char[30 * sizeof(by_pool)];
	for (unsigned i = 0; i < rounds; i++) {
		by_malloc *m = new by_malloc;
		by_pool *p = new by_pool, *q = new by_pool;
		by_global *g = new by_global;

		KEEP(m);
		KEEP(p);
		KEEP(q);
		KEEP(g);
		delete m;
		delete q;
		delete p;
		delete g;
	}
	delete[] by_pool::pool;
	expect_alloc(1, 30 * sizeof(by_pool), "operator new[](" SIZE_T ")");
	expect_release(1, 30 * sizeof(by_pool), "operator delete[](void*)");
	expect_alloc(rounds, 36601, "malloc");
	expect_release(rounds, 36601, "free");
	expect_alloc(rounds, 36604, plain_new);
	expect_release(rounds, 36604, "operator delete(void*)");
	alignas(by_malloc) static char place[sizeof(by_malloc)];
	by_malloc *placed = ::new (place) by_malloc;

	KEEP(placed);
	placed->~by_malloc();
}

static void resources(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		std::pmr::vector<char> v(36611, 'x', std::pmr::new_delete_resource());
		static char buffer[40000];
		std::pmr::monotonic_buffer_resource within(buffer, sizeof(buffer), std::pmr::null_memory_resource());
		std::pmr::vector<char> no_event(36612, 'x', &within);
		char *p = v.data();

		KEEP(p);
		p = no_event.data();
		CHECK(p >= buffer && p < buffer + sizeof(buffer));
		/* larger than the pools' largest block: each is a block of the upstream resource */
		std::pmr::pool_options options;
		options.largest_required_pool_block = 4096;
		std::pmr::unsynchronized_pool_resource pool(options);
		std::pmr::vector<std::pmr::string> strings(&pool);
		strings.reserve(20);
		for (unsigned n = 0; n < 20; n++)
			strings.emplace_back("a string that does not fit into the object itself");
		CHECK(strings[19].get_allocator().resource() == &pool);
	}
	expect_alloc(rounds, 36611, aligned_new);
	expect_release(rounds, 36611, aligned_delete);
}

static void containers(unsigned rounds)
{
	struct large {
		char bytes[36600];
	};

	for (unsigned i = 0; i < rounds; i++) {
		std::vector<int, c_allocator<int>> v(9155);
		int *p = v.data();

		KEEP(p);
		std::string s(36621, 'x'); /* and its zero */
		const char *c = s.c_str();

		KEEP(c);
		std::unique_ptr<large> u(new large);
		large *l = u.get();

		KEEP(l);
		std::string moved = std::move(s); /* no event */
		c = moved.c_str();
		KEEP(c);
	}
	expect_alloc(rounds, 36620, "calloc");
	expect_release(rounds, 36620, "free");
	expect_alloc(rounds, 36622, plain_new);
	say("expect-between - 0 %u 36622 operator delete(void*)", rounds);
	say("expect-between - 0 %u 36622 %s", rounds, sized_delete);
	expect_alloc(rounds, 36600, plain_new);
	expect_release(rounds, 36600, sized_delete);
}

int main()
{
	const unsigned rounds = 12;

	gate();
	classes(rounds);
	resources(rounds);
	containers(rounds);
	gate();
	return 0;
}
