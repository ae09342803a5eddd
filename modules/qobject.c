/* QObjects of Qt, whichever version: the class that is the base of most others there.
 *
 * The names are those of the Itanium C++ ABI: C1 is the constructor of a whole object, C2 that of one that is a part of
 * another, D0 deletes, D1 and D2 destroy. Constructors of derived classes call one of these, destructors too. */
#include "config.h"
#include "modules/words.h"

static const struct resource resources[] = {
	{.type = "qobject", .desc = "QObject instance", .noun = "QObject"},
};

#define CONSTRUCTOR(mangled, ...)                                                                                      \
	{                                                                                                              \
		.symbol = (mangled), .role = ROLE_ALLOC, .id = ARG(0), .size = CONST(1), .success = OK_ALWAYS,         \
		.throws = true, .params = {                                                                            \
			{P_POINTER("this")},                                                                           \
			__VA_ARGS__                                                                                    \
		}                                                                                                      \
	}
#define DESTRUCTOR(mangled)                                                                                            \
	{                                                                                                              \
		.symbol = (mangled), .role = ROLE_RELEASE, .id = ARG(0), .params = { {P_POINTER("this")} }             \
	}
#define PARENT                                                                                                         \
	{                                                                                                              \
		P_POINTER("parent")                                                                                    \
	}
#define PRIVATE {P_POINTER("dd")}, PARENT

static const struct function functions[] = {
	CONSTRUCTOR("_ZN7QObjectC1EPS_", PARENT),
	CONSTRUCTOR("_ZN7QObjectC2EPS_", PARENT),
	CONSTRUCTOR("_ZN7QObjectC1ER14QObjectPrivatePS_", PRIVATE),
	CONSTRUCTOR("_ZN7QObjectC2ER14QObjectPrivatePS_", PRIVATE),
	DESTRUCTOR("_ZN7QObjectD0Ev"),
	DESTRUCTOR("_ZN7QObjectD1Ev"),
	DESTRUCTOR("_ZN7QObjectD2Ev"),
};

const struct module module_qobject = {
	.api = MODULE_API,
	.name = "qobject",
	.summary = "objects of Qt: constructors and destructors of QObject",
	.version_major = 1,
	.version_minor = 0,
	MODULE_TABLES(resources, functions),
};
