/* The calls that go through a part of an object. */
#ifndef FT_ANALYSIS_SELECT_CALL_ADDRESS_H
#define FT_ANALYSIS_SELECT_CALL_ADDRESS_H

#include "trace/event.h"

/* OBJECT:START+SIZE, hexadecimal: addresses as nm and objdump show them for the ELF file. */
struct call_address {
	char *object; /* a part of its path */
	uint64_t start, size;
};

/* False when the text has another form; call_address_free after success. */
bool call_address_parse(const char *text, struct call_address *address);
void call_address_free(struct call_address *address);

struct address_range {
	uint64_t from, to;   /* the object */
	uint64_t start, end; /* the part of it that is looked for */
};

/* Where the part is, in the matching objects that are mapped now. */
struct call_ranges {
	const struct call_address *address;
	const char *sysroot; /* where the ELF files are; NULL / */
	struct address_range *items;
	size_t count, capacity;
};

/* Whether the object is one of those that are looked for. */
bool call_ranges_want(const struct call_ranges *ranges, const struct record_object *object);
/* An object is mapped: it replaces what it overlaps. */
void call_ranges_take(struct call_ranges *ranges, const struct record_object *object);
/* Whether a frame of the call lies in the part. */
bool call_ranges_cross(const struct call_ranges *ranges, const struct record_call *call);
void call_ranges_free(struct call_ranges *ranges);

#endif
