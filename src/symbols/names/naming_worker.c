#include "config.h"
#include "symbols/names/naming_worker.h"
#include "symbols/names/name_file.h"
#include "base/buf.h"
#include "base/worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KNOWN_MAX 1000000 /* maximum number of addresses that are kept; beyond it, all are dropped */

struct namer {
	struct worker *worker;
	struct names *files; /* used only by the worker: owns the files that all struct naming share */
};

struct naming {
	struct worker *worker;
	struct names *names; /* used only by the worker */
	struct hash known;   /* address -> struct named_address */
	struct named_address *gone;
	size_t gone_count;
	struct string_pool strings;
	struct question *first, **end; /* open questions, in the order in which they were sent */
	struct named_address *const *shown;
	size_t shown_count, next_shown;
};

/* ---- Jobs without an answer: objects ---- */

struct news {
	struct worker_job job;
	struct names *names;
	uint64_t from, to;
	char *path, *open_path, *build_id;
};

static void naming_take_object(struct worker_job *job)
{
	const struct news *const news = (const struct news *)job;

	names_add_object(news->names, &(struct record_object){news->from, news->to, news->path}, news->open_path);
}

static void naming_take_build_id(struct worker_job *job)
{
	const struct news *const news = (const struct news *)job;

	names_add_build_id(news->names, &(struct record_build_id){news->from, news->build_id});
}

static void naming_take_end(struct worker_job *job)
{
	names_free(((struct news *)job)->names);
}

static void news_free(struct worker_job *job)
{
	struct news *const news = (struct news *)job;

	free(news->path);
	free(news->open_path);
	free(news->build_id);
	free(news);
}

static void worker_inform(struct worker *worker, struct names *names, void (*work)(struct worker_job *job),
			  const struct news *what)
{
	struct news *const news = xmalloc(sizeof(*news));

	*news = *what;
	news->job = (struct worker_job){.work = work, .end = news_free};
	news->names = names;
	worker_give(worker, &news->job);
	worker_drop(worker, &news->job);
}

/* ---- Questions ---- */

struct naming_answer {
	struct named_address *to; /* the entry that gets the answer; the worker does not use it */
	uint64_t address;
	size_t first, count; /* the answer's lines in question.lines */
};

/* A line of an answer. Strings are offsets in the question's texts; 0: none. */
struct answer_line {
	size_t function, module, file;
	unsigned line;
	bool inlined;
};

struct question {
	struct worker_job job;
	struct question *next;
	struct names *names;
	struct answer_line *lines;
	size_t line_count, line_capacity;
	struct buf texts;
	size_t count;
	struct naming_answer answers[];
};

static size_t naming_add_text(struct question *question, const char *text)
{
	const size_t place = question->texts.size;

	if (!text)
		return 0;
	buf_add(&question->texts, text, strlen(text) + 1);
	return place;
}

static void answer_one(struct question *question, struct naming_answer *answer)
{
	const struct frame_name *lines;

	answer->first = question->line_count;
	answer->count = names_lookup(question->names, answer->address, &lines);
	for (size_t i = 0; i < answer->count; i++) {
		ARRAY_GROW(question->lines, question->line_capacity, question->line_count);
		question->lines[question->line_count++] = (struct answer_line){
			.function = naming_add_text(question, lines[i].function),
			.module = naming_add_text(question, lines[i].module),
			.file = naming_add_text(question, lines[i].file),
			.line = lines[i].line,
			.inlined = lines[i].inlined,
		};
	}
}

static void answer_all(struct worker_job *job)
{
	struct question *const question = (struct question *)job;

	buf_add_char(&question->texts, '\0'); /* so that no text is at offset 0 */
	for (size_t i = 0; i < question->count; i++)
		answer_one(question, &question->answers[i]);
}

static void question_free(struct worker_job *job)
{
	struct question *const question = (struct question *)job;

	free(question->lines);
	buf_free(&question->texts);
	free(question);
}

static const char *naming_text_at(struct naming *naming, const struct question *question, size_t place)
{
	return place ? string_keep(&naming->strings, (const char *)question->texts.data + place) : NULL;
}

static void take_answer(struct naming *naming, const struct question *question, const struct naming_answer *answer)
{
	struct named_address *const to = answer->to;

	to->lines = answer->count ? xcalloc(answer->count, sizeof(*to->lines)) : NULL;
	for (size_t i = 0; i < answer->count; i++) {
		const struct answer_line *const line = &question->lines[answer->first + i];

		to->lines[i] = (struct frame_name){
			.function = naming_text_at(naming, question, line->function),
			.module = naming_text_at(naming, question, line->module),
			.file = naming_text_at(naming, question, line->file),
			.line = line->line,
			.inlined = line->inlined,
		};
	}
	to->count = answer->count;
	to->is_known = true;
}

static void take_first(struct naming *naming)
{
	struct question *const question = naming->first;

	for (size_t i = 0; i < question->count; i++)
		take_answer(naming, question, &question->answers[i]);
	naming->first = question->next;
	if (!naming->first)
		naming->end = &naming->first;
	question_free(&question->job);
}

void naming_take(struct naming *naming)
{
	while (naming->first && worker_is_done(&naming->first->job))
		take_first(naming);
}

bool naming_is_waiting(const struct naming *naming)
{
	return naming->first != NULL;
}

bool naming_wait(struct naming *naming, uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	naming_take(naming);
	while (naming->first) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= end || !worker_wait(naming->worker, &naming->first->job, end - now))
			break;
		naming_take(naming);
	}
	return !naming->first;
}

