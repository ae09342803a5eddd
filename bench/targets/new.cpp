/* A pair: new and delete. Five stops: entry and return of operator new, the entry of its malloc,
 * the entries of operator delete and of its free. */
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
