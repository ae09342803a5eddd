/* Objects with virtual bases, whole ones and parts of others. Prints what the arguments of each call are: a line of the
 * function's name, a tab and `parameter=value`, the members read as C++ has them. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define NOINLINE __attribute__((noinline, used))
#define KEEP(x)  __asm__ volatile("" : : "g"(x) : "memory")

struct Top {
	int top;
	Top(int n) : top(n)
	{
	}
};

struct Left : virtual Top {
	int left;
	Left(int n) : Top(n), left(n + 1)
	{
	}
};

struct Right : virtual Top {
	int right;
	Right(int n) : Top(n), right(n + 2)
	{
	}
	virtual ~Right()
	{
	}
};

/* The same Top in two ways. */
struct Both : Left, Right {
	int both;
	NOINLINE Both(int n) : Top(n), Left(n), Right(n), both(n + 3)
	{
		KEEP(this);
	}
	NOINLINE int sum(int n) const
	{
		return top + left + right + both + n;
	}
};

/* It has only a vtable, which is also that of Near. */
struct Tables {
	virtual ~Tables()
	{
	}
};

struct Near : virtual Tables {
	int near_to;
	Near(int n) : near_to(n)
	{
	}
};

struct Far : Near, virtual Top {
	char letter;
	Far(int n) : Top(n), Near(n + 1), letter('f')
	{
	}
};

/* The base is after the part of an object that is read. */
struct Large : Both {
	char bytes[2000];
	Large(int n) : Top(n), Both(n), bytes()
	{
	}
};

struct Holds {
	int before;
	Both both;
};

static void expect(const char *function, const char *name, const void *at, const char *value)
{
	if (at)
		printf("%s\t%s=%p -> %s\n", function, name, at, value);
	else
		printf("%s\t%s=%s\n", function, name, value);
}

static const char *text_of(const Both &b)
{
	static char text[4][96];
	static int turn;
	char *const to = text[turn++ % 4];

	snprintf(to, sizeof(text[0]), "{top=%d, left=%d, right=%d, both=%d}", b.top, b.left, b.right, b.both);
	return to;
}

static const char *text_of(const Left &l)
{
	static char text[64];

	snprintf(text, sizeof(text), "{top=%d, left=%d}", l.top, l.left);
	return text;
}

static const char *text_of(const Right &r)
{
	static char text[64];

	snprintf(text, sizeof(text), "{top=%d, right=%d}", r.top, r.right);
	return text;
}

NOINLINE void by_pointer(Both *b)
{
	KEEP(b);
}
NOINLINE void by_reference(const Both &b)
{
	KEEP(&b);
}
NOINLINE int by_value(Both b)
{
	KEEP(&b);
	return 0;
}
NOINLINE Both given_back(int n)
{
	return Both(n);
}
NOINLINE void to_left(Left *l)
{
	KEEP(l);
}
NOINLINE void to_right(Right &r)
{
	KEEP(&r);
}
NOINLINE void to_far(Far *f)
{
	KEEP(f);
}
NOINLINE void to_large(Large *l)
{
	KEEP(l);
}
NOINLINE void to_holds(Holds *h)
{
	KEEP(h);
}
NOINLINE void to_no_object(Both *b)
{
	KEEP(b);
}

static void call_left(Left *l)
{
	expect("to_left", "l", l, text_of(*l));
	to_left(l);
}

static void call_right(Right &r)
{
	expect("to_right", "r", nullptr, text_of(r));
	to_right(r);
}

static void call_with_whole(Both &both)
{
	char text[128];

	expect("by_pointer", "b", &both, text_of(both));
	by_pointer(&both);
	expect("by_reference", "b", nullptr, text_of(both));
	by_reference(both);
	expect("Both::sum", "this", &both, text_of(both));
	expect("Both::sum", "n", nullptr, "4");
	KEEP(both.sum(4));
	expect("by_value", "b", nullptr, text_of(both));
	KEEP(by_value(both));
	expect("given_back", "n", nullptr, "80");
	snprintf(text, sizeof(text), "%s", "{top=80, left=81, right=82, both=83}");
	expect("given_back", "return", nullptr, text);
	given_back(80);
}

static void call_with_others()
{
	static Far far_one(40);
	static Large large(60);
	static Holds holds = {1, Both(70)};
	char text[160];

	snprintf(text, sizeof(text), "{near_to=%d, top=%d, letter='f'}", far_one.near_to, far_one.top);
	expect("to_far", "f", &far_one, text);
	to_far(&far_one);
	snprintf(text, sizeof(text), "%.*s, bytes=\"\"...}", (int)strlen(text_of(large)) - 1, text_of(large));
	expect("to_large", "l", &large, text);
	to_large(&large);
	call_left(&large);
	call_right(large);
	snprintf(text, sizeof(text), "{before=1, both=%s}", text_of(holds.both));
	expect("to_holds", "h", &holds, text);
	to_holds(&holds);
}

/* Memory that is not an object: the place of its base is unknown. */
static void call_with_none()
{
	void *const memory = calloc(1, sizeof(Both));

	expect("to_no_object", "b", memory, "{Top=<unknown place>, left=0, right=0, both=0}");
	to_no_object(static_cast<Both *>(memory));
	expect("Both::Both", "this", memory, "{Top=<unknown place>, left=0, right=0, both=0}");
	expect("Both::Both", "n", nullptr, "90");
	new (memory) Both(90);
	expect("by_pointer", "b", memory, text_of(*static_cast<Both *>(memory)));
	by_pointer(static_cast<Both *>(memory));
	/* At the place of a former object its vtable pointer is still there. */
	expect("Both::Both", "this", memory, "{Top=<unknown place>, left=91, right=92, both=93}");
	expect("Both::Both", "n", nullptr, "20");
	new (memory) Both(20);
	memset(memory, 0x41, sizeof(Both));
	expect("to_no_object", "b", memory,
	       "{Top=<unknown place>, left=1094795585, right=1094795585, both=1094795585}");
	to_no_object(static_cast<Both *>(memory));
}

int main(int argc, char **)
{
	static Both both(10);
	static Right right(20);
	static Left left(30);

	if (argc > 1) /* without the calls that are made before main() */
		return 0;
	call_with_whole(both);
	call_left(&both);
	call_left(&left);
	call_right(both);
	call_right(right);
	call_with_others();
	call_with_none();
	return 0;
}
