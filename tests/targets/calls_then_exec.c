/* calls_then_exec: calls functions that get a record at their entry, and executes `true` before functrace reads it. */
#include "target.h"

int main(void)
{
	void *p = NULL;

	for (int i = 1; i <= 20; i++) {
		p = realloc(p, (size_t)i * 100);
		KEEP(p);
	}
	for (int i = 0; i < 5; i++) {
		if (posix_memalign(&p, 64, 39001))
			return 1;
		KEEP(p);
	}
	execlp("true", "true", (char *)NULL);
	return 1;
}
