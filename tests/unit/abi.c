/* Compares the places of arguments and results that the ports compute (arch/abi.h) with the ABI documents of all
 * processors. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch_hex.h"
#include "base/util.h"
#include "unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Types and places as text ---- */

/* A letter is a scalar, {...} a struct, (...) a union, {} C++'s empty struct. N before a type means that it is passed
 * by address, P that it may be packed, A that it is aligned to 16 bytes. */
struct scalar {
	char letter;
	unsigned char size, align, kind;
	unsigned char count; /* 2: a complex number */
};

static const struct scalar scalars[] = {
	{'c', 1, 1, ABI_INTEGER, 1}, {'s', 2, 2, ABI_INTEGER, 1},   {'i', 4, 4, ABI_INTEGER, 1},
	{'l', 8, 8, ABI_INTEGER, 1}, {'q', 16, 16, ABI_INTEGER, 1}, {'h', 2, 2, ABI_FLOAT, 1},
	{'f', 4, 4, ABI_FLOAT, 1},   {'d', 8, 8, ABI_FLOAT, 1},     {'Q', 16, 16, ABI_FLOAT, 1},
	{'v', 8, 8, ABI_VECTOR, 1},  {'V', 16, 16, ABI_VECTOR, 1},  {'W', 32, 32, ABI_VECTOR, 1},
	{'F', 4, 4, ABI_FLOAT, 2},   {'D', 8, 8, ABI_FLOAT, 2},     {'b', 3, 4, ABI_BITS, 1},
	{'x', 16, 16, ABI_X87, 1},   {'X', 16, 16, ABI_X87, 2},     {'y', 12, 4, ABI_X87, 1},
	{'B', 5, 8, ABI_BITS, 1},    {'k', 5, 4, ABI_BITS, 1},
};

static const struct scalar *scalar_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(scalars); i++)
		if (scalars[i].letter == letter)
			return &scalars[i];
	fail_msg("there is no scalar %c", letter);
	return NULL;
}

static void put_scalar(struct abi_value *value, const struct scalar *scalar, uint64_t at)
{
	for (unsigned i = 0; i < scalar->count; i++) {
		if (value->field_count < ABI_FIELDS)
			value->fields[value->field_count] =
				(struct abi_field){.offset = (uint32_t)(at + i * scalar->size),
						   .size = scalar->size,
						   .kind = scalar->kind};
		value->field_count++;
	}
}

/* Adds the members up to the closing bracket; returns the text after it. */
static const char *put_members(struct abi_value *value, const char *text)
{
	const bool is_union = *text++ == '(';
	uint64_t end = 0;

	value->is_struct = true;
	value->align = value->align ? value->align : 1;
	for (; *text != '}' && *text != ')'; text++) {
		const struct scalar *scalar = scalar_of(*text);
		const uint64_t at = is_union ? 0 : abi_round(end, scalar->align),
			       size = (uint64_t)scalar->size * scalar->count;

		put_scalar(value, scalar, at);
		end = at + size > end ? at + size : end;
		value->align = scalar->align > value->align ? scalar->align : value->align;
	}
	value->size = end ? abi_round(end, value->align) : 1;
	return text + 1;
}

static const char *put_value(struct abi_value *value, const char *text)
{
	*value = (struct abi_value){0};
	if (*text == 'N') {
		value->by_address = true;
		text++;
	}
	if (*text == 'P') {
		value->may_be_packed = true;
		text++;
	}
	if (*text == 'A') {
		value->align = 16;
		text++;
	}
	if (*text == '{' || *text == '(')
		return put_members(value, text);
	const struct scalar *scalar = scalar_of(*text);

	put_scalar(value, scalar, 0);
	value->size = (uint64_t)scalar->size * scalar->count;
	value->align = scalar->align;
	return text + 1;
}

/* Appends a place as text: its pieces, with + between them. rN is integer register N; fN, tN and [N] are bytes from N
 * on: of the floating point registers, of the x87 registers, and of the stack. After ":" is the number of the piece's
 * bytes. A place that contains the value's address begins with &. An unknown place is "?", no place is "-". */
