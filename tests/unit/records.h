/* Records of a trace, for initializers: {CALL_RECORD(.index = 1, .kind = CALL_ALLOC)}. */
#ifndef FT_TESTS_UNIT_RECORDS_H
#define FT_TESTS_UNIT_RECORDS_H

#include "trace/event.h"

#define CALL_RECORD(...)    .type = RECORD_CALL, .call = {__VA_ARGS__}
#define PROCESS_RECORD(...) .type = RECORD_PROCESS, .process = {__VA_ARGS__}

#endif
