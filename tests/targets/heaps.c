/* A program that follows a plan: heaps PLAN LOG [LIBRARY].
 *
 * A plan (tests/generate/heap_plans.py) is a text of operations and their arguments. They allocate blocks, and plant
 * pointers to blocks in other blocks and in roots. LOG has the addresses of all planted blocks and pointers before
 * "ready PID" is printed: the classes of all blocks follow from these. Then the program ends with its standard input,
 * or at once, as the plan says. */
#include "heaps_threads.h"
#include <sys/uio.h>

#define PLAN_MAX  (1u << 16)
#define CHAIN_MAX 16

static char plan[PLAN_MAX];
static const char *plan_at = plan;
static const char *log_path;

static NOINLINE long next_number(void)
{
	char *end;
	const long number = strtol(plan_at, &end, 10);

	CHECK(end != plan_at);
	plan_at = end;
	return number;
}

static unsigned next_count(void)
{
	return (unsigned)next_number();
}

static int next_operation(void)
{
	while (*plan_at == ' ' || *plan_at == '\n')
		plan_at++;
	return *plan_at ? *plan_at++ : 0;
}

/* ---- The end ---- */

/* In the order of ENDS in tests/generate/heap_plans.py. Larger values: FIRST_SIGNAL plus the number of the signal that
 * ends the program. */
enum heap_capture { STAYS, BY_RETURN, BY_EXIT, BY_EXIT_AT_ONCE, BY_ABORT, BY_QUICK_EXIT, FIRST_SIGNAL };
/* LINKS there. */
enum link_kind { FRAME, HANDLER, CONTEXT, THREAD, LEADERLESS };

/* The functions through which the program goes to its end: each calls the next. */
static struct link {
	enum link_kind kind;
	struct item item;
	enum stack stack;
	unsigned place;
} chain[CHAIN_MAX];

static unsigned chain_count, chain_at, ending;
static volatile unsigned forks_late;

static struct {
	unsigned place, slot;
} clears[8];
static unsigned clear_count;

static void clear_at_exit(void)
{
	for (unsigned i = 0; i < clear_count; i++)
		places[clears[i].place].words[clears[i].slot] = NULL;
}

#define PAGE 4096u

/* Returns 0 if the address is unmapped, such as in the stack of a thread that has ended since the mappings were
 * read. */
static NOINLINE int is_readable(uintptr_t at)
{
	char byte;
	const struct iovec own = {&byte, 1}, other = {(void *)at, 1};

	return process_vm_readv(getpid(), &own, 1, &other, 1, 0) == 1;
}

/* Logs words outside of blocks that look like addresses of blocks, planted or not: the dynamic linker has pointers to
 * memory that was unmapped, and in 32-bit processes any number may look like an address. */
static NOINLINE void log_strangers(uintptr_t at, uintptr_t end)
{
	for (; at < end; at += sizeof(at)) {
		if (at % PAGE == 0 && !is_readable(at))
			at += PAGE - sizeof(at);
		else if (block_at(*(uintptr_t *)at) && !block_at(at))
			log_line('z', *(uintptr_t *)at, at, 0);
	}
}

static int has_block(uintptr_t from, uintptr_t to)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		if (sixteenths[i] && sixteenths[i] * 16 - from < to - from)
			return 1;
	return 0;
}

static NOINLINE void look_for_strangers(void)
{
	static char text[1 << 16];
	const int fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	/* true if the heap is at low addresses, which small numbers look like */
	const int is_low = sizeof(void *) < 8 || (uint64_t)(uintptr_t)sbrk(0) >> 32 == 0;
	uintptr_t end_of_last = 0, end_of_linker = 0;
	size_t size = 0;
	ssize_t got;

	while ((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fd);
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *rest;
		const uintptr_t from = strtoul(line, &rest, 16), to = strtoul(rest + 1, &rest, 16);

		*end = '\0';
		const int is_file = strchr(rest, '/') && rest[1] == 'r' && rest[3] != 'x',
			  is_linker = is_file && (strstr(rest, "/ld-linux") || strstr(rest, "alloc.so"));
		const int is_own = (uintptr_t)&in_tls >= from && (uintptr_t)&in_tls < to;
		/* If the program ends at once, nothing can read its words later. So if numbers may look like addresses
		 * of the heap (is_low), logs such words in all private writable mappings of up to 16 MiB. */
		const int is_all =
			is_low && ending != STAYS && rest[2] == 'w' && rest[4] == 'p' && to - from <= 16u << 20;

		if (is_linker || from == end_of_linker || is_all ||
		    (sizeof(void *) < 8 && rest[2] == 'w' &&
		     (is_file || is_own || from == end_of_last || has_block(from, to))))
			log_strangers(from, to);
		end_of_last = is_file ? to : 0;
		end_of_linker = is_linker ? to : 0;
	}
}