static void show_place(char *text, const struct abi_place *place)
{
	if (!place->is_known) {
		strcat(text, "? ");
		return;
	}
	if (place->is_address)
		strcat(text, "&");
	for (unsigned i = 0; i < place->piece_count; i++) {
		const struct abi_piece *piece = &place->pieces[i];
		const char *const forms[] = {"r%u", "f%u", "t%u", "[%u]"};
		char one[32];

		snprintf(one, sizeof(one), forms[piece->kind], piece->kind == PIECE_INTEGER ? piece->index : piece->at);
		strcat(text, i ? "+" : "");
		strcat(text, one);
		snprintf(one, sizeof(one), ":%u", piece->size);
		strcat(text, one);
	}
	strcat(text, place->piece_count ? " " : "- ");
}

enum { VARIADIC = true, BY_LLVM };

struct row {
	const char *arguments, *result; /* result "": void */
	const char *places;             /* of the arguments, then of the result */
	unsigned how;                   /* false, VARIADIC or BY_LLVM */
};

static void check(const struct arch_abi *abi, const struct row *rows, size_t count)
{
	struct abi_value values[16], result;
	struct abi_place places[16], place;

	for (size_t i = 0; i < count; i++) {
		struct abi_function function = {
			.values = values, .is_variadic = rows[i].how == VARIADIC, .is_gcc = rows[i].how != BY_LLVM};
		char text[1024] = "";

		for (const char *at = rows[i].arguments; *at;)
			at = put_value(&values[function.count++], at);
		if (*rows[i].result) {
			put_value(&result, rows[i].result);
			function.result = &result;
		}
		memset(places, 0x5a, sizeof(places));
		abi->arguments(&function, places);
		for (size_t j = 0; j < function.count; j++)
			show_place(text, &places[j]);
		if (function.result) {
			memset(&place, 0x5a, sizeof(place));
			abi->result(&function, &place);
			strcat(text, "= ");
			show_place(text, &place);
		}
		if (*text)
			text[strlen(text) - 1] = '\0';
		if (strcmp(text, rows[i].places) != 0)
			fail_msg("%s(%s%s)\n is    %s\n not   %s", rows[i].result, rows[i].arguments,
				 rows[i].how == VARIADIC ? ", ..." : "", text, rows[i].places);
	}
}

/* ---- The processors ---- */

