/* A pair is new and delete. It has four stops: entry and return of operator new, the entry of the malloc in it, and the
 * entry of operator delete. operator delete jumps to another operator delete, which jumps to free; these jumps cause no
 * stop. */
#include "hot.h"

struct item {
	char bytes[36];
};

void hot(unsigned long count)
{
	while (count--) {
		item *block = new item;

		KEEP(block);
		delete block;
	}
}
