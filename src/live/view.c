#include "config.h"
#include "live/view.h"
#include "modules/known.h"
#include "report/page.h"
#include "report/report.h"
#include "profile/stage.h"
#include "proc/proc.h"
#include "proc/who.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct resource_state *view_resource(const struct view *view)
{
	const struct resources *resources = &view->account.resources;

	return view->resource < resources->count ? resources->items[view->resource] : NULL;
}

bool view_has_bytes(const struct view *view)
{
	const struct resource_state *which = view_resource(view);
	const struct resource *known = which && which->type ? module_resource(which->type) : NULL;

	return known ? known->unit != NULL : true;
}

void view_next_resource(struct view *view)
{
	pthread_mutex_lock(&view->lock);
	if (view->account.resources.count)
		view->resource = (view->resource + 1) % view->account.resources.count;
	pthread_mutex_unlock(&view->lock);
}

/* Names are of the objects that are mapped now. */
static void resolve(struct view *view, const struct site *site)
{
	if (view->epoch != view->account.objects.epoch) {
		hash_free(&view->resolver.known);
		view->resolver.line_count = 0;
	}
	view->resolver.frame_count = 0;
	if (site->stack)
		resolve_stack(&view->resolver, site->stack);
	view->epoch = view->account.objects.epoch;
}

void view_frames(struct view *view, const struct site *site)
{
	pthread_mutex_lock(&view->lock);
	resolve(view, site);
	pthread_mutex_unlock(&view->lock);
}

/* The trace has the path of the program's file, where a link may lead ("redis-server" to redis-check-rdb). What it was
 * started by is known while it runs. */
const char *view_program(struct view *view)
{
	const struct account *account = &view->account;

	if (!account->name)
		return NULL;
	if (view->program && !strcmp(view->program_path, account->name))
		return view->program;
	char *const running = proc_link((pid_t)account->pid, "exe");
	const bool is_running = running && !strcmp(running, account->name);

	free(view->program);
	free(view->program_path);
	view->program = is_running ? who_name((pid_t)account->pid) : xstrdup(path_name(account->name));
	view->program_path = xstrdup(account->name);
	free(running);
	return view->program;
}

const char *view_module_name(struct view *view, const char *path)
{
	const char *const program = view_program(view);

	return program && !strcmp(path, view->program_path) ? program : path_name(path);
}

static bool has_text(const char *text, const char *part)
{
	return text && strcasestr(text, part);
}

static bool passes_filter(struct view *view, const struct site *site)
{
	if (!*view->filter || has_text(site->function, view->filter))
		return true;
	resolve(view, site);
	for (size_t i = 0; i < view->resolver.frame_count; i++) {
		const struct profile_frame *frame = view->resolver.frames[i];

		if (has_text(frame->function, view->filter) || has_text(frame->module, view->filter) ||
		    has_text(frame->file, view->filter))
			return true;
	}
	return false;
}

static int compare_values(int64_t a, int64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct view *view = context;
	const struct row *x = a, *y = b;
	int result = 0;

	switch (view->order) {
	case ORDER_GROWTH:
		result = compare_values(x->grown, y->grown);
		break;
	case ORDER_LAST:
		result = compare_values(x->grown_last, y->grown_last);
		break;
	case ORDER_CALLS:
		result = x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
		break;
	case ORDER_BLOCKS:
		result = compare_values((int64_t)x->live.calls, (int64_t)y->live.calls);
		break;
	case ORDER_LOST:
		result = compare_values((int64_t)x->lost.bytes, (int64_t)y->lost.bytes);
		if (!result)
			result = compare_values((int64_t)x->lost.calls, (int64_t)y->lost.calls);
		break;
	case ORDER_AGE:
		result = compare_values((int64_t)x->oldest, (int64_t)y->oldest);
		break;
	default:
		break;
	}
	if (!result)
		result = compare_values((int64_t)x->live.bytes, (int64_t)y->live.bytes);
	if (!result)
		result = compare_values((int64_t)x->live.calls, (int64_t)y->live.calls);
	return result ? result : x->site->number < y->site->number ? -1 : 1;
}

/* Room for sites that have come since. */
static void grow_looks(struct looks *looks, size_t count)
{
	if (count <= looks->count)
		return;
	const size_t capacity = count + count / 2 + 64;

	looks->base = xreallocarray(looks->base, capacity, sizeof(*looks->base));
	looks->last = xreallocarray(looks->last, capacity, sizeof(*looks->last));
	memset(looks->base + looks->count, 0, (capacity - looks->count) * sizeof(*looks->base));
	memset(looks->last + looks->count, 0, (capacity - looks->count) * sizeof(*looks->last));
	looks->count = capacity;
}

