/* The state of formatting values: views of the target's bytes, limits, and texts for missing values. */
#ifndef FT_ARGS_FORMATTER_H
#define FT_ARGS_FORMATTER_H

#include "args/args.h"
#include "args/text_out.h"

#define VALUE_BYTES 1024 /* maximum number of bytes read of a value; the rest of a larger value is not shown */
#define VALUE_ITEMS 8    /* maximum number of elements shown of an array */
#define TEXTS_MAX   4    /* maximum number of strings read for members of one argument, or of the value it points to */
#define BASES_READ  8    /* maximum number of virtual bases read from memory for one argument */

/* Says what may be read of the memory to which a value refers, in addition to up to TEXTS_MAX C strings. */
enum follow {
	FOLLOW_NOT,  /* for a member or an element: nothing; a pointer is shown as an address */
	FOLLOW_TEXT, /* for a value to which an argument points: the text of a string object is read */
	FOLLOW_ALL,  /* for an argument or a result: the value to which it points is read */
};

/* A copy of a value's bytes. */
struct value_view {
	const unsigned char *bytes;
	uint64_t size;             /* number of bytes that could be read, at most the value's size */
	bool is_cut;               /* the missing bytes exist but were not read; false: they are unreadable */
	uint64_t address;          /* address of the bytes in the target; 0: they are in registers */
	const unsigned char *lost; /* for each byte, 1 if the compiler has optimised it out; NULL: no byte is */
};

/* The state of formatting the values of one call. */
struct formatter {
	const struct args_source *source;
	size_t limit;   /* maximum number of bytes shown of a string, at most ARGS_LIMIT_MAX */
	unsigned texts; /* number of members' strings that may still be read for the present argument */
	unsigned bases; /* number of virtual bases that may still be read for the present argument */
	bool is_unmade; /* the argument is a C++ object whose constructor begins: its vtable is not set yet */
	struct out out;
	unsigned char *text; /* buffer for a string of the target */
	/* value_show(), which formats the members and elements of a value. */
	void (*show)(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		     enum follow follow);
};

/* Initialises all fields but `show`, which value_begin() sets. formatter_end() frees them. */
void formatter_begin(struct formatter *s, const struct args_source *source);
void formatter_end(struct formatter *s);
/* Reads up to `size` bytes of the target into s->text, as far as they fit. Returns the number of bytes, 0 if none can
 * be read. */
size_t formatter_read_text(struct formatter *s, uint64_t address, size_t size);
/* Reads a value of `size` bytes from an address into `bytes`, at most VALUE_BYTES, and fills *view. Returns false if
 * nothing can be read. */
bool formatter_read(struct formatter *s, uint64_t address, uint64_t size, unsigned char *bytes,
		    struct value_view *view);

/* ---- Bytes ---- */

/* Returns a view of `size` bytes from `offset` on, or of fewer if the given view ends before. */
struct value_view view_part(const struct value_view *view, uint64_t offset, uint64_t size);
/* Returns true if the compiler has optimised out one of the first `size` bytes. */
bool view_has_lost(const struct value_view *view, uint64_t size);
/* Returns the first `size` bytes as a number, at most 8 of them. */
uint64_t view_number(const struct value_view *view, uint64_t size, bool is_signed);
/* Returns the first bytes of the view as an address in the target. */
uint64_t view_pointer(const struct formatter *s, const struct value_view *view);

/* ---- Texts ---- */

/* Shows that bytes of the value are missing: adds "(unreadable)" or, if the value was cut, marks the text as full, so
 * that it ends with "...". */
void show_missing(struct formatter *s, const struct value_view *view);
void show_lost(struct formatter *s);
/* Adds "<unknown place>": the place of the value is unknown. */
void show_unknown(struct formatter *s);
/* Adds "<unknown type>": debug information does not describe the type, or describes it in a missing file. */
void show_unknown_type(struct formatter *s);
/* Adds an address; adds "NULL" for 0. */
void show_address(struct formatter *s, uint64_t address);
void show_unreadable(struct formatter *s, uint64_t address);
/* Adds an address of code, and the name of the function there. */
void show_function(struct formatter *s, uint64_t address);

#endif
