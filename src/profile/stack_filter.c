#include "config.h"
#include "profile/stack_filter.h"
#include "analysis/trace_writer.h"
#include "base/glob.h"
#include "base/terminal_escape.h"
#include "profile/resolve.h"

#include <stdlib.h>
#include <string.h>

/* The verdict on a stack, together with the function that was called there. */
struct stack_filter_verdict {
	struct stack_filter_verdict *next;
	const char *function; /* interned */
	unsigned kind;        /* kind of the leak, as a set with one bit */
	bool fits;
	size_t suppression; /* 1 + index of the suppression that matches; 0: none */
};

struct stack_filter {
	struct stack_filter_options options;
	struct stack_judge judge;
	const struct stage *leaks; /* NULL: all leaks are taken as definitely lost */
	struct names *names;
	struct account account; /* only its object map is used */
	struct profile *profile;
	struct resolver resolver;
	struct stack_pool stacks; /* stack.user points to a list of struct stack_filter_verdict */
	struct stack_filter_verdict **verdicts;
	size_t verdict_count, verdict_capacity;
	bool *matched;      /* whether each pattern has matched */
	struct tally *used; /* suppressed blocks of each suppression */
	uint64_t calls;
};

static void stack_filter_note(void *context, const struct record *record)
{
	struct stack_filter *filter = context;
	const uint64_t epoch = filter->account.objects.epoch;

	if (record->type != RECORD_PROCESS && record->type != RECORD_OBJECT && record->type != RECORD_BUILD_ID)
		return;
	output_feed_names(filter->names, &filter->account.objects, record);
	account_put(&filter->account, record);
	if (filter->account.objects.epoch != epoch)
		resolver_forget(&filter->resolver);
}

/* Returns the length of the name in "name(parameters) const". */
static size_t stack_filter_plain_length(const char *name)
{
	const char *const close = strrchr(name, ')');
	size_t depth = 0;

	for (const char *p = close; p && p > name; p--) {
		depth += *p == ')';
		if (*p == '(' && !--depth)
			return (size_t)(p - name);
	}
	return strlen(name);
}

static bool stack_filter_is_function(const char *pattern, const char *name)
{
	if (!name)
		return false;
	if (glob_matches(pattern, name))
		return true;
	char *const plain = xstrndup(name, stack_filter_plain_length(name));
	const bool matches = *plain && glob_matches(pattern, plain);

	free(plain);
	return matches;
}

static bool stack_filter_is_object(const char *pattern, const char *path)
{
	return path && (glob_matches(pattern, path) || glob_matches(pattern, path_name(path)));
}

static bool has_match(const struct stack_filter *filter, const struct stack_pattern *pattern, const char *function)
{
	const struct resolver *resolver = &filter->resolver;

	if (pattern->kind != STACK_OBJECT && stack_filter_is_function(pattern->text, function))
		return true;
	for (size_t i = 0; i < resolver->frame_count; i++) {
		const struct profile_frame *frame = resolver->frames[i];

		if (pattern->kind == STACK_OBJECT ? stack_filter_is_object(pattern->text, frame->module)
						  : stack_filter_is_function(pattern->text, frame->function))
			return true;
	}
	return false;
}

static bool fits_patterns(struct stack_filter *filter, const char *function)
{
	bool asked[STACK_PATTERN_KINDS] = {0}, found[STACK_PATTERN_KINDS] = {0};

	for (size_t i = 0; i < filter->options.pattern_count; i++) {
		const struct stack_pattern *pattern = &filter->options.patterns[i];
		const bool matches = has_match(filter, pattern, function);

		asked[pattern->kind] = true;
		found[pattern->kind] |= matches;
		filter->matched[i] |= matches;
	}
	for (size_t kind = 0; kind < STACK_PATTERN_KINDS; kind++)
		if (asked[kind] && found[kind] == (kind == STACK_NOT_FUNCTION))
			return false;
	return true;
}