/* ---- Known addresses ---- */

static void address_free(struct named_address *named)
{
	free(named->lines);
	free(named);
}

void naming_is_over(struct naming *naming)
{
	struct named_address *next;

	if (naming->first)
		return; /* answers that have not come yet refer to these entries */
	for (struct named_address *named = naming->gone; named; named = next) {
		next = named->next_gone;
		address_free(named);
	}
	naming->gone = NULL;
	naming->gone_count = 0;
}

static void naming_forget(struct naming *naming, struct named_address *named)
{
	hash_remove(&naming->known, named->address, NULL);
	named->next_gone = naming->gone;
	naming->gone = named;
	naming->gone_count++;
}

static void forget_between(struct naming *naming, uint64_t start, uint64_t end)
{
	size_t count;
	uint64_t *const keys = hash_keys_between(&naming->known, start, end, &count);

	for (size_t i = 0; i < count; i++)
		naming_forget(naming, hash_get_ptr(&naming->known, keys[i]));
	free(keys);
}

static struct question *question_new(struct naming *naming, size_t room)
{
	struct question *const question = xcalloc(1, sizeof(*question) + room * sizeof(question->answers[0]));

	question->job = (struct worker_job){.work = answer_all, .end = question_free};
	question->names = naming->names;
	return question;
}

static void naming_query(struct naming *naming, struct question *question)
{
	*naming->end = question;
	naming->end = &question->next;
	worker_give(naming->worker, &question->job);
}

bool naming_ask(struct naming *naming, const uint64_t *addresses, size_t count, struct named_address **names)
{
	struct question *question = NULL;
	bool is_known = true;

	if (naming->known.count >= KNOWN_MAX)
		forget_between(naming, 0, UINT64_MAX);
	for (size_t i = 0; i < count; i++) {
		names[i] = hash_get_ptr(&naming->known, addresses[i]);
		if (!names[i]) {
			names[i] = xcalloc(1, sizeof(*names[i]));
			names[i]->address = addresses[i];
			hash_set_ptr(&naming->known, addresses[i], names[i]);
			if (!question)
				question = question_new(naming, count - i);
			question->answers[question->count++] =
				(struct naming_answer){.to = names[i], .address = addresses[i]};
		}
		is_known &= names[i]->is_known;
	}
	if (question)
		naming_query(naming, question);
	return is_known;
}

bool naming_is_known(struct named_address *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!names[i]->is_known)
			return false;
	return true;
}

/* ---- Beginning and end ---- */

struct namer *namer_new(void)
{
	struct namer *const namer = xcalloc(1, sizeof(*namer));

	namer->worker = worker_new("ft-names");
	namer->files = names_new(&(struct names_options){0});
	return namer;
}

void namer_end(struct namer *namer)
{
	if (!namer)
		return;
	worker_inform(namer->worker, namer->files, naming_take_end, &(struct news){0});
	worker_end(namer->worker);
	free(namer);
}

struct worker *namer_worker(struct namer *namer)
{
	return namer->worker;
}

size_t naming_gone(const struct naming *naming)
{
	return naming->gone_count;
}

struct naming *naming_new(struct namer *namer)
{
	struct naming *const naming = xcalloc(1, sizeof(*naming));

	naming->worker = namer->worker;
	naming->names = names_new(&(struct names_options){.holds_files = true, .shares = namer->files});
	naming->end = &naming->first;
	return naming;
}

void naming_end(struct naming *naming)
{
	struct question *next;

	if (!naming)
		return;
	for (struct question *question = naming->first; question; question = next) {
		next = question->next;
		worker_drop(naming->worker, &question->job);
	}
	naming->first = NULL;
	worker_inform(naming->worker, naming->names, naming_take_end, &(struct news){0});
	HASH_EACH_PTR(struct named_address, address, &naming->known)
		address_free(address);
	hash_free(&naming->known);
	naming_is_over(naming);
	string_pool_free(&naming->strings);
	free(naming);
}

void naming_add_object(struct naming *naming, const struct record_object *object, const char *open_path)
{
	/* A return address is looked up by the address of the byte before it, so the range of return addresses begins
	 * and ends one byte later than the object. */
	if (object->from < object->to)
		forget_between(naming, object->from + 1, object->to + 1);
	worker_inform(naming->worker, naming->names, naming_take_object,
		      &(struct news){.from = object->from,
				     .to = object->to,
				     .path = xstrdup_or_null(object->path),
				     .open_path = xstrdup_or_null(open_path)});
}

void naming_add_build_id(struct naming *naming, const struct record_build_id *build_id)
{
	worker_inform(naming->worker, naming->names, naming_take_build_id,
		      &(struct news){.from = build_id->from, .build_id = xstrdup_or_null(build_id->hex)});
}

void naming_show(struct naming *naming, struct named_address *const *names, size_t count)
{
	naming->shown = names;
	naming->shown_count = count;
	naming->next_shown = 0;
}

size_t naming_lookup(void *context, uint64_t address, const struct frame_name **lines)
{
	struct naming *const naming = context;

	/* Most callers ask in the order of `shown`. */
	for (size_t tried = 0; tried < naming->shown_count; tried++) {
		const struct named_address *const named = naming->shown[naming->next_shown];

		naming->next_shown = (naming->next_shown + 1) % naming->shown_count;
		if (named->address != address)
			continue;
		*lines = named->lines;
		return named->count;
	}
	return 0;
}
