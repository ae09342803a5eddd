/* uprobes.h for a build without libbpf: there are no probes in the kernel. */
#include "config.h"
#include "uprobe/uprobes.h"

#include <errno.h>
#include <stdio.h>

struct uprobes *uprobes_open(const struct uprobes_options *options, char *why, size_t why_size)
{
	(void)options;
	snprintf(why, why_size, "functrace was built without libbpf");
	return NULL;
}

void uprobes_close(struct uprobes *u)
{
	(void)u;
}

int uprobe_link(struct uprobes *u, pid_t pid, int file, const struct uprobe_site *sites, size_t count,
		struct uprobe_link *link)
{
	(void)u;
	(void)pid;
	(void)file;
	(void)sites;
	(void)count;
	(void)link;
	return -ENOSYS;
}

void uprobe_unlink(struct uprobe_link *link)
{
	(void)link;
}

void uprobe_unlink_wait(void)
{
}

bool uprobe_unlink_is_done(void)
{
	return true;
}

const struct uprobe_record *uprobe_ring_next(struct uprobes *u, uint64_t until)
{
	(void)u;
	(void)until;
	return NULL;
}

void uprobe_ring_done(struct uprobes *u)
{
	(void)u;
}

uint64_t uprobe_ring_end(const struct uprobes *u)
{
	(void)u;
	return 0;
}

uint64_t uprobe_ring_position(const struct uprobes *u)
{
	(void)u;
	return 0;
}

void uprobe_row_set(struct uprobes *u, const struct uprobe_row *row)
{
	(void)u;
	(void)row;
}

void uprobe_rows_forget(struct uprobes *u, uint32_t space, uint64_t start, uint64_t end)
{
	(void)u;
	(void)space;
	(void)start;
	(void)end;
}

void uprobe_set_outer(struct uprobes *u, pid_t tid, bool has_outer)
{
	(void)u;
	(void)tid;
	(void)has_outer;
}

bool uprobe_take_lost(struct uprobes *u, struct uprobe_lost_key *key, struct uprobe_lost *sum)
{
	(void)u;
	(void)key;
	(void)sum;
	return false;
}

bool uprobe_calls_in_flight(struct uprobes *u, pid_t tid, struct uprobe_call calls[UPROBE_CALLS], bool begin)
{
	(void)begin;
	(void)u;
	(void)tid;
	(void)calls;
	return false;
}

size_t uprobe_take_returned(struct uprobes *u, pid_t tid, uint64_t return_sp, struct uprobe_call calls[UPROBE_CALLS])
{
	(void)u;
	(void)tid;
	(void)return_sp;
	(void)calls;
	return 0;
}

const volatile struct uprobe_shared *uprobe_counters(const struct uprobes *u)
{
	(void)u;
	return NULL;
}

bool uprobe_sent_signal(struct uprobes *u, pid_t tid)
{
	(void)u;
	(void)tid;
	return false;
}
