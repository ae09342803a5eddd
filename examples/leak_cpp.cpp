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
 * One sees `operator new(unsigned long)` as what allocated, one event each although it calls malloc
 * within, and one of the three functions in every stack:
 *
 *   - two times 136 bytes below lose_by_cycle;
 *   - 151 bytes below lose_by_base;
 *   - two times 200 bytes below lose_by_throw.
 *
 * The library's templates stand between new and one's own code (a string's allocator, a
 * shared_ptr's control block): read a stack from the top down to the first line of one's own file.
 *
 * The list also has what the libraries keep to the end and nobody leaks: stdout's buffer of 4096
 * bytes, and 72704 bytes that the C++ library sets aside for exceptions before main.
 *
 * Also try
 *
 *     functrace -e memory -M 100-200 -o some.rtrace ./leak_cpp     stacks only for these sizes
 *     functrace -e memory -A -o all.rtrace ./leak_cpp              stacks for releases too
 *     functrace -e memory -f text -r ./leak_cpp                    text with names, at once
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
