// Lost objects whose types can be found: 20 of a class with a vtable, 5 tables that point to an array. Lost blocks
// whose first words are not those of objects: 3 of 300 bytes with the vtable pointer of a second base class, 3 of 400
// with one to the beginning of a vtable. Then it waits for the end of its standard input.
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
struct Named {
	virtual ~Named()
	{
	}
	char name[40];
};
struct Label : Shape, Named {
	int area() const override
	{
		return 0;
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

NOINLINE static void plant_odd()
{
	static drawing::Label label;
	drawing::Named *volatile second = &label;

	for (int i = 0; i < 3; i++) {
		void ***one = static_cast<void ***>(memset(malloc(300), 0x11, 300));
		void ***other = static_cast<void ***>(memset(malloc(400), 0x11, 400));
		*one = *reinterpret_cast<void ***>(second);
		*other = *reinterpret_cast<void ***>(&label) - 2;
		KEEP(one);
		KEEP(other);
	}
}

int main()
{
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	plant();
	plant_odd();
	wipe_stack();
	say("ready");
	wait_for_input_end();
	return kept == nullptr;
}
