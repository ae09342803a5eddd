/* The loop that is measured. Each program defines hot() in its own way; the rest of the program is in run.c. */
#ifndef HOT_H
#define HOT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `count` pairs of calls. What a pair is depends on the program. */
void hot(unsigned long count);

#ifdef __cplusplus
}
#endif

/* Prevents the compiler from removing or merging the operations on p. */
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")

#endif
