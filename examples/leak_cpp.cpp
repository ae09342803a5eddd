/* Leaks that only C++ can have.
 *
 * Each function below loses blocks in a way that is easily overlooked in a code review:
 *
 *   lose_by_cycle      Two objects hold each other by shared_ptr, so neither is ever released.
 *   lose_by_base       The object is deleted through a base class without a virtual destructor:
 *                      the object is released, but the string of the derived class is not.
 *   lose_by_throw      An exception is thrown after new and before the owner is constructed.
 *
 * Build the program, trace it, and show the leaks:
 *
 *     c++ -g -o leak_cpp leak_cpp.cpp
 *     functrace -e memory -o leak.rtrace ./leak_cpp
 *     functrace-postproc -l -c -r leak.rtrace
 *
 * The allocating function is `operator new(unsigned long)`. Each call of it is one event, although
 * it calls malloc. Each stack has one of the three functions:
 *
 *   - two blocks of 136 bytes below lose_by_cycle;
 *   - one block of 151 bytes below lose_by_base;
 *   - two blocks of 200 bytes below lose_by_throw.
 *
 * Templates of the C++ library are between new and the program's own code (a string's allocator,
 * a shared_ptr's control block). Read a stack from the top to the first line of leak_cpp.cpp.
 *
 * The list also has two blocks that the libraries keep until the program ends, and that are not
 * leaks: stdout's buffer of 4096 bytes, and 72704 bytes of the C++ library for exceptions.
 *
 * Other commands to try:
 *
 *     functrace -e memory -M 100-200 -o some.rtrace ./leak_cpp     stacks only for these sizes
 *     functrace -e memory -A -o all.rtrace ./leak_cpp              stacks for releases too
 *     functrace -e memory -f text -r ./leak_cpp                    text with names, while tracing
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
