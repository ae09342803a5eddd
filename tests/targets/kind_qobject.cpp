/* QObjects in the program, or, if the argument is the path of kind_qobjectlib, in that library. */
#include "kind_qobject.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
	int (*run)(void) = work;

	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);

		CHECK(library);
		run = (int (*)(void))dlsym(library, "work_in_library");
		CHECK(run);
	}
	gate();
	left("qobject", 2, 2, run());
	gate();
	return 0;
}
