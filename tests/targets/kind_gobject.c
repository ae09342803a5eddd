/* Objects of GLib: each function, floating objects, objects that are created during the construction of others, a
 * constructor that takes references to objects that it creates, and one that returns an existing object. Names and
 * sizes are those of GLib's own g_type_query(). With an argument, functrace attaches after the program has registered
 * its types. The program calls dlopen() and declares GLib's functions itself, because a machine may lack the
 * headers. */
#include "kind.h"
#include <dlfcn.h>

typedef size_t GType;
typedef struct {
	GType type;
	const char *name;
	unsigned class_size, instance_size;
} TypeQuery;
typedef struct {
	uint16_t class_size;
	void *base_init, *base_finalize;
	void (*class_init)(void **class, void *data);
	void *class_finalize;
	const void *class_data;
	uint16_t instance_size, n_preallocs;
	void (*instance_init)(void *instance, void *class);
	const void *value_table;
} TypeInfo;
typedef void *Constructor(GType type, unsigned count, void *properties);

#define OBJECT ((GType)80)
/* Indexes of two virtual functions among the words of a class. */
#define CONSTRUCTOR 2
#define CONSTRUCTED 9

static void *(*object_new)(GType, const char *, ...), *(*new_valist)(GType, const char *, va_list);
static void *(*new_with)(GType, unsigned, const char **, const void *), *(*newv)(GType, unsigned, void *);
static void *(*ref)(void *), *(*ref_sink)(void *);
static void (*unref)(void *), (*query_type)(GType, TypeQuery *);
static GType (*register_static)(GType, const char *, const TypeInfo *, unsigned);
static GType (*register_simple)(GType, const char *, unsigned, void *, unsigned, void *, unsigned);
static GType (*floating_type)(void);
static void (*log_default)(void (*)(const char *, int, const char *, void *), void *);

static int is_late; /* functrace attaches after the types were registered: their names are unknown */
static GType widget_type, inner_type, unowned_type, self_type, single_type;

static void load(void)
{
	void *const library = dlopen("libgobject-2.0.so.0", RTLD_NOW);

	if (!library) {
		say("skip: GLib is not installed");
		exit(0);
	}
#define LOAD(variable, name) CHECK((*(void **)&variable = dlsym(library, name)))
	LOAD(object_new, "g_object_new");
	LOAD(new_valist, "g_object_new_valist");
	LOAD(new_with, "g_object_new_with_properties");
	LOAD(newv, "g_object_newv");
	LOAD(ref, "g_object_ref");
	LOAD(ref_sink, "g_object_ref_sink");
	LOAD(unref, "g_object_unref");
	LOAD(query_type, "g_type_query");
	LOAD(register_static, "g_type_register_static");
	LOAD(register_simple, "g_type_register_static_simple");
	LOAD(floating_type, "g_initially_unowned_get_type");
	LOAD(log_default, "g_log_set_default_handler");
}

static void silent(const char *domain, int level, const char *message, void *data)
{
	(void)domain, (void)level, (void)message, (void)data;
}

static void referred(const char *function, GType type, const void *object)
{
	TypeQuery query;

	query_type(type, &query);
	if (is_late && type != OBJECT)
		recorded("%s<gobject>(%u) = %#lx", function, query.instance_size, (unsigned long)object);
	else
		recorded("%s<gobject>(%u) = %#lx type=%s", function, query.instance_size, (unsigned long)object,
			 query.name);
}

static void released(const void *object)
{
	recorded("g_object_unref<gobject>(%#lx)", (unsigned long)object);
}

/* ---- Types ---- */

static void *inner_object, *single_object;
static Constructor *parent_constructor;

/* Creates another object during the construction of this one. */
static void holder_init(void *instance, void *class)
{
	(void)instance, (void)class;
	inner_object = object_new(widget_type, NULL);
}

static void self_constructed(void *object)
{
	ref(object);
	ref(object);
}

static void *single_constructor(GType type, unsigned count, void *properties)
{
	return single_object ? ref(single_object) : (single_object = parent_constructor(type, count, properties));
}

static void self_class(void **class, void *data)
{
	(void)data;
	class[CONSTRUCTED] = (void *)self_constructed;
}

static void single_class(void **class, void *data)
{
	(void)data;
	parent_constructor = (Constructor *)class[CONSTRUCTOR];
	class[CONSTRUCTOR] = (void *)single_constructor;
}

