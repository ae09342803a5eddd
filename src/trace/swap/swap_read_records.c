/* Queues the records of the SWAP reader, and finds names in the map file. */
#include "config.h"
#include "trace/swap/swap_read.h"

const char *swap_name_of(const struct swap_reader *s, uint64_t number)
{
	return hash_get_ptr(&s->map, number);
}

void swap_push(struct swap_reader *s, const struct record *record)
{
	ARRAY_GROW(s->records, s->record_capacity, s->record_count);
	s->records[s->record_count++] = *record;
}

char *swap_keep(struct swap_reader *s, const char *text)
{
	ARRAY_GROW(s->strings, s->string_capacity, s->string_count);
	return s->strings[s->string_count++] = xstrdup(text);
}

void swap_push_note(struct swap_reader *s, const char *text)
{
	swap_push(s, &(struct record){.type = RECORD_NOTE, .note = {text}});
}