/* What a process had before it was traced was there at the start, whenever the census comes. */
static void note_census(struct looks *looks, const struct resource_account *account)
{
	const struct site *site = account->before;

	if (!site || site->tally.calls == looks->before.calls)
		return;
	const struct tally found = {site->tally.calls - looks->before.calls, site->tally.bytes - looks->before.bytes};
	struct site_look *base = &looks->base[site->number], *last = &looks->last[site->number];

	tally_join(&base->live, &found);
	tally_join(&last->live, &found);
	base->calls += found.calls;
	last->calls += found.calls;
	tally_join(&looks->base_live, &found);
	looks->last_calls += found.calls;
	looks->before = site->tally;
}

static void grow_looks_to(struct looks *looks, const struct resource_account *account)
{
	grow_looks(looks, account->site_count);
	note_census(looks, account);
}

static struct looks *looks_of(struct view *view, size_t resource)
{
	while (view->looks_count <= resource) {
		view->looks = xreallocarray(view->looks, view->looks_count + 1, sizeof(*view->looks));
		view->looks[view->looks_count++] = (struct looks){0};
	}
	return &view->looks[resource];
}

static int64_t difference(const struct view *view, const struct tally *now, const struct tally *then)
{
	return view_has_bytes(view) ? (int64_t)(now->bytes - then->bytes) : (int64_t)(now->calls - then->calls);
}

/* How often it is called a second; without a new interval as it was. */
static double rate(const struct row *old, uint64_t calls, uint64_t last, double seconds)
{
	return seconds > 0 ? (double)(calls - last) / seconds : old ? old->calls : 0;
}

/* What only lost blocks or nothing leads to. */
static struct tally lost_of(const struct tally lost[LOST_KINDS])
{
	struct tally sum = lost[LOST_DEFINITELY];

	tally_join(&sum, &lost[LOST_INDIRECTLY]);
	return sum;
}

static void look_for_scan(struct view *view, struct looks *looks, const struct resource_account *account)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (account->scans != looks->scans) {
		looks->scans = account->scans;
		looks->scanned_ns = now;
	}
	view->has_scan = account->scans > 0;
	view->scan_reason = account->scans ? account->scan_reason : "";
	view->scan_age = (double)(now - looks->scanned_ns) / 1e9;
	view->lost = lost_of(account->lost);
	view->possibly = account->lost[LOST_POSSIBLY];
}

static void add_row(struct view *view, const struct looks *looks, const struct site *site)
{
	const struct site_look *base = &looks->base[site->number], *last = &looks->last[site->number];
	const uint64_t end = view->account.last.since;

	if (!site->live.calls && site->tally.calls == last->calls && !base->live.calls)
		return;
	if (!passes_filter(view, site))
		return;
	ARRAY_GROW(view->rows, view->row_capacity, view->row_count);
	view->rows[view->row_count++] = (struct row){
		.site = site,
		.live = site->live,
		.grown = difference(view, &site->live, &base->live),
		.grown_last = difference(view, &site->live, &last->live),
		.calls = rate(NULL, site->tally.calls, last->calls, view->seconds),
		.oldest = site->live.calls ? end - site->oldest_since : 0,
		.lost = lost_of(site->lost),
	};
}

static void note_last(struct looks *looks, const struct resource_account *account)
{
	for (size_t i = 0; i < account->site_count; i++) {
		const struct site *site = account->sites[i];

		looks->last[site->number] = (struct site_look){site->live, site->tally.calls};
	}
	looks->last_calls = account->allocations.calls + account->others.calls;
}

/* What was last noted is what the rows that are shown are compared to, until the next interval. */
static void look(struct view *view, double seconds)
{
	const struct resource_state *which = view_resource(view);
	const struct resource_account *account = which ? resource_account_of(which) : NULL;

	view->row_count = 0;
	view->has_scan = false;
	view->events = view->account.events;
	view->left_out = view->unread;
	if (seconds > 0)
		view->seconds = seconds;
	if (!account)
		return;
	struct looks *looks = looks_of(view, view->resource);

	grow_looks_to(looks, account);
	account_end(&view->account);
	look_for_scan(view, looks, account);
	view->live = account->live;
	view->peak = account->peak;
	view->grown = difference(view, &account->live, &looks->base_live);
	if (view->seconds > 0)
		view->calls = (double)(account->allocations.calls + account->others.calls - looks->last_calls) /
			      view->seconds;
	for (size_t i = 0; i < account->site_count; i++)
		add_row(view, looks, account->sites[i]);
	if (view->row_count)
		qsort_r(view->rows, view->row_count, sizeof(*view->rows), compare_rows, view);
}

