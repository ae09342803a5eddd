#include "config.h"
#include "args/args.h"
#include "args/fetch.h"
#include "args/plan.h"
#include "args/module_params.h"

#define PIECES_MAX 16 /* maximum number of pieces read of a parameter that the compiler has split */

/* The state of formatting one call, at its entry or at its return. */
struct explaining {
	const struct args_plan *plan;
	struct formatter showing;
	struct gathering gathering;
	struct arg_list *list;
};

static void args_begin(struct explaining *e, const struct args_plan *plan, const struct args_source *source,
		       struct arg_list *list, bool is_return)
{
	e->plan = plan;
	e->list = list;
	value_begin(&e->showing, source);
	e->gathering.s = &e->showing;
	e->gathering.is_return = is_return;
	e->gathering.has_floats = e->gathering.has_stack = false;
	e->gathering.stack_from = plan->stack_from;
	e->gathering.stack_to = plan->stack_to;
}

/* Adds the text in e->showing to the list as an argument, and clears the text for the next argument. */
static void args_add(struct explaining *e, const char *name)
{
	arg_list_add(e->list, name, out_finish(&e->showing.out));
	out_clear(&e->showing.out);
	e->showing.texts = TEXTS_MAX;
	e->showing.bases = BASES_READ;
}

/* ---- Signatures ---- */

/* Reads the register with this DWARF number. Returns false if it is no integer register. */
static bool has_register(const struct explaining *e, unsigned dwarf_register, uint64_t *value)
{
	const struct args_source *source = e->showing.source;

	*value = 0;
	if (dwarf_register >= source->arch->dwarf.registers)
		return false;
	*value = source->arch->dwarf.get(source->regs, dwarf_register);
	return true;
}

static size_t args_take_word(uint64_t word, unsigned word_size, void *to, size_t size)
{
	const size_t count = size < word_size ? size : word_size;

	memcpy(to, &word, count);
	return count;
}

static size_t args_take_register(struct explaining *e, const struct place_piece *piece, void *to)
{
	const struct arch *arch = e->plan->arch;
	const int at = arch->abi->float_at(piece->place_register);
	uint64_t value;

	if (has_register(e, piece->place_register, &value))
		return args_take_word(value, arch->pointer_size, to, piece->size);
	return at < 0 ? 0 : fetch_floats(&e->gathering, (uint32_t)at, to, piece->size < 16 ? piece->size : 16);
}

/* Copies one piece to `to` from the place that the compiler chose. Returns the number of bytes that could be read. */
static size_t take_chosen(struct explaining *e, const struct place_piece *piece, void *to)
{
	const struct args_source *source = e->showing.source;
	uint64_t base;
	ssize_t count;

	switch (piece->place) {
	case PLACE_REGISTER:
		return args_take_register(e, piece, to);
	case PLACE_CONSTANT:
		return args_take_word((uint64_t)piece->place_offset, sizeof(uint64_t), to, piece->size);
	case PLACE_STACK:
		base = source->arch->convention.return_sp(source->regs);
		break;
	case PLACE_MEMORY:
		if (!has_register(e, piece->place_register, &base))
			return 0;
		break;
	default:
		return 0;
	}
	count = source->read(source->context, base + (uint64_t)piece->place_offset, to, piece->size);
	return count <= 0 ? 0 : (size_t)count < piece->size ? (size_t)count : piece->size;
}

/* Collects the pieces of a value that the compiler has split. Stops at the first piece that cannot be read completely.
 * Marks the bytes that no piece contains, or whose piece has no place, as optimised out. */
static void fetch_pieces(struct explaining *e, const struct signature_param *param, unsigned char *bytes,
			 unsigned char *lost, struct value_view *view)
{
	memset(lost, 1, view->size);
	memset(bytes, 0, view->size);
	view->lost = lost;
	for (size_t i = 0; i < param->piece_count && i < PIECES_MAX; i++) {
		struct place_piece piece = param->pieces[i];
		const uint64_t left = piece.offset < view->size ? view->size - piece.offset : 0;

		if (piece.size > left)
			piece.size = (uint32_t)left;
		if (!piece.size || piece.place == PLACE_NOWHERE)
			continue;
		const size_t count = take_chosen(e, &piece, bytes + piece.offset);

		memset(lost + piece.offset, 0, piece.size);
		if (count < piece.size) {
			view->size = piece.offset + count;
			return;
		}
	}
}

