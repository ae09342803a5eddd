/* A pair: open and close. Under -e file three stops: open's entry and return, close's entry. */
#include "hot.h"

#include <fcntl.h>
#include <unistd.h>

void hot(unsigned long count)
{
	while (count--)
		close(open("/dev/null", O_RDONLY));
}
