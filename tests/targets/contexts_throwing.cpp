/* contexts_throwing LIBRARY: exceptions out of functions that are contexts, through contexts that the program sets. */
#include "contexts.h"
#include <stdexcept>

static volatile int one = 1;
static unsigned int guarded;

struct guard {
	guard()
	{
		context_enter(guarded);
	}
	~guard()
	{
		context_exit(guarded);
	}
};

struct block {
	void *p;
	size_t size;
	const char *contexts;
	block(size_t bytes, const char *now, const char *then) : p(take(bytes, now)), size(bytes), contexts(then)
	{
	}
	~block()
	{
		give(p, size, contexts);
	}
};

static NOINLINE void thrower(int level)
{
	const block b(37201, "guarded,outside(int),thrower(int)", "guarded,outside(int),thrower(int)");

	if (!level)
		throw std::runtime_error("thrown");
	thrower(level - one);
}

static NOINLINE void outside(int level)
{
	const block b(37202, "outside(int)", "outside(int)");

	try {
		const guard g;

		use(37203, "guarded,outside(int)");
		thrower(level);
	} catch (const std::exception &) {
		use(37204, "outside(int)");
	}
	use(37205, "outside(int)");
}

static NOINLINE void plain()
{
	use(37212, "plain(),rethrower(),translator()");
	if (one)
		throw std::runtime_error("thrown");
}

static NOINLINE void rethrower()
{
	try {
		plain();
	} catch (...) {
		use(37213, "rethrower(),translator()");
		throw;
	}
}

/* It is left by another exception than the one that it caught. */
static NOINLINE void translator()
{
	try {
		rethrower();
	} catch (const std::exception &e) {
		use(37206, "translator()");
		throw std::logic_error(e.what());
	}
}

int main(int argc, char **argv)
{
	CHECK(argc > 1);
	use_library(argv[1]);
	guarded = context_create("guarded");
	gate();
	use(37207, "-");
	outside(0);
	use(37208, "-");
	outside(2);
	use(37209, "-");
	try {
		translator();
	} catch (const std::exception &) {
		use(37210, "-");
	}
	use(37211, "-");
	gate();
	return 0;
}