/* Shows a parameter that the compiler has put into another place than the ABI's. Reads it from that place. */
static void show_chosen(struct explaining *e, const struct plan_param *param, enum param_place place)
{
	const struct signature_param *chosen = param->signature;
	const size_t size = param->size < VALUE_BYTES ? (size_t)param->size : VALUE_BYTES;
	const struct place_piece whole = {.place = place,
					  .place_register = chosen->place_register,
					  .place_offset = chosen->place_offset,
					  .size = (uint32_t)size};
	unsigned char bytes[VALUE_BYTES], lost[VALUE_BYTES];
	struct value_view view = {.bytes = bytes, .size = size};

	if (place == PLACE_PIECES)
		fetch_pieces(e, chosen, bytes, lost, &view);
	else
		view.size = take_chosen(e, &whole, bytes);
	/* If the register or constant does not contain the whole value, the value is shown as unknown. LLVM describes
	 * only one register of a value in two. A constant has at most 64 bits, and the bits above them depend on the
	 * sign, which is unknown. */
	if ((place == PLACE_REGISTER || place == PLACE_CONSTANT) && view.size < size) {
		show_unknown(&e->showing);
		return;
	}
	view.is_cut = view.size == size && size < param->size;
	value_show(&e->showing, param->type, &view, 0, FOLLOW_ALL);
}

static void show_address_of(struct explaining *e, const struct data_type *type, uint64_t address)
{
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (address && type && type->size && formatter_read(&e->showing, address, type->size, bytes, &view))
		value_show(&e->showing, type, &view, 0, FOLLOW_ALL);
	else if (address && type && type->size)
		show_unreadable(&e->showing, address);
	else
		show_address(&e->showing, address);
}

/* Marks as optimised out the bytes of pieces that callers need not pass. */
static void lose_pieces(const struct plan_param *param, unsigned char *lost, struct value_view *view)
{
	memset(lost, 0, view->size);
	for (unsigned i = 0; i < param->place.piece_count && i < ABI_PIECES; i++) {
		const struct abi_piece *piece = &param->place.pieces[i];
		const uint64_t left = piece->offset < view->size ? view->size - piece->offset : 0;

		if (param->left_out >> i & 1)
			memset(lost + piece->offset, 1, left < piece->size ? left : piece->size);
	}
	view->lost = lost;
}

static bool is_left_out(const struct plan_param *param)
{
	const unsigned all = (1u << param->place.piece_count) - 1;

	return (param->signature && param->signature->place == PLACE_NOWHERE) ||
	       (param->left_out && param->left_out == all);
}

static bool is_said(enum param_place place)
{
	return place == PLACE_REGISTER || place == PLACE_STACK || place == PLACE_MEMORY || place == PLACE_PIECES;
}

static void show_passed(struct explaining *e, const struct plan_param *param)
{
	const uint64_t size = param->place.is_address ? e->plan->arch->pointer_size : param->size;
	unsigned char bytes[VALUE_BYTES], lost[VALUE_BYTES];
	struct value_view view;

	if (!gather(&e->gathering, &param->place, size, bytes, &view)) {
		if (param->signature && is_said(param->signature->said))
			show_chosen(e, param, param->signature->said);
		else
			show_unknown(&e->showing);
		return;
	}
	if (param->place.is_address) {
		show_address_of(e, param->type, view_pointer(&e->showing, &view));
		return;
	}
	if (param->left_out)
		lose_pieces(param, lost, &view);
	value_show(&e->showing, param->type, &view, 0, FOLLOW_ALL);
}

static void show_param(struct explaining *e, const struct plan_param *param)
{
	const struct signature_param *chosen = param->signature;

	if (is_left_out(param))
		show_lost(&e->showing);
	else if (param->type && param->type->kind == DATA_OTHER && !param->type->size)
		show_unknown_type(&e->showing);
	else if (param->is_moved)
		show_unknown(&e->showing);
	else if (!chosen || chosen->place == PLACE_BY_ABI)
		show_passed(e, param);
	else if (chosen->place == PLACE_UNKNOWN)
		show_unknown(&e->showing);
	else
		show_chosen(e, param, chosen->place);
}

/* ---- Table rows ---- */

/* Reads a number of `type` without the bits above the type's width. Returns false if it cannot be read. */
static bool fetch_number(struct explaining *e, const struct plan_param *param, unsigned type, uint64_t *number)
{
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	*number = 0;
	if (!gather(&e->gathering, &param->place, param->size, bytes, &view) || view.size < param->size)
		return false;
	*number = row_number(e->plan->arch, type, view_number(&view, param->size, false));
	return true;
}

static void show_kept(struct explaining *e, const struct row_call *call, const struct param *param,
		      const struct args_kept *kept, size_t i)
{
	if (kept->unread >> i & 1)
		out_add(&e->showing.out, "(unreadable)");
	else
		row_show(&e->showing, call, param, kept->args[i]);
	args_add(e, e->plan->params[i].name);
}

