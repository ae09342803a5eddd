/* chosen_classes: overloads, templates, namespaces, methods, operators and exceptions, for functrace -x.
 * tests/scenarios/chosen.py has the results. */
#include "target.h"

#ifdef __clang__
#define APART __attribute__((noinline, optnone))
#else
#define APART __attribute__((noipa))
#endif
#define BEHIND_CALL() __asm__ volatile("" ::: "memory")

namespace shop
{
APART long price(int x)
{
	return x + 1;
}

APART long price(const char *text, long more)
{
	return text[0] + more;
}

template <typename T> APART long twice(T x)
{
	return static_cast<long>(x + x);
}

namespace
{
APART long hidden(long x)
{
	return x - 1;
}
} // namespace

class Parser
{
	long at;

      public:
	APART explicit Parser(long from) : at(from)
	{
	}
	APART virtual ~Parser()
	{
		at = -1;
	}
	APART virtual long parse(int x)
	{
		return at + x;
	}
	APART long parse(long x, long y) const
	{
		return at + x * y;
	}
	APART static long limit()
	{
		return 1000;
	}
	APART long operator()(long x)
	{
		return x + 2;
	}
	APART long operator[](long x) const
	{
		return x + 3;
	}
	APART bool operator==(long x) const
	{
		return at == x;
	}
};

class FastParser : public Parser
{
      public:
	using Parser::Parser;
	APART long parse(int x) override
	{
		return 50 + x;
	}
};
} // namespace shop

APART static long throws(long x)
{
	if (x > 1)
		throw x;
	BEHIND_CALL();
	return x;
}

APART static long passes(long x)
{
	const long result = throws(x) + 1;

	BEHIND_CALL();
	return result;
}

APART static long catches(long x)
{
	long result;

	try {
		result = passes(x);
	} catch (long thrown) {
		result = 10 * thrown;
	}
	return result;
}

int main()
{
	gate();
	CHECK(shop::price(4) == 5);
	CHECK(shop::price("a", 3) == 100);
	CHECK(shop::twice(21) == 42);
	CHECK(shop::twice(22L) == 44);
	CHECK(shop::hidden(9) == 8);
	{
		shop::FastParser fast(7);
		shop::Parser &parser = fast;

		CHECK(parser.parse(1) == 51);
		CHECK(parser.parse(2, 3) == 13);
		CHECK(shop::Parser::limit() == 1000);
		CHECK(parser(1) == 3);
		CHECK(parser[1] == 4);
		CHECK(parser == 7);
	}
	CHECK(catches(1) == 2);
	CHECK(catches(2) == 20);
	CHECK(catches(3) == 30);
	gate();
	return 0;
}
