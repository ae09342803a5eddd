/* Sends profiles by a thread of its own: see push.h.
 *
 *   push_interval(): adds a file to the spool, wakes the sender
 *   sender: next file of the spool | sends it | sent or refused: removes it | failed: waits, goes on with the next file
 *
 * After a failure the sender goes on with the next file, so that a profile that makes the receiver fail does not keep
 * back the others. */
#include "config.h"
#include "fleet/push.h"

#include "base/hash.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "base/time_units.h"
#include "base/util.h"
#include "base/worker.h"
#include "fleet/push_http.h"
#include "fleet/push_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS     UINT64_C(1000000)
#define LATE_CLOSE_MS 2000 /* for a request that must end; libcurl asks once a second whether it must */

const struct push_limits push_limits = {
	.spool_files = 3000,        /* more than two days of minutes */
	.spool_bytes = 64ULL << 20, /* a profile has some 10 KB */
	.connect_ms = 10000,
	.answer_ms = 60000,
	.wait_ms = 1000,
	.wait_longest_ms = 300000,
	.close_ms = 3000,
};

/* How many profiles were lost, by reason. */
enum push_loss { LOSS_REFUSED, LOSS_SPOOL_FULL, LOSS_NOT_STORED, LOSS_DAMAGED, LOSSES };

struct push {
	struct push_target target;
	struct push_limits limits;
	struct push_spool *spool;
	char *folder;
	/* Used by the sender only. */
	struct push_target sending; /* `target`, or with another form for the same receiver; owns nothing */
	struct push_http *http;
	struct push_spool_name name; /* the file that was tried last */
	unsigned failures, wanted_s; /* since the last success; wait that the receiver has asked for */
	uint64_t random;
	pthread_t thread;
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t change;
	bool has_news, is_closing, has_ended;
	bool is_abandoned; /* push_close() does not wait any more: the sender frees the struct */
	uint64_t end_ns;   /* when is_closing: after that nothing is sent */
	uint64_t losses[LOSSES];
};

static void push_free(struct push *push)
{
	push_http_free(push->http);
	push_spool_close(push->spool);
	push_target_free(&push->target);
	pthread_mutex_destroy(&push->lock);
	pthread_cond_destroy(&push->change);
	free(push->folder);
	free(push);
}

/* Counts lost profiles. Returns true if these are the first ones of this reason. */
static bool push_count(struct push *push, enum push_loss loss, size_t count)
{
	pthread_mutex_lock(&push->lock);
	const bool is_first = !push->losses[loss];

	push->losses[loss] += count;
	pthread_mutex_unlock(&push->lock);
	return is_first && count;
}

/* ---- The sender ---- */

/* Returns true if a request must end now, because push_close() has waited long enough. */
static bool push_is_over(void *context)
{
	struct push *const push = context;

	pthread_mutex_lock(&push->lock);
	const bool is_over = push->is_closing && clock_ns(CLOCK_MONOTONIC) >= push->end_ns;

	pthread_mutex_unlock(&push->lock);
	return is_over;
}

/* Returns what stands between the status and the text, which may be empty. */
static const char *before_text(const struct push_answer *answer)
{
	return answer->text[0] ? ": " : "";
}

static void say_failure(struct push *push, const struct push_answer *answer)
{
	if (push->failures++)
		return;
	if (answer->status)
		msg_warn("%s does not take profiles now: its answer has the status %ld%s%s. "
			 "functrace tries again, and keeps profiles in %s meanwhile",
			 push->target.shown, answer->status, before_text(answer), answer->text, push->folder);
	else
		msg_warn("profiles cannot be sent to %s: %s. functrace tries again, and keeps profiles in %s meanwhile",
			 push->target.shown, answer->text, push->folder);
}

static void say_refusal(struct push *push, enum push_outcome outcome, const struct push_answer *answer)
{
	if (!push_count(push, LOSS_REFUSED, 1))
		return;
	if (outcome == PUSH_FOREIGN)
		msg_warn("%s has not stored a profile, because this is no server of this kind: "
			 "its answer has the status %ld, and the type %s. Such profiles are discarded",
			 push->target.shown, answer->status, answer->type[0] ? answer->type : "(none)");
	else
		msg_warn("%s refuses a profile: its answer has the status %ld%s%s. Such profiles are discarded",
			 push->target.shown, answer->status, before_text(answer), answer->text);
}