static void test_x86_64_places_match_the_psabi(void **unused)
{
	static const struct row rows[] = {
		/* Figures 3.5 and 3.6 of the psABI, without the wide vectors, which take xmm2 and xmm3 there. */
		{"ii{iid}iixddiii", "", "r0:4 r1:4 r2:8+f160:8 r3:4 r4:4 [8]:16 f176:8 f192:8 r5:4 [24]:4 [32]:4",
		 false},
		/* 3.2.3: a struct is in registers as a whole or not at all; values after it may still get these
		 * registers. */
		{"lllll{ll}l", "", "r0:8 r1:8 r2:8 r3:8 r4:8 [8]:16 r5:8", false},
		{"{ff}{fff}{fi}{cccc}", "", "f160:8 f176:8+f192:4 r0:8 r1:4", false},
		{"{lll}{dl}{ld}{dd}", "", "[8]:24 f160:8+r0:8 r1:8+f176:8 f192:8+f208:8", false},
		{"FDX", "", "f160:8 f176:8+f192:8 [8]:32", false},
		{"qcq", "", "r0:8+r1:8 r2:1 r3:8+r4:8", false},
		{"lllllqll", "", "r0:8 r1:8 r2:8 r3:8 r4:8 [8]:16 r5:8 [24]:8", false},
		/* LLVM passes these values differently. */
		{"qlllq", "", "r0:8+r1:8 r2:8 r3:8 r4:8 ?", BY_LLVM},
		{"lllllqll", "", "r0:8 r1:8 r2:8 r3:8 r4:8 ? ? ?", BY_LLVM},
		{"llllllqd", "", "r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 ? f160:8", BY_LLVM},
		/* The place of a struct that may be packed is known only if it is the same with and without
		 * alignment. */
		{"P{x}lllllllP{x}lP{l}", "", "[8]:16 r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 [24]:8 ? ? ?", false},
		{"P{l}P{ll}", "", "r0:8 r1:8+r2:8", false},
		{"vVQh", "", "f160:8 f176:16 f192:16 f208:2", false},
		{"{V}(fi)(dx)", "", "f160:16 r0:4 ?", false},
		{"{}i{x}bs", "", "- r0:4 [8]:16 r1:3 r2:2", false},
		{"N{l}l", "N{d}", "&r1:8 r2:8 = &r0:8", false},
		{"i", "{lll}", "r1:4 = &r0:8", false},
		{"", "{ld}", "= r0:8+f160:8", false},
		{"", "{dl}", "= f160:8+r0:8", false},
		{"", "{dd}", "= f160:8+f176:8", false},
		{"", "q", "= r0:8+r1:8", false},
		{"", "x", "= t32:16", false},
		{"", "X", "= t32:16+t48:16", false},
		{"i", "{x}", "r0:4 = t32:16", false},
		{"", "V", "= f160:16", false},
		{"", "c", "= r0:1", false},
		{"", "{}", "= -", false},
		/* ymm0 or memory, which depends on the compiler's options */
		{"iWifl", "", "r0:4 ? r1:4 ? r2:8", false},
		{"i", "W", "? = ?", false},
		{"A{i}lllllA{i}", "", "r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 [8]:16", false},
		/* too many fields to describe */
		{"{cccccccccccccccc}(iiiiccccccccccccccccc)l", "", "r0:8+r1:8 ? ?", false},
	};

	check(&abi_x86_64, rows, ARRAY_SIZE(rows));
}

static void test_i386_places_match_the_psabi(void **unused)
{
	/* 2.2.3: words on the stack above the return address; a struct's result in memory, whatever its size. */
	static const struct row rows[] = {
		{"cslfd", "i", "[4]:1 [8]:2 [12]:8 [20]:4 [24]:8 = r0:4", false},
		{"y{c}{iii}i", "l", "[4]:12 [16]:1 [20]:12 [32]:4 = r0:4+r1:4", false},
		{"i", "{i}", "[8]:4 = &[4]:4", false},
		{"iN{i}i", "N{c}", "[8]:4 &[12]:4 [16]:4 = &[4]:4", false},
		{"F", "F", "[4]:8 = r0:4+r1:4", false},
		{"i", "D", "[8]:4 = &[4]:4", false},
		{"", "f", "= t32:4", false},
		{"", "d", "= t32:8", false},
		{"", "y", "= t32:12", false},
		{"", "c", "= r0:1", false},
		{"iVi", "", "[4]:4 ? ?", false},
		{"i{}i", "", "[4]:4 ? ?", false},
	};

	check(&abi_i386, rows, ARRAY_SIZE(rows));
}

