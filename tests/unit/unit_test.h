/* cmocka, after the headers that it needs. */
#ifndef FT_TESTS_UNIT_UNIT_TEST_H
#define FT_TESTS_UNIT_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* cmocka passes a state to each test, and few tests use it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
