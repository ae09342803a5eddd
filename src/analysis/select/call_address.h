/* Finds the calls that go through a part of an object. */
#ifndef FT_ANALYSIS_SELECT_CALL_ADDRESS_H
#define FT_ANALYSIS_SELECT_CALL_ADDRESS_H

#include "trace/event.h"

/* OBJECT:START+SIZE, hexadecimal. The addresses are those that nm and objdump show for the ELF file. */
struct call_address {
	char *object; /* a part of the object's path */
	uint64_t start, size;
};

/* Returns false if the text has another form. After success, the caller calls call_address_free(). */
bool call_address_parse(const char *text, struct call_address *address);
void call_address_free(struct call_address *address);

struct address_range {
	uint64_t from, to;   /* of the object */
	uint64_t start, end; /* of the part that is searched */
};

/* The places of the part in the matching objects that are mapped now. */
struct call_ranges {
	const struct call_address *address;
	const char *sysroot; /* where the ELF files are; NULL: / */
	struct address_range *items;
	size_t count, capacity;
};

/* Returns true if the object matches the path. */
bool call_ranges_want(const struct call_ranges *ranges, const struct record_object *object);
/* Notes a mapped object, which replaces those that it overlaps. */
void call_ranges_take(struct call_ranges *ranges, const struct record_object *object);
/* Returns true if a frame of the call is in the part. */
bool call_ranges_cross(const struct call_ranges *ranges, const struct record_call *call);
void call_ranges_free(struct call_ranges *ranges);

#endif