static void test_aarch64_places_match_its_standard(void **unused)
{
	static const struct row rows[] = {
		{"cilf", "", "r0:1 r1:4 r2:8 f0:4", false},
		{"hfdQvV", "", "f0:2 f16:4 f32:8 f48:16 f64:8 f80:16", false},
		/* 5.9.5: homogeneous aggregates, of up to four */
		{"{ff}{dddd}{dd}d", "", "f0:4+f16:4 f32:8+f48:8+f64:8+f80:8 f96:8+f112:8 [0]:8", false},
		/* C.3: after an aggregate that does not fit, no value gets a floating point register */
		{"ddddd{dddd}d", "", "f0:8 f16:8 f32:8 f48:8 f64:8 [0]:32 [32]:8", false},
		{"{fd}{fffff}{VV}FD", "", "r0:8+r1:8 &r2:8 f0:16+f16:16 f32:4+f48:4 f64:8+f80:8", false},
		/* B.4: more than 16 bytes are passed as the address of a copy */
		{"{lll}{ll}{lc}{c}", "", "&r0:8 r1:8+r2:8 r3:8+r4:8 r5:1", false},
		/* C.10: a value that is aligned to 16 begins in an even register */
		{"iqi", "", "r0:4 r2:8+r3:8 r4:4", false},
		{"lllllllql", "", "r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 r6:8 [0]:16 [16]:8", false},
		/* C.13: after a value that does not fit, no value gets a register */
		{"lllllll{ll}i", "", "r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 r6:8 [0]:16 [16]:4", false},
		{"llllllllcq", "", "r0:8 r1:8 r2:8 r3:8 r4:8 r5:8 r6:8 r7:8 [0]:1 [16]:16", false},
		{"{}i", "", "r0:1 r1:4", false},
		{"iN{i}", "N{l}", "r0:4 &r1:8 = &r8:8", false},
		{"i", "{lll}", "r0:4 = &r8:8", false},
		{"", "{dddd}", "= f0:8+f16:8+f32:8+f48:8", false},
		{"", "{li}", "= r0:8+r1:8", false},
		{"", "q", "= r0:8+r1:8", false},
		{"", "{}", "= r0:1", false},
		{"", "(fi)", "= r0:4", false},
		/* it is unknown whether a member is aligned to 16, or the whole struct */
		{"iA{i}i", "", "r0:4 ? ?", false},
		{"iWi", "", "r0:4 ? ?", false},
		/* it is unknown whether the struct is aligned at all */
		{"P{q}iP{q}i", "", "r0:8+r1:8 r2:4 ? ?", false},
		{"iiP{q}P{l}P{ll}", "", "r0:4 r1:4 r2:8+r3:8 r4:8 r5:8+r6:8", false},
	};

	check(&abi_aarch64, rows, ARRAY_SIZE(rows));
}

