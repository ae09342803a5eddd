/* operator new and delete in all forms: one event each, although most call malloc and free. */
#include "target.h"
#include <cstddef>
#include <new>

/* `this`, which must be stored in memory */
#define KEEP_THIS(p) __asm__ volatile("" : : "r"(p) : "memory")

static volatile size_t huge = static_cast<size_t>(PTRDIFF_MAX) + 30900;

static void pair(size_t size, const char *allocate, const char *release)
{
	expect_alloc(1, size, allocate);
	expect_release(1, size, release);
}

struct big {
	char bytes[31501];
};

static volatile int always = 1;

struct throws {
	char bytes[31502];
	throws()
	{
		KEEP_THIS(this);
		if (always)
			throw 1;
	}
};

int main()
{
	const std::align_val_t a{64};

	gate();
	::operator delete(::operator new(31001));
	pair(31001, "operator new(" SIZE_T ")", "operator delete(void*)");
	::operator delete[](::operator new[](31002));
	pair(31002, "operator new[](" SIZE_T ")", "operator delete[](void*)");
	::operator delete(::operator new(31003, std::nothrow), std::nothrow);
	pair(31003, "operator new(" SIZE_T ", std::nothrow_t const&)", "operator delete(void*, std::nothrow_t const&)");
	::operator delete[](::operator new[](31004, std::nothrow), std::nothrow);
	pair(31004, "operator new[](" SIZE_T ", std::nothrow_t const&)",
	     "operator delete[](void*, std::nothrow_t const&)");
	::operator delete(::operator new(31005), size_t(31005));
	pair(31005, "operator new(" SIZE_T ")", "operator delete(void*, " SIZE_T ")");
	::operator delete[](::operator new[](31006), size_t(31006));
	pair(31006, "operator new[](" SIZE_T ")", "operator delete[](void*, " SIZE_T ")");
	::operator delete(::operator new(31104, a), a);
	pair(31104, "operator new(" SIZE_T ", std::align_val_t)", "operator delete(void*, std::align_val_t)");
	::operator delete[](::operator new[](31168, a), a);
	pair(31168, "operator new[](" SIZE_T ", std::align_val_t)", "operator delete[](void*, std::align_val_t)");
	::operator delete(::operator new(31232, a, std::nothrow), a, std::nothrow);
	pair(31232, "operator new(" SIZE_T ", std::align_val_t, std::nothrow_t const&)",
	     "operator delete(void*, std::align_val_t, std::nothrow_t const&)");
	::operator delete[](::operator new[](31296, a, std::nothrow), a, std::nothrow);
	pair(31296, "operator new[](" SIZE_T ", std::align_val_t, std::nothrow_t const&)",
	     "operator delete[](void*, std::align_val_t, std::nothrow_t const&)");
	::operator delete(::operator new(31360, a), size_t(31360), a);
	pair(31360, "operator new(" SIZE_T ", std::align_val_t)",
	     "operator delete(void*, " SIZE_T ", std::align_val_t)");
	::operator delete[](::operator new[](31424, a), size_t(31424), a);
	pair(31424, "operator new[](" SIZE_T ", std::align_val_t)",
	     "operator delete[](void*, " SIZE_T ", std::align_val_t)");

	/* Failures: nothrow returns NULL, the others throw through the traced function. After a throw no call may be
	 * taken for a part of the call that never returned. */
	CHECK(!::operator new(huge, std::nothrow));
	for (int i = 0; i < 10; i++) {
		bool caught = false;

		try {
			void *p = ::operator new(huge);
			KEEP(p);
		} catch (const std::bad_alloc &) {
			caught = true;
		}
		CHECK(caught);
		void *p = malloc(31601);
		CHECK(p);
		free(p);
	}
	expect_alloc(10, 31601, "malloc");
	expect_release(10, 31601, "free");

	/* Expressions: the compiler chooses the forms. */
	big *b = new big;
	KEEP(b);
	delete b;
	pair(31501, "operator new(" SIZE_T ")", "operator delete(void*, " SIZE_T ")");
	try {
		throws *t = new throws; /* the runtime releases it while the exception passes */
		KEEP(t);
	} catch (int) {
	}
	pair(31502, "operator new(" SIZE_T ")", "operator delete(void*, " SIZE_T ")");
	char *array = new char[31503];
	KEEP(array);
	delete[] array;
	pair(31503, "operator new[](" SIZE_T ")", "operator delete[](void*)");
	::operator delete(nullptr);
	gate();
	return 0;
}
