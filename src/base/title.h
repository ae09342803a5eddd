/* Sets the name under which a process is listed. */
#ifndef FT_BASE_TITLE_H
#define FT_BASE_TITLE_H

/* To be called first. Returns a copy of argv for the program to use, so that title_set() may overwrite the words that
 * the kernel shows. The copy lives as long as the program. */
char **title_begin(int argc, char **argv);
/* Replaces the command line, and the name that the kernel shows for this process (its thread's, at most 15 bytes). */
void title_set(const char *name);

#endif
