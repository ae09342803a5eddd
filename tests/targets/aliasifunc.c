/* The library of aliasfork.c, where both names are those of one IFUNC. */
#define IFUNC
#include "aliasfork.c"
