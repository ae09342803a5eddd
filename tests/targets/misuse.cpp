/* misuse: wrong releases: by another family than the block's, of a block that is already released, and of an address
 * that never was a block. The allocator of the last two is the program's own, and tolerates them. */
#include "target.h"
#include <new>

static char arena[64];
static char has_left_mm[64];

extern "C" {
NOINLINE void *je_malloc(size_t size)
{
	return size ? arena : nullptr;
}

NOINLINE void je_free(void *p)
{
	KEEP(p);
}
}

int main()
{
	gate();
	for (int i = 0; i < 3; i++) {
		void *p = ::operator new(36801);
		KEEP(p);
		free(p);
		p = malloc(36802);
		KEEP(p);
		::operator delete(p);
		p = ::operator new[](36803);
		KEEP(p);
		::operator delete(p);
		/* right ones, of the same sizes of class: they must not be reported */
		p = ::operator new(36804);
		::operator delete(p, size_t(36804));
		p = realloc(malloc(36805), 36806);
		free(p);
	}
	for (int i = 0; i < 4; i++) {
		void *p = je_malloc(36807);
		KEEP(p);
		je_free(p);
		if (i & 1)
			je_free(p); /* twice */
	}
	je_free(has_left_mm);
	je_free(nullptr); /* allowed */
	free(nullptr);
	::operator delete(nullptr);
	expect_alloc(3, 36801, "operator new(" SIZE_T ")");
	expect_release(3, 36801, "free");
	expect_alloc(3, 36802, "malloc");
	expect_release(3, 36802, "operator delete(void*)");
	expect_alloc(3, 36803, "operator new[](" SIZE_T ")");
	expect_release(3, 36803, "operator delete(void*)");
	expect_alloc(3, 36804, "operator new(" SIZE_T ")");
	expect_release(3, 36804, "operator delete(void*, " SIZE_T ")");
	expect_alloc(3, 36805, "malloc");
	expect_release(3, 36805, "realloc");
	expect_alloc(3, 36806, "realloc");
	expect_release(3, 36806, "free");
	expect_alloc(4, 36807, "je_malloc");
	expect_release(4, 36807, "je_free");
	gate();
	return 0;
}
