/* Blocks to which only interior pointers point, in memory that still contains links of malloc's lists: innerlinks SEED.
 * A node has one link, in its last word; other nodes, tables and queues point to this word. A block of a doubly linked
 * ring has its two links in the middle, and its neighbours point there. Nodes and parts begin with numbers. No block is
 * lost. Prints "ready" and the number of these blocks; ends with the standard input. */
#include "target.h"
#include <stddef.h>

#define SLOTS  512
#define ROUNDS 20000
#define NODES  400
#define TABLE  64

struct link {
	struct link *next;
};

struct node {
	size_t numbers[2];
	struct link link; /* the last word of a block of 24 bytes */
};

struct ring {
	struct ring *next, *back;
};

struct part {
	size_t numbers[2];
	struct ring ring;
	size_t rest[3];
};

/* The links point to the beginning of this struct. malloc's chunks can begin at the same addresses. */
struct fake {
	void *data;
	size_t size;
	struct fake *next, *back;
};

struct outer {
	char name[sizeof(long) == 8 ? 32 : 24];
	struct fake fake;
	char rest[64];
};

struct owner {
	size_t numbers[2];
	struct link *first, *last; /* at the place of fd_nextsize and bk_nextsize in a large free chunk */
	size_t count;
	struct ring parts;
	struct link *table[TABLE];
	char rest[1024];
};

struct owner *owners[8];
struct fake *fakes;
static unsigned seed;

static unsigned draw(unsigned below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

/* Allocates and releases blocks, so that free memory contains old links. */
static NOINLINE void use(void)
{
	static void *slots[SLOTS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		const unsigned k = draw(SLOTS);

		if (slots[k]) {
			free(slots[k]);
			slots[k] = NULL;
		} else {
			slots[k] = memset(malloc(24 + draw(i % 2 ? 100 : 2000)), 0, 16);
		}
	}
	for (unsigned k = 0; k < SLOTS; k++) {
		if (draw(2) || !slots[k])
			continue;
		free(slots[k]);
		slots[k] = NULL;
	}
}

static NOINLINE void add_node(struct owner *owner)
{
	struct node *node = malloc(sizeof(*node));
	struct link **const place = &owner->table[draw(TABLE)];

	node->numbers[0] = draw(30000);
	node->numbers[1] = draw(30000);
	if (draw(2)) {
		node->link.next = *place;
		*place = &node->link;
		return;
	}
	node->link.next = NULL;
	*(owner->first ? &owner->last->next : &owner->first) = &node->link;
	owner->last = &node->link;
}

static NOINLINE void add_part(struct owner *owner)
{
	struct part *part = malloc(sizeof(*part));

	part->numbers[0] = draw(30000);
	part->numbers[1] = draw(30000);
	part->ring.next = owner->parts.next;
	part->ring.back = &owner->parts;
	owner->parts.next->back = &part->ring;
	owner->parts.next = &part->ring;
	part->rest[0] = draw(30000);
}

static NOINLINE void add_fake(void)
{
	struct outer *outer = calloc(1, sizeof(*outer));
	struct fake *const fake = &outer->fake;

	fake->size = 33;
	fake->next = fakes ? fakes : fake;
	fake->back = fakes ? fakes->back : fake;
	fake->next->back = fake->back->next = fake;
	fakes = fake;
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	seed = (unsigned)atoi(argv[1]);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	use();
	for (unsigned i = 0; i < 8; i++) {
		struct owner *owner = malloc(sizeof(*owner));

		owners[i] = owner;
		memset(owner, 0, offsetof(struct owner, rest));
		owner->numbers[0] = draw(30000);
		owner->numbers[1] = draw(30000);
		owner->count = draw(30000);
		owner->parts.next = owner->parts.back = &owner->parts;
		for (unsigned k = 0; k < (i ? NODES : 1); k++)
			add_node(owner);
		for (unsigned k = 0; k < (i ? NODES : 1); k++)
			add_part(owner);
	}
	for (unsigned i = 0; i < NODES; i++)
		add_fake();
	say("ready");
	say("%u", 2 * (7 * NODES + 1) + NODES);
	wait_for_input_end();
	return 0;
}