static void test_arm_places_match_its_standard(void **unused)
{
	static const struct row rows[] = {
		{"cil", "", "r0:1 r1:4 r2:4+r3:4", false},
		/* C.3: even registers; a skipped register is not used later */
		{"ili", "", "r0:4 r2:4+r3:4 [0]:4", false},
		{"iill", "", "r0:4 r1:4 r2:4+r3:4 [0]:8", false},
		/* C.5: a struct is split between registers and the stack, but only if nothing is on the stack yet */
		{"i{iiii}i", "", "r0:4 r1:4+r2:4+r3:4+[0]:4 [4]:4", false},
		{"{iiiiiiiiii}", "", "r0:4+r1:4+r2:4+r3:4+[0]:24", false},
		{"iil{ii}", "", "r0:4 r1:4 r2:4+r3:4 [0]:8", false},
		{"iii{li}i", "", "r0:4 r1:4 r2:4 [0]:16 [16]:4", false},
		/* 7.1.2: back-filling */
		{"fdfd", "", "f0:4 f8:8 f4:4 f16:8", false},
		{"f{ff}Vvd", "", "f0:4 f4:4+f8:4 f16:16 f32:8 f40:8", false},
		{"{dddd}{dddd}fi", "", "f0:8+f8:8+f16:8+f24:8 f32:8+f40:8+f48:8+f56:8 [0]:4 r0:4", false},
		{"fddddddd{dd}f", "", "f0:4 f8:8 f16:8 f24:8 f32:8 f40:8 f48:8 f56:8 [0]:16 [16]:4", false},
		{"{fd}DF", "", "r0:4+r1:4+r2:4+r3:4 f0:8+f8:8 f16:4+f20:4", false},
		{"i", "{ii}", "r1:4 = &r0:4", false},
		{"i", "{i}", "r0:4 = r0:4", false},
		{"i", "{dd}", "r0:4 = f0:8+f8:8", false},
		{"iN{i}", "N{c}", "r1:4 &r2:4 = &r0:4", false},
		{"", "l", "= r0:4+r1:4", false},
		{"", "d", "= f0:8", false},
		{"", "F", "= f0:4+f4:4", false},
		/* variadic functions use the base standard */
		{"fd", "d", "r0:4 r2:4+r3:4 = r0:4+r1:4", true},
		{"i{dd}", "{dd}", "r1:4 r2:4+r3:4+[0]:8 = &r0:4", true},
		{"i{}i", "", "r0:4 ? ?", false},
		{"iA{i}i", "", "r0:4 ? ?", false},
		/* P: the struct may be packed. A packed struct would follow in the next register, even in an odd one,
		 * or on the stack at the next multiple of 4. The place is unknown where this makes a difference. */
		{"iP{l}i", "", "r0:4 ? ?", false},
		{"iiP{l}P{ii}i", "", "r0:4 r1:4 r2:4+r3:4 [0]:8 [8]:4", false},
		{"P{l}iP{l}", "", "r0:4+r1:4 r2:4 ?", false},
		{"iiiiP{l}iP{l}", "", "r0:4 r1:4 r2:4 r3:4 [0]:8 [8]:4 ?", false},
		/* A bit field's type aligns the struct, but the port does not know the type. So the places are unknown
		 * if the alignment is 8, which may come from the type or from alignas (B), or if the bit field has more
		 * bytes than the alignment, as only in a packed struct (k). A bit field of int (b) is unambiguous. */
		{"i{B}i", "{B}", "r1:4 ? ? = &r0:4", false},
		{"i{k}i", "", "r0:4 ? ?", false},
		{"i{b}i", "", "r0:4 r1:4 r2:4", false},
		{"fP{dd}P{d}", "", "f0:4 f8:8+f16:8 f24:8", false},
		{"dddddddddfP{d}", "", "f0:8 f8:8 f16:8 f24:8 f32:8 f40:8 f48:8 f56:8 [0]:8 [8]:4 ?", false},
		/* LLVM passes the elements of a vector one by one if it compiles for a processor without NEON. */
		{"ivi", "", "r0:4 ? ?", BY_LLVM},
		{"iVi", "", "r0:4 ? ?", BY_LLVM},
		{"i{vv}i", "", "r0:4 ? ?", BY_LLVM},
		{"i", "v", "? = ?", BY_LLVM},
	};

	check(&abi_arm, rows, ARRAY_SIZE(rows));
}

/* ---- Invalid values ---- */

