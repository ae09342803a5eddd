/* A mapping whose lower part is a thread's stack, with its TLS at the top, and whose upper part is the program's own
 * memory, as if the kernel had merged two mappings. Prints "ready" and the addresses of four blocks. Their pointers are
 * in the program's part, in a TLS variable, among many TLS variables, and on the stack. Ends with the standard
 * input. */
#include "target.h"
#include <sys/mman.h>

#define STACK (256u << 10)
#define OWN   (256u << 10)
#define MANY  3000

static __thread void *variable;
static __thread void *variables[MANY]; /* they need more than a page */
static pthread_barrier_t barrier;
static void *volatile blocks[4];
static void **own;

static void *work(void *argument)
{
	void *volatile local = malloc(700);

	variable = malloc(500);
	variables[0] = malloc(600);
	own[OWN / sizeof(void *) / 2] = malloc(400);
	blocks[0] = own[OWN / sizeof(void *) / 2];
	blocks[1] = variable;
	blocks[2] = variables[0];
	blocks[3] = local;
	for (unsigned i = 0; i < 4; i++) {
		say("%p", blocks[i]);
		blocks[i] = NULL;
	}
	wipe_stack();
	pthread_barrier_wait(&barrier);
	wipe_stack();
	for (;;)
		pause();
	KEEP(local);
	return argument;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned char *const place =
		mmap(NULL, STACK + OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	CHECK(place != MAP_FAILED);
	say("ready");
	own = (void **)(void *)(place + STACK);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setstack(&attributes, place, STACK) == 0);
	CHECK(pthread_create(&thread, &attributes, work, NULL) == 0);
	pthread_barrier_wait(&barrier);
	wait_for_input_end();
	return 0;
}