static GType derive(GType parent, const char *name, unsigned more, void (*class_init)(void **, void *),
		    void (*init)(void *, void *))
{
	TypeQuery query;

	query_type(parent, &query);
	const TypeInfo info = {.class_size = (uint16_t)query.class_size,
			       .class_init = class_init,
			       .instance_size = (uint16_t)(query.instance_size + more),
			       .instance_init = init};
	const GType type = register_static(parent, name, &info, 0);

	CHECK(type);
	return type;
}

static void make_types(void)
{
	/* A name that no longer exists when objects are created. */
	char name[] = "FtWidget";
	TypeQuery query;

	widget_type = derive(OBJECT, name, 40, NULL, NULL);
	memset(name, '!', sizeof(name));
	inner_type = derive(OBJECT, "FtHolder", 8, NULL, holder_init);
	unowned_type = derive(floating_type(), "FtFloating", 16, NULL, NULL);
	self_type = derive(widget_type, "FtSelf", 24, self_class, NULL);
	query_type(OBJECT, &query);
	single_type = register_simple(OBJECT, "FtSingle", query.class_size, (void *)single_class,
				      query.instance_size + 32, NULL, 0);
	CHECK(single_type);
	/* Refused, because the name is used. */
	CHECK(!register_simple(OBJECT, "FtSingle", query.class_size, NULL, query.instance_size, NULL, 0));
}

/* ---- Objects ---- */

static void *through_list(GType type, const char *first, ...)
{
	va_list list;

	va_start(list, first);
	void *const object = new_valist(type, first, list);
	va_end(list);
	return object;
}

static void plain(void)
{
	void *object = object_new(OBJECT, NULL);

	referred("g_object_new", OBJECT, object);
	CHECK(ref(object) == object);
	referred("g_object_ref", OBJECT, object);
	unref(object);
	unref(object);
	released(object);
	released(object);
	object = through_list(widget_type, NULL);
	referred("g_object_new_valist", widget_type, object);
	unref(object);
	released(object);
	object = new_with(widget_type, 0, NULL, NULL);
	referred("g_object_new_with_properties", widget_type, object);
	unref(object);
	released(object);
	object = newv(self_type, 0, NULL);
	referred("g_object_ref", self_type, object);
	referred("g_object_ref", self_type, object);
	referred("g_object_newv", self_type, object);
	for (int i = 0; i < 3; i++) {
		unref(object);
		released(object);
	}
	/* Refused. */
	CHECK(!ref(NULL) && !ref_sink(NULL));
	unref(NULL);
}

static void within(void)
{
	void *const holder = object_new(inner_type, NULL);

	referred("g_object_new", widget_type, inner_object);
	referred("g_object_new", inner_type, holder);
	unref(holder);
	unref(inner_object);
	released(holder);
	released(inner_object);
}

static void floating(void)
{
	void *const object = object_new(unowned_type, NULL);

	referred("g_object_new", unowned_type, object);
	CHECK(ref_sink(object) == object); /* the floating reference is the caller's now */
	referred("g_object_ref", unowned_type, object);
	released(object);
	CHECK(ref_sink(object) == object); /* one more */
	referred("g_object_ref_sink", unowned_type, object);
	unref(object);
	unref(object);
	released(object);
	released(object);
}

static void single(void)
{
	void *const object = object_new(single_type, NULL);

	referred("g_object_new", single_type, object);
	CHECK(object_new(single_type, NULL) == object); /* only one more reference, no new object */
	referred("g_object_ref", single_type, object);
	unref(object);
	unref(object);
	released(object);
	released(object);
}

static void left_over(void)
{
	TypeQuery query;
	const int line = __LINE__ + 1;
	void *const object = object_new(widget_type, NULL);

	referred("g_object_new", widget_type, object);
	ref(object);
	referred("g_object_ref", widget_type, object);
	query_type(widget_type, &query);
	left("gobject", 1, query.instance_size, line);
}

int main(int argc, char **argv)
{
	(void)argv;
	is_late = argc > 1;
	if (!is_late)
		gate();
	load();
	log_default(silent, NULL);
	make_types();
	if (is_late)
		gate();
	plain();
	within();
	floating();
	single();
	left_over();
	gate();
	return 0;
}
