/* Sets the name that ps and top show for a process. */
#ifndef FT_BASE_TITLE_H
#define FT_BASE_TITLE_H

/* Must be called before title_set(). Returns a copy of argv for the program to use, because title_set() overwrites the
 * original words, which the kernel shows. The copy lives as long as the program. */
char **title_begin(int argc, char **argv);
/* Replaces the command line that the kernel shows for this process, and the name of the calling thread (at most 15
 * bytes). */
void title_set(const char *name);

#endif
