#include "config.h"
#include "scan/scan.h"
#include "scan/capture/core_image.h"
#include "scan/retention.h"
#include "base/hash.h"
#include "base/msg.h"
#include "heap/heap.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "symbols/names/data_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define AT_ONCE_MAX 4  /* maximum number of copies with threads stopped in any code, if no locks are known */
#define COPIES_MAX  24 /* maximum number of copies in all; for the later ones threads are moved out of the C library */
#define UNKNOWN_MAX 4  /* maximum number of copies if none contains a heap of a known allocator */
#define LOCKED_MAX  4  /* maximum number of consistent copies that are not used because another may be better */
#define MOVING_MAX  2  /* of these, the maximum number left unused only because a thread could not be stopped */
#define LOCKS_MAX   4096 /* maximum number of locks; the locks of further arenas are ignored */

struct scan {
	pid_t pid;
	char *program;
	struct snapshot *snapshot; /* NULL in a scan of a core file */
	struct core *core;
	const char *path; /* path of the core file */
	struct data_names *names;
	uint64_t layout; /* the result of scan_layout_of() for the objects in `names` */
	struct scan_types *types;
	struct scan_groups groups;
	uint64_t locks[LOCKS_MAX]; /* addresses of the locks, from the last copy in which they were found */
	size_t lock_count;
	uint64_t program_number; /* snapshot_program() of the last copy; 0 before the first copy */
	char *program_before;    /* program of the previous scan if it was another one; else NULL */
	uint64_t looks;
	bool is_continued; /* true if another look follows: scan_continues() */
	bool was_awake;    /* in a copy of this look, a thread was running or in a system call that malloc makes */
	bool marks_locks;  /* true if the locks can be marked as contended: heap_locks() */
	char *object;      /* path of the allocator's object; NULL: the allocator is in the C library or the program */
	uint64_t looked_at_ns;
	struct scan_report report;
};

struct scan *scan_new(pid_t pid)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));

	scan->pid = pid;
	scan->snapshot = snapshot_new(pid);
	return scan;
}

struct scan *scan_of_core(const char *path, const char *sysroot)
{
	struct core *core = core_open(path, sysroot);

	if (!core)
		return NULL;
	struct scan *scan = xcalloc(1, sizeof(*scan));

	scan->core = core;
	scan->path = path;
	scan->pid = core_pid(core);
	scan->program = xstrdup(core_program(core));
	return scan;
}

static const struct heap_image *image_of(const struct scan *scan)
{
	return scan->core ? core_image(scan->core) : snapshot_image(scan->snapshot);
}

static void clear_report(struct scan_report *report)
{
	for (size_t i = 0; i < report->why_count; i++)
		scan_retained_by_free(&report->whys[i]);
	free(report->whys);
	scan_owners_free(report->owners, report->owner_count);
	free(report->figures);
	*report = (struct scan_report){0};
}

void scan_free(struct scan *scan)
{
	clear_report(&scan->report);
	scan_groups_free(&scan->groups);
	scan_types_free(scan->types);
	data_names_free(scan->names);
	if (scan->snapshot)
		snapshot_free(scan->snapshot);
	core_free(scan->core);
	free(scan->object);
	free(scan->program);
	free(scan->program_before);
	free(scan);
}

pid_t scan_pid(const struct scan *scan)
{
	return scan->pid;
}

const char *scan_program(const struct scan *scan)
{
	return scan->program ? scan->program : "?";
}

uint64_t scan_count(const struct scan *scan)
{
	return scan->looks;
}

void scan_rest(struct scan *scan)
{
	if (!scan->snapshot)
		return;
	clear_report(&scan->report);
	snapshot_free(scan->snapshot);
	scan->snapshot = snapshot_new(scan->pid);
}

void scan_continues(struct scan *scan, bool is_so)
{
	scan->is_continued = is_so;
}

struct scan_report *scan_report_of(struct scan *scan)
{
	return &scan->report;
}

/* ---- A copy with a consistent heap ---- */