static NOINLINE void wait_for_child(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) != child)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static NOINLINE void finish(void)
{
	static const char letters[] = "0123456789";
	static char line[32] = "ready ";
	unsigned at = 6;
	pid_t child = forks_late ? fork() : 0;

	if (child > 0)
		wait_for_child(child);
	for (unsigned divisor = 1000000000; divisor; divisor /= 10)
		line[at++] = letters[(unsigned)getpid() / divisor % 10];
	line[at++] = '\n';
	look_for_strangers();
	log_write(log_path);
	CHECK(write(STDOUT_FILENO, line, at) == (ssize_t)at);
	wipe();
	switch (ending) {
	case STAYS:
		wait_for_input_end();
		_exit(0);
	case BY_RETURN:
		return;
	case BY_EXIT:
		exit(0);
	case BY_EXIT_AT_ONCE:
		_exit(0);
	case BY_ABORT:
		abort();
	case BY_QUICK_EXIT:
		quick_exit(0);
	default:
		raise((int)ending - FIRST_SIGNAL);
	}
}

static void go_on(void);

static NOINLINE void in_frame(const struct link *link)
{
	void *volatile frame = shown(link->item.number, link->item.offset);

	wipe();
	go_on();
	USED(&frame);
}

static void on_signal(int number)
{
	(void)number;
	wipe();
	go_on();
}

