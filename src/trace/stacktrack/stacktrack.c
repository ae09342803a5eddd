#include "config.h"
#include "trace/stacktrack/stacktrack.h"

const char *const stacktrack_value_names[STACKTRACK_VALUE_COUNT] = {
#define VALUE(name, text) text,
	STACKTRACK_VALUES(VALUE)
#undef VALUE
};
