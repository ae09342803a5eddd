#include "config.h"
#include "base/buf.h"
#include "trace/event.h"
#include "trace/unsupported.h"

static const struct unsupported_words {
	const char *one, *many;
} words[OMISSIONS] = {
	[OMITTED_FAILED] = {"failed allocation", "failed allocations"},
	[OMITTED_UNKNOWN_RELEASE] = {"release of a block that was not seen allocated",
				     "releases of blocks that were not seen allocated"},
	[OMITTED_OTHER_RESOURCE] = {"call of another resource than memory", "calls of other resources than memory"},
	[OMITTED_COPY] = {"call that allocates nothing", "calls that allocate nothing"},
	[OMITTED_FUNCTION] = {"name of a function called", "names of functions called"},
	[OMITTED_TIME] = {"time", "times"},
	[OMITTED_STACK] = {"stack beyond its first frame", "stacks beyond their first frames"},
	[OMITTED_FRAME_NAME] = {"name of a frame", "names of frames"},
	[OMITTED_ARGUMENT] = {"argument", "arguments"},
	[OMITTED_CONTEXT] = {"context of a call", "contexts of calls"},
	[OMITTED_PROCESS] = {"description of the process", "descriptions of processes"},
	[OMITTED_DECLARATION] = {"declaration", "declarations"},
	[OMITTED_OBJECT] = {"object", "objects"},
	[OMITTED_BUILD_ID] = {"build-id", "build-ids"},
	[OMITTED_SCAN] = {"scan, with its lost blocks", "scans, with their lost blocks"},
	[OMITTED_BASELINE] = {"block from before the trace", "blocks from before the trace"},
	[OMITTED_RESIDENT] = {"figure of resident memory", "figures of resident memory"},
	[OMITTED_THREAD] = {"thread's name", "threads' names"},
	[OMITTED_NOTE] = {"note", "notes"},
	[OMITTED_HEAP] = {"status of the heap", "statuses of the heap"},
	[OMITTED_AREA] = {"area of the heap", "areas of the heap"},
	[OMITTED_ATTACHMENT] = {"attachment", "attachments"},
	[OMITTED_COMMENT] = {"comment", "comments"},
	[OMITTED_ESTIMATE] = {"estimate", "estimates"},
};

void omissions_add(struct omissions *omissions, const struct record *record)
{
	static const enum omission of_type[] = {
		[RECORD_PROCESS] = OMITTED_PROCESS,
		[RECORD_MODULE] = OMITTED_DECLARATION,
		[RECORD_RESOURCE] = OMITTED_DECLARATION,
		[RECORD_CONTEXT] = OMITTED_DECLARATION,
		[RECORD_OBJECT] = OMITTED_OBJECT,
		[RECORD_BUILD_ID] = OMITTED_BUILD_ID,
		[RECORD_THREAD] = OMITTED_THREAD,
		[RECORD_NOTE] = OMITTED_NOTE,
		[RECORD_HEAP] = OMITTED_HEAP,
		[RECORD_ATTACHMENT] = OMITTED_ATTACHMENT,
		[RECORD_COMMENT] = OMITTED_COMMENT,
		[RECORD_AREA] = OMITTED_AREA,
		[RECORD_SCAN] = OMITTED_SCAN,
		[RECORD_BASELINE] = OMITTED_BASELINE,
		[RECORD_RESIDENT] = OMITTED_RESIDENT,
		[RECORD_ESTIMATE] = OMITTED_ESTIMATE,
		[RECORD_INTERVAL] = OMITTED_ESTIMATE,
	};

	/* The record of a lost block is not counted, because the scan to which it belongs is counted. */
	if (record->type != RECORD_LOST)
		omissions->count[of_type[record->type]] += record->type == RECORD_BASELINE ? record->baseline.count : 1;
}

bool omissions_words(struct buf *out, const struct omissions *omissions, uint32_t set)
{
	bool any = false;

	for (size_t i = 0; i < OMISSIONS; i++) {
		const uint64_t count = omissions->count[i];
		char digits[32];

		if (!count || !(set >> i & 1))
			continue;
		buf_printf(out, "%s%s %s", any ? ", " : "", number_grouped(count, digits),
			   count == 1 ? words[i].one : words[i].many);
		any = true;
	}
	return any;
}
