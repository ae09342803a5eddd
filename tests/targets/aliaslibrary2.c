/* The library of aliaslibrary.c with the two names exchanged. */
#define FIRST  aligned_alloc
#define SECOND memalign
#define SIZE_1 37440
#define SIZE_2 37401
#include "aliaslibrary.c"
