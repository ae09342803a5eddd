/* What a hot loop does, and how often: the programs differ in this only. */
#ifndef HOT_H
#define HOT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `count` pairs (or whatever the program measures one by one). */
void hot(unsigned long count);

#ifdef __cplusplus
}
#endif

/* The compiler must neither drop nor merge what passes through here. */
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")

#endif