void view_look(struct view *view, double seconds)
{
	pthread_mutex_lock(&view->lock);
	look(view, seconds);
	for (size_t i = 0; seconds > 0 && i < view->account.resources.count; i++) {
		const struct resource_account *account = resource_account_of(view->account.resources.items[i]);

		if (!account)
			continue;
		struct looks *looks = looks_of(view, i);

		grow_looks_to(looks, account);
		note_last(looks, account);
	}
	pthread_mutex_unlock(&view->lock);
}

void view_set_baseline(struct view *view)
{
	pthread_mutex_lock(&view->lock);
	for (size_t i = 0; i < view->account.resources.count; i++) {
		const struct resource_account *account = resource_account_of(view->account.resources.items[i]);

		if (!account)
			continue;
		struct looks *looks = looks_of(view, i);

		grow_looks_to(looks, account);
		for (size_t k = 0; k < account->site_count; k++)
			looks->base[account->sites[k]->number] =
				(struct site_look){account->sites[k]->live, account->sites[k]->tally.calls};
		looks->base_live = account->live;
	}
	pthread_mutex_unlock(&view->lock);
}

const char *left_out_text(const struct view *view, char text[static 160])
{
	char calls[32];

	snprintf(text, 160,
		 "%s calls came unread, as this view was stopped: what is alive is right, but stacks, ages, peak "
		 "and rates lack them",
		 number_grouped(view->left_out, calls));
	return text;
}

static bool has_memory(const struct view *view)
{
	for (size_t i = 0; i < view->account.resources.count; i++)
		if (view->account.resources.items[i]->type && is_heap_type(view->account.resources.items[i]->type))
			return true;
	return false;
}

const char *view_ask_for_scan(struct view *view)
{
	pthread_mutex_lock(&view->lock);
	const bool ended = view->has_ended, knows = has_memory(view);

	pthread_mutex_unlock(&view->lock);
	if (!view->options->tracer)
		return "what is lost is looked for in a process that runs: functrace --live -t PID";
	if (!knows)
		return "what is lost of the memory is known where that is traced: -e memory";
	if (ended || kill(view->options->tracer, LIVE_SCAN_SIGNAL))
		return "the trace has ended";
	return NULL;
}

/* functrace-live-N.txt or .html: the first number that is free. */
static int open_new_file(enum view_file which, char **name)
{
	for (unsigned n = 1;; n++) {
		*name = xasprintf("functrace-live-%u.%s", n, which == VIEW_PAGE ? "html" : "txt");
		const int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd >= 0 || errno != EEXIST)
			return fd;
		free(*name);
	}
}

static void write_profile(const struct profile *profile, enum view_file which, const char *sysroot, FILE *out)
{
	if (which == VIEW_PAGE)
		page_write(profile, &(struct page_options){.sysroot = sysroot}, out);
	else
		report_write(profile, &(struct report_options){.sysroot = sysroot}, out);
}

char *view_write(struct view *view, enum view_file which)
{
	char *name;
	const int fd = open_new_file(which, &name);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	struct profile *profile;
	bool failed;

	if (!out) {
		free(name);
		return NULL;
	}
	pthread_mutex_lock(&view->lock);
	profile = profile_new();
	account_end(&view->account);
	profile_add_account(profile, &view->account, view->options->names);
	profile_end(profile);
	write_profile(profile, which, view->options->sysroot, out);
	profile_give_back(profile);
	profile_free(profile);
	view->resolver.line_count = 0;
	hash_free(&view->resolver.known);
	pthread_mutex_unlock(&view->lock);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return name;
	free(name);
	return NULL;
}

void view_free(struct view *view)
{
	free(view->program);
	free(view->program_path);
	for (size_t i = 0; i < view->looks_count; i++) {
		free(view->looks[i].base);
		free(view->looks[i].last);
	}
	free(view->looks);
	free(view->rows);
	resolver_free(&view->resolver);
	profile_free(view->profile);
	account_free(&view->account);
	pthread_mutex_destroy(&view->lock);
}

const char *signed_text(int64_t number, char text[static 32])
{
	text[0] = number < 0 ? '-' : '+';
	if (!number)
		text[0] = ' ';
	char digits[32];

	snprintf(text + 1, 31, "%s", number_grouped((uint64_t)(number < 0 ? -number : number), digits));
	return text;
}

const char *age_text(const struct view *view, uint64_t age, char text[static 32])
{
	const double seconds = (double)age / 1e9;

	if (!view->account.has_times)
		snprintf(text, 32, "%" PRIu64, age);
	else if (seconds < 600)
		snprintf(text, 32, "%.1f s", seconds);
	else if (seconds < 36000)
		snprintf(text, 32, "%.0f min", seconds / 60);
	else
		snprintf(text, 32, "%.1f h", seconds / 3600);
	return text;
}
