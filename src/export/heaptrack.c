/* Writes a file as heaptrack_interpret does (format version 3), for heaptrack_gui and heaptrack_print: all allocations
 * and releases of memory in order, with stacks and times. The first character of a line is its kind; all numbers are
 * hexadecimal. A "trace" is a stack, an "ip" a place of code. Strings, ips and traces are numbered from 1 (0: none),
 * allocation infos (a size and a trace) from 0.
 *
 * The stage writes lines while it gets the records. It stores the distinct stacks with their names, and the live
 * blocks. */
#include "config.h"
#include "analysis/trace_writer.h"
#include "analysis/baseline_blocks.h"
#include "export/export.h"
#include "profile/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* The version of a heaptrack that writes this format (1.4.0), and the version of the format. */
#define HEAD "v 10400 3\n"
/* Interval, in milliseconds, at which the time is written, as in heaptrack. */
#define CLOCK_STEP 10
/* The size of a page, which is the file's unit of resident memory: 1 KiB, because the kernel shows resident memory in
 * KiB. */
#define PAGE_BYTES 1024
/* Maximum number of stored allocation infos, each of which is written once. When more are stored, all are dropped; then
 * they are written again with new numbers, which readers accept. */
#define INFOS_MAX   (1u << 20)
#define FLUSH_BYTES 65536

/* The value of a block in `live`: in the lower 32 bits the number of its allocation info, in the upper 32 bits its
 * number of references. */
#define INFO_MASK     UINT64_C(0xffffffff)
#define ONE_REFERENCE (INFO_MASK + 1)

struct heaptrack {
	struct stage stage;
	FILE *out;
	struct buf text;         /* lines that are not written to `out` yet */
	struct names *names;     /* finds names; NULL: only the names in the records are used */
	struct account account;  /* used for the process, resources, objects, times and resident memory */
	struct profile *profile; /* interns frames and strings */
	struct resolver resolver;
	uint64_t named_epoch;                 /* epoch of the object map for which resolver and ip_of are valid */
	struct stack_pool stacks;             /* stack->user is the number of the trace */
	struct hash string_of;                /* interned string -> number of the string */
	struct hash ip_of;                    /* address, and its text if the records have one -> number of the ip */
	struct hash trace_of;                 /* numbers of parent trace and ip -> number of the trace */
	struct hash stackless;                /* interned function name -> number of the trace */
	struct hash info_of;                  /* size and number of a trace -> 1 + number of the info */
	struct hash live;                     /* id and resource -> info and references (INFO_MASK) */
	uint64_t strings, ips, traces, infos; /* how many of each were written */
	uint64_t clock;                       /* the time that was written last, in milliseconds */
	uint64_t seed;
	uint64_t resident_peak; /* the greatest resident memory that was written, in bytes; 0: none */
	bool has_begun;
};

static int heaptrack_flush(struct heaptrack *heaptrack)
{
	const bool failed =
		fwrite(heaptrack->text.data, 1, heaptrack->text.size, heaptrack->out) < heaptrack->text.size;

	heaptrack->text.size = 0;
	return failed ? -EIO : 0;
}

static void add_hex(struct buf *text, uint64_t number)
{
	char digits[16];
	size_t i = sizeof(digits);

	do
		digits[--i] = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	buf_add(text, digits + i, sizeof(digits) - i);
}

/* Appends " NUMBER". */
static void heaptrack_add_field(struct buf *text, uint64_t number)
{
	buf_add_char(text, ' ');
	add_hex(text, number);
}

/* Appends a line with its kind and numbers. */
static void heaptrack_add_line(struct buf *text, char kind, const uint64_t *numbers, size_t count)
{
	buf_add_char(text, kind);
	for (size_t i = 0; i < count; i++)
		heaptrack_add_field(text, numbers[i]);
	buf_add_char(text, '\n');
}

#define ADD_LINE(heaptrack, kind, ...)                                                                                 \
	heaptrack_add_line(&(heaptrack)->text, kind, (const uint64_t[]){__VA_ARGS__},                                  \
			   ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})))

