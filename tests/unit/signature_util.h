/* Signatures as text, of files that the tests build. */
#ifndef FT_TESTS_UNIT_SIGNATURE_UTIL_H
#define FT_TESTS_UNIT_SIGNATURE_UTIL_H

#include "symbols/objects/mapped_object.h"
#include "symbols/types/types.h"

/* An object of a file in the tests' folder, as if it were mapped at 0x10000000. Freed with test_object_free(). */
struct object *test_object(const char *name);
void test_object_free(struct object *object);
/* The address of a symbol as mapped, by its name or the demangled one without parameters; 0: there is none. */
uint64_t test_address(const struct object *object, const char *symbol);

/* "result (type name, ...)" of a function's signature; "none". The caller frees it. */
char *signature_text_at(const struct object *object, uint64_t address);
char *signature_text(const struct object *object, const char *symbol);
/* Compares it, and says which symbol differs. */
void assert_signature(const struct object *object, const char *symbol, const char *expected);

#endif
