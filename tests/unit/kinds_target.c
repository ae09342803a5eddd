/* The program that functrace-kinds traces. Its argument is a scenario: "zero" calls do_zero(). Descriptor 3 is the
 * first free one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define TRACED __attribute__((noinline))
#else
#define TRACED __attribute__((noipa))
#endif
#define JUNK 0x5ca1ab1e00000000u

/* ---- For the modules ---- */

/* Returns an int in a register whose upper half is not zero. The function is declared with a wider type here than in
 * the module. */
TRACED uint64_t wide_open(int fd)
{
	__asm__ volatile("");
	return JUNK | (uint32_t)fd;
}

TRACED uint64_t wide_close(uint64_t fd)
{
	return JUNK | ((uint32_t)fd < 100 ? 0 : UINT32_MAX);
}

TRACED int second_of_pair(int *pair)
{
	pair[0] = 50;
	pair[1] = 51;
	return 0;
}

TRACED void forget_fd(int fd)
{
	__asm__ volatile("" ::"r"(fd));
}

TRACED int jump_to_open(const char *path, int flags)
{
	return open(path, flags);
}

TRACED int jump_to_close(int fd)
{
	return close(fd);
}

static char pool[1000];
static size_t pool_used;

TRACED void *inner_make(size_t size)
{
	pool_used += size;
	return pool + pool_used - size;
}

TRACED void *outer_make(size_t size)
{
	char *made = inner_make(size);

	*made = 1;
	return made;
}

/* deep_make calls middle_make, which calls low_make, which calls inner_make. The module "again" traces only the first
 * and the last of these. */
TRACED char *low_make(size_t size)
{
	char *made = inner_make(size);

	*made = 1;
	return made;
}

TRACED char *middle_make(size_t size)
{
	char *made = low_make(size);

	*made = 2;
	return made;
}

TRACED void *deep_make(size_t size)
{
	char *made = middle_make(size);

	*made = 3;
	return made;
}

/* A function whose entry is the head of a loop, reached by a jump from another function. */
#ifdef __x86_64__
void *jump_to_loop(size_t times);

__asm__(".text\n.globl jump_to_loop, loop_make\n"
	".type jump_to_loop, @function\n"
	"jump_to_loop: jmp loop_make\n"
	".size jump_to_loop, . - jump_to_loop\n"
	".type loop_make, @function\n"
	"loop_make: sub $1, %rdi\n"
	"jne loop_make\n"
	"lea loop_make(%rip), %rax\n"
	"ret\n"
	".size loop_make, . - loop_make\n");
#endif

/* The resolver choose_make() chooses this function for resolved_make(). */
static void *chosen_make(size_t size)
{
	pool_used += size;
	return pool + pool_used - size;
}

static void *(*choose_make(void))(size_t)
{
	return chosen_make;
}

void *resolved_make(size_t size) __attribute__((ifunc("choose_make")));

static TRACED void *hidden_make(size_t size)
{
	pool_used += size;
	return pool + pool_used - size;
}

TRACED void inner_end(char *made)
{
	*made = 0;
}

TRACED void outer_end(char *made)
{
	inner_end(made);
}

TRACED void *object_ref(void *object)
{
	return object;
}

TRACED void object_unref(void *object)
{
	__asm__ volatile("" ::"r"(object));
}

TRACED void visit(long where)
{
	__asm__ volatile("" ::"r"(where));
}

/* ---- Scenarios ---- */

static void do_zero(void)
{
	const int fd = open("/dev/null", O_RDONLY); /* 3 */

	close(0);
	dup2(fd, 0);
	dup2(fd, 0);
	close(0);
	close(0);                    /* fails */
	open("/dev/null", O_RDONLY); /* 0 */
	forget_fd(0);
	dup2(99, fd);                   /* fails */
	open("/dev/nothing", O_RDONLY); /* fails */
	visit(0);
}

static void do_widths(void)
{
	int pair[2];

	wide_open(40);
	wide_open(41);
	wide_open(-1); /* fails */
	wide_close(JUNK | 40);
	wide_close(JUNK | 400); /* fails */
	second_of_pair(pair);
	wide_close(51);
}

/* A call through this pointer may call another function each time. */
static int (*volatile by_pointer)(int) = jump_to_close;

static void do_both(void)
{
	const int fd = open("/dev/null", O_RDONLY); /* 3 */

	close(fd);
	close(fd); /* fails */
	jump_to_open("/dev/null", O_RDONLY);
	jump_to_close(fd);
	jump_to_open("/dev/null", O_RDONLY);
	by_pointer(fd);
}

static void do_nested(void)
{
	void *one = outer_make(10), *two = inner_make(20);

	outer_end(one);
	inner_end(two);
	outer_make(30);
}

static void do_hidden(void)
{
	inner_end(hidden_make(50));
	outer_end(outer_make(10));
}

static void do_deep(void)
{
	deep_make(60);
}

static void do_loop(void)
{
#ifdef __x86_64__
	jump_to_loop(2);
	__asm__ volatile(""); /* so that the call is not compiled to a jump */
#endif
}

static void do_resolved(void)
{
	inner_end(resolved_make(40));
}

static void do_counted(void)
{
	static char one, two;

	object_ref(&one);
	object_ref(&one);
	object_ref(&two);
	object_unref(&one);
	object_ref(&one);
	object_unref(&one);
	object_unref(&two);
}

static void do_mixed(void)
{
	static void *volatile block;

	block = malloc(5);
	free(block);
	block = malloc(7);
	open("/dev/null", O_RDONLY);
	open("/dev/null", O_RDONLY);
	close(50); /* fails */
}

/* Forks a child that adds and releases references to its parent's resources. */
static void do_forked(void)
{
	static char one, two;

	object_ref(&one);
	object_ref(&one);
	object_ref(&two);
	if (fork() == 0) {
		object_ref(&two);
		object_unref(&one);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"zero", do_zero},       {"widths", do_widths},     {"both", do_both},    {"nested", do_nested},
		   {"hidden", do_hidden},   {"resolved", do_resolved}, {"deep", do_deep},    {"loop", do_loop},
		   {"counted", do_counted}, {"mixed", do_mixed},       {"forked", do_forked}};

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, argv[1])) {
			all[i].run();
			_exit(0);
		}
	return 2;
}