/* Returns the number of a string; 0 for NULL. Writes the string first if it is new. */
static uint64_t string_number(struct heaptrack *heaptrack, const char *string)
{
	const char *const interned = string_intern(&heaptrack->profile->strings, string);
	uint64_t *const number = interned ? hash_place(&heaptrack->string_of, (uintptr_t)interned) : NULL;

	if (!number)
		return 0;
	if (!*number) {
		*number = ++heaptrack->strings;
		buf_add_char(&heaptrack->text, 's');
		heaptrack_add_field(&heaptrack->text, strlen(interned));
		buf_add_char(&heaptrack->text, ' ');
		plain_add(&heaptrack->text, interned);
		buf_add_char(&heaptrack->text, '\n');
	}
	return *number;
}

/* Appends the names for an address to its line: function, file and line of each frame, the innermost first. In this
 * format, file and line may be missing only if the frame is the only one. */
static void heaptrack_add_names(struct heaptrack *heaptrack, struct buf *line,
				const struct profile_frame *const *frames, size_t count)
{
	size_t named = 0;

	for (size_t i = 0; i < count; i++) {
		const struct profile_frame *frame = frames[i];

		if (!frame->function)
			continue;
		heaptrack_add_field(line, string_number(heaptrack, frame->function));
		if (!frame->file && !named && i + 1 == count)
			break;
		heaptrack_add_field(line, string_number(heaptrack, frame->file));
		heaptrack_add_field(line, frame->line);
		named++;
	}
}

/* Writes the ip for a return address. Returns the number of the ip. */
static uint64_t add_ip(struct heaptrack *heaptrack, uint64_t address, const struct profile_frame *const *frames,
		       size_t count)
{
	struct buf line = {0};

	buf_add_char(&line, 'i');
	heaptrack_add_field(&line, export_call_address(address));
	heaptrack_add_field(&line, string_number(heaptrack, count ? frames[count - 1]->module : NULL));
	heaptrack_add_names(heaptrack, &line, frames, count);
	buf_add_char(&line, '\n');
	buf_add(&heaptrack->text, line.data, line.size);
	buf_free(&line);
	return ++heaptrack->ips;
}

/* Returns the number of the trace that consists of the ip and, as its outer frames, the trace `parent`. */
static uint64_t trace_number(struct heaptrack *heaptrack, uint64_t parent, uint64_t ip)
{
	uint64_t *const number = hash_place(&heaptrack->trace_of, parent << 32 | ip);

	if (!*number) {
		*number = ++heaptrack->traces;
		ADD_LINE(heaptrack, 't', ip, parent);
	}
	return *number;
}

/* Drops all names if the mapped objects have changed. */
static void forget_unmapped(struct heaptrack *heaptrack)
{
	if (heaptrack->named_epoch == heaptrack->account.objects.epoch)
		return;
	heaptrack->named_epoch = heaptrack->account.objects.epoch;
	resolver_forget(&heaptrack->resolver);
	hash_free(&heaptrack->ip_of);
}

/* Writes a new stack, the outermost frame first. Returns the number of its trace. */
static uint64_t heaptrack_add_stack(struct heaptrack *heaptrack, const struct stack *stack)
{
	struct resolver *const resolver = &heaptrack->resolver;
	uint64_t trace = 0;

	forget_unmapped(heaptrack);
	resolve_stack(resolver, stack);
	size_t end = resolver->frame_count;

	for (uint32_t i = stack->count; i-- > 0;) {
		const char *const text = stack->texts ? stack->texts[i] : NULL;
		const uint64_t key = text ? hash_mix((uintptr_t)text) ^ stack->frames[i] : stack->frames[i];
		size_t begin = end - 1;

		while (begin > 0 && resolver->frames[begin - 1]->inlined)
			begin--;
		uint64_t *const ip = hash_place(&heaptrack->ip_of, key);

		if (!*ip)
			*ip = add_ip(heaptrack, stack->frames[i], resolver->frames + begin, end - begin);
		trace = trace_number(heaptrack, trace, *ip);
		end = begin;
	}
	return trace;
}

