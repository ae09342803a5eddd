// Objects of C++ classes. By shapes.conf, functrace traces each object from its constructor to its destructor, wherever
// the object's memory is.
//
// The shapes lie in an arena that is released as a whole. A trace of memory therefore has only one block, and does not
// show shapes that are never destroyed, with the resources of their members.
//
//     c++ -g -o shapes shapes.cpp
//     functrace -e ./shapes.conf -o shapes.rtrace ./shapes
//     functrace-postproc -l -c -r shapes.rtrace
//
// 2 circles of forget_circles and 1 square of copy_square, the copy, are never destroyed.
#include <cstdio>
#include <new>

namespace
{

alignas(16) char arena[4096];
size_t used;

void *place(size_t size)
{
	void *const memory = arena + used;

	used += size + 15 - (size + 15) % 16;
	return memory;
}

} // namespace

namespace drawing
{

class Shape
{
      public:
	explicit Shape(const char *shape_name) : name(shape_name)
	{
	}
	Shape(const Shape &other) : name(other.name)
	{
	}
	virtual ~Shape()
	{
	}
	virtual double area() const = 0;

	const char *name;
};

class Circle : public Shape
{
      public:
	explicit Circle(double r) : Shape("circle"), radius(r)
	{
		if (r < 0)
			throw "a circle cannot be that small";
	}
	~Circle() override
	{
		radius = 0;
	}
	double area() const override
	{
		return 3 * radius * radius;
	}

      private:
	double radius;
};

class Square : public Shape
{
      public:
	explicit Square(int s) : Shape("square"), side(s)
	{
	}
	Square(const Square &other) : Shape(other), side(other.side)
	{
	}
	~Square() override
	{
		side = 0;
	}
	double area() const override
	{
		return side * side;
	}

      private:
	int side;
};

} // namespace drawing

static double forget_circles()
{
	double sum = 0;

	for (int i = 1; i <= 2; i++)
		sum += (new (place(sizeof(drawing::Circle))) drawing::Circle(i))->area();
	return sum; // 1: the circles are not destroyed
}

static double copy_square()
{
	drawing::Square square(4); // destroyed when the function returns
	drawing::Square *const copy = new (place(sizeof(square))) drawing::Square(square);

	return copy->area(); // 2: the copy is not destroyed
}

static void try_circle()
{
	try {
		drawing::Circle circle(-1);
	} catch (const char *why) {
		std::printf("%s\n", why);
	}
}

int main()
{
	drawing::Shape *const kept = new drawing::Circle(5);

	std::printf("%g\n", forget_circles() + copy_square());
	try_circle();
	delete kept;
	return 0;
}
