/* An exception that is thrown and caught: its memory's malloc and free, three stops, and where new is traced, the
 * entry of __cxa_begin_catch. */
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
