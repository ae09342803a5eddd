"""Processes that end while their threads are at work, beside the reference logger."""

import os

import builds
import endings
import kinds
import reflog
import strict
from words import compiled

ROUNDS = 4
SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *data)
{
	void *p = malloc(77);
	for (;;) {
		free(malloc(101));
		p = realloc(p, 5000);
		p = realloc(p, 77);
	}
	return data;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, work, NULL);
	usleep(30000);
	if (!strcmp(argv[1], "kill"))
		abort();
	if (!strcmp(argv[1], "exec"))
		execl("/bin/true", "true", (char *)NULL);
	if (!strcmp(argv[1], "fork") && !fork()) {
		for (int i = 0; i < 3; i++)
			pthread_create(&thread, NULL, work, NULL);
		usleep(30000);
		_exit(0);
	}
	if (!strcmp(argv[1], "fork"))
		wait(NULL);
	_exit(argc != 2);
}
"""


def at_work(room):
    """Ended by _exit, a signal, an exec, and in a forked child: what is cut off, and nothing else, may differ."""
    program, problems, count = compiled(room, 'atwork', SOURCE, '-pthread', '-w'), [], 0
    for how in ('exit', 'kill', 'exec', 'fork') * ROUNDS:
        folder, log = room.path('traces-%d' % count), room.path('log-%d' % count)
        os.makedirs(folder)
        os.makedirs(log)
        room.run(kinds.functrace(folder) + [program, how], {'REFLOG': log, 'LD_PRELOAD': builds.logger()})
        images = {pid: [i for i in some if i.program == 'atwork'] for pid, some in reflog.read_images(log).items()}
        for trace in kinds.read_traces(folder)[0]:
            if 'atwork' not in trace.header.get('process', ''):
                continue
            (image,) = images.pop(trace.pid)
            found = trace.problems + strict.compare(trace, image.in_order(), strict.Names(False), True)
            problems += ['%s: %s' % (how, words) for words in found]
        problems += ['%s: process %d has no trace' % (how, pid) for pid, some in images.items() if some]
        count += 1
    return problems[:3], '%d runs' % count


CASES = [('what the end of a process cuts off', endings.cases), ('processes that end at work, with the logger', at_work)]
