#include "config.h"
#include "args/module_params.h"

#include <inttypes.h>

#define STRINGS_MAX VALUE_ITEMS

struct abi_value row_abi_value(const struct arch *arch, const struct param *param)
{
	unsigned size = arch->pointer_size, kind = ABI_INTEGER;

	switch (param->type) {
	case PARAM_INT64:
	case PARAM_UINT64:
		size = sizeof(uint64_t);
		break;
	case PARAM_DOUBLE:
		size = sizeof(double);
		kind = ABI_FLOAT;
		break;
	case PARAM_FLOAT:
		size = sizeof(float);
		kind = ABI_FLOAT;
		break;
	default:
		break;
	}
	return (struct abi_value){
		.size = size,
		.align = size,
		.field_count = 1,
		.fields = {{.offset = 0, .size = (uint16_t)size, .kind = (unsigned char)kind}},
	};
}

static uint64_t module_params_value_of(const struct row_call *call, unsigned index)
{
	return index < call->count ? call->values[index] : 0;
}

/* Returns an argument that is a length; returns 0 if it is negative. */
static uint64_t module_params_length_of(const struct row_call *call, unsigned index)
{
	const uint64_t value = module_params_value_of(call, index);
	const unsigned type = index < call->count ? call->row->params[index].type : PARAM_END;
	const bool is_signed = type == PARAM_INT || type == PARAM_LONG || type == PARAM_INT64;

	return is_signed && (int64_t)value < 0 ? 0 : value;
}

struct param row_param(const struct row_call *call, const struct param *param)
{
	const uint64_t by = module_params_value_of(call, param->with);
	struct param now = *param;

	if (param->needs && param->type != PARAM_INTS && !(by & param->needs))
		now.type = PARAM_NONE;
	for (const struct param_case *c = param->cases; c && c->type != PARAM_END; c++) {
		const uint64_t mask = c->mask ? c->mask : UINT32_MAX;

		if (((uint32_t)by & mask) != c->value)
			continue;
		now.type = c->type;
		now.words = c->words;
		break;
	}
	return now;
}

/* ---- Pointers ---- */

/* Reads up to `size` bytes at an address. If that fails, shows the address instead and returns false. */
static bool module_params_read_at(struct formatter *s, uint64_t address, uint64_t size, unsigned char *bytes,
				  struct value_view *view)
{
	if (!address)
		show_address(s, address);
	else if (formatter_read(s, address, size, bytes, view))
		return true;
	else
		show_unreadable(s, address);
	return false;
}

static void show_ints(struct formatter *s, uint64_t address, uint64_t count)
{
	static const struct data_type integer = {.kind = DATA_INT, .size = 4, .is_signed = true};
	const struct data_type ints = {.kind = DATA_ARRAY, .size = count * 4, .target = &integer, .count = count};
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (module_params_read_at(s, address, VALUE_ITEMS * 4 < ints.size ? VALUE_ITEMS * 4 : ints.size, bytes, &view))
		s->show(s, &ints, &view, 0, FOLLOW_NOT);
}

static void show_indirect(struct formatter *s, uint64_t address)
{
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (!module_params_read_at(s, address, s->source->arch->pointer_size, bytes, &view))
		return;
	show_address(s, address);
	out_add(&s->out, " -> ");
	if (view.size < s->source->arch->pointer_size)
		show_missing(s, &view);
	else
		show_address(s, view_pointer(s, &view));
}

/* Shows an array of strings that ends with NULL. Reads all pointers at once, then the string of each pointer. */
static void show_strings(struct formatter *s, uint64_t address)
{
	const unsigned word = s->source->arch->pointer_size;
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (!module_params_read_at(s, address, (STRINGS_MAX + 1) * (uint64_t)word, bytes, &view))
		return;
	out_add(&s->out, "[");
	for (unsigned i = 0;; i++) {
		const struct value_view part = view_part(&view, (uint64_t)i * word, word);
		const uint64_t string = part.size == word ? view_pointer(s, &part) : 0;

		if (part.size == word && !string)
			break;
		out_add(&s->out, i ? ", " : "");
		if (i == STRINGS_MAX)
			out_add(&s->out, "...");
		else if (part.size < word)
			show_missing(s, &part);
		else
			show_string(s, string, 1, "", UINT64_MAX);
		if (part.size < word || i == STRINGS_MAX || s->out.is_full)
			break;
	}
	out_end(&s->out, "]");
}

static uint64_t bytes_count(const struct row_call *call, const struct param *param)
{
	uint64_t count = module_params_length_of(call, param->with);

	if (param->is_result && call->is_return && call->result < count)
		count = call->result;
	return mul_saturated(count, param->times ? module_params_length_of(call, param->times - 1u) : 1);
}

/* Shows a struct sockaddr. Its length is the value of parameter `with` or, if that parameter is a pointer, the number
 * to which it points. */
