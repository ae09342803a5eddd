/* Signatures as text, of files that the tests build. */
#ifndef FT_TESTS_UNIT_SIGNATURE_UTIL_H
#define FT_TESTS_UNIT_SIGNATURE_UTIL_H

#include "symbols/objects/mapped_object.h"
#include "symbols/types/types.h"

/* An object of a file in the tests' folder, as if mapped at 0x10000000. It is freed by test_object_free(). */
struct object *test_object(const char *name);
void test_object_free(struct object *object);
/* The mapped address of a symbol, by its name or its demangled name without parameters; 0 if there is none. */
uint64_t test_address(const struct object *object, const char *symbol);

/* "result (type name, ...)" of a function's signature, or "none". The caller frees it. */
char *signature_text_at(const struct object *object, uint64_t address);
char *signature_text(const struct object *object, const char *symbol);
/* Compares it, and prints which symbol differs. */
void assert_signature(const struct object *object, const char *symbol, const char *expected);

#endif
