#include "config.h"
#include "scan/code_changes.h"
#include "scan/capture/pages.h"
#include "symbols/objects/mapped_file.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHANGES_MAX 65536 /* maximum number of changes; a relocation in the program's code is one change */

struct comparison {
	const struct arch *arch;
	struct code_changes *changes;
	const struct mapping *mapping;
	int memory, file; /* descriptors */
};

/* One page, in memory (`now`) and in the file. */
struct code_changes_page {
	uint64_t start;
	size_t size;
	unsigned char now[1 << 16], file[1 << 16];
};

static void code_changes_add(struct comparison *c, const struct code_change *change)
{
	struct code_changes *changes = c->changes;

	if (changes->count == CHANGES_MAX) {
		changes->is_cut = true;
		return;
	}
	ARRAY_GROW(changes->items, changes->capacity, changes->count);
	changes->items[changes->count++] = *change;
	if (change->kind != CODE_BREAKPOINT)
		return;
	if (!changes->breakpoints++)
		changes->path = xstrdup(c->mapping->path);
}

/* Returns true if the byte at offset `at`, which differs from the file's, belongs to a breakpoint. Then sets *change to
 * the breakpoint, which may begin before `at`, because some of its bytes may equal the file's. state: the state of the
 * code under the breakpoint, as bits of arch->code_state. */
static bool is_breakpoint(const struct comparison *c, const struct code_changes_page *page, size_t at, uint64_t state,
			  struct code_change *change)
{
	unsigned char trap[ARCH_BREAKPOINT_MAX];
	const unsigned size = c->arch->breakpoint.encode(page->start | state, trap);

	for (size_t before = 0; before < size && before <= at; before++) {
		const size_t from = at - before;

		if (from % size || from + size > page->size || memcmp(page->now + from, trap, size) != 0)
			continue;
		*change = (struct code_change){page->start + from, CODE_BREAKPOINT, (unsigned char)size, {0}};
		memcpy(change->original, page->file + from, size);
		return true;
	}
	if (!c->arch->breakpoint.second || page->now[at] != c->arch->breakpoint.second)
		return false;
	*change = (struct code_change){page->start + at, CODE_BREAKPOINT, 1, {page->file[at]}};
	return true;
}

static void code_changes_compare(struct comparison *c, const struct code_changes_page *page)
{
	const uint64_t states = c->arch->code_state.bits;

	for (size_t at = 0; at < page->size; at++) {
		struct code_change change;

		if (page->now[at] == page->file[at])
			continue;
		if (!is_breakpoint(c, page, at, 0, &change) && !(states && is_breakpoint(c, page, at, states, &change)))
			change = (struct code_change){page->start + at, CODE_OTHER, 1, {0}};
		code_changes_add(c, &change);
		at = change.address + change.size - 1 - page->start;
	}
}

static void compare_page(struct comparison *c, struct code_changes_page *page)
{
	const off_t offset = (off_t)(page->start - c->mapping->start + c->mapping->offset);

	if (pread(c->memory, page->now, page->size, (off_t)page->start) != (ssize_t)page->size)
		return;
	const ssize_t got = pread(c->file, page->file, page->size, offset);

	if (got <= 0)
		return;
	memset(page->file + got, 0, page->size - (size_t)got); /* as the kernel does for a file's last page */
	code_changes_compare(c, page);
}

/* Opens the mapped file. Returns a descriptor or -errno. */
static int code_changes_open_file(pid_t pid, const struct mapping *mapping)
{
	struct source source;

	if (!source_find(pid, mapping, &source))
		return -ENOENT;
	const int fd = source_open(&source);

	source_free(&source);
	return fd;
}

static void compare_mapping(struct comparison *c, pid_t pid, int pagemap)
{
	struct page_runs runs = {0};
	struct code_changes_page *page = NULL;

	pages_add_changed(&runs, pagemap, c->mapping);
	c->file = runs.count ? code_changes_open_file(pid, c->mapping) : -1;
	if (c->file >= 0) {
		page = xmalloc(sizeof(*page));
		page->size = page_size() < sizeof(page->now) ? page_size() : sizeof(page->now);
		for (size_t i = 0; i < runs.count; i++)
			for (page->start = runs.items[i].start; page->start < runs.items[i].end;
			     page->start += page->size)
				compare_page(c, page);
		close(c->file);
	}
	free(page);
	free(runs.items);
}

int code_changes_find(pid_t pid, const struct arch *arch, struct code_changes *changes)
{
	const pid_t tid = proc_live_thread(pid);
	struct comparison c = {.arch = arch, .changes = changes};
	struct maps maps;

	*changes = (struct code_changes){0};
	int error = tid ? maps_read(tid, &maps) : -ESRCH;

	if (error < 0)
		return error;
	const int pagemap = pages_open(tid);

	c.memory = proc_open(tid, "mem", O_RDONLY);
	if (c.memory < 0 || pagemap < 0)
		error = c.memory < 0 ? c.memory : pagemap;
	for (size_t i = 0; i < maps.count && !error; i++) {
		c.mapping = &maps.items[i];
		changes->has_uprobes |= !strcmp(c.mapping->path, "[uprobes]");
		if (c.mapping->exec && c.mapping->inode && !c.mapping->shared)
			compare_mapping(&c, tid, pagemap);
	}
	if (c.memory >= 0)
		close(c.memory);
	if (pagemap >= 0)
		close(pagemap);
	maps_free(&maps);
	return error;
}

void code_changes_free(struct code_changes *changes)
{
	free(changes->items);
	free(changes->path);
	*changes = (struct code_changes){0};
}
