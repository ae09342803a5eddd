/* From the bytes of a value to its text. */
#ifndef FT_ARGS_VALUE_H
#define FT_ARGS_VALUE_H

#include "args/formatter.h"

/* Begins to show values of a call. formatter_end(). */
void value_begin(struct formatter *s, const struct args_source *source);
/* Adds the text of a value of that type; NULL: unknown. depth: how many values this one is within. */
void value_show(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		enum follow follow);

/* ---- Parts of it, each in a file of its own ---- */

void show_float(struct formatter *s, const struct data_type *type, const struct value_view *view);
void show_complex(struct formatter *s, const struct data_type *type, const struct value_view *view);
void show_enum(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* Structs, unions, arrays and vectors. */
void show_members(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth);
/* Where a virtual base of the object is. False: it is not known. */
bool virtual_base_find(struct formatter *s, const struct data_member *base, const struct value_view *object,
		       uint64_t *address);
void show_elements(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth);
/* Pointers and references. */
void show_pointer(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		  enum follow follow);

/* Characters and strings. */
bool is_text_char(const struct data_type *type);
void show_char(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* The string at an address, of characters of that many bytes, at most `most` of them. prefix: as a literal has it
 * ("L"). */
void show_string(struct formatter *s, uint64_t address, unsigned width, const char *prefix, uint64_t most);
/* The prefix of a literal of such characters. */
const char *char_prefix(const struct data_type *type);
/* An array of characters, up to its first zero. */
void show_char_array(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* So many bytes, quoted: those given, at most s->limit of them; those at an address. */
void show_quoted(struct formatter *s, const unsigned char *bytes, size_t count);
void show_counted_bytes(struct formatter *s, uint64_t address, uint64_t count);
/* A string object: DATA_TEXT, DATA_TEXT_COUNTED, DATA_TEXT_INLINE. */
void show_text_object(struct formatter *s, const struct data_type *type, const struct value_view *view,
		      enum follow follow);

#endif
