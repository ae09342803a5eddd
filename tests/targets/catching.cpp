/* catching: operator new[] gets memory after its handler has made room. Then the program reads a number from standard
 * input, and makes as many rounds of containers, strings and exceptions, also of those that operator new throws. */
#include "target.h"
#include <sys/resource.h>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static NOINLINE void descend(unsigned depth, unsigned round)
{
	std::string text(40 + depth + round % 17, 'x');

	if (!depth)
		throw std::runtime_error(text);
	descend(depth - 1, round);
	text += "unreached";
}

static NOINLINE bool is_too_large(size_t size)
{
	try {
		void *p = ::operator new(size);

		KEEP(p);
		::operator delete(p);
		return false;
	} catch (const std::bad_alloc &) {
		return true;
	}
}

/* Sets the limit of the process's memory. */
static void limit_memory(rlim_t limit)
{
	struct rlimit now;

	CHECK(getrlimit(RLIMIT_AS, &now) == 0);
	now.rlim_cur = limit == RLIM_INFINITY ? now.rlim_max : limit;
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
}

static void make_room()
{
	limit_memory(RLIM_INFINITY);
	std::set_new_handler(nullptr);
}

static NOINLINE void fail_at_first()
{
	std::set_new_handler(make_room);
	limit_memory(64 << 20);
	void *p = ::operator new[](256000053);

	KEEP(p);
	::operator delete[](p);
}

int main()
{
	std::map<unsigned, std::string> found;
	std::vector<std::string> all;
	unsigned long rounds = 0, caught = 0, large = 0, length = 0;
	size_t huge = (size_t)-1 / 4;
	char text[32] = {0};

	fail_at_first();
	KEEP(huge);
	for (size_t got = 0; got < sizeof(text) - 1 && read(STDIN_FILENO, text + got, 1) == 1 && text[got] != '\n';
	     got++)
		;
	rounds = strtoul(text, NULL, 10);
	for (unsigned i = 0; i < rounds; i++) {
		try {
			descend(i % 20, i);
		} catch (const std::exception &e) {
			found[i % 500] = e.what();
			caught++;
		}
		all.push_back(std::string(30 + i % 50, 'y'));
		large += i % 10 == 0 && is_too_large(huge);
	}
	for (const auto &one : found)
		length += one.second.size();
	say("%lu caught, %lu too large, %lu bytes, %zu strings", caught, large, length, all.size());
	return 0;
}
