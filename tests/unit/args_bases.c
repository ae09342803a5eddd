/* Tests virtual bases: they are found by the object's vtable. A base whose place is unknown is shown without its
 * value. */
#include "config.h"
#include "args_util.h"

#define OBJECT  0x5000u
#define ELSE    0x7000u  /* address of a base that is not beside its object */
#define TABLES  0x40000u /* in a mapped file */
#define NO_FILE 0x90000u
#define WORDS   4  /* number of words: three before a table's address, one at it */
#define OBJECTS 16 /* size of an object in words */

static const struct data_type int32 = {.kind = DATA_INT, .size = 4, .align = 4, .name = "int", .is_signed = true};
static const struct data_member top_members[] = {{.name = "top", .type = &int32}};
static const struct data_type top = {
	.kind = DATA_STRUCT, .name = "Top", .size = 4, .align = 4, .members = top_members, .member_count = 1};

/* The classes for one word size: Left and Right have Top as a virtual base, Both has Left and Right as bases. */
struct classes {
	struct data_member left_members[2], right_members[2], both_members[2];
	struct data_type left, right, both, pointer;
};

static struct data_type class_of(const char *name, const struct data_member members[2], uint64_t size)
{
	return (struct data_type){.kind = DATA_STRUCT,
				  .name = name,
				  .size = size,
				  .align = 4,
				  .by_address = true,
				  .members = members,
				  .member_count = 2};
}

static void make_classes(struct classes *c, uint32_t word)
{
	const struct data_member base = {
		.name = "", .type = &top, .is_base = true, .is_virtual = true, .table_at = 3 * word};

	c->left_members[0] = c->right_members[0] = base;
	c->left_members[1] = (struct data_member){.name = "left", .type = &int32, .offset = word};
	c->right_members[1] = (struct data_member){.name = "right", .type = &int32, .offset = word};
	c->left = class_of("Left", c->left_members, 3 * word);
	c->right = class_of("Right", c->right_members, 3 * word);
	c->both_members[0] = (struct data_member){.name = "", .type = &c->left, .is_base = true};
	c->both_members[1] = (struct data_member){.name = "", .type = &c->right, .offset = 2 * word, .is_base = true};
	c->both = class_of("Both", c->both_members, 5 * word);
	c->pointer = (struct data_type){.kind = DATA_POINTER, .size = word, .target = &c->both};
}

/* Writes a word of the target's size at that index. */
static void put(const struct arch *arch, unsigned char *to, size_t index, uint64_t value)
{
	memcpy(to + index * arch->pointer_size, &value, arch->pointer_size);
}

/* The first words of a vtable: three before its address, and the one at its address. make_table() gets two offsets in
 * words from an object with this vtable: `base` to its virtual base, and `whole` to the whole object. */
struct table {
	unsigned char bytes[8 * WORDS];
};

static void make_table(const struct arch *arch, struct table *table, int64_t base, int64_t whole, uint64_t description)
{
	put(arch, table->bytes, 0, (uint64_t)(base * arch->pointer_size));
	put(arch, table->bytes, 1, (uint64_t)(whole * arch->pointer_size));
	put(arch, table->bytes, 2, description);
	put(arch, table->bytes, 3, 0);
}

static uint64_t address_of(const struct arch *arch, unsigned table)
{
	return TABLES + 0x100 * table + 3 * arch->pointer_size;
}

/* An object of class Both: its parts Left and Right have the vtables 0 and 1, and its fifth word is Top. */
struct scene {
	struct fake_task task;
	struct classes classes;
	struct table tables[2];
	unsigned char object[8 * OBJECTS];
	int32_t other[2];
};

static void begin(struct scene *scene, const struct arch *arch)
{
	fake_begin(&scene->task, arch);
	make_classes(&scene->classes, arch->pointer_size);
	memset(scene->object, 0, sizeof(scene->object));
	make_table(arch, &scene->tables[0], 4, 0, TABLES + 0x800);
	make_table(arch, &scene->tables[1], 2, -2, 0);
	put(arch, scene->object, 0, address_of(arch, 0));
	put(arch, scene->object, 1, 11);
	put(arch, scene->object, 2, address_of(arch, 1));
	put(arch, scene->object, 3, 12);
	put(arch, scene->object, 4, 10);
	fake_memory(&scene->task, OBJECT, scene->object, sizeof(scene->object));
	for (unsigned i = 0; i < 2; i++)
		fake_memory(&scene->task, TABLES + 0x100 * i, scene->tables[i].bytes, sizeof(scene->tables[i].bytes));
	scene->other[0] = 77;
	fake_memory(&scene->task, ELSE, scene->other, sizeof(scene->other));
}