/* Reports what an answer says. */
static void push_note(struct push *push, enum push_outcome outcome, const struct push_answer *answer)
{
	push->wanted_s = answer->wait_s;
	if (outcome == PUSH_LATER) {
		/* A request that push_close() has broken off says nothing of the receiver. */
		if (!push_is_over(push))
			say_failure(push, answer);
		return;
	}
	if (push->failures)
		msg_info("%s answers again", push->target.shown);
	push->failures = 0;
	if (outcome != PUSH_SENT)
		say_refusal(push, outcome, answer);
}

static enum push_outcome push_post(struct push *push, const struct push_parcel *parcel)
{
	struct push_answer answer = {0};
	struct push_request request;
	enum push_outcome outcome;

	do {
		if (push_request_make(&push->sending, parcel, &request))
			push_http_post(push->http, &request, &answer);
		else
			snprintf(answer.text, sizeof(answer.text), "%s", strerror(ENOMEM));
		push_request_free(&request);
		outcome = push_target_judge(&push->sending, &answer);
	} while (outcome == PUSH_FOREIGN && push_target_try_next(&push->sending));
	plain_mask(answer.type, strlen(answer.type), '?');
	push_note(push, outcome, &answer);
	return outcome;
}

/* Removes a file that cannot be read or is no parcel. */
static enum push_outcome push_discard(struct push *push, const char *reason)
{
	if (push_count(push, LOSS_DAMAGED, 1))
		msg_warn("the profile %s/%s is discarded: %s", push->folder, push->name.text, reason);
	return PUSH_REFUSED;
}

/* Sends the file push->name. */
static enum push_outcome push_send(struct push *push)
{
	struct push_parcel parcel;
	size_t size;
	char *const data = push_spool_read(push->spool, &push->name, &size);

	if (!data)
		/* push_interval() removes the oldest file when the spool is full. */
		return errno == ENOENT ? PUSH_SENT : push_discard(push, strerror(errno));
	const enum push_outcome outcome =
		push_parcel_read(data, size, &parcel) ? push_post(push, &parcel) : push_discard(push, "it is damaged");

	free(data);
	return outcome;
}

/* Returns how long to wait after a failure, in ns. A random part of the wait differs, so that many machines do not come
 * back at the same moment after the receiver was away. */
static uint64_t push_pause(struct push *push)
{
	uint64_t ms = push->limits.wait_ms;

	for (unsigned i = 1; i < push->failures && ms < push->limits.wait_longest_ms; i++)
		ms *= 2;
	if (ms < push->wanted_s * UINT64_C(1000))
		ms = push->wanted_s * UINT64_C(1000);
	if (ms > push->limits.wait_longest_ms)
		ms = push->limits.wait_longest_ms;
	push->random = hash_mix(push->random + 1);
	return (ms - push->random % (ms / 2 + 1)) * NS_PER_MS;
}

/* Waits until the time, or until push_close(). The lock is held. */
static void push_wait_until(struct push *push, uint64_t until_ns)
{
	const struct timespec until = {(time_t)(until_ns / NS_PER_SECOND), (long)(until_ns % NS_PER_SECOND)};

	while (!push->is_closing && pthread_cond_timedwait(&push->change, &push->lock, &until) != ETIMEDOUT)
		;
}

/* Sends one file. Returns false if there is none, or if it has to be sent later; then sets *pause_ns to the time to
 * wait before the next try. */
static bool push_step(struct push *push, uint64_t *pause_ns)
{
	*pause_ns = 0;
	if (push_is_over(push) || !push_spool_next(push->spool, &push->name))
		return false;
	if (push_send(push) == PUSH_LATER) {
		*pause_ns = push_pause(push);
		return false;
	}
	push_spool_remove(push->spool, &push->name);
	return true;
}

static void *push_work(void *context)
{
	struct push *const push = context;

	cpus_use_all();
	pthread_mutex_lock(&push->lock);
	for (;;) {
		const bool is_last = push->is_closing;
		uint64_t pause_ns;

		push->has_news = false;
		pthread_mutex_unlock(&push->lock);
		const bool has_more = push_step(push, &pause_ns);

		pthread_mutex_lock(&push->lock);
		if (has_more)
			continue;
		if (is_last)
			break;
		if (pause_ns)
			push_wait_until(push, clock_ns(CLOCK_MONOTONIC) + pause_ns);
		else
			while (!push->has_news && !push->is_closing)
				pthread_cond_wait(&push->change, &push->lock);
	}
	push->has_ended = true;
	const bool is_abandoned = push->is_abandoned;

	pthread_mutex_unlock(&push->lock);
	if (is_abandoned)
		push_free(push);
	return NULL;
}

/* ---- Other threads ---- */

static void push_init_lock(struct push *push)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&push->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&push->change, &attributes);
	pthread_condattr_destroy(&attributes);
}

