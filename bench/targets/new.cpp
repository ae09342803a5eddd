/* A pair: new and delete. Four stops: entry and return of operator new, the entry of its malloc,
 * the entry of operator delete; that this jumps to another operator delete, and that one to free,
 * costs no stop. */
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
