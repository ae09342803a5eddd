/* Returns true if a test must run all its cases: `make check-long` sets CHECK_LONG, `make check` does not. */
#ifndef FT_TESTS_UNIT_LONG_H
#define FT_TESTS_UNIT_LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool test_is_long(void)
{
	const char *value = getenv("CHECK_LONG");

	return value && *value;
}

#endif
