/* Formats floating point numbers of all formats as the shortest text that is read back as the same number. */
#include "config.h"
#include "args/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The precision of a floating point format. A format wider than this machine's long double is shown with the precision
 * of long double. */
struct precision {
	int bits;         /* bits of the mantissa */
	int exponent_min; /* smallest exponent of a normal number */
	/* a decimal number with this many digits is unchanged after conversion to a normal number and back (FLT_DIG) */
	int digits;
	int digits_max; /* decimal digits that distinguish all numbers of the format */
};

static const struct precision half = {11, -14, 3, 5}, single = {FLT_MANT_DIG, FLT_MIN_EXP - 1, FLT_DIG, 9},
			      plain = {DBL_MANT_DIG, DBL_MIN_EXP - 1, DBL_DIG, 17},
			      widest = {LDBL_MANT_DIG, LDBL_MIN_EXP - 1, LDBL_DIG, LDBL_DIG + 3};

/* Returns true if, of all numbers of the format `p`, `value` is the one nearest to `read`. */
static bool is_nearest(long double read, long double value, const struct precision *p)
{
	int exponent;
	const long double mantissa = frexpl(fabsl(value), &exponent);
	const int lowest = exponent - 1 > p->exponent_min ? exponent - 1 : p->exponent_min;
	long double half_step = ldexpl(1, lowest - p->bits);

	if (read == value)
		return true;
	/* Below a power of two, the distance between numbers is half as large. */
	if (mantissa == 0.5L && fabsl(read) < fabsl(value) && exponent - 1 > p->exponent_min)
		half_step /= 2;
	return fabsl(read - value) < half_step;
}

static void value_float_show_number(struct formatter *s, long double value, const struct precision *p)
{
	char text[64];
	const bool is_normal = fabsl(value) >= ldexpl(1, p->exponent_min);

	if (isnan(value) || isinf(value) || value == 0) {
		out_printf(&s->out, "%Lg", value);
		return;
	}
	if (fabsl(value) < 1e6L && (long double)(long)value == value) {
		out_printf(&s->out, "%.0Lf", value);
		return;
	}
	for (int digits = is_normal ? p->digits : 1; digits <= p->digits_max; digits++) {
		snprintf(text, sizeof(text), "%.*Lg", digits, value);
		const bool reads_back = p == &plain    ? (long double)strtod(text, NULL) == value
					: p == &single ? (long double)strtof(text, NULL) == value
						       : is_nearest(strtold(text, NULL), value, p);

		if (reads_back)
			break;
	}
	out_add(&s->out, text);
}

/* Converts a number of 16 bits, exponent_bits of which are the exponent. */
static long double short_number(uint64_t bits, int exponent_bits)
{
	const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
	const int most = (1 << exponent_bits) - 1, exponent = (int)(bits >> fraction_bits) & most;
	const uint64_t fraction = bits & ((1u << fraction_bits) - 1);
	long double value = ldexpl((long double)(fraction | (exponent ? 1u << fraction_bits : 0u)),
				   (exponent ? exponent : 1) - bias - fraction_bits);

	if (exponent == most)
		value = fraction ? NAN : INFINITY;
	return bits >> 15 ? -value : value;
}

/* Converts a number in x87's format, whose mantissa of 64 bits includes the leading 1. Without this 1, and with an
 * exponent other than 0, the bits are not a number. */
static long double extended_number(const unsigned char *bytes)
{
	uint64_t mantissa;
	uint16_t top;
	long double value;

	memcpy(&mantissa, bytes, sizeof(mantissa));
	memcpy(&top, bytes + sizeof(mantissa), sizeof(top));
	const int exponent = top & 0x7fff;

	if (exponent == 0x7fff)
		value = mantissa << 1 ? NAN : INFINITY;
	else if (exponent && !(mantissa >> 63))
		value = NAN;
	else
		value = ldexpl((long double)mantissa, (exponent ? exponent : 1) - 16383 - 63);
	return top >> 15 ? -value : value;
}

/* Converts a number in the IEEE format of 128 bits. */
static long double quad_number(const unsigned char *bytes)
{
	uint64_t low, high;
	long double value;

	memcpy(&low, bytes, sizeof(low));
	memcpy(&high, bytes + sizeof(low), sizeof(high));
	const int exponent = (int)(high >> 48) & 0x7fff, scale = (exponent ? exponent : 1) - 16383 - 112;
	const uint64_t fraction = high & (UINT64_MAX >> 16);

	if (exponent == 0x7fff)
		value = fraction || low ? NAN : INFINITY;
	else
		value = ldexpl((long double)(fraction | (exponent ? (uint64_t)1 << 48 : 0)), scale + 64) +
			ldexpl((long double)low, scale);
	return high >> 63 ? -value : value;
}

void show_float(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	float narrow;
	double wide;

	if (type->is_extended && view->size >= 10) {
		value_float_show_number(s, extended_number(view->bytes), &widest);
		return;
	}
	switch (type->size) {
	case 2:
		value_float_show_number(s, short_number(view_number(view, 2, false), 5), &half);
		return;
	case 4:
		memcpy(&narrow, view->bytes, sizeof(narrow));
		value_float_show_number(s, (long double)narrow, &single);
		return;
	case 8:
		memcpy(&wide, view->bytes, sizeof(wide));
		value_float_show_number(s, (long double)wide, &plain);
		return;
	case 16:
		value_float_show_number(s, quad_number(view->bytes), &widest);
		return;
	default:
		out_printf(&s->out, "<%llu bytes>", (unsigned long long)type->size);
		return;
	}
}

void show_complex(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const struct value_view real = view_part(view, 0, type->size / 2);
	const struct value_view imaginary = view_part(view, type->size / 2, type->size / 2);

	s->show(s, type->target, &real, 1, FOLLOW_NOT);
	out_add(&s->out, " + ");
	s->show(s, type->target, &imaginary, 1, FOLLOW_NOT);
	out_add(&s->out, "i");
}
