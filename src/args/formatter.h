/* The state while values are formatted: views of the target's bytes, bounds, and words for missing values. */
#ifndef FT_ARGS_FORMATTER_H
#define FT_ARGS_FORMATTER_H

#include "args/args.h"
#include "args/text_out.h"

#define VALUE_BYTES 1024 /* bytes of a value that are read; of a larger value only these are shown */
#define VALUE_ITEMS 8    /* elements of an array that are shown */
#define TEXTS_MAX   4    /* strings that are read for the members of one argument or of what it points to */
#define BASES_READ  8    /* virtual bases for which memory is read, for each argument */

/* How much of the memory that a value refers to may be read. C strings are read in any case, TEXTS_MAX of them. */
enum follow {
	FOLLOW_NOT,  /* for a member or an element: no memory; a pointer is shown as an address */
	FOLLOW_TEXT, /* for a value that an argument points to: the text of a string object */
	FOLLOW_ALL,  /* for an argument or a result: the value that it points to */
};

/* A copy of a value's bytes. */
struct value_view {
	const unsigned char *bytes;
	uint64_t size;             /* bytes that could be read, at most those of the value */
	bool is_cut;               /* the missing bytes exist but were not read; else they are unreadable */
	uint64_t address;          /* of the bytes in the target; 0: they are in registers */
	const unsigned char *lost; /* for each byte 1 if the compiler has optimised it out; NULL: all are there */
};

/* The state while the values of one call are formatted. */
struct formatter {
	const struct args_source *source;
	size_t limit;   /* bytes of a string that are shown, at most ARGS_LIMIT_MAX */
	unsigned texts; /* strings of members that may still be read for this argument */
	unsigned bases; /* virtual bases that may still be read for this argument */
	bool is_unmade; /* the argument is an object whose constructor begins: its virtual table is not set yet */
	struct out out;
	unsigned char *text; /* buffer for the string that is being read */
	/* value_show(): formats the parts of a value that consists of others. */
	void (*show)(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		     enum follow follow);
};

/* Initialises all but `show`, which value_begin() sets. Undone by formatter_end(). */
void formatter_begin(struct formatter *s, const struct args_source *source);
void formatter_end(struct formatter *s);
/* Reads up to `size` bytes of the target into s->text, as many as fit. Returns how many were read, 0 if none. */
size_t formatter_read_text(struct formatter *s, uint64_t address, size_t size);
/* Reads a value of `size` bytes at an address, at most VALUE_BYTES, into `bytes`, and fills *view. False if nothing can
 * be read. */
bool formatter_read(struct formatter *s, uint64_t address, uint64_t size, unsigned char *bytes,
		    struct value_view *view);

/* ---- Bytes ---- */

/* Returns the view of `size` bytes from `offset` on, or of fewer where the view ends. */
struct value_view view_part(const struct value_view *view, uint64_t offset, uint64_t size);
/* Whether the compiler has optimised out one of the first `size` bytes. */
bool view_has_lost(const struct value_view *view, uint64_t size);
/* Returns the first `size` bytes as a number, or the low 8 of more. */
uint64_t view_number(const struct value_view *view, uint64_t size, bool is_signed);
/* Returns the first bytes as an address of the target. */
uint64_t view_pointer(const struct formatter *s, const struct value_view *view);

/* ---- Words ---- */

/* Adds "(unreadable)" for missing bytes. If the value was cut, marks the text as full, which ends it with "...". */
void show_missing(struct formatter *s, const struct value_view *view);
void show_lost(struct formatter *s);
/* Says that the place of the value is unknown. */
void show_unknown(struct formatter *s);
/* Says that the type is unknown: debug information does not describe it, or refers to a missing file. */
void show_unknown_type(struct formatter *s);
/* Adds an address; 0 is shown as NULL. */
void show_address(struct formatter *s, uint64_t address);
void show_unreadable(struct formatter *s, uint64_t address);
/* Adds the address of code and the name of its function. */
void show_function(struct formatter *s, uint64_t address);

#endif
