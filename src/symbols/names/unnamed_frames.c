#include "config.h"
#include "symbols/names/unnamed_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct blank {
	uint64_t count;
	enum blank_reason reason;
	char path[];
};

void blanks_add(struct blanks *blanks, const char *path, enum blank_reason reason)
{
	const char *const known = path ? path : "";
	const size_t size = strlen(known) + 1;
	const uint64_t key = hash_bytes(known, size) + (uint64_t)reason;
	struct blank *blank = hash_get_ptr(&blanks->by_path, key);

	if (!blank) {
		blank = xmalloc(sizeof(*blank) + size);
		*blank = (struct blank){.reason = reason};
		memcpy(blank->path, known, size);
		hash_set_ptr(&blanks->by_path, key, blank);
	}
	blank->count++;
	blanks->blank++;
}

/* Returns true if `blank` counts more frames than `worst` (NULL: none yet). If the counts are equal, the paths decide,
 * because the order of the hash table is arbitrary. */
static bool is_worse(const struct blank *blank, const struct blank *worst)
{
	if (!worst || blank->count != worst->count)
		return !worst || blank->count > worst->count;
	return strcmp(blank->path, worst->path) < 0;
}

static const struct blank *find_worst(const struct blanks *blanks)
{
	const struct hash_entry *entry;
	const struct blank *worst = NULL;

	for (size_t i = 0; (entry = hash_next(&blanks->by_path, &i));) {
		const struct blank *blank = (const struct blank *)(uintptr_t)entry->value;

		if (is_worse(blank, worst))
			worst = blank;
	}
	return worst;
}

bool blanks_explain(const struct blanks *blanks, bool has_servers, struct buf *out)
{
	const struct blank *const worst = find_worst(blanks);

	if (!worst || blanks->blank <= blanks->frames / 2)
		return false;
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " frames have no names", blanks->blank, blanks->frames);
	if (worst->reason == BLANK_NO_OBJECT) {
		buf_add_str(out, "; for most of them the trace has no mapped file at their address");
		return true;
	}
	buf_printf(out, ", most of them in %s, ", worst->path);
	if (*worst->path != '/')
		buf_add_str(out, "which is not a file");
	else if (worst->reason == BLANK_NO_FILE)
		buf_add_str(out,
			    "whose traced version is not here: if it is elsewhere, say where with --sysroot=DIR or "
			    "--debug-path=DIR");
	else
		buf_printf(
			out,
			"which has no symbols for them: install its package with debug symbols (on Debian and Ubuntu "
			"its name ends in -dbgsym or -dbg)%s, or name a folder that has its debug file with "
			"--debug-path=DIR",
			has_servers ? "" : ", set DEBUGINFOD_URLS and give --debuginfod");
	return true;
}

void blanks_free(struct blanks *blanks)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&blanks->by_path, &i));)
		free((void *)(uintptr_t)entry->value);
	hash_free(&blanks->by_path);
	*blanks = (struct blanks){0};
}
