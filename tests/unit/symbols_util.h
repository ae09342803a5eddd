/* Functions for the tests of symbols/: a temporary folder, and programs that are built in it and run until they wait.
 */
#ifndef FT_TESTS_UNIT_SYMBOLS_UTIL_H
#define FT_TESTS_UNIT_SYMBOLS_UTIL_H

#include "base/util.h"

#include <stdio.h>
#include <sys/types.h>

extern char test_folder[];

/* A setup and a teardown function for cmocka: they create the temporary folder, and remove it with its content. */
int test_folder_make(void **state);
int test_folder_remove(void **state);

void test_write(const char *name, const char *text);
/* Runs a shell command in the folder; returns its status. Its output goes to the folder's file "log". */
int test_run(const char *fmt, ...) FT_PRINTF(1, 2);
/* Returns true if a command exists. */
bool test_has(const char *command);

/* A program that prints a line, and then waits for a byte or the end of its input. */
struct waiting {
	pid_t pid;
	int input;
	char line[512]; /* what it printed */
};
/* Starts the program and reads its first line. `path` is relative to the folder. */
void waiting_start(struct waiting *waiting, const char *path);
/* Like waiting_start(); but if fd >= 0, that file is executed instead of `path`. */
void waiting_start_fd(struct waiting *waiting, const char *path, int fd);
/* Sends that byte to the program, which makes it run on, and reads its next line. */
void waiting_next(struct waiting *waiting, char command);
void waiting_end(struct waiting *waiting);

#endif