bool push_check(const char *url, char *why, size_t why_size)
{
	struct push_target target;
	const bool is_good = push_target_parse(url, &target, why, why_size);

	if (is_good)
		push_target_free(&target);
	return is_good;
}

struct push *push_open_limited(const char *url, const char *spool_folder, const struct push_limits *limits, char *why,
			       size_t why_size)
{
	struct push_target target;

	if (!push_target_parse(url, &target, why, why_size))
		return NULL;
	struct push *const push = xcalloc(1, sizeof(*push));
	const struct push_http_options options = {limits->connect_ms, limits->answer_ms, push_is_over, push};

	push->target = push->sending = target;
	push->limits = *limits;
	push->folder = xstrdup(spool_folder);
	push->random = random_seed();
	push_init_lock(push);
	push->spool = push_spool_open(spool_folder, limits->spool_files, limits->spool_bytes, why, why_size);
	push->http = push->spool ? push_http_new(&options) : NULL;
	if (!push->http) {
		if (push->spool)
			snprintf(why, why_size, "%s", strerror(ENOMEM));
	} else {
		/* The thread that calls this may be pinned to one CPU, and the sender must not be. */
		cpus_remember();
		const int error = thread_start_masked(&push->thread, NULL, push_work, push);

		if (!error)
			return push;
		snprintf(why, why_size, "functrace cannot start a thread: %s", strerror(error));
	}
	push_free(push);
	return NULL;
}

struct push *push_open(const char *url, const char *spool_folder, char *why, size_t why_size)
{
	return push_open_limited(url, spool_folder, &push_limits, why, why_size);
}

void push_interval(struct push *push, const struct watch_interval *interval)
{
	struct buf parcel = {0};
	size_t dropped = 0;
	int error = push_parcel_write(interval, push_target_is_unsigned(&push->target), &parcel);

	if (!error)
		error = push_spool_add(push->spool, interval->end_ns, parcel.data, parcel.size, &dropped);
	buf_free(&parcel);
	if (error && push_count(push, LOSS_NOT_STORED, 1))
		msg_warn("a profile for %s is lost, because it cannot be stored in %s: %s", push->target.shown,
			 push->folder, strerror(-error));
	if (push_count(push, LOSS_SPOOL_FULL, dropped))
		msg_warn("profiles for %s are lost: %s is full, and the oldest profiles are discarded",
			 push->target.shown, push->folder);
	pthread_mutex_lock(&push->lock);
	push->has_news = true;
	pthread_cond_signal(&push->change);
	pthread_mutex_unlock(&push->lock);
}

static void push_report(struct push *push)
{
	static const char *const reasons[LOSSES] = {
		[LOSS_REFUSED] = "the receiver has refused them",
		[LOSS_SPOOL_FULL] = "too many waited to be sent",
		[LOSS_NOT_STORED] = "they could not be stored",
		[LOSS_DAMAGED] = "their files were damaged",
	};
	struct push_spool_name name = {""};
	const size_t left = push_spool_next(push->spool, &name);

	for (size_t i = 0; i < LOSSES; i++)
		if (push->losses[i])
			msg_warn("profiles for %s that are lost, because %s: %" PRIu64, push->target.shown, reasons[i],
				 push->losses[i]);
	if (left)
		msg_warn("profiles that could not be sent to %s yet: %zu. They are in %s, and a watch "
			 "that uses this folder sends them",
			 push->target.shown, left, push->folder);
}

void push_close(struct push *push)
{
	struct timespec until;

	pthread_mutex_lock(&push->lock);
	push->is_closing = true;
	push->end_ns = clock_ns(CLOCK_MONOTONIC) + push->limits.close_ms * NS_PER_MS;
	pthread_cond_signal(&push->change);
	pthread_mutex_unlock(&push->lock);
	const uint64_t until_ns = clock_ns(CLOCK_REALTIME) + (push->limits.close_ms + LATE_CLOSE_MS) * NS_PER_MS;

	until = (struct timespec){(time_t)(until_ns / NS_PER_SECOND), (long)(until_ns % NS_PER_SECOND)};
	/* libcurl may wait longer, as for a name server that does not answer. Then the thread is left to itself. */
	const bool has_ended = pthread_timedjoin_np(push->thread, NULL, &until) == 0;

	pthread_mutex_lock(&push->lock);
	push_report(push);
	if (!has_ended && !push->has_ended) {
		push->is_abandoned = true;
		pthread_detach(push->thread);
		pthread_mutex_unlock(&push->lock);
		return;
	}
	pthread_mutex_unlock(&push->lock);
	if (!has_ended)
		pthread_join(push->thread, NULL);
	push_free(push);
}