/* Returns the number of the trace for an allocation without a stack. Its only frame is the called function. */
static uint64_t stackless_number(struct heaptrack *heaptrack, const char *function)
{
	const struct profile_frame frame = {
		.function = string_intern(&heaptrack->profile->strings, function ? function : "?")};
	uint64_t *const number = hash_place(&heaptrack->stackless, (uintptr_t)frame.function);

	if (!*number) {
		const uint64_t ip = add_ip(heaptrack, 0, &(const struct profile_frame *){&frame}, 1);

		*number = trace_number(heaptrack, 0, ip);
	}
	return *number;
}

static uint64_t stack_number(struct heaptrack *heaptrack, const struct record_call *call)
{
	if (!call->has_frames || !call->frame_count)
		return stackless_number(heaptrack, call->function);
	struct stack *const stack = stack_intern(&heaptrack->stacks, call);

	if (!stack->user)
		stack->user = (void *)(uintptr_t)heaptrack_add_stack(heaptrack, stack);
	return (uintptr_t)stack->user;
}

static uint64_t info_number(struct heaptrack *heaptrack, uint64_t size, uint64_t trace)
{
	/* A size that does not fit into the key is rare, so its info is written each time. */
	uint64_t *const place = size >> 32 ? NULL : hash_place(&heaptrack->info_of, size << 32 | trace);

	if (place && *place)
		return *place - 1;
	if (place)
		*place = heaptrack->infos + 1;
	ADD_LINE(heaptrack, 'a', size, trace);
	if (heaptrack->info_of.count > INFOS_MAX)
		hash_free(&heaptrack->info_of);
	return heaptrack->infos++;
}

static void put_allocation(struct heaptrack *heaptrack, const struct resource_state *which,
			   const struct record_call *call, uint64_t key)
{
	uint64_t *const block = hash_place(&heaptrack->live, key);

	if (*block && which->flags & RESOURCE_REFCOUNT) {
		*block += ONE_REFERENCE;
		return;
	}
	/* If the id is still live, the release of its previous block was not recorded: writes that release. */
	if (*block)
		ADD_LINE(heaptrack, '-', *block & INFO_MASK);
	*block = ONE_REFERENCE | info_number(heaptrack, call->size, stack_number(heaptrack, call));
	ADD_LINE(heaptrack, '+', *block & INFO_MASK);
}

static void heaptrack_put_release(struct heaptrack *heaptrack, uint64_t key)
{
	uint64_t *const block = hash_get(&heaptrack->live, key);

	if (!block || (*block -= ONE_REFERENCE) > INFO_MASK)
		return;
	ADD_LINE(heaptrack, '-', *block & INFO_MASK);
	hash_remove(&heaptrack->live, key, NULL);
}

/* Writes the time if it is at least `step` milliseconds after the time that was written last. */
static void add_clock(struct heaptrack *heaptrack, uint64_t step)
{
	const uint64_t now = heaptrack->account.has_times ? heaptrack->account.last.since / 1000000 : 0;

	if (now < heaptrack->clock + step)
		return;
	heaptrack->clock = now;
	ADD_LINE(heaptrack, 'c', now);
}

static void heaptrack_put_call(struct heaptrack *heaptrack, const struct record_call *call)
{
	const struct resource_state *const which = resources_of(&heaptrack->account.resources, call->resource);
	const uint64_t key = call->id ^ hash_mix(heaptrack->seed + which->id);

	account_next_moment(&heaptrack->account, call);
	if (!is_heap_type(which->type) || which->flags & RESOURCE_CALL || call->kind == CALL_COPY)
		return;
	add_clock(heaptrack, CLOCK_STEP);
	if (call->kind == CALL_RELEASE)
		heaptrack_put_release(heaptrack, key);
	else
		put_allocation(heaptrack, which, call, key);
}

/* Writes blocks from before the trace as allocations. */
static void heaptrack_put_baseline(struct heaptrack *heaptrack, const struct record_baseline *baseline)
{
	const struct resource_state *const which = resources_of(&heaptrack->account.resources, baseline->resource);

	for (uint32_t i = 0; i < baseline->count && is_heap_type(which->type); i++) {
		const struct record_call call = baseline_call(baseline, i);
		const uint64_t key = call.id ^ hash_mix(heaptrack->seed + which->id);

		if (!hash_get(&heaptrack->live, key))
			put_allocation(heaptrack, which, &call, key);
	}
}

