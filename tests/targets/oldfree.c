/* oldfree: cfree, which glibc has only for old programs, is another name of free. */
#include "target.h"

void old_cfree(void *p);
#if defined __x86_64__
__asm__(".symver old_cfree, cfree@GLIBC_2.2.5");
#elif defined __i386__
__asm__(".symver old_cfree, cfree@GLIBC_2.0");
#elif defined __arm__
__asm__(".symver old_cfree, cfree@GLIBC_2.4");
#else
__asm__(".symver old_cfree, cfree@GLIBC_2.17");
#endif

int main(void)
{
	gate();
	for (unsigned i = 0; i < 5; i++) {
		void *p = malloc(37501), *q = malloc(37502);

		CHECK(p && q);
		old_cfree(p);
		free(q);
	}
	gate();
	expect_alloc(5, 37501, "malloc");
	expect_alloc(5, 37502, "malloc");
	expect_release(5, 37501, "cfree");
	expect_release(5, 37502, "free");
	return 0;
}
