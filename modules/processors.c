#include "config.h"
#include "modules/processors.h"

#include <stddef.h>
#include <stdio.h>

const char *module_processor(unsigned bit)
{
	static const char *const names[] = {"x86_64", "i386", "aarch64", "armv7l"};

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}

const char *module_processors_text(char text[PROCESSORS_TEXT])
{
	size_t size = 0;

	*text = 0;
	for (unsigned bit = 0; module_processor(bit) && size < PROCESSORS_TEXT; bit++)
		size += (size_t)snprintf(text + size, PROCESSORS_TEXT - size, "%s%s",
					 !bit                        ? ""
					 : module_processor(bit + 1) ? ", "
								     : " and ",
					 module_processor(bit));
	return text;
}
