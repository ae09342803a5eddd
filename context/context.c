/* The context library: see context.h. It takes no locks, and makes no system calls except sched_yield() and
 * gettid(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "context.h"
#include "context_table.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define YIELDS_MAX 1000 /* maximum number of yields while another thread writes a name */
#define PROBES_MAX 16   /* number of entries that are tried for a thread */

/* Tracers set breakpoints on these functions, so the compiler must not inline them. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define CONTEXT_API __attribute__((noipa, used, visibility("default")))
#else
#define CONTEXT_API __attribute__((noinline, used, visibility("default")))
#endif

/* glibc allocates the thread-local variables of a library by malloc() when a thread first uses them, and this call
 * would be in the trace. With initial-exec they are in the space that glibc reserves, which is large enough for these
 * variables. musl allocates thread-local variables in advance. */
#ifdef __GLIBC__
#define CONTEXT_TLS __attribute__((tls_model("initial-exec")))
#else
#define CONTEXT_TLS
#endif

/* The library itself uses the static name `table`, so that it uses its own table even if another object has one, too.
 * Tracers find the table by the name functrace_contexts. */
static struct context_table table = {.magic = CONTEXT_TABLE_MAGIC, .version = CONTEXT_TABLE_VERSION};
extern struct context_table functrace_contexts __attribute__((alias("table"), used, visibility("default")));

/* `entry`: the thread's entry while the thread is in a context, else NULL. `is_busy`: 1 while the thread changes its
 * entry; a signal handler that interrupts the change does not change the entry. */
static __thread struct {
	struct context_thread *entry;
	uint32_t is_busy;
} own CONTEXT_TLS;

static unsigned int id_of(size_t index)
{
	return 1u << index;
}

static uint32_t entry_state(struct context_entry *entry)
{
	return __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
}

/* Returns false if another thread has taken the entry. */
static int entry_take(struct context_entry *entry)
{
	uint32_t free_state = CONTEXT_FREE;

	return __atomic_compare_exchange_n(&entry->state, &free_state, CONTEXT_IN_MAKING, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* Returns true if the entry has this name. If another thread is writing the entry's name, waits for it. That thread may
 * not exist (after a fork), or this call may have interrupted it (in a signal handler), so the wait is limited. */
static int entry_is_named(struct context_entry *entry, const char *name)
{
	const int saved = errno;

	for (int i = 0; i < YIELDS_MAX && entry_state(entry) == CONTEXT_IN_MAKING; i++)
		sched_yield();
	errno = saved;
	return entry_state(entry) == CONTEXT_READY && !strncmp(entry->name, name, CONTEXT_NAME_SIZE - 1);
}

CONTEXT_API unsigned int sp_context_create(const char *name)
{
	if (!name || !*name)
		return 0;
	for (size_t i = 0; i < CONTEXTS_MAX; i++) {
		struct context_entry *const entry = &table.contexts[i];

		if (entry_state(entry) == CONTEXT_FREE && entry_take(entry)) {
			strncpy(entry->name, name, CONTEXT_NAME_SIZE - 1);
			__atomic_store_n(&entry->state, CONTEXT_READY, __ATOMIC_RELEASE);
			__atomic_or_fetch(&table.created, id_of(i), __ATOMIC_RELEASE);
			return id_of(i);
		}
		if (entry_is_named(entry, name))
			return id_of(i);
	}
	return 0;
}

/* Returns an entry for the calling thread: the entry of an earlier thread with the same id that ended inside a context,
 * or a free entry. Returns NULL if the entries that are tried are all in use. A tracer that attaches then does not see
 * the thread's contexts until the thread enters one again. */
static struct context_thread *take_entry(void)
{
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct context_thread *const entry = &table.threads[(tid + i) % CONTEXT_THREADS_MAX];

		if (__atomic_load_n(&entry->tid, __ATOMIC_RELAXED) != tid)
			continue;
		__atomic_store_n(&entry->mask, 0, __ATOMIC_RELAXED);
		return entry;
	}
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct context_thread *const entry = &table.threads[(tid + i) % CONTEXT_THREADS_MAX];
		uint32_t unused = 0;

		if (__atomic_compare_exchange_n(&entry->tid, &unused, tid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return entry;
	}
	return NULL;
}

/* Returns false if this call, in a signal handler, has interrupted another one in the same thread. */
static int begin_change(void)
{
	if (own.is_busy)
		return 0;
	own.is_busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

static void end_change(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	own.is_busy = 0;
}

CONTEXT_API void sp_context_enter(unsigned int id)
{
	id &= __atomic_load_n(&table.created, __ATOMIC_RELAXED);
	if (!id || !begin_change())
		return;
	if (!own.entry)
		own.entry = take_entry();
	if (own.entry)
		__atomic_store_n(&own.entry->mask, own.entry->mask | id, __ATOMIC_RELAXED);
	end_change();
}

CONTEXT_API void sp_context_exit(unsigned int id)
{
	struct context_thread *const entry = own.entry;

	if (!entry || !begin_change())
		return;
	__atomic_store_n(&entry->mask, entry->mask & ~id, __ATOMIC_RELAXED);
	if (!entry->mask) {
		own.entry = NULL;
		__atomic_store_n(&entry->tid, 0, __ATOMIC_RELEASE);
	}
	end_change();
}
