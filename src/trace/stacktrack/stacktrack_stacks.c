/* Parses the stacks of a StackTrack trace, stores stacks that have a number, and limits the memory for the trace. */
#include "config.h"
#include "trace/digits.h"
#include "trace/stacktrack/stacktrack_read.h"
#include "trace/stacktrack/stacktrack_words.h"

#include <inttypes.h>
#include <string.h>

int stacktrack_keep(struct reader *reader, size_t bytes, size_t released)
{
	struct stacktrack_reader *s = reader->state;

	s->kept = s->kept + bytes - released;
	if (s->kept > (size_t)STACKTRACK_KEPT_MIB << 20)
		return reader_damage(reader, 0,
				     "names, numbered stacks, and texts without an end, take more than %d MiB",
				     STACKTRACK_KEPT_MIB);
	return 1;
}

/* The words in the text of a stack other than its frames. */
struct stack_words {
	bool has_number;
	uint64_t number;
	enum stack_end end;
};

/* Parses the next frame of a stack: its address, and its text (NULL if it has none). Returns false after the last
 * frame. Most frames are an address without a text, so this form is tried first. */
static bool next_frame(char **at, uint64_t *address, const char **text, struct stack_words *words)
{
	struct word word;

	for (;;) {
		const char *const after = **at == '0' && (*at)[1] == 'x' ? take_hexadecimal(*at + 2, address) : NULL;

		*text = NULL;
		if (after && (!*after || *after == ' ')) {
			*at += after - *at + (*after == ' ');
			return true;
		}
		if (!next_word(at, &word))
			return false;
		if (word_is(&word, "end")) {
			words->end = !strcmp(word.value, "cut") ? STACK_CUT : STACK_LOST;
		} else if (word_is(&word, "stack")) {
			words->has_number = true;
			words->number = word_number(&word);
		}
		if (strncmp(word.key, "0x", 2) != 0 || !parse_number(word.key, UINT64_MAX, address))
			continue;
		*text = *word.value ? word.value : NULL;
		return true;
	}
}

/* Parses the frames in the text of process->entry into process->frames. Returns their number. */
static uint32_t parse_frames(struct stacktrack_process *process, struct stack_words *words, bool *named)
{
	uint32_t count = 0;
	uint64_t address;
	const char *text;

	/* The names of frames point into this copy, because the entry's text changes before the call is returned. */
	process->frames_text.size = 0;
	buf_add(&process->frames_text, process->entry.text.data, process->entry.text.size + 1);
	for (char *at = (char *)process->frames_text.data; next_frame(&at, &address, &text, words);) {
		ARRAY_GROW(process->frames, process->frame_capacity, count);
		ARRAY_GROW(process->texts, process->text_capacity, count);
		process->texts[count] = text;
		*named |= text != NULL;
		process->frames[count++] = address;
	}
	return count;
}

/* Stores the stack of process->call under the stack's number. This may overwrite the frames of an earlier call whose
 * stack had the same number, but that call has been returned already. */
static int keep_stack(struct reader *reader, struct stacktrack_process *process, uint64_t number)
{
	const struct record_call *const call = &process->call;
	const size_t size = call->frame_count * sizeof(*call->frames);
	struct stacktrack_stack *stack = hash_get_ptr(&process->stacks, number);
	const size_t released = stack ? STACKTRACK_KEPT_EACH + stack->count * sizeof(*stack->frames) : 0;

	if (!stack) {
		stack = xcalloc(1, sizeof(*stack));
		hash_set_ptr(&process->stacks, number, stack);
	}
	stack->frames = xreallocarray(stack->frames, call->frame_count + 1u, sizeof(*stack->frames));
	if (size)
		memcpy(stack->frames, call->frames, size);
	stack->count = call->frame_count;
	stack->end = call->end;
	stack->cycle = process->cycles;
	return stacktrack_keep(reader, STACKTRACK_KEPT_EACH + size, released);
}

void stacktrack_refer(struct reader *reader, struct stacktrack_process *process, uint64_t number)
{
	struct record_call *const call = &process->call;
	const struct stacktrack_stack *const stack = hash_get_ptr(&process->stacks, number);

	call->has_frames = true;
	if (!stack || stack->cycle != process->cycles) {
		reader_complain(reader,
				"the call at byte %" PRIu64 " has stack %" PRIu64 ", which no earlier call has defined",
				reader_offset(reader), number);
		call->end = STACK_LOST;
		return;
	}
	call->frames = stack->frames;
	call->frame_count = stack->count;
	call->end = stack->end;
}

int stacktrack_take_backtrace(struct reader *reader, struct stacktrack_process *process)
{
	struct record_call *const call = &process->call;
	struct stack_words words = {.end = STACK_WHOLE};
	bool named = false;

	call->has_frames = true;
	call->frame_count = parse_frames(process, &words, &named);
	call->frames = process->frames;
	call->frame_texts = named ? process->texts : NULL;
	call->end = words.end;
	return words.has_number && !named ? keep_stack(reader, process, words.number) : 1;
}