static NOINLINE void in_handler(const struct link *link)
{
	struct sigaction action;
	stack_t given;

	memset(&given, 0, sizeof(given));
	given.ss_sp = stack_memory(link->stack, link->place);
	given.ss_size = STACK_SIZE;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	CHECK(sigaltstack(&given, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	given.ss_sp = NULL;
	USED(&given);
	wipe();
	raise(SIGUSR1);
}

static volatile int is_joining;

/* Waits until the other thread has left pthread_create(3), whose frames contain words of malloc. */
static void *in_thread(void *data)
{
	while (!is_joining)
		sleep_ms(1);
	sleep_ms(5);
	go_on();
	return data;
}

static NOINLINE void start_end(const struct link *link)
{
	pthread_t thread;

	start_thread(&thread, link->stack, stack_memory(link->stack, link->place), in_thread, NULL);
	wipe();
	is_joining = 1;
	pthread_join(thread, NULL);
}

/* The first thread ends, and then this one continues. */
static void *after_first(void *data)
{
	pthread_join(*(const pthread_t *)data, NULL);
	wipe();
	go_on();
	return data;
}

static NOINLINE void end_first(const struct link *link)
{
	static pthread_t first, thread;

	first = pthread_self();
	start_thread(&thread, link->stack, stack_memory(link->stack, link->place), after_first, &first);
	wipe();
	pthread_exit(NULL);
}

static NOINLINE void in_context(const struct link *link)
{
#ifndef NO_CONTEXTS
	static ucontext_t ended[CHAIN_MAX], next[CHAIN_MAX];
	const unsigned own = chain_at;

	make_context(&next[own], link->stack, link->place, go_on);
	wipe();
	swapcontext(&ended[own], &next[own]);
#else
	(void)link;
	CHECK(0);
#endif
}

static NOINLINE void go_on(void)
{
	const struct link *link = &chain[chain_at];

	wipe();
	if (chain_at++ == chain_count)
		finish();
	else if (link->kind == FRAME)
		in_frame(link);
	else if (link->kind == HANDLER)
		in_handler(link);
	else if (link->kind == CONTEXT)
		in_context(link);
	else if (link->kind == LEADERLESS)
		end_first(link);
	else
		start_end(link);
	USED(&link);
}

/* ---- The plan ---- */

/* Stores a pointer to block `to` at the offset `at` of block `from`, and logs it. what: 'w', or a letter as for
 * log_root(), in capitals. at: -1: the pointer is already there, at an unknown place, so it is only logged. */
static NOINLINE void link_blocks(char what, unsigned from, long at, unsigned to, long offset)
{
	if (at < 0) {
		log_line(what, (uintptr_t)shown(from, 0), (uintptr_t)shown(to, offset), to);
		return;
	}
	*(char *volatile *)shown(from, at) = shown(to, offset);
	log_line(what, (uintptr_t)shown(from, at), (uintptr_t)shown(to, offset), to);
}

/* Writes a header to a block. Programs and libraries put such headers before the address by which they keep a block;
 * see src/heap/interior_heuristics.c. */
static NOINLINE void shape_block(unsigned number, unsigned shape)
{
	uintptr_t *words = (uintptr_t *)shown(number, 0);
	const size_t size = sizes[number];
	const uint64_t length = size - 8;

	switch (shape) {
	case 0: /* an array of elements of 16 bytes */
		words[0] = (size - sizeof(*words)) / 16;
		return;
	case 1: /* a string: length, capacity, references */
		words[0] = (size - 3 * sizeof(*words)) / 2;
		words[1] = size - 3 * sizeof(*words) - 1;
		words[2] = 0;
		return;
	default: /* eight bytes with the length of the rest */
		memcpy(words, &length, sizeof(length));
	}
}

static void next_item(struct item *item)
{
	item->where = (enum where)next_count();
	item->slot = next_count();
	item->number = next_count();
	item->offset = next_number();
}

static NOINLINE void plan_hold(void)
{
	struct frozen_process *hold = &holds[hold_count++];

	CHECK(hold_count <= HOLDS_MAX);
	hold->how = (enum wait_how)next_count();
	hold->stack = (enum stack)next_count();
	hold->place = next_count();
	hold->count = next_count();
	CHECK(hold->count <= ITEMS_MAX);
	for (unsigned i = 0; i < hold->count; i++)
		next_item(&hold->items[i]);
	start_hold(hold);
}

static NOINLINE void plan_link(void)
{
	struct link *link = &chain[chain_count++];

	CHECK(chain_count < CHAIN_MAX);
	link->kind = (enum link_kind)next_count();
	link->stack = (enum stack)next_count();
	link->place = next_count();
	link->item.number = next_count();
	link->item.offset = next_number();
}

static NOINLINE void fork_early(void)
{
	const pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		wait_for_child(child);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static NOINLINE void operate(int operation)
{
	unsigned a = next_count(), b = next_count(), c = next_count(), d = next_count();
	const long offset = next_number();
	pthread_t thread;

	switch (operation) {
	case 'b': /* thread, number, how, size */
		do_in(a, work_plant, b, c, d);
		break;
	case 'f': /* thread, number, is it cleared */
		do_in(a, work_free, b, c, 0);
		break;
	case 'q': /* thread */
		do_in(a, work_end, 0, 0, 0);
		break;
	case 'x': /* number, shape */
		shape_block(a, b);
		break;
	case 'l': /* what, from, at, to, offset */
		link_blocks((char)a, b, (int)c, d, offset);
		break;
	case 'r': /* what, keeper, number, -, offset */
		log_root((char)a, c, offset, b);
		break;
	case 'p': /* place, kind */
		make_place(a, (enum place)b);
		break;
	case 'k': /* place, slot, how, number, offset */
		store(&places[a], b, (enum store)c, d, offset);
		break;
	case 'a': /* place, what is done to it */
		change_place(a, (enum after)b);
		break;
	case 'y': /* key, -, -, number, offset */
		store_key(a, d, offset);
		break;
	case 'u': /* stack, place, -, number, offset */
		start_context((enum stack)a, b, d, offset);
		break;
	case 'h': /* place, slot */
		CHECK(clear_count < 8);
		clears[clear_count].place = a;
		clears[clear_count++].slot = b;
		break;
	case 'c': /* seed */
		CHECK(pthread_create(&thread, NULL, churn, (void *)(uintptr_t)a) == 0);
		break;
	case 'o':
		load_second();
		break;
	case 'i':
		fork_early();
		break;
	case 'j':
		forks_late = 1;
		break;
	case 'e':
		ending = a;
		break;
	default:
		CHECK(0);
	}
}

/* Clears more of main's stack than wipe(), because libraries have used it deeper than other stacks. */
static NOINLINE void wipe_main(void)
{
	unsigned char stack[256 << 10];

	memset(stack, 0, sizeof(stack));
	USED(stack);
	wipe();
}

static NOINLINE void follow_plan(void)
{
	for (int operation; (operation = next_operation());) {
		if (operation == 't')
			plan_hold();
		else if (operation == 'n')
			plan_link();
		else
			operate(operation);
		wipe_main();
	}
}

static NOINLINE void read_plan(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = read(fd, plan, PLAN_MAX - 1);

	CHECK(fd >= 0 && got > 0 && close(fd) == 0);
}

/* Runs before the plan, because pthread_exit(3) loads a library: later the library's blocks would contain old words of
 * blocks that the plan has released. */
static void *exit_thread(void *data)
{
	pthread_exit(data);
}

/* Runs exit_thread() on a stack that is unmapped afterwards. The C library would reuse its own stack for the next
 * thread, and old words of the dynamic linker there would point to new blocks at the addresses of former ones. */
static NOINLINE void load_for_exit(void)
{
	unsigned char *const memory = stack_memory(MAPPED_GUARDED, 0);
	pthread_t thread;

	start_thread(&thread, MAPPED_GUARDED, memory, exit_thread, NULL);
	CHECK(pthread_join(thread, NULL) == 0 && munmap(memory - 4096, STACK_SIZE + 4096) == 0);
}

int main(int argc, char **argv)
{
	static char path[PATH_MAX];

	CHECK(argc > 2);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	log_path = argv[2];
	snprintf(path, sizeof(path), "%s.file", log_path);
	file_path = path;
	library_path = argc > 3 ? argv[3] : NULL;
	CHECK(pthread_mutex_lock(&never) == 0 && atexit(clear_at_exit) == 0);
	load_for_exit();
	read_plan(argv[1]);
	follow_plan();
	go_on();
	return 0;
}