static void show_row_sockaddr(struct formatter *s, const struct row_call *call, const struct param *param,
			      uint64_t address)
{
	const unsigned type = param->with < call->count ? call->row->params[param->with].type : PARAM_END;
	const uint64_t with = module_params_value_of(call, param->with);
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;

	if (!address || (type != PARAM_INTS && type != PARAM_POINTER && type != PARAM_INDIRECT)) {
		show_sockaddr(s, address, module_params_length_of(call, param->with));
		return;
	}
	if (!with || !formatter_read(s, with, 4, bytes, &view) || view.size < 4)
		show_address(s, address);
	else
		show_sockaddr(s, address, view_number(&view, 4, false));
}

/* ---- A parameter ---- */

static void show_float_bits(struct formatter *s, uint64_t raw, uint64_t size)
{
	const struct data_type type = {.kind = DATA_FLOAT, .size = size};
	const struct value_view view = {.bytes = (const unsigned char *)&raw, .size = size};

	show_float(s, &type, &view);
}

static void show_char_bits(struct formatter *s, uint64_t raw, uint64_t size, const char *name)
{
	const struct data_type type = {.kind = DATA_CHAR, .size = size, .name = name};
	const struct value_view view = {.bytes = (const unsigned char *)&raw, .size = size};

	show_char(s, &type, &view);
}

/* Shows a parameter of a numeric type. Returns false for other types. */
static bool module_params_show_number(struct formatter *s, const struct param *param, uint64_t number)
{
	switch (param->type) {
	case PARAM_INT:
	case PARAM_LONG:
	case PARAM_INT64:
	case PARAM_INT8:
	case PARAM_INT16:
		out_printf(&s->out, "%" PRId64, (int64_t)number);
		return true;
	case PARAM_SIZE:
	case PARAM_UINT:
	case PARAM_UINT64:
	case PARAM_UINT8:
	case PARAM_UINT16:
		out_printf(&s->out, "%" PRIu64, number);
		return true;
	case PARAM_HEX:
	case PARAM_HEX_LONG:
		out_printf(&s->out, number ? "%#" PRIx64 : "%" PRIx64, number);
		return true;
	case PARAM_WORD:
		out_printf(&s->out, "%#" PRIx32, (uint32_t)number);
		return true;
	case PARAM_OCTAL:
		out_printf(&s->out, "%#" PRIo64, number);
		return true;
	case PARAM_FLAGS:
	case PARAM_FLAGS_MODE:
		show_row_flags(s, param, number);
		return true;
	case PARAM_BOOL:
		out_add(&s->out, number ? "true" : "false");
		return true;
	case PARAM_ERROR:
		show_error(s, (int)number);
		return true;
	case PARAM_DOUBLE:
		show_float_bits(s, number, sizeof(double));
		return true;
	case PARAM_FLOAT:
		show_float_bits(s, number, sizeof(float));
		return true;
	case PARAM_CHAR:
		show_char_bits(s, number, 1, "char");
		return true;
	case PARAM_WCHAR:
		show_char_bits(s, number, 4, "wchar_t");
		return true;
	default:
		return false;
	}
}

static void show_pointed(struct formatter *s, const struct row_call *call, const struct param *param, uint64_t address)
{
	switch (param->type) {
	case PARAM_STRING:
		show_string(s, address, 1, "", UINT64_MAX);
		return;
	case PARAM_WIDE:
		show_string(s, address, 4, "L", UINT64_MAX);
		return;
	case PARAM_STRING_N:
		show_string(s, address, 1, "", module_params_length_of(call, param->with));
		return;
	case PARAM_WIDE_N:
		show_string(s, address, 4, "L", module_params_length_of(call, param->with));
		return;
	case PARAM_SOCKADDR:
		show_row_sockaddr(s, call, param, address);
		return;
	case PARAM_INTS:
		show_ints(s, address, param->needs < UINT32_MAX ? param->needs : UINT32_MAX);
		return;
	case PARAM_INDIRECT:
		show_indirect(s, address);
		return;
	case PARAM_FUNCTION:
		show_function(s, address);
		return;
	case PARAM_STRINGS:
		show_strings(s, address);
		return;
	case PARAM_BYTES:
		show_counted_bytes(s, address, bytes_count(call, param));
		return;
	default:
		show_address(s, address);
		return;
	}
}

void row_show(struct formatter *s, const struct row_call *call, const struct param *param, uint64_t raw)
{
	const uint64_t number = row_number(s->source->arch, param->type, raw);
	const bool is_flags = param->type == PARAM_FLAGS || param->type == PARAM_FLAGS_MODE;

	if (param->words && !is_flags && show_word(s, param, number))
		return;
	if (!module_params_show_number(s, param, number))
		show_pointed(s, call, param, number);
}