static void test_values_with_invalid_fields_have_no_known_place(void **unused)
{
	static const struct arch_abi *const abis[] = {&abi_x86_64, &abi_i386, &abi_aarch64, &abi_arm};
	const struct abi_value values[] = {
		{.size = UINT64_MAX, .align = 1, .is_struct = true, .field_count = 1, .fields = {{0, 8, ABI_INTEGER}}},
		{.size = 8, .align = 8, .is_struct = true, .field_count = 1, .fields = {{8, 8, ABI_INTEGER}}},
		{.size = 8, .align = 8, .is_struct = true, .field_count = 1, .fields = {{UINT32_MAX, 8, ABI_FLOAT}}},
		{.size = 8, .align = 3, .is_struct = true, .field_count = 1, .fields = {{0, 8, ABI_INTEGER}}},
		{.size = 8, .align = 8, .is_struct = true, .field_count = 1, .fields = {{0, 0, ABI_FLOAT}}},
		{.size = 8, .align = 8, .is_struct = false, .field_count = 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(abis); i++)
		for (size_t j = 0; j < ARRAY_SIZE(values); j++) {
			const struct abi_function function = {.values = &values[j], .count = 1, .result = &values[j]};
			struct abi_place place;

			abis[i]->arguments(&function, &place);
			assert_true(!place.is_known || !values[j].field_count);
			abis[i]->result(&function, &place);
			assert_true(!place.is_known || !values[j].field_count);
		}
}

/* ---- Numbers of the x87 ---- */

static void test_x87_numbers_are_converted(void **unused)
{
	static const struct {
		uint16_t head;
		uint64_t fraction;
		double value;
	} rows[] = {
		{0x3fff, 0x8000000000000000u, 1},
		{0xc000, 0xc000000000000000u, -3},
		{0, 0, 0},
		{0x3ffb, 0xcccccccccccccccdu, 0.1},
		{0x7fff, 0x8000000000000000u, INFINITY},
		{0xffff, 0x8000000000000000u, -INFINITY},
		{0x43fe, 0xfffffffffffff800u, 1.7976931348623157e308},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned char x87[10], whole[16];
		double wide;
		float narrow;

		memcpy(x87, &rows[i].fraction, 8);
		memcpy(x87 + 8, &rows[i].head, 2);
		abi_x87_value(x87, (unsigned char *)&wide, sizeof(wide));
		abi_x87_value(x87, (unsigned char *)&narrow, sizeof(narrow));
		abi_x87_value(x87, whole, sizeof(whole));
		assert_true(wide == rows[i].value);
		assert_true(narrow == (float)rows[i].value);
		assert_memory_equal(whole, x87, sizeof(x87));
	}
	unsigned char nan[10] = {1, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x7f};
	double number;

	abi_x87_value(nan, (unsigned char *)&number, sizeof(number));
	assert_true(number != number);
}

/* ---- A function that returns a field's address ---- */

static void test_functions_that_return_thread_fields_are_recognised(void **unused)
{
	static const struct {
		const struct arch_abi *abi;
		int64_t offset; /* INT64_MAX: another function */
		const char *code;
		uint64_t state;
	} rows[] = {
		{&abi_x86_64, 0x34, "64 48 8b 04 25 00 00 00 00 48 83 c0 34 c3", 0},
		{&abi_x86_64, -164, "64 48 8b 04 25 00 00 00 00 48 05 5c ff ff ff c3", 0},
		{&abi_x86_64, INT64_MAX, "64 48 8b 04 25 00 00 00 00 48 83 c0 34", 0},
		{&abi_x86_64, INT64_MAX, "64 48 8b 04 25 08 00 00 00 48 83 c0 34 c3", 0},
		{&abi_i386, 0x1c, "65 a1 00 00 00 00 83 c0 1c c3", 0},
		{&abi_i386, INT64_MAX, "65 a1 00 00 00 00", 0},
		{&abi_aarch64, -0xa4, "40 d0 3b d5 00 90 02 d1 c0 03 5f d6", 0},
		{&abi_aarch64, INT64_MAX, "40 d0 3b d5 01 90 02 d1 c0 03 5f d6", 0},
		{&abi_aarch64, INT64_MAX, "40 d0 3b", 0},
		{&abi_arm, -92, "1d ee 70 0f 5c 38 70 47", 1},
		{&abi_arm, -92, "70 0f 1d ee 5c 00 40 e2 1e ff 2f e1", 0},
		{&abi_arm, INT64_MAX, "1d ee 70 0f 5c 38 70 47", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned char code[32];
		int64_t offset = 0;
		const size_t size = hex_bytes(rows[i].code, code, sizeof(code));
		const bool found = rows[i].abi->thread_field(code, size, rows[i].state, &offset);

		if (found != (rows[i].offset != INT64_MAX) || (found && offset != rows[i].offset))
			fail_msg("row %zu: %d, %lld", i, found, (long long)offset);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64_places_match_the_psabi),
		cmocka_unit_test(test_i386_places_match_the_psabi),
		cmocka_unit_test(test_aarch64_places_match_its_standard),
		cmocka_unit_test(test_arm_places_match_its_standard),
		cmocka_unit_test(test_values_with_invalid_fields_have_no_known_place),
		cmocka_unit_test(test_x87_numbers_are_converted),
		cmocka_unit_test(test_functions_that_return_thread_fields_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
