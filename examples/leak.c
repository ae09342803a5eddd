/* A first leak, to be found in one minute.
 *
 * The program answers questions about names.  It remembers every answer in a cache, and
 * replaces an entry when the same name comes again.  Two things are wrong with it.
 *
 * Build it with debug information, so that stacks can say lines, and trace it:
 *
 *     cc -g -o leak leak.c
 *     functrace -e memory -o leak.rtrace ./leak
 *
 * It prints what it always prints; then functrace says how many blocks were never released, and
 * which command shows them:
 *
 *     functrace-postproc -l -c -r leak.rtrace
 *
 * -l keeps what was allocated and not released, -c puts together what has the same stack, and -r
 * looks up the names.  The group with the most bytes comes last, just above the prompt.  One sees
 *
 *   - 12 blocks of 5 to 7 bytes from malloc, called by strdup, called by answer_new: names;
 *   - 12 blocks of 64 bytes from malloc, called by answer_new: the struct answers that have
 *     those names.  That is leak 1: cache_put drops the old answer without answer_free;
 *   - 4096 bytes from malloc, called from within puts: the C library's buffer of stdout, which it
 *     keeps to the end.  Nobody's leak: a trace says what was not released, its reader what should
 *     have been;
 *   - 4096 bytes from malloc, called by print_report.  That is leak 2, a buffer that an early
 *     return forgets.
 *
 * What is still in the cache at the end is released by cache_clear, so it is not in the list.
 *
 * Then mend them (answer_free(cache[slot]) before the line marked 1, free(report) before the
 * return marked 2), and run it again: only the buffer of stdout is left.
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

	cache[slot] = answer; /* 1: what was there before is lost */
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
