/* The context library, as a library of its own. */
#include "../../context/context.c"