static const char *text_at(struct scene *scene, uint64_t address)
{
	return fake_value(&scene->task, &scene->classes.pointer, &address, scene->task.arch->pointer_size, 0);
}

/* Both parts have the same base, which is listed once. */
static void test_shared_virtual_base_is_shown_once(void **state)
{
	struct scene scene;

	FOR_EACH_ARCH(arch)
	{
		begin(&scene, arch);
		assert_text(text_at(&scene, OBJECT), "0x5000 -> {top=10, left=11, right=12}");
		scene.classes.pointer.target = &scene.classes.right;
		assert_text(text_at(&scene, OBJECT + 2 * arch->pointer_size),
			    arch->pointer_size == 8 ? "0x5010 -> {top=10, right=12}" : "0x5008 -> {top=10, right=12}");
		fake_end(&scene.task);
	}
}

/* A base may be before its object, or far after it. */
static void test_virtual_bases_far_from_their_object_are_read(void **state)
{
	struct scene scene;

	FOR_EACH_ARCH(arch)
	{
		begin(&scene, arch);
		scene.classes.pointer.target = &scene.classes.left;
		make_table(arch, &scene.tables[0], (int64_t)(ELSE - OBJECT) / arch->pointer_size, 0, 0);
		assert_text(text_at(&scene, OBJECT), "0x5000 -> {top=77, left=11}");
		assert_int_equal(scene.task.reads, 3);
		scene.classes.pointer.target = &scene.classes.right;
		make_table(arch, &scene.tables[1], -1, -2, 0);
		assert_text(text_at(&scene, OBJECT + 2 * arch->pointer_size),
			    arch->pointer_size == 8 ? "0x5010 -> {top=11, right=12}" : "0x5008 -> {top=11, right=12}");
		make_table(arch, &scene.tables[1], 0x2000, -2, 0);
		assert_text(text_at(&scene, OBJECT + 2 * arch->pointer_size),
			    arch->pointer_size == 8 ? "0x5010 -> {top=(unreadable), right=12}"
						    : "0x5008 -> {top=(unreadable), right=12}");
		fake_end(&scene.task);
	}
}

/* Tests memory that is no object, or not yet one. */
static void test_invalid_vtables_leave_the_base_unknown(void **state)
{
	static const char unknown[] = "0x5000 -> {Top=<unknown place>, left=11, right=12}";
	const struct {
		int64_t base, whole;
		uint64_t description;
	} wrong[] = {
		{4, 1, 0},  /* the whole object begins after its part */
		{-1, 0, 0}, /* the base is before the whole object */
		{0, 0, 0},  /* the base would overlap the object's first word */
		{4, INT32_MIN / 4, 0},
		{INT32_MAX / 4, 0, 0},
		{4, 0, NO_FILE},
	};
	struct scene scene;

	FOR_EACH_ARCH(arch)
	{
		begin(&scene, arch);
		for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
			make_table(arch, &scene.tables[0], wrong[i].base, wrong[i].whole, wrong[i].description);
			/* Right has the same virtual base. functrace would find it through Right's vtable and show it,
			 * so Right gets no vtable. */
			put(arch, scene.object, 2, 0);
			assert_text(text_at(&scene, OBJECT), unknown);
		}
		make_table(arch, &scene.tables[0], 4, 0, 0);
		const uint64_t tables[] = {0, 1, 8, NO_FILE, UINT64_MAX, TABLES + 0x50000, address_of(arch, 0) + 1};

		for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
			put(arch, scene.object, 0, tables[i]);
			assert_text(text_at(&scene, OBJECT), unknown);
		}
		put(arch, scene.object, 0, address_of(arch, 0));
		scene.classes.left_members[0].table_at = 0;
		assert_text(text_at(&scene, OBJECT), unknown);
		/* A value in registers has no address. */
		scene.classes.left_members[0].table_at = 3 * arch->pointer_size;
		assert_text(fake_value(&scene.task, &scene.classes.left, scene.object, 3 * arch->pointer_size, 0),
			    "{Top=<unknown place>, left=11}");
		fake_end(&scene.task);
	}
}