static struct stack_filter_verdict *judge_stack(struct stack_filter *filter, struct stack *stack, const char *function,
						unsigned kind)
{
	struct suppressions *const suppressions = filter->options.suppressions;
	struct stack_filter_verdict *verdict = xmalloc(sizeof(*verdict));

	resolve_stack(&filter->resolver, stack);
	*verdict = (struct stack_filter_verdict){
		.next = stack->user, .function = function, .kind = kind, .fits = fits_patterns(filter, function)};
	if (verdict->fits && suppressions) {
		const struct suppression *found = suppressions_find(
			suppressions, kind, function, filter->resolver.frames, filter->resolver.frame_count);

		verdict->suppression = found ? 1 + (size_t)(found - suppressions->items) : 0;
		verdict->fits = !found;
	}
	stack->user = verdict;
	ARRAY_GROW(filter->verdicts, filter->verdict_capacity, filter->verdict_count);
	filter->verdicts[filter->verdict_count++] = verdict;
	return verdict;
}

static bool stack_filter_fits(void *context, const struct record_call *call)
{
	struct stack_filter *filter = context;
	const struct record_call none = {0};
	struct stack *stack = stack_intern(&filter->stacks, call->has_frames ? call : &none);
	const char *function = string_intern(&filter->profile->strings, string_or_empty(call->function));
	const unsigned kind = filter->leaks ? leaks_kind(filter->leaks) : LEAK_KIND(LOST_DEFINITELY);
	const struct stack_filter_verdict *verdict = stack->user;

	filter->calls++;
	while (verdict && (verdict->function != function || verdict->kind != kind))
		verdict = verdict->next;
	if (!verdict)
		verdict = judge_stack(filter, stack, function, kind);
	if (verdict->suppression)
		tally_add(&filter->used[verdict->suppression - 1], call->size);
	return verdict->fits;
}

void stack_filter_report(const struct stack_filter *filter, struct buf *out)
{
	for (size_t i = 0; filter->calls && i < filter->options.pattern_count; i++) {
		const struct stack_pattern *pattern = &filter->options.patterns[i];

		if (!filter->matched[i] && pattern->kind != STACK_NOT_FUNCTION)
			buf_printf(out, "%s=%s matches nothing: no allocation goes through such %s\n",
				   pattern->kind == STACK_OBJECT ? "--object" : "--function", pattern->text,
				   pattern->kind == STACK_OBJECT ? "an object" : "a function");
	}
}

void stack_filter_suppressed(const void *context, struct buf *out)
{
	const struct stack_filter *filter = context;
	const struct suppressions *suppressions = filter->options.suppressions;
	char text[SUPPRESSION_USED_MAX];

	for (size_t i = 0; suppressions && i < suppressions->count; i++) {
		const struct suppression *item = &suppressions->items[i];

		if (!filter->used[i].calls)
			continue;
		buf_printf(out, "suppressed: %s: ", suppression_used_text(&filter->used[i], text));
		plain_add(out, item->name);
		if (item->file) {
			buf_add_str(out, " (");
			plain_add(out, item->file);
			buf_printf(out, ":%u)", item->line);
		}
		buf_add_str(out, "\n");
	}
}

void stack_filter_set_leaks(struct stack_filter *filter, const struct stage *leaks)
{
	filter->leaks = leaks;
}

const struct stack_judge *stack_filter_judge(const struct stack_filter *filter)
{
	return &filter->judge;
}

struct stack_filter *stack_filter_new(const struct stack_filter_options *options, struct names *names)
{
	struct stack_filter *filter = xmalloc(sizeof(*filter));

	*filter = (struct stack_filter){
		.options = *options,
		.judge = {.note = stack_filter_note, .fits = stack_filter_fits, .context = filter},
		.names = names,
		.profile = profile_new(),
		.matched = xcalloc(options->pattern_count + 1, sizeof(bool)),
		.used = xcalloc(options->suppressions ? options->suppressions->count + 1 : 1, sizeof(struct tally)),
	};
	for (size_t i = 0; i < options->pattern_count; i++)
		filter->judge.is_picky |= options->patterns[i].kind != STACK_NOT_FUNCTION;
	filter->stacks.objects = &filter->account.objects;
	filter->resolver = (struct resolver){.profile = filter->profile, .account = &filter->account, .names = names};
	return filter;
}

void stack_filter_free(struct stack_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->verdict_count; i++)
		free(filter->verdicts[i]);
	free(filter->verdicts);
	free(filter->matched);
	free(filter->used);
	stack_pool_free(&filter->stacks);
	resolver_free(&filter->resolver);
	profile_free(filter->profile);
	account_free(&filter->account);
	free(filter);
}
