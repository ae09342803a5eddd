/* Writes a file in the Heap Allocation Trace Format, one line for each event. */
#include "config.h"
#include "analysis/mpatrol/mpatrol_parts.h"
#include "base/terminal_escape.h"

#include <inttypes.h>

void mpatrol_hatf_begin(FILE *file, const char *name)
{
	fputs("## Tracename: ", file);
	plain_print(file, name);
	fputs("\n## Author: Unknown\n## Date: Unknown\n## DTDURL: hatf.dtd\n"
	      "## Description: Converted to HATF by functrace-postproc " PACKAGE_VERSION ".\n\n",
	      file);
}

void mpatrol_hatf_put(FILE *file, bool wide, const struct mpatrol_event *event)
{
	const int width = wide ? 16 : 8;

	switch (event->type) {
	case MPATROL_ALLOC:
		fprintf(file, "1 %" PRIu64 " 0x%0*" PRIX64 "\n", event->size, width, event->address);
		break;
	case MPATROL_FREE:
		fprintf(file, "2 0x%0*" PRIX64 "\n", width, event->address);
		break;
	case MPATROL_REALLOC:
		fprintf(file, "4 %" PRIu64 " 0x%0*" PRIX64 " 0x%0*" PRIX64 "\n", event->size, width, event->old_address,
			width, event->address);
		break;
	case MPATROL_HEAP:
	case MPATROL_INTERNAL:
		break;
	}
}
