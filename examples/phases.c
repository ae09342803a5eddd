/* A program with contexts. It names its two phases with the context library, and functrace marks the calls in each.
 *
 *     cc -g -o phases phases.c -lfunctrace-context
 *     functrace -o phases.rtrace ./phases
 *     functrace-postproc -l -c -r -C 2 phases.rtrace      blocks of "requests" that were not released
 *
 * A request should release all of its blocks; the settings may stay until the program ends. */
#include <functrace/context.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int starting, requests;
static char *settings[10];

static void start(void)
{
	sp_context_enter(starting);
	for (int i = 0; i < 10; i++)
		settings[i] = malloc(100);
	sp_context_exit(starting);
}

static char *answer(const char *question)
{
	char *text = malloc(strlen(question) + 10);

	sprintf(text, "about %s", question);
	return text;
}

static void serve(int number)
{
	sp_context_enter(requests);
	char *const text = answer("contexts");

	/* Every third answer is not released. */
	if (number % 3)
		free(text);
	sp_context_exit(requests);
}

int main(void)
{
	starting = sp_context_create("starting");
	requests = sp_context_create("requests");
	start();
	for (int i = 0; i < 12; i++)
		serve(i);
	return settings[0] == NULL;
}
