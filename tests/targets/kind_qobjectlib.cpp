/* QObjects in a library. */
#include "kind_qobject.h"

extern "C" int work_in_library(void)
{
	return work();
}
