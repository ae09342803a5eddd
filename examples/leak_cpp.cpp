/* Leaks that only C++ can have.
 *
 * Each function below loses something in one of the ways that survive a code review:
 *
 *   lose_by_cycle      two objects that hold each other by shared_ptr: never counted down to 0
 *   lose_by_base       deleted through a base without a virtual destructor: the object is
 *                      released, the string that the derived class owns is not
 *   lose_by_throw      an exception passes between new and the owner that was to come
 *
 * Build, trace, look:
 *
 *     c++ -g -o leak_cpp leak_cpp.cpp
 *     functrace -e memory -o leak.rtrace ./leak_cpp
 *     functrace-postproc -l -c -r leak.rtrace
 *
 * Every group that is shown names `operator new(unsigned long)` as what allocated, and one of the
 * three functions in its stack; templates of the library stand between them (the string's own
 * allocator, the shared_ptr's control block): read a stack from the top down to the first line of
 * one's own file.  `operator new` is one event, although it calls malloc within.
 *
 * Also try
 *
 *     functrace -e memory -M 100-200 -o some.rtrace ./leak_cpp     stacks only for these sizes
 *     functrace -e memory -A -o all.rtrace ./leak_cpp              stacks for releases too
 *     functrace -e memory -f text -r ./leak_cpp                    text with names, at once
 *
 * The C++ library keeps a block of 72704 bytes for exceptions itself (at its start, "emergency
 * pool"): it is in the list too and is nobody's leak.
 */
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

struct node {
	std::shared_ptr<node> other;
	char payload[100];
};

void lose_by_cycle()
{
	auto a = std::make_shared<node>();
	auto b = std::make_shared<node>();

	a->other = b;
	b->other = a;
}

struct base {
	int kind = 0;
};

struct derived : base {
	std::string text = std::string(150, 'x');
};

void lose_by_base()
{
	base *object = new derived;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdelete-non-virtual-dtor"
	delete object;
#pragma GCC diagnostic pop
}

struct parsed {
	char fields[200];
};

void check(int value)
{
	if (value > 1)
		throw std::runtime_error("value too large");
}

void lose_by_throw(int value)
{
	parsed *p = new parsed;

	check(value);
	std::unique_ptr<parsed> owner(p);
}

} // namespace

int main()
{
	lose_by_cycle();
	lose_by_base();
	for (int i = 0; i < 4; i++) {
		try {
			lose_by_throw(i);
		} catch (const std::exception &e) {
			std::printf("%d: %s\n", i, e.what());
		}
	}
	return 0;
}