static void show_row(struct explaining *e, const struct args_kept *kept)
{
	const struct function *row = e->plan->row;
	const struct row_call call = {.row = row, .count = e->plan->count, .values = kept->args};

	for (size_t i = 0; i < e->plan->count; i++) {
		const struct param param = row_param(&call, &row->params[i]);

		if (param.type == PARAM_NONE || param.is_result)
			continue;
		show_kept(e, &call, &param, kept, i);
	}
}

/* Returns true if the call has failed, according to row->success and the result. With OK_ALWAYS, it has failed if the
 * result is -1 and the function sets errno. */
static bool has_failed(const struct args_source *source, const struct function *row)
{
	static const unsigned char types[] = {
		[TYPE_WORD] = PARAM_LONG,   [TYPE_INT] = PARAM_INT,    [TYPE_UINT] = PARAM_INT,
		[TYPE_INT8] = PARAM_INT8,   [TYPE_UINT8] = PARAM_INT8, [TYPE_INT16] = PARAM_INT16,
		[TYPE_UINT16] = PARAM_INT16};
	const unsigned type = row->result < ARRAY_SIZE(types) ? types[row->result] : PARAM_LONG;
	const uint64_t result = row_number(source->arch, type, source->arch->convention.result(source->regs));

	if (!row->returns.type)
		return false;
	switch (row->success) {
	case OK_NONZERO:
		return !result;
	case OK_ZERO:
		return result != 0;
	case OK_NOT_NEGATIVE:
		return (int64_t)result < 0;
	case OK_NOT_MINUS_1:
		return result == UINT64_MAX;
	default:
		return row->sets_errno && result == UINT64_MAX;
	}
}

static void show_row_return(struct explaining *e, const struct args_kept *kept, bool failed)
{
	const struct args_source *source = e->showing.source;
	const struct function *row = e->plan->row;
	uint64_t result;
	const bool has_result = e->plan->has_result && fetch_number(e, &e->plan->result, row->returns.type, &result);
	const struct row_call call = {.row = row,
				      .count = e->plan->count,
				      .values = kept->args,
				      .is_return = true,
				      .result = has_result ? result : UINT64_MAX};
	int error;

	for (size_t i = 0; i < e->plan->count; i++) {
		struct param param = row_param(&call, &row->params[i]);

		if (param.type == PARAM_NONE || !param.is_result)
			continue;
		/* The output of a failed call is undefined, so only its address is shown. A template (mkstemp) still
		 * contains the caller's text. */
		if (failed && (param.type != PARAM_STRING || strcmp(param.name, "template") != 0))
			param.type = PARAM_POINTER;
		show_kept(e, &call, &param, kept, i);
	}
	if (has_result) {
		const struct param returns = row_param(&call, &row->returns);

		row_show(&e->showing, &call, &returns, result);
		args_add(e, e->plan->result.name);
	}
	if (failed && row->sets_errno && source->error(source->context, &error)) {
		show_error(&e->showing, error);
		args_add(e, ARG_ERROR);
	}
}

/* ---- Entry and return ---- */

struct arg_list *args_at_entry(const struct args_plan *plan, const struct args_source *source, struct args_kept *kept)
{
	struct arg_list *list = arg_list_new();
	struct explaining e;

	*kept = (struct args_kept){0};
	args_begin(&e, plan, source, list, false);
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->row) {
			const struct param *param = &plan->row->params[i];

			/* Keep all bits, because one of the cases may be a wider type. */
			if (!fetch_number(&e, &plan->params[i], param->cases ? PARAM_HEX_LONG : param->type,
					  &kept->args[i]))
				kept->unread |= 1u << i;
			continue;
		}
		e.showing.is_unmade = plan->is_constructor && !i;
		show_param(&e, &plan->params[i]);
		args_add(&e, plan->params[i].name);
	}
	if (plan->row)
		show_row(&e, kept);
	if (plan->has_result && plan->result.place.is_address) {
		unsigned char bytes[VALUE_BYTES];
		struct value_view view;

		if (gather(&e.gathering, &plan->result.place, plan->arch->pointer_size, bytes, &view))
			kept->result_at = view_pointer(&e.showing, &view);
	}
	formatter_end(&e.showing);
	return list;
}

void args_at_return(const struct args_plan *plan, const struct args_source *source, const struct args_kept *kept,
		    bool failed, struct arg_list *list)
{
	struct explaining e;

	args_begin(&e, plan, source, list, true);
	if (plan->row) {
		/* For a function that -x names, the caller of args_at_return() does not know whether the call has
		 * failed. So has_failed() also looks at the row and the result. */
		const bool is_failure = failed || has_failed(source, plan->row);

		show_row_return(&e, kept, is_failure);
	} else if (plan->has_result) {
		if (plan->result.place.is_address)
			show_address_of(&e, plan->result.type, kept->result_at);
		else
			show_param(&e, &plan->result);
		args_add(&e, plan->result.name);
	}
	formatter_end(&e.showing);
}
