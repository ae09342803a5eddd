/* Functions that only the module described.conf traces: each value, condition and role that a description can have, in
 * success and failure. */
#include "target.h"
#include "records.h"

#include <stdbool.h>
#include <wchar.h>

struct pool {
	char cells[64][16];
	unsigned used;
};

static struct pool pool;

static void *cell(void)
{
	CHECK(pool.used < 64);
	return pool.cells[pool.used++];
}

/* ---- The functions ---- */

/* functrace finds these functions by name. NOINLINE, because the compiler must not adapt them to their only caller. */
#define OWN NOINLINE __attribute__((used, visibility("default")))

void *pool_get(struct pool *p, size_t n);
int pool_get2(void **out, unsigned count, size_t each);
bool pool_try(void **out, short n);
void *pool_array(unsigned char n);
unsigned pool_count(void **out);
void *pool_copy(const char *s);
wchar_t *pool_wide(int n);
void *pool_pages(size_t n);
void *zz_malloc(size_t n);
void *yy_malloc(size_t n);
void zz_free(void *p);
void *pool_resize(void *old, size_t n);
void pool_put(struct pool *p, void *object);
int pool_try_put(void *object);
void pool_forget(void *object);
void *pool_control(int op, void *p, size_t n);
void pool_release(int op, void *p);
int handle_open(const char *name);
int handle_pair(int pair[2]);
bool handle_close(int handle);
void handle_close_all(int first, int last);
void *object_ref(void *o);
void object_unref(void *o);
int visit(const char *place);

OWN void *pool_get(struct pool *p, size_t n)
{
	return p && n ? cell() : NULL;
}

OWN int pool_get2(void **out, unsigned count, size_t each)
{
	*out = cell();
	return count && each ? 0 : ENOMEM;
}

OWN bool pool_try(void **out, short n)
{
	out[0] = NULL;
	out[1] = cell();
	return n > 0;
}

OWN void *pool_array(unsigned char n)
{
	return n ? cell() : NULL;
}

OWN unsigned pool_count(void **out)
{
	*out = *out ? NULL : cell();
	return *out ? 6 : 0;
}

OWN void *pool_copy(const char *s)
{
	return s ? cell() : NULL;
}

static wchar_t wide[8000];

OWN wchar_t *pool_wide(int n)
{
	for (int i = 0; i < n; i++)
		wide[i] = L'w';
	wide[n] = 0;
	return n ? wide : NULL;
}

OWN void *pool_pages(size_t n)
{
	return n ? cell() : NULL;
}

__attribute__((used)) static NOINLINE void local_get(void *p, int n)
{
	KEEP(p);
	KEEP(n);
}

OWN void *zz_malloc(size_t n)
{
	return n ? cell() : NULL;
}

OWN void *yy_malloc(size_t n)
{
	return n > 1 ? cell() : NULL;
}

OWN void zz_free(void *p)
{
	KEEP(p);
}

OWN void *pool_resize(void *old, size_t n)
{
	KEEP(old);
	return n ? cell() : NULL;
}

OWN void pool_put(struct pool *p, void *object)
{
	KEEP(p);
	KEEP(object);
}

OWN int pool_try_put(void *object)
{
	static int calls;

	KEEP(object);
	return calls++ ? 0 : EBUSY;
}

OWN void pool_forget(void *object)
{
	KEEP(object);
}

OWN void *pool_control(int op, void *p, size_t n)
{
	KEEP(p);
	return op && n ? cell() : NULL;
}

OWN void pool_release(int op, void *p)
{
	KEEP(op);
	KEEP(p);
}

static int next_handle;

OWN int handle_open(const char *name)
{
	return *name ? next_handle++ : -ENOENT;
}

OWN int handle_pair(int pair[2])
{
	pair[0] = next_handle++;
	pair[1] = next_handle++;
	return 0;
}

OWN bool handle_close(int handle)
{
	return handle >= 0 && handle < next_handle;
}

OWN void handle_close_all(int first, int last)
{
	KEEP(first);
	KEEP(last);
}

OWN void *object_ref(void *o)
{
	KEEP(o);
	return o;
}

OWN void object_unref(void *o)
{
	KEEP(o);
}

OWN int visit(const char *place)
{
	return *place ? 0 : -1;
}

/* ---- The expected calls ---- */

