/* From the bytes of a value to its text. */
#ifndef FT_ARGS_VALUE_H
#define FT_ARGS_VALUE_H

#include "args/formatter.h"

/* Begins to show values of a call. showing_end(). */
void value_begin(struct showing *s, const struct args_source *source);
/* Adds the text of a value of that type; NULL: unknown. depth: how many values this one is within. */
void value_show(struct showing *s, const struct data_type *type, const struct view *view, unsigned depth,
		enum follow follow);

/* ---- Parts of it, each in a file of its own ---- */

void show_float(struct showing *s, const struct data_type *type, const struct view *view);
void show_complex(struct showing *s, const struct data_type *type, const struct view *view);
void show_enum(struct showing *s, const struct data_type *type, const struct view *view);
/* Structs, unions, arrays and vectors. */
void show_members(struct showing *s, const struct data_type *type, const struct view *view, unsigned depth);
/* Where a virtual base of the object is. False: it is not known. */
bool virtual_base_find(struct showing *s, const struct data_member *base, const struct view *object, uint64_t *address);
void show_elements(struct showing *s, const struct data_type *type, const struct view *view, unsigned depth);
/* Pointers and references. */
void show_pointer(struct showing *s, const struct data_type *type, const struct view *view, unsigned depth,
		  enum follow follow);

/* Characters and strings. */
bool is_text_char(const struct data_type *type);
void show_char(struct showing *s, const struct data_type *type, const struct view *view);
/* The string at an address, of characters of that many bytes, at most `most` of them. prefix: as a literal has it
 * ("L"). */
void show_string(struct showing *s, uint64_t address, unsigned width, const char *prefix, uint64_t most);
/* The prefix of a literal of such characters. */
const char *char_prefix(const struct data_type *type);
/* An array of characters, up to its first zero. */
void show_char_array(struct showing *s, const struct data_type *type, const struct view *view);
/* So many bytes, quoted: those given, at most s->limit of them; those at an address. */
void show_quoted(struct showing *s, const unsigned char *bytes, size_t count);
void show_counted_bytes(struct showing *s, uint64_t address, uint64_t count);
/* A string object: DATA_TEXT, DATA_TEXT_COUNTED, DATA_TEXT_INLINE. */
void show_text_object(struct showing *s, const struct data_type *type, const struct view *view, enum follow follow);

#endif
