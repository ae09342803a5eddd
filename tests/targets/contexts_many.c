/* contexts_many [exec]: creates 32 contexts, which is the maximum, and checks that another one cannot be created. With
 * exec it first enters another context and executes itself: the new program is in no context. */
#include "contexts.h"
#include "../../context/context.c"

int main(int argc, char **argv)
{
	unsigned int last = 0;
	char name[80];

	context_create = sp_context_create;
	context_enter = sp_context_enter;
	context_exit = sp_context_exit;
	if (argc > 1) {
		context_enter(context_create("before"));
		use(37101, "before");
		execl("/proc/self/exe", argv[0], (char *)NULL);
	}
	gate();
	use(37102, "-");
	for (int i = 1; i <= 32; i++) {
		/* The name of the last context is longer than the room for names, and is truncated. */
		snprintf(name, sizeof(name), i < 32 ? "c%02d" : "c%02d%057d", i, 0);
		last = context_create(name);
		CHECK(last == 1u << (i - 1));
	}
	CHECK(!context_create("one more") && context_create("c07") == 1u << 6);
	context_enter(1u << 6);
	context_enter(last);
	use(37103, "c07,c3200000000000000000000000000000000000000000000000000000000");
	context_exit(1u << 6);
	context_exit(last);
	use(37104, "-");
	context_enter(~0u);
	context_exit(~0u << 1);
	use(37105, "c01");
	gate();
	return 0;
}
