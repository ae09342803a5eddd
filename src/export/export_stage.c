/* The last stage for exports with stage_new. It opens the file when the process is known. */
#include "config.h"
#include "analysis/stream.h"
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>

struct export_stage {
	struct stage stage;
	const struct export *export;
	struct export_options options;
	struct output_target target;
	struct stream stream;
	struct stage *inner; /* NULL before the process is known */
	bool failed;
};

static int export_stage_put(struct stage *stage, const struct record *record)
{
	struct export_stage *export = (struct export_stage *)stage;

	if (!export->inner) {
		const uint32_t pid = record->type == RECORD_PROCESS ? record->process.pid : 0;
		const int error = stream_open(&export->stream, &export->target, pid, export->export->suffix);

		export->failed = error;
		if (error)
			return error;
		export->inner = export->export->stage_new(&export->options, export->stream.out);
	}
	const int error = stage_put(export->inner, record);

	if (!error)
		return 0;
	/* A failed write ends the run. stream_close() reports it. */
	export->failed = true;
	stream_close(&export->stream, 0);
	return error;
}

static int export_stage_finish(struct stage *stage)
{
	struct export_stage *export = (struct export_stage *)stage;
	const int error = export->inner ? stage_finish(export->inner) : 0;
	/* Reports a failed write, also one that stage_finish() has caused. */
	const int closed = stream_close(&export->stream, export->failed ? -EIO : 0);

	return error ? error : closed;
}

static void export_stage_free(struct stage *stage)
{
	struct export_stage *export = (struct export_stage *)stage;

	if (export->inner)
		export->inner->free(export->inner);
	stream_close(&export->stream, -EIO);
	free(export);
}

struct stage *export_stage_new(const struct export *export, const struct export_options *options,
			       const struct output_target *target)
{
	struct export_stage *stage = xmalloc(sizeof(*stage));

	*stage = (struct export_stage){
		.stage = {.put = export_stage_put, .finish = export_stage_finish, .free = export_stage_free},
		.export = export,
		.options = *options,
		.target = *target,
	};
	return &stage->stage;
}