/* Writes the resident memory. Readers show the greatest value as the peak, so a peak since the last record is written,
 * too. The machine's number of pages is unknown, so it is written as 0. */
static void heaptrack_put_resident(struct heaptrack *heaptrack)
{
	const struct resident *const resident = &heaptrack->account.resident;

	if (!heaptrack->resident_peak)
		ADD_LINE(heaptrack, 'I', PAGE_BYTES, 0);
	add_clock(heaptrack, 1);
	if (resident->peak > heaptrack->resident_peak && resident->peak > resident->last)
		ADD_LINE(heaptrack, 'R', resident->peak / PAGE_BYTES);
	ADD_LINE(heaptrack, 'R', resident->last / PAGE_BYTES);
	if (resident->peak > heaptrack->resident_peak)
		heaptrack->resident_peak = resident->peak;
	if (resident->last > heaptrack->resident_peak)
		heaptrack->resident_peak = resident->last;
}

static void heaptrack_put_process(struct heaptrack *heaptrack)
{
	if (heaptrack->has_begun)
		return;
	heaptrack->has_begun = true;
	buf_add_str(&heaptrack->text, HEAD "X ");
	plain_add(&heaptrack->text, export_command(&heaptrack->account));
	buf_add_str(&heaptrack->text, heaptrack->account.is_attached ? "\nA\n" : "\n");
}

static int heaptrack_put(struct stage *stage, const struct record *record)
{
	struct heaptrack *const heaptrack = (struct heaptrack *)stage;

	if (record->type == RECORD_CALL) {
		heaptrack_put_call(heaptrack, &record->call);
	} else if (record->type == RECORD_BASELINE) {
		heaptrack_put_baseline(heaptrack, &record->baseline);
	} else {
		output_feed_names(heaptrack->names, &heaptrack->account.objects, record);
		account_put(&heaptrack->account, record);
		if (record->type == RECORD_PROCESS)
			heaptrack_put_process(heaptrack);
		else if (record->type == RECORD_RESIDENT)
			heaptrack_put_resident(heaptrack);
	}
	return heaptrack->text.size < FLUSH_BYTES ? 0 : heaptrack_flush(heaptrack);
}

static int heaptrack_finish(struct stage *stage)
{
	struct heaptrack *const heaptrack = (struct heaptrack *)stage;

	account_end(&heaptrack->account);
	add_clock(heaptrack, 1);
	return heaptrack_flush(heaptrack);
}

static void heaptrack_stage_free(struct stage *stage)
{
	struct heaptrack *const heaptrack = (struct heaptrack *)stage;

	hash_free(&heaptrack->string_of);
	hash_free(&heaptrack->ip_of);
	hash_free(&heaptrack->trace_of);
	hash_free(&heaptrack->stackless);
	hash_free(&heaptrack->info_of);
	hash_free(&heaptrack->live);
	stack_pool_free(&heaptrack->stacks);
	resolver_free(&heaptrack->resolver);
	profile_free(heaptrack->profile);
	account_free(&heaptrack->account);
	buf_free(&heaptrack->text);
	free(heaptrack);
}

static struct stage *heaptrack_new(const struct export_options *options, FILE *out)
{
	struct heaptrack *const heaptrack = xmalloc(sizeof(*heaptrack));

	*heaptrack = (struct heaptrack){
		.stage = {.put = heaptrack_put, .finish = heaptrack_finish, .free = heaptrack_stage_free},
		.out = out,
		.names = options->names,
		.profile = profile_new(),
		.seed = random_seed(),
		.account = {.clock = options->clock},
	};
	heaptrack->stacks.objects = &heaptrack->account.objects;
	heaptrack->resolver = (struct resolver){
		.profile = heaptrack->profile, .account = &heaptrack->account, .names = options->names};
	return &heaptrack->stage;
}

const struct export export_heaptrack = {
	.name = "heaptrack",
	.suffix = ".heaptrack",
	.stage_new = heaptrack_new,
};
