/* The table of trace formats. An input is recognised by the first row whose reader takes it. */
#include "config.h"
#include "base/util.h"
#include "trace/encoding_ops.h"

const struct encoding encodings[] = {
	{
		.name = "rtrace",
		.suffix = ".rtrace",
		.writer = &rtrace_writer_ops,
		.reader = &rtrace_reader_ops,
		.abilities = ENCODING_STREAM | ENCODING_COMPAT,
	},
	{
		.name = "text",
		.suffix = ".rtrace.txt",
		.writer = &text_writer_ops,
		.reader = &text_reader_ops,
		.abilities = ENCODING_STREAM | ENCODING_NAMES | ENCODING_COMPAT | ENCODING_COMPAT_LAYOUT,
	},
};

const size_t encoding_count = ARRAY_SIZE(encodings);
