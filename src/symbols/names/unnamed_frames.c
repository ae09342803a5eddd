#include "config.h"
#include "symbols/names/unnamed_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct unnamed_group {
	uint64_t count;
	enum unnamed_reason reason;
	char path[];
};

void unnamed_frames_add(struct unnamed_frames *unnamed, const char *path, enum unnamed_reason reason)
{
	const char *const known = path ? path : "";
	const size_t size = strlen(known) + 1;
	const uint64_t key = hash_bytes(known, size) + (uint64_t)reason;
	struct unnamed_group *group = hash_get_ptr(&unnamed->by_path, key);

	if (!group) {
		group = xmalloc(sizeof(*group) + size);
		*group = (struct unnamed_group){.reason = reason};
		memcpy(group->path, known, size);
		hash_set_ptr(&unnamed->by_path, key, group);
	}
	group->count++;
	unnamed->without++;
}

/* Returns true if `group` has more frames than `worst` (NULL: none yet). If the numbers are equal, the paths decide,
 * because the order of the hash table is arbitrary. */
static bool is_worse(const struct unnamed_group *group, const struct unnamed_group *worst)
{
	if (!worst || group->count != worst->count)
		return !worst || group->count > worst->count;
	return strcmp(group->path, worst->path) < 0;
}

static const struct unnamed_group *find_worst(const struct unnamed_frames *unnamed)
{
	const struct unnamed_group *worst = NULL;

	HASH_EACH_PTR(const struct unnamed_group, group, &unnamed->by_path)
		if (is_worse(group, worst))
			worst = group;
	return worst;
}

bool unnamed_frames_explain(const struct unnamed_frames *unnamed, bool has_servers, struct buf *out)
{
	const struct unnamed_group *const worst = find_worst(unnamed);

	if (!worst || unnamed->without <= unnamed->frames / 2)
		return false;
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " frames have no names", unnamed->without, unnamed->frames);
	if (worst->reason == UNNAMED_NO_OBJECT) {
		buf_add_str(out, "; for most of them the trace has no mapped file at their address");
		return true;
	}
	buf_printf(out, ", most of them in %s, ", worst->path);
	if (*worst->path != '/')
		buf_add_str(out, "which is not a file");
	else if (worst->reason == UNNAMED_NO_FILE)
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

void unnamed_frames_free(struct unnamed_frames *unnamed)
{
	hash_free_all(&unnamed->by_path);
	*unnamed = (struct unnamed_frames){0};
}