/* The object of a constructor has no vtable yet, whatever its memory contains. */
static void test_virtual_bases_are_unknown_in_a_constructor(void **state)
{
	struct scene scene;

	FOR_EACH_ARCH(arch)
	{
		begin(&scene, arch);
		const struct signature_param params[] = {{.name = "this", .type = &scene.classes.pointer},
							 {.name = "other", .type = &scene.classes.pointer}};
		struct signature signature = {.params = params, .param_count = 2, .is_constructor = true};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_argument(&scene.task, 0, OBJECT);
		fake_argument(&scene.task, 1, OBJECT);
		assert_text(fake_entry(&scene.task, plan), "this=0x5000 -> {Top=<unknown place>, left=11, right=12}, "
							   "other=0x5000 -> {top=10, left=11, right=12}");
		args_plan_free(plan);
		signature.is_constructor = false;
		plan = args_plan_of_signature(arch, &signature, false);
		assert_text(fake_entry(&scene.task, plan),
			    "this=0x5000 -> {top=10, left=11, right=12}, other=0x5000 -> {top=10, left=11, right=12}");
		args_plan_free(plan);
		fake_end(&scene.task);
	}
}

/* A base without debug information is shown as unknown. */
static void test_base_without_type_is_shown_as_unknown(void **state)
{
	static const struct data_type nothing = {.kind = DATA_OTHER, .name = ""};
	static const struct data_member members[] = {{.name = "", .type = &nothing, .is_base = true},
						     {.name = "n", .type = &int32}};
	static const struct data_type type = {
		.kind = DATA_STRUCT, .size = 4, .members = members, .member_count = ARRAY_SIZE(members)};
	static const int32_t bytes[] = {5};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		assert_text(fake_value(&task, &type, bytes, 4, OBJECT), "{<unknown type>, n=5}");
		fake_end(&task);
	}
}

#define LEVELS 7

/* A base without data members may be at the address of its object. In a damaged file, each of several levels of classes
 * may inherit the next level many times; the search for data members then ends after a limited number of steps, and the
 * base counts as one with data members. */
static void test_empty_bases_need_no_place(void **state)
{
	static struct data_member bases[LEVELS][256];
	static struct data_type levels[LEVELS + 1];
	struct scene scene;

	for (size_t level = 0; level <= LEVELS; level++)
		levels[level] = (struct data_type){.kind = DATA_STRUCT,
						   .name = "Empty",
						   .size = 1,
						   .align = 1,
						   .members = level < LEVELS ? bases[level] : NULL};
	for (size_t level = 0; level < LEVELS; level++)
		for (size_t i = 0; i < ARRAY_SIZE(bases[level]); i++)
			bases[level][i] = (struct data_member){.name = "", .type = &levels[level + 1], .is_base = true};
	FOR_EACH_ARCH(arch)
	{
		begin(&scene, arch);
		make_table(arch, &scene.tables[0], 0, 0, 0);
		scene.classes.left_members[0].type = &levels[0];
		scene.classes.pointer.target = &scene.classes.left;
		for (size_t level = 0; level < LEVELS; level++)
			levels[level].member_count = level < 3;
		assert_text(text_at(&scene, OBJECT), "0x5000 -> {left=11}");
		for (size_t level = 0; level < LEVELS; level++)
			levels[level].member_count = ARRAY_SIZE(bases[level]);
		assert_text(text_at(&scene, OBJECT), "0x5000 -> {Empty=<unknown place>, left=11}");
		fake_end(&scene.task);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_virtual_base_is_shown_once),
		cmocka_unit_test(test_virtual_bases_far_from_their_object_are_read),
		cmocka_unit_test(test_invalid_vtables_leave_the_base_unknown),
		cmocka_unit_test(test_virtual_bases_are_unknown_in_a_constructor),
		cmocka_unit_test(test_base_without_type_is_shown_as_unknown),
		cmocka_unit_test(test_empty_bases_need_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