/* Prints the expected allocation and returns its number. No other allocation has this `size`. */
static unsigned got(const char *name, size_t size, const void *p)
{
	CHECK(p);
	expect_alloc(1, size, name);
	return opened(name);
}

static void put(const char *name, size_t size, unsigned number)
{
	expect_release(1, size, name);
	record('-', name, number);
}

static void sizes(void)
{
	static char text[30402];
	void *out[2] = {NULL, NULL};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	got("pool_get<object>", 30100, pool_get(&pool, 30100));
	CHECK(!pool_get(&pool, 0));
	CHECK(pool_get2(out, 31, 1000) == 0);
	got("pool_get2<object>", 31000, out[0]);
	CHECK(pool_get2(out, 31, 0) == ENOMEM);
	CHECK(pool_try(out, 30200));
	got("pool_try<object>", 30200, out[1]);
	CHECK(!pool_try(out, -1));
	got("pool_array<object>", 32000, pool_array(32));
	CHECK(!pool_array(0));
	out[0] = NULL;
	CHECK(pool_count(out) == 6);
	got("pool_count<object>", 35000, out[0]);
	CHECK(pool_count(out) == 0);
	memset(text, 't', sizeof(text) - 1);
	got("pool_copy<object>", sizeof(text), pool_copy(text));
	CHECK(!pool_copy(NULL));
	got("pool_wide<object>", 7700 * 4, pool_wide(7699));
	CHECK(!pool_wide(0));
	if (page <= 8192)
		got("pool_pages<object>", 32768, pool_pages(32768 - page + 1));
	local_get(cell(), 30300);
	got("local-one<object>", 30300, &pool);
	got("zz_malloc<object>", 30400, zz_malloc(30400));
	got("yy_malloc<object>", 30401, yy_malloc(30401));
	CHECK(!yy_malloc(1));
}

static void releases(void)
{
	void *p = pool_get(&pool, 30500), *q;
	unsigned n = got("pool_get<object>", 30500, p), m;

	pool_put(&pool, p);
	put("pool_put<object>", 30500, n);
	p = pool_get(&pool, 30501);
	n = got("pool_get<object>", 30501, p);
	CHECK(pool_try_put(p) == EBUSY);
	CHECK(pool_try_put(p) == 0);
	put("pool_try_put<object>", 30501, n);
	p = zz_malloc(30502);
	n = got("zz_malloc<object>", 30502, p);
	zz_free(p);
	put("zz_free<object>", 30502, n);
	pool_forget(p);
	pool_put(&pool, NULL);
	p = pool_get(&pool, 30503);
	n = got("pool_get<object>", 30503, p);
	CHECK(!pool_resize(p, 0));
	q = pool_resize(p, 30504);
	put("pool_resize<object>", 30503, n);
	m = got("pool_resize<object>", 30504, q);
	pool_forget(q);
	put("pool_forget<object>", 30504, m);
	p = pool_control(1, NULL, 30505);
	n = got("pool_control<object>", 30505, p);
	pool_control(2, p, 30506);
	pool_release(4, p);
	pool_release(3, p);
	put("pool_release<object>", 30505, n);
	pool_release(2, p);
}

static void handles(void)
{
	int pair[2];

	CHECK(handle_open("a") == 0);
	CHECK(opened("handle_open<handle>") == 1);
	CHECK(handle_open("") == -ENOENT);
	CHECK(handle_close(0));
	record('-', "handle_close<handle>", 1);
	CHECK(!handle_close(-1));
	CHECK(handle_pair(pair) == 0);
	CHECK(opened("handle_pair<handle>") == 2);
	CHECK(opened("handle_pair<handle>") == 3);
	CHECK(handle_open("b") == 3);
	CHECK(opened("handle_open<handle>") == 4);
	handle_close_all(2, 1000);
	record('-', "handle_close_all<handle>", 3);
	record('-', "handle_close_all<handle>", 4);
}

static void references(void)
{
	object_ref(&pool);
	opened("object_ref<reference>");
	object_ref(&pool);
	record('+', "object_ref<reference>", 1);
	object_unref(&pool);
	record('-', "object_unref<reference>", 1);
	CHECK(visit("here") == 0);
	called("visit<visit>");
	CHECK(visit("") == -1);
}

int main(void)
{
	gate();
	sizes();
	releases();
	handles();
	references();
	gate();
	return 0;
}
