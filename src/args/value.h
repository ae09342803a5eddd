/* Converts the bytes of a value to text. */
#ifndef FT_ARGS_VALUE_H
#define FT_ARGS_VALUE_H

#include "args/formatter.h"

/* Initialises a formatter for the values of one call; formatter_end() frees it. */
void value_begin(struct formatter *s, const struct args_source *source);
/* Adds the text of a value of this type (NULL: unknown). depth: number of structs and arrays that contain the value. */
void value_show(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		enum follow follow);

/* ---- Parts of value_show() in other files ---- */

void show_float(struct formatter *s, const struct data_type *type, const struct value_view *view);
void show_complex(struct formatter *s, const struct data_type *type, const struct value_view *view);
void show_enum(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* Shows a struct or a union. */
void show_members(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth);
/* Finds the address of a virtual base of the C++ object `object`. Returns false if the address cannot be determined. */
bool virtual_base_find(struct formatter *s, const struct data_member *base, const struct value_view *object,
		       uint64_t *address);
/* Shows an array or a vector. */
void show_elements(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth);
/* Shows a pointer or a reference. */
void show_pointer(struct formatter *s, const struct data_type *type, const struct value_view *view, unsigned depth,
		  enum follow follow);

/* is_text_char() returns true if values of this type are shown as characters, and arrays of them as text. show_char()
 * shows one character. */
bool is_text_char(const struct data_type *type);
void show_char(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* Shows the string at an address, up to its terminating zero, at most `most` characters. width: bytes of a character.
 * prefix: prefix of the literal in C ("L"). */
void show_string(struct formatter *s, uint64_t address, unsigned width, const char *prefix, uint64_t most);
/* Returns the prefix of a C literal with characters of this type: "L", "u", "U" or "". */
const char *char_prefix(const struct data_type *type);
/* Shows an array of characters, up to the first zero. */
void show_char_array(struct formatter *s, const struct data_type *type, const struct value_view *view);
/* show_quoted() shows `count` bytes of functrace's own memory in quotes; show_counted_bytes() shows `count` bytes at an
 * address of the target. Both show at most s->limit bytes. */
void show_quoted(struct formatter *s, const unsigned char *bytes, size_t count);
void show_counted_bytes(struct formatter *s, uint64_t address, uint64_t count);
/* Shows a string object (DATA_TEXT, DATA_TEXT_COUNTED, DATA_TEXT_INLINE). */
void show_text_object(struct formatter *s, const struct data_type *type, const struct value_view *view,
		      enum follow follow);

#endif
