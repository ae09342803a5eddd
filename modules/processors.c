#include "config.h"
#include "modules/processors.h"

#include <stddef.h>

const char *module_processor(unsigned bit)
{
	static const char *const names[] = {"x86_64", "i386", "aarch64", "armv7l"};

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}
