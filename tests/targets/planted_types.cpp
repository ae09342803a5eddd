// Lost objects whose types are known: 20 of a class with a vtable, 5 tables that point to an array. Then it waits for
// the end of its standard input.
#include "target.h"

struct Shape {
	virtual ~Shape()
	{
	}
	virtual int area() const
	{
		return width;
	}
	int width = 0;
	char rest[80];
};

namespace drawing
{
struct Circle : Shape {
	int area() const override
	{
		return 3 * width * width;
	}
};
} // namespace drawing

extern "C" {
extern const int operations[4] = {1, 2, 3, 4};
Shape *kept;
}

struct table {
	const int *first;
	char rest[120];
};

NOINLINE static void plant()
{
	for (int i = 0; i < 20; i++) {
		Shape *shape = new drawing::Circle;
		memset(shape->rest, 0x11, sizeof(shape->rest));
		KEEP(shape);
	}
	for (int i = 0; i < 5; i++) {
		table *one = static_cast<table *>(malloc(sizeof(table)));
		memset(one, 0x11, sizeof(*one));
		one->first = operations;
		KEEP(one);
	}
	kept = new drawing::Circle;
}

int main()
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	plant();
	wipe_stack();
	say("ready");
	wait_for_input_end();
	return kept == nullptr;
}
