#include "config.h"
#include "arch/path.h"

#include <string.h>

static const struct path_value unknown = {PATH_UNKNOWN, 0, 0};

void path_begin(struct path_state *state, const struct arch *arch, uint64_t address, bool is_entry)
{
	const uint64_t kept = arch->dwarf.preserved | 1ull << arch->dwarf.sp;

	*state = (struct path_state){.arch = arch, .address = address};
	for (unsigned i = 0; i < arch->dwarf.registers && i < PATH_REGISTERS; i++)
		if (is_entry || kept >> i & 1)
			state->registers[i] = (struct path_value){PATH_REGISTER, (unsigned char)i, 0};
}

struct path_value path_sum(struct path_value value, int64_t number)
{
	const int64_t offset = value.offset + number;

	if (value.kind != PATH_REGISTER || offset != (int32_t)offset)
		return unknown;
	value.offset = (int32_t)offset;
	return value;
}

struct path_value path_load(const struct path_state *state, struct path_value place)
{
	if (place.kind != PATH_REGISTER)
		return unknown;
	for (unsigned i = state->word_count; i-- > 0;)
		if (state->words[i].base == place.base && state->words[i].place == place.offset)
			return state->words[i].value;
	if (place.base == state->arch->dwarf.sp && place.offset < state->dead_below)
		return unknown;
	place.kind = PATH_MEMORY;
	return place;
}

bool path_move_sp(struct path_state *state, int64_t change)
{
	struct path_value *sp = &state->registers[state->arch->dwarf.sp];

	*sp = path_sum(*sp, change);
	if (sp->kind != PATH_REGISTER)
		return false;
	while (state->word_count) {
		const struct path_word *last = &state->words[state->word_count - 1];

		if (last->base != sp->base || last->place >= sp->offset)
			break;
		state->word_count--;
	}
	return true;
}

bool path_store(struct path_state *state, struct path_value place, struct path_value value)
{
	if (place.kind != PATH_REGISTER)
		return true; /* only words at addresses relative to a register's first value are remembered */
	for (unsigned i = 0; i < state->word_count; i++)
		if (state->words[i].base == place.base && state->words[i].place == place.offset) {
			state->words[i].value = value;
			return true;
		}
	if (state->word_count == PATH_WORDS)
		return false;
	state->words[state->word_count++] = (struct path_word){place.base, place.offset, value};
	return true;
}

bool path_ends(struct path_value number, const unsigned short *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (number.kind == PATH_NUMBER && number.offset == numbers[i])
			return true;
	return false;
}

void path_call(struct path_state *state, uint64_t preserved)
{
	const struct path_value *sp = &state->registers[state->arch->dwarf.sp];

	state->has_called = true;
	for (unsigned i = 0; i < PATH_REGISTERS; i++)
		if (i != state->arch->dwarf.sp && !(preserved >> i & 1))
			state->registers[i] = unknown;
	if (sp->kind == PATH_REGISTER && sp->base == state->arch->dwarf.sp && sp->offset > state->dead_below)
		state->dead_below = sp->offset;
}
