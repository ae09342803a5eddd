/* A first leak, to be found in one minute.
 *
 * The program answers questions about names. It keeps every answer in a cache, and replaces an
 * entry of the cache when the same name is asked again. It has two leaks.
 *
 * Build the program with debug information, so that stacks have source lines, and trace it:
 *
 *     cc -g -o leak leak.c
 *     functrace -e memory -o leak.rtrace ./leak
 *
 * The program prints its answers. Then functrace prints how many blocks were never released, and
 * the command that shows them:
 *
 *     functrace-postproc -l -c -r leak.rtrace
 *
 * -l selects the blocks that were not released, -c groups blocks that have the same stack, and -r
 * looks up the names. The largest group is last, just above the prompt. The list has these groups:
 *
 *   - 12 blocks of 5 to 7 bytes from malloc, called by strdup, called by answer_new: names.
 *   - 12 blocks of 64 bytes from malloc, called by answer_new: the structs answer that have
 *     these names. This is leak 1: cache_put replaces the old answer and does not release it.
 *   - 4096 bytes from malloc, called from within puts: the C library's buffer of stdout. The
 *     C library keeps this buffer until the program ends. It is not a leak, but a trace shows
 *     all blocks that were not released.
 *   - 4096 bytes from malloc, called by print_report. This is leak 2: an early return does not
 *     release the buffer.
 *
 * cache_clear releases the answers that are in the cache at the end, so the list has none of them.
 *
 * Correct the two leaks: write answer_free(cache[slot]) before the line marked 1, and free(report)
 * before the return marked 2. Run the program again: only the buffer of stdout is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SIZE 16

struct answer {
	char *name;
	unsigned length;
	char text[48];
};

static struct answer *cache[CACHE_SIZE];

static struct answer *answer_new(const char *name)
{
	struct answer *answer = malloc(sizeof(*answer));

	answer->name = strdup(name);
	answer->length = (unsigned)strlen(name);
	snprintf(answer->text, sizeof(answer->text), "%.20s has %u letters", name, answer->length);
	return answer;
}

static void answer_free(struct answer *answer)
{
	if (answer) {
		free(answer->name);
		free(answer);
	}
}

static unsigned slot_of(const char *name)
{
	unsigned sum = 0;

	while (*name)
		sum = sum * 31 + (unsigned char)*name++;
	return sum % CACHE_SIZE;
}

static void cache_put(struct answer *answer)
{
	const unsigned slot = slot_of(answer->name);

	cache[slot] = answer; /* 1: the answer that was in the slot is lost */
}

static void cache_clear(void)
{
	for (unsigned slot = 0; slot < CACHE_SIZE; slot++) {
		answer_free(cache[slot]);
		cache[slot] = NULL;
	}
}

static int print_report(unsigned asked)
{
	char *report = malloc(4096);

	snprintf(report, 4096, "%u questions were asked", asked);
	puts(report);
	if (asked > 3)
		return 1; /* 2: the buffer is not released here */
	free(report);
	return 0;
}

int main(void)
{
	static const char *const names[] = {"anna", "bert", "carla", "dieter"};
	unsigned asked = 0;

	for (unsigned round = 0; round < 4; round++)
		for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
			struct answer *answer = answer_new(names[i]);

			if (!round)
				puts(answer->text);
			cache_put(answer);
			asked++;
		}
	const int many = print_report(asked);

	cache_clear();
	puts(many ? "many questions" : "few questions");
	return 0;
}
