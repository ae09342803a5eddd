// Blocks that interior pointers keep in the ways of C++ and of libraries, and others which such pointers do not keep.
// There are no pointers to their first bytes. When it is ready it prints each, "KIND ADDRESS"; then it waits for the
// end of its standard input.
#define _GLIBCXX_USE_CXX11_ABI 0
#include "target.h"
#include <cstddef>
#include <string>

struct First {
	virtual ~First()
	{
	}
	long first = 1;
};

struct Second {
	virtual ~Second()
	{
	}
	long second = 2;
};

struct Both : First, Second {
	long rest[9] = {};
};

struct Element {
	~Element()
	{
		KEEP(words);
	}
	long words[5];
};

struct Named {
	const char *name;
	long rest[6];
	const char *other;
};

extern "C" {
Element *elements;
std::string *text;
Second *second;
char *behind_length, *behind_wrong_length, *at_cookie, *deep;
const char **constant;
}

static const char *kinds[16];
static size_t addresses[16], told;

static void tell(const char *kind, const void *inner, size_t offset)
{
	kinds[told] = kind;
	addresses[told++] = ~((size_t)(uintptr_t)inner - offset); // no pointer
}

NOINLINE static char *block(size_t size, uint64_t first)
{
	char *one = static_cast<char *>(malloc(size));

	memset(one, 0x77, size);
	memcpy(one, &first, sizeof(first));
	return one;
}

NOINLINE static void plant()
{
#ifdef __arm__
	const size_t cookie = 8;
#else
	const size_t cookie = sizeof(size_t);
#endif
	elements = new Element[123];
	tell("kept", elements, cookie);
	text = new std::string(1000, 'x');
	tell("kept", text->data(), 3 * sizeof(size_t));
	Both *both = new Both;
	second = both;
	tell("base", both, 0);
	behind_length = block(3000, 3000 - 8) + 8;
	tell("kept", behind_length, 8);
	behind_wrong_length = block(3000, 4000) + 8;
	tell("possibly", behind_wrong_length, 8);
	/* A number of elements that is none: 2,992 bytes are not 1,400 elements of any size. */
	at_cookie = block(3000, 1400) + sizeof(size_t);
	tell("possibly", at_cookie, sizeof(size_t));
	deep = block(3000, 1) + 1000;
	tell("possibly", deep, 1000);
	Named *named = static_cast<Named *>(calloc(1, sizeof(*named)));
	named->name = "a constant";
	named->other = "another one";
	constant = &named->other;
	tell("possibly", constant, offsetof(Named, other));
}

int main()
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	setvbuf(stdout, nullptr, _IONBF, 0);
	plant();
	wipe_stack();
	say("ready");
	for (size_t i = 0; i < told; i++)
		printf("%s %#zx\n", kinds[i], ~addresses[i]);
	say("end");
	wait_for_input_end();
	return 0;
}
