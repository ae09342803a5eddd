#include "config.h"
#include "modules/processors.h"

#include <stddef.h>
#include <stdio.h>

/* The index is that of the bit in enum processor. */
static const struct {
	const char *name;
	bool has_args_on_stack; /* all arguments are on the stack, also floating-point numbers */
} processors[] = {{"x86_64", false}, {"i386", true}, {"aarch64", false}, {"armv7l", false}};

#define PROCESSOR_COUNT (sizeof(processors) / sizeof(processors[0]))

const char *module_processor(unsigned bit)
{
	return bit < PROCESSOR_COUNT ? processors[bit].name : NULL;
}

static bool is_listed(unsigned bit, bool with_args_on_stack)
{
	return processors[bit].has_args_on_stack || !with_args_on_stack;
}

const char *module_processors_text(char text[PROCESSORS_TEXT], bool with_args_on_stack)
{
	size_t size = 0;
	unsigned left = 0;

	for (unsigned bit = 0; bit < PROCESSOR_COUNT; bit++)
		left += is_listed(bit, with_args_on_stack);
	*text = 0;
	for (unsigned bit = 0; bit < PROCESSOR_COUNT && size < PROCESSORS_TEXT; bit++)
		if (is_listed(bit, with_args_on_stack)) {
			size += (size_t)snprintf(text + size, PROCESSORS_TEXT - size, "%s%s",
						 !size       ? ""
						 : left == 1 ? " and "
							     : ", ",
						 processors[bit].name);
			left--;
		}
	return text;
}
