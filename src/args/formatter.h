/* What values are shown with: bytes of the target, and words for what is not there. */
#ifndef FT_ARGS_FORMATTER_H
#define FT_ARGS_FORMATTER_H

#include "args/args.h"
#include "args/text_out.h"

#define VALUE_BYTES 1024 /* of a value that are looked at; what has more is shown as far as that */
#define VALUE_ITEMS 8    /* of an array that are shown */
#define TEXTS_MAX   4    /* strings that an argument's members, or what it points to, lead to */
#define BASES_READ  8    /* virtual bases of an argument that memory is read for */

/* How far the memory that a value refers to may be read for it. */
enum follow {
	FOLLOW_NOT,  /* a member, an element: its address is shown */
	FOLLOW_TEXT, /* what was pointed to itself: only the text of a string object */
	FOLLOW_ALL,  /* an argument, a result */
};

/* The bytes of a value, in the tracer's memory. */
struct value_view {
	const unsigned char *bytes;
	uint64_t size;    /* of those that are there */
	bool is_cut;      /* it has more that could be read, but are not looked at; else what lacks is unreadable */
	uint64_t address; /* where they are in the target; 0: in registers */
	const unsigned char *lost; /* for each of the bytes whether the compiler has left it out; NULL: none is */
};

/* What values are shown with: of one call. */
struct formatter {
	const struct args_source *source;
	size_t limit;   /* of a string's bytes, bounded */
	unsigned texts; /* strings of members that may still be read for the argument */
	unsigned bases; /* virtual bases that may still be looked for */
	bool is_unmade; /* the argument is an object whose constructor begins: its virtual table is not known yet */
	struct out out;
	unsigned char *text; /* what is read of a string */
	/* value_show(), for what consists of other values. */
	void (*show)(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		     enum follow follow);
};

/* Without `show`: value_begin() has it. */
void formatter_begin(struct formatter *s, const struct args_source *source);
void formatter_end(struct formatter *s);
/* Reads into the room for strings, at most `size` bytes of it. How many; 0: nothing can be read. */
size_t formatter_read_text(struct formatter *s, uint64_t address, size_t size);
/* Reads what a value has at an address, bounded, into VALUE_BYTES bytes. False: nothing can be read. */
bool formatter_read(struct formatter *s, uint64_t address, uint64_t size, unsigned char *bytes,
		    struct value_view *view);

/* ---- Bytes ---- */

/* A part of the bytes. */
struct value_view view_part(const struct value_view *view, uint64_t offset, uint64_t size);
/* Whether one of the first `size` bytes was left out. */
bool view_has_lost(const struct value_view *view, uint64_t size);
/* The number that the bytes are, of at most 8; of more the low ones. */
uint64_t view_number(const struct value_view *view, uint64_t size, bool is_signed);
uint64_t view_pointer(const struct formatter *s, const struct value_view *view);

/* ---- Words ---- */

/* Says that bytes are not there. */
void show_missing(struct formatter *s, const struct value_view *view);
void show_lost(struct formatter *s);
/* Where it is cannot be said. */
void show_unknown(struct formatter *s);
/* Debug information does not say what it is, or refers to a file that is not there. */
void show_unknown_type(struct formatter *s);
/* An address, or NULL. */
void show_address(struct formatter *s, uint64_t address);
void show_unreadable(struct formatter *s, uint64_t address);
/* The address of code, with the name of the function. */
void show_function(struct formatter *s, uint64_t address);

#endif
