/* Finds calls whose stack goes through a given part of an object (--call-address). */
#ifndef FT_ANALYSIS_SELECT_CALL_ADDRESS_H
#define FT_ANALYSIS_SELECT_CALL_ADDRESS_H

#include "trace/event.h"

/* The value of --call-address, OBJECT:START+SIZE, in hexadecimal. START is an address as nm and objdump print it for
 * the ELF file. */
struct call_address {
	char *object; /* substring of the object's path */
	uint64_t start, size;
};

/* Parses the option's value. Returns false if the text has another form. After success, call_address_free() has to be
 * called. */
bool call_address_parse(const char *text, struct call_address *address);
void call_address_free(struct call_address *address);

struct address_range {
	uint64_t from, to;   /* addresses of the object */
	uint64_t start, end; /* addresses of the part */
};

/* The part that --call-address names, in each mapped object that matches. */
struct call_ranges {
	const struct call_address *address;
	const char *sysroot; /* folder that contains the ELF files; NULL: / */
	struct address_range *items;
	size_t count, capacity;
};

/* Returns true if the object's path contains address->object. */
bool call_ranges_want(const struct call_ranges *ranges, const struct record_object *object);
/* Must be called for each mapped object. Forgets the ranges of older objects that this object overlaps. Adds a range if
 * call_ranges_want() returns true for this object. */
void call_ranges_take(struct call_ranges *ranges, const struct record_object *object);
/* Returns true if a frame of the call is in one of the ranges. */
bool call_ranges_cross(const struct call_ranges *ranges, const struct record_call *call);
void call_ranges_free(struct call_ranges *ranges);

#endif
