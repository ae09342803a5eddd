/* A class with the mangled constructors and destructors of Qt's QObject, and calls of them, for a program and for a
 * library. */
#include "kind.h"

#include <new>
#include <stdexcept>

class QObjectPrivate
{
      public:
	int data = 0;
};

class QObject
{
      public:
	explicit QObject(QObject *parent = nullptr);
	virtual ~QObject();

      protected:
	QObject(QObjectPrivate &own, QObject *parent);

      private:
	QObjectPrivate *d;
	QObject *child = nullptr;
};

/* As in Qt 6: the other constructor is called as a part of this one. */
NOINLINE QObject::QObject(QObject *parent) : QObject(*new QObjectPrivate, parent)
{
}

NOINLINE QObject::QObject(QObjectPrivate &own, QObject *parent) : d(&own)
{
	if (parent)
		parent->child = this;
}

NOINLINE QObject::~QObject()
{
	delete child;
	delete d;
}

class Window : public QObject
{
      public:
	Window() : QObject(*new QObjectPrivate, nullptr)
	{
	}
};

class Unlucky : public QObject
{
      public:
	explicit Unlucky(void **self)
	{
		*self = this;
		throw std::runtime_error("no");
	}
};

#define MADE     "QObject::QObject(QObject*)<qobject>(1) = %p"
#define MADE_OWN "QObject::QObject(QObjectPrivate&, QObject*)<qobject>(1) = %p"
#define GONE     "QObject::~QObject()<qobject>(%p)"

static void families(void)
{
	QObject *const parent = new QObject, *const child = new QObject(parent), *const grandchild = new QObject(child);

	recorded(MADE, (void *)parent);
	recorded(MADE, (void *)child);
	recorded(MADE, (void *)grandchild);
	delete parent;
	recorded(GONE, (void *)parent);
	recorded(GONE, (void *)child);
	recorded(GONE, (void *)grandchild);
}

static void places(void)
{
	alignas(QObject) static char place[sizeof(QObject)];

	for (int i = 0; i < 2; i++) {
		QObject *const object = new (place) QObject;

		recorded(MADE, (void *)object);
		object->~QObject();
		recorded(GONE, (void *)object);
	}
	{
		Window window;

		recorded(MADE_OWN, (void *)&window);
		recorded(GONE, (void *)&window);
	}
	QObject *const window = new Window;

	recorded(MADE_OWN, (void *)window);
	delete window;
	recorded(GONE, (void *)window);
}

/* Makes an object whose constructor throws. The base exists by then, and is destroyed. */
static void failing(void)
{
	void *self = nullptr;

	try {
		delete new Unlucky(&self);
	} catch (const std::runtime_error &) {
	}
	recorded(MADE, self);
	recorded(GONE, self);
}

static int leaked(void)
{
	int line = 0;

	for (int i = 0; i < 2; i++) {
		line = __LINE__ + 1;
		QObject *const object = new QObject;

		recorded(MADE, (void *)object);
	}
	return line;
}

static int work(void)
{
	families();
	places();
	failing();
	return leaked();
}