/* Waits before the next copy: for 1, 3 and 10 ms, then for 2 to 8 ms. */
static void pause_before(unsigned copy)
{
	static const uint64_t first[] = {1000000, 3000000, 10000000};
	const uint64_t ns = copy <= ARRAY_SIZE(first) ? first[copy - 1] : snapshot_wait(2000000, 1000000, copy);

	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static bool is_go(pid_t pid)
{
	struct data_names *names = data_names_new(pid);
	const bool is_so = data_names_have_go(names);

	data_names_free(names);
	return is_so;
}

static void explain_unknown(const struct scan *scan)
{
	char *advice = is_go(scan->pid) ? xstrdup("It is a Go program: allocations of Go's own code can neither be "
						  "scanned nor traced; Go's runtime shows them (GODEBUG, pprof)")
					: xasprintf("Trace it instead: functrace --live -t %d", scan->pid);

	msg_error("process %d (%s) has no heap of glibc's, musl's, jemalloc's or mimalloc's malloc: it has not called "
		  "malloc yet, or has an allocator that functrace does not know (tcmalloc, Go's, musl's simple one in "
		  "some static programs). %s",
		  scan->pid, scan->program, advice);
	free(advice);
}

static const char *cause_of(const struct scan *scan)
{
	const struct snapshot_figures *pause = snapshot_figures(scan->snapshot);

	if (pause->is_stopped)
		return "A signal has stopped the process inside malloc; continue it, and scan again.";
	if (!scan->was_awake)
		return "No thread was running when the copies were made: the heap is damaged, unless a signal handler "
		       "has interrupted malloc and is waiting.";
	return "A signal handler has interrupted malloc, threads allocate all the time, or the heap is damaged; scan "
	       "again.";
}

/* Formats the address of the inconsistent data as ", at 0x55d0c0"; "" if it is unknown. */
static const char *shown_place(uint64_t place, char text[32])
{
	text[0] = '\0';
	if (place)
		snprintf(text, 32, ", at 0x%" PRIx64, place);
	return text;
}

static enum scan_result scan_explain(const struct scan *scan, enum heap_status status, const char *reason,
				     uint64_t place, unsigned copies)
{
	char text[32];

	switch (status) {
	case HEAP_NOT_FOUND:
		explain_unknown(scan);
		break;
	case HEAP_UNSUPPORTED:
		msg_error("functrace cannot read the heap of process %d (%s): %s. Trace it instead: functrace --live "
			  "-t %d",
			  scan->pid, scan->program, reason ? reason : "its layout is unknown", scan->pid);
		break;
	case HEAP_TOO_LARGE:
		msg_error("cannot scan process %d (%s): it has more than four billion blocks, or more than a terabyte "
			  "of memory with blocks",
			  scan->pid, scan->program);
		break;
	case HEAP_READ:
	case HEAP_INCONSISTENT:
		msg_error("the heap of process %d (%s) is inconsistent in all %u copies: %s%s. %s", scan->pid,
			  scan->program, copies, reason ? reason : "?", shown_place(place, text), cause_of(scan));
		break;
	}
	return SCAN_FAILED;
}

static enum scan_result scan_read_core(struct scan *scan, struct heap **heap)
{
	char text[32];
	uint64_t place;
	const char *reason;
	const enum heap_status status = heap_read_placed(core_image(scan->core), heap, &reason, &place);

	if (status == HEAP_READ)
		return SCAN_DONE;
	if (status == HEAP_NOT_FOUND)
		reason = "the program's allocator is unknown, or the variables of the allocator are not in the file";
	if (status == HEAP_INCONSISTENT)
		msg_error("the heap of the core file of process %d (%s) is inconsistent: %s%s. A thread was inside "
			  "malloc when the file was written, or the heap is damaged.",
			  scan->pid, scan->program, reason ? reason : "?", shown_place(place, text));
	else
		msg_error("the core file of process %d (%s) has no heap that functrace can read: %s", scan->pid,
			  scan->program, reason ? reason : "it has too many blocks");
	return SCAN_FAILED;
}

/* Finds the code that threads must leave, or the locks that they must release, before the next copy. If the allocator
 * is in a shared object other than the C library, threads must leave this object's code. The locks are not enough:
 * while a thread moves a block from an arena to the thread's cache, the block is in neither. */
static void learn_places(struct scan *scan)
{
	const struct heap_image *image = snapshot_image(scan->snapshot);
	const char *object = heap_object(image);
	const size_t locks = object ? 0 : heap_locks(image, scan->locks, LOCKS_MAX, &scan->marks_locks);

	if (object) {
		free(scan->object);
		scan->object = xstrdup(object);
	}
	scan->lock_count = locks ? locks : scan->lock_count;
}

/* Discards all results, because the process has executed another program. */
static void begin_anew(struct scan *scan)
{
	/* Keeps the name of the previous scan's program, even if the process has executed several programs since. */
	if (scan->looks && !scan->program_before)
		scan->program_before = scan->program;
	else
		free(scan->program);
	scan->program = process_started_name(scan->pid);
	scan_groups_free(&scan->groups);
	scan->groups = (struct scan_groups){0};
	scan_types_free(scan->types);
	data_names_free(scan->names);
	scan->types = NULL;
	scan->names = NULL;
	free(scan->object);
	scan->object = NULL;
	scan->lock_count = 0;
	scan->looked_at_ns = 0;
}

/* Notes facts about the last copy: its program, whether a thread was awake, and which code threads must leave or which
 * locks they must release before the next copy. */
static void scan_look_around(struct scan *scan)
{
	const uint64_t program = snapshot_program(scan->snapshot);
	const struct snapshot_figures *pause = snapshot_figures(scan->snapshot);

	/* Also begins anew at the first copy (program_number is 0), because the process may have executed another
	 * program since the name was read. */
	if (program != scan->program_number)
		begin_anew(scan);
	scan->program_number = program;
	scan->was_awake |= pause->asleep < pause->threads;
	learn_places(scan);
}

/* Makes a copy. copy: the number of earlier copies of this look. */
static enum scan_result take_copy(struct scan *scan, unsigned copy)
{
	int error = snapshot_warm(scan->snapshot);
	/* Another process in the same memory uses the same locks, but is not stopped. */
	const bool has_locks = scan->lock_count && !scan->object && !snapshot_is_shared(scan->snapshot);
	const struct snapshot_allocator allocator = {.locks = scan->locks,
						     .lock_count = has_locks ? scan->lock_count : 0,
						     .marks_locks = scan->marks_locks,
						     .leaves_c = copy >= (scan->object ? 1 : AT_ONCE_MAX),
						     .object = scan->object,
						     .program = scan->program_number};

	if (!error)
		error = snapshot_take(scan->snapshot, &allocator);
	return error == -ESRCH ? SCAN_ENDED : error ? SCAN_FAILED : SCAN_DONE;
}

/* Returns true if another copy is worth a pause, although this one is consistent. While a lock is held, a block may be
 * in no list and have no pointer to it, because it is being allocated or released. If a thread could not be stopped,
 * its registers are unknown; usually it waits in posix_spawn(3) for a child that soon executes its program. */
static bool may_be_better(const struct scan *scan, unsigned copy)
{
	const struct snapshot_figures *figures = snapshot_figures(scan->snapshot);

	return copy < LOCKED_MAX && !scan->object && !figures->is_stopped &&
	       (heap_is_locked(snapshot_image(scan->snapshot)) || (figures->moving && copy < MOVING_MAX));
}

/* Makes copies until one is consistent. try_until_read() in tracer/traced_capture.c does the same for traced processes;
 * the table there says why it is another loop. */
static enum scan_result read_heap(struct scan *scan, struct heap **heap)
{
	uint64_t place;
	const char *reason;

	if (scan->core)
		return scan_read_core(scan, heap);
	scan->was_awake = false;
	for (unsigned copy = 0;; copy++) {
		if (copy)
			pause_before(copy);
		const enum scan_result result = take_copy(scan, copy);

		if (result != SCAN_DONE)
			return result;
		scan_look_around(scan);
		const enum heap_status status = heap_read_placed(snapshot_image(scan->snapshot), heap, &reason, &place);

		scan->report.inconsistent = copy;
		if (status == HEAP_READ && !may_be_better(scan, copy))
			return SCAN_DONE;
		if (status == HEAP_READ) {
			heap_free(*heap);
			msg_debug(DBG_PROCESS, 1,
				  "copy %u is not used: a lock is held, or a thread could not be stopped", copy + 1);
			continue;
		}
		if (!heap_status_is_passing(status) ||
		    copy + 1 >= (status == HEAP_NOT_FOUND ? UNKNOWN_MAX : COPIES_MAX) ||
		    (snapshot_figures(scan->snapshot)->is_stopped && copy))
			return !proc_live_thread(scan->pid) ? SCAN_ENDED
							    : scan_explain(scan, status, reason, place, copy + 1);
		msg_debug(DBG_PROCESS, 1, "copy %u is not used: %s", copy + 1, reason ? reason : "no heap was found");
	}
}

/* ---- The report ---- */

static void scan_add_figure(struct scan_report *report, const char *name, const char *words, uint64_t value,
			    bool is_count)
{
	report->figures = xreallocarray(report->figures, report->figure_count + 1, sizeof(*report->figures));
	report->figures[report->figure_count++] =
		(struct scan_figure){.name = name, .words = words, .value = value, .is_count = is_count};
}

static void scan_add_figures(struct scan_report *report, const struct heap *heap)
{
	const struct heap_figures *figures = heap_figures(heap);

	report->allocator = heap_allocator(heap);
	scan_add_figure(report, "arenas", "arenas", figures->arenas, true);
	scan_add_figure(report, "arena", "from the system, for all arenas", figures->arena, false);
	scan_add_figure(report, "uordblks", "in use in the arenas, including the cached blocks", figures->uordblks,
			false);
	scan_add_figure(report, "fordblks", "free in the arenas", figures->fordblks, false);
	scan_add_figure(report, "keepcost", "free at the main arena's top", figures->keepcost, false);
	scan_add_figure(report, "ordblks", "free chunks", figures->ordblks, true);
	scan_add_figure(report, "smblks", "small free chunks, in fastbins", figures->smblks, true);
	scan_add_figure(report, "fsmblks", "in these chunks", figures->fsmblks, false);
	scan_add_figure(report, "hblks", "blocks with mappings of their own", figures->hblks, true);
	scan_add_figure(report, "hblkhd", "in these blocks", figures->hblkhd, false);
	scan_add_figure(report, "cached_chunks", "chunks in the threads' caches", figures->cached_chunks, true);
	scan_add_figure(report, "cached_bytes", "in these chunks: released, but counted as in use",
			figures->cached_bytes, false);
}

_Static_assert((int)CLASS_LOST == HEAP_LOST && (int)CLASS_INDIRECT == HEAP_INDIRECT &&
		       (int)CLASS_POSSIBLE == HEAP_POSSIBLE && (int)CLASS_REACHABLE == HEAP_REACHABLE,
	       "the same classes");

static void add_blocks(struct scan *scan, const struct heap *heap, const struct heap_image *image)
{
	scan_groups_begin(&scan->groups, scan->is_continued);
	for (size_t i = 0, count = heap_count(heap); i < count; i++) {
		const struct heap_block block = heap_block(heap, i);
		struct scan_sum lost_by_it;

		heap_lost_by(heap, i, &lost_by_it.bytes, &lost_by_it.blocks);
		scan_groups_add(&scan->groups, block.address, block.size,
				scan_type_of(scan->types, image, block.address, block.size),
				(enum scan_class)block.class, lost_by_it);
	}
}

static void scan_add_whys(struct scan *scan, const struct heap *heap, const struct heap_image *image,
			  const uint64_t *why, size_t count)
{
	struct scan_report *report = &scan->report;

	report->whys = xcalloc(count + 1, sizeof(*report->whys));
	report->why_count = count;
	for (size_t i = 0; i < count; i++) {
		report->whys[i].address = why[i];
		scan_retained_by(&report->whys[i], heap, image, scan->names, scan->types);
	}
}

/* Returns a hash of the mappings of code: their addresses and files. */
static uint64_t scan_layout_of(const struct heap_image *image)
{
	uint64_t hash = 1;

	for (size_t i = 0; i < image->n_mappings; i++) {
		const struct heap_mapping *m = &image->mappings[i];

		if (m->executable && m->inode)
			hash = hash_mix(hash ^ hash_mix(m->start ^ hash_mix(m->end ^ hash_mix(m->inode))));
	}
	return hash;
}

/* Reads the names of symbols again if objects were loaded since the previous scan, or replaced at the same
 * addresses. */
static void name_objects(struct scan *scan, const struct heap_image *image)
{
	const uint64_t layout = scan_layout_of(image);

	if (scan->names && layout == scan->layout)
		return;
	data_names_free(scan->names);
	scan->names = scan->core ? core_names(scan->core) : data_names_new(scan->pid);
	scan->layout = layout;
	if (scan->types)
		scan_types_rename(scan->types, scan->names);
	else
		scan->types = scan_types_new(scan->names);
}

enum scan_result scan_look(struct scan *scan, const uint64_t *why, size_t why_count)
{
	struct scan_report *report = &scan->report;
	struct heap *heap;

	clear_report(report);
	free(scan->program_before);
	scan->program_before = NULL;
	if (!scan->program)
		scan->program = process_started_name(scan->pid);
	const enum scan_result result = read_heap(scan, &heap);

	if (result != SCAN_DONE)
		return result;
	const struct heap_image *image = image_of(scan);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	name_objects(scan, image);
	scan_types_begin(scan->types, image);
	struct scan_owners *const owners = scan_owners_begin(image, scan->names);

	heap_classify_for(heap, &(struct classify_options){
					.owner = scan_owners_add, .context = owners, .has_ways = why_count > 0});
	report->owners = scan_owners_end(owners, &report->owner_count);
	add_blocks(scan, heap, image);
	report->pid = scan->pid;
	report->program = scan->program;
	report->program_before = scan->program_before;
	report->scan = report->scans = ++scan->looks;
	report->is_compared = scan->groups.scans > 1;
	clock_gettime(CLOCK_REALTIME, &report->time);
	report->since_last_ns = scan->looked_at_ns ? now - scan->looked_at_ns : 0;
	report->pause = scan->core ? core_figures(scan->core) : snapshot_figures(scan->snapshot);
	report->core = scan->path;
	report->groups = &scan->groups;
	report->types = scan->types;
	scan_add_figures(report, heap);
	scan_add_whys(scan, heap, image, why, why_count);
	scan->looked_at_ns = now;
	heap_free(heap);
	return SCAN_DONE;
}
