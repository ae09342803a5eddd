/* A list whose head is lost, and with it the following nodes; another lost list is excluded by a suppression. */
#include "scrub.h"

#include <stdlib.h>

struct node {
	struct node *next;
	char *text;
};

static __attribute__((noinline)) struct node *node_new(struct node *next)
{
	struct node *node = malloc(sizeof(*node));

	node->next = next;
	node->text = calloc(3, 11);
	return node;
}

static __attribute__((noinline)) void build(int count)
{
	struct node *volatile head = NULL;

	for (int i = 0; i < count; i++)
		head = node_new(head);
	head = NULL;
	(void)head;
}

static __attribute__((noinline)) void known_cache(void)
{
	build(7);
}

int main(void)
{
	build(5);
	known_cache();
	scrub();
	return 0;
}
