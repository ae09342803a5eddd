/* A pair is an exception that is thrown and caught. The malloc and free of its memory have three stops; if new is
 * traced, the entry of __cxa_begin_catch is the fourth. */
#include "hot.h"

void hot(unsigned long count)
{
	while (count--) {
		try {
			throw count;
		} catch (unsigned long &caught) {
			unsigned long *at = &caught;

			KEEP(at);
		}
	}
}
