#include "config.h"
#include "args/fetch.h"

/* Reads the floating point register set only once, when the first value in it is needed, and keeps it in g->floats. */
size_t fetch_floats(struct gathering *g, uint32_t at, void *to, size_t size)
{
	const struct args_source *source = g->s->source;

	if (!g->has_floats) {
		const size_t count = source->floats(source->context, g->floats, sizeof(g->floats));

		g->has_floats = true;
		g->floats_size = count < sizeof(g->floats) ? count : sizeof(g->floats);
	}
	if (at >= g->floats_size || g->floats_size - at < size)
		return 0;
	memcpy(to, g->floats + at, size);
	return size;
}

static size_t fetch_read_stack(struct gathering *g, uint32_t at, void *to, size_t size)
{
	const struct args_source *source = g->s->source;
	const uint64_t sp = source->arch->registers.sp(source->regs);
	const ssize_t count = source->read(source->context, sp + at, to, size);

	return count <= 0 ? 0 : (size_t)count < size ? (size_t)count : size;
}

/* Copies bytes of the stack from sp + `at` on. Returns the number of bytes that could be read. */
static size_t fetch_stack(struct gathering *g, uint32_t at, void *to, size_t size)
{
	const uint32_t whole = g->stack_to - g->stack_from;

	/* The first use reads the stack of all arguments at once, at most GATHER_STACK bytes. Bytes after these are
	 * read when they are needed. */
	if (at < g->stack_from || at - g->stack_from > GATHER_STACK || GATHER_STACK - (at - g->stack_from) < size ||
	    at >= g->stack_to)
		return fetch_read_stack(g, at, to, size);
	if (!g->has_stack) {
		g->has_stack = true;
		g->stack_size = fetch_read_stack(g, g->stack_from, g->stack,
						 whole < GATHER_STACK ? whole : (size_t)GATHER_STACK);
	}
	const size_t first = at - g->stack_from, left = first < g->stack_size ? g->stack_size - first : 0;
	const size_t count = left < size ? left : size;

	memcpy(to, g->stack + first, count);
	return count;
}

static size_t fetch_take_register(const struct gathering *g, unsigned index, void *to, size_t size)
{
	const struct args_source *source = g->s->source;
	const struct arch_abi *abi = source->arch->abi;
	const uint64_t value =
		g->is_return ? abi->result_register(source->regs, index) : abi->argument_register(source->regs, index);
	const size_t count = size < sizeof(value) ? size : sizeof(value);

	memcpy(to, &value, count);
	return count;
}

static size_t take_x87(struct gathering *g, uint32_t at, void *to, size_t size)
{
	unsigned char number[10], value[16] = {0};

	if (size > sizeof(value) || !fetch_floats(g, at, number, sizeof(number)))
		return 0;
	abi_x87_value(number, value, size);
	memcpy(to, value, size);
	return size;
}

/* Copies up to `size` bytes of a piece. Returns the number of bytes that could be read. */
static size_t take_piece(struct gathering *g, const struct abi_piece *piece, void *to, size_t size)
{
	switch (piece->kind) {
	case PIECE_INTEGER:
		return fetch_take_register(g, piece->index, to, size);
	case PIECE_FLOAT:
		return fetch_floats(g, piece->at, to, size);
	case PIECE_X87:
		return take_x87(g, piece->at, to, size);
	case PIECE_STACK:
		return fetch_stack(g, piece->at, to, size);
	default:
		return 0;
	}
}

bool gather(struct gathering *g, const struct abi_place *place, uint64_t size, unsigned char bytes[VALUE_BYTES],
	    struct value_view *view)
{
	const struct args_source *source = g->s->source;
	const size_t most = size < VALUE_BYTES ? (size_t)size : VALUE_BYTES;

	*view = (struct value_view){.bytes = bytes, .size = most, .is_cut = most < size};
	if (!place->is_known)
		return false;
	memset(bytes, 0, most);
	for (unsigned i = 0; i < place->piece_count && i < ABI_PIECES; i++) {
		const struct abi_piece *piece = &place->pieces[i];
		const size_t left = piece->offset < view->size ? (size_t)view->size - piece->offset : 0;
		const size_t wanted = piece->size < left ? piece->size : left;
		const size_t count = wanted ? take_piece(g, piece, bytes + piece->offset, wanted) : 0;

		if (count == wanted)
			continue;
		view->size = piece->offset + count;
		view->is_cut = false;
		break;
	}
	if (place->piece_count == 1 && place->pieces[0].kind == PIECE_STACK)
		view->address = source->arch->registers.sp(source->regs) + place->pieces[0].at;
	return true;
}
