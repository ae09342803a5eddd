/* Returns the signatures of functions as text. The functions are in files that the tests build. */
#ifndef FT_TESTS_UNIT_SIGNATURE_UTIL_H
#define FT_TESTS_UNIT_SIGNATURE_UTIL_H

#include "symbols/objects/mapped_object.h"
#include "symbols/types/types.h"

/* Returns an object for a file in the test's folder, as if the file were mapped at 0x10000000. The caller frees it with
 * test_object_free(). */
struct object *test_object(const char *name);
void test_object_free(struct object *object);
/* Returns the mapped address of a symbol by its name, or by its demangled name without parameters; 0 if there is
 * none. */
uint64_t test_address(const struct object *object, const char *symbol);

/* Returns a function's signature as "result (type name, ...)", or "none" if it has none. The caller frees the text. */
char *signature_text_at(const struct object *object, uint64_t address);
char *signature_text(const struct object *object, const char *symbol);
/* Fails the test and prints both signatures unless the symbol's signature is the expected one. */
void assert_signature(const struct object *object, const char *symbol, const char *expected);

#endif
