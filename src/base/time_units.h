/* Units of time. */
#ifndef FT_BASE_TIME_UNITS_H
#define FT_BASE_TIME_UNITS_H

#include <stdint.h>

#define NS_PER_SECOND    UINT64_C(1000000000)
#define SECONDS_PER_HOUR 3600
#define SECONDS_PER_DAY  86400 /* an int, because seconds since the Epoch have a sign */
#define NS_PER_DAY       (SECONDS_PER_DAY * NS_PER_SECOND)

#endif
