/* Declarations for the functions that tests/generate/signatures.py generates, in C and in C++: the compiler chooses the
 * places of the arguments, which are compared with arch/abi.h. */
#ifndef FT_TESTS_ABI_REAL_H
#define FT_TESTS_ABI_REAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#define BOOL bool
#else
#define BOOL _Bool
#endif

/* Types that some processors or languages lack. Another type replaces a missing one. */
#if defined __SIZEOF_INT128__ && !(defined __clang__ && __clang_major__ < 18) /* older versions pass it differently */
typedef __int128 wide;
#else
typedef long long wide;
#endif
#if defined __x86_64__ && !defined __cplusplus
typedef __float128 quad;
#else
typedef double quad;
#endif
#if defined __aarch64__ && !defined __cplusplus
typedef _Float16 half;
#else
typedef float half;
#endif
#if defined __i386__ || (defined __clang__ && defined __arm__)
typedef double vector8; /* compilers and options differ in how they pass it */
typedef double vector16;
#else
typedef int vector8 __attribute__((vector_size(8)));
typedef float vector16 __attribute__((vector_size(16)));
#define HAS_VECTORS 1
#endif
enum some { SOME_NONE, SOME_MORE = 70000 };

enum { MADE_ARGS = 12 }; /* at most, for one function */

/* ---- The description of a value: abi_real.c ---- */

struct made_value;
enum made_kind { MADE_INTEGER, MADE_FLOAT, MADE_LONG_DOUBLE, MADE_VECTOR, MADE_BITS };

/* made_argument() and made_result() add the next argument and the result of the function that made_begin() began.
 * made_by_address() notes that a value is passed by address. */
struct made_value *made_argument(size_t size, size_t align, int is_struct);
struct made_value *made_result(size_t size, size_t align, int is_struct);
void made_by_address(struct made_value *value);
/* Adds a field to a value. If `compared` is 0, the field's bytes are not compared. In a union, they are compared only
 * for the member that has been set. */
void made_field(struct made_value *value, size_t offset, size_t size, enum made_kind kind, int compared);
/* Adds a bit field. `size` and `offset` are those of its struct; `set` is the struct with all bits of the field set and
 * all others zero. */
void made_bits(struct made_value *value, size_t offset, size_t size, const void *set, int compared);
/* Sets the value's bytes. */
void made_bytes(struct made_value *value, const void *bytes);

/* ---- A function ---- */

void made_begin(unsigned number, const char *words, int is_variadic);
/* Dumps the registers and the stack. Each generated function calls it through this pointer, which is cast to the tested
 * prototype; so the compiler does not know which code is called. */
extern void (*volatile made_entry)(void);
/* The same for a function that returns a struct. On i386 such a function removes the struct's address from the stack
 * when it returns. */
#ifdef __i386__
extern void (*volatile made_entry_pop)(void);
#define MADE_ENTRY_FOR(result) made_entry_pop
#else
#define MADE_ENTRY_FOR(result) made_entry
#endif
/* Compares the values that abi_entry() has dumped with the arguments. */
void made_check_arguments(void);
/* Calls `function`, which returns the described result, and compares what it returns. */
void made_check_result(void (*function)(void));

/* ---- Values ---- */

uint64_t made_random(void);
void made_fill(void *bytes, size_t size);
static inline double made_float(void)
{
	return (double)(int)(made_random() % 4001) / 8 - 200;
}

/* The generated functions, and their number. */
extern void (*const made_functions[])(void);
extern const unsigned made_count;

#ifdef __cplusplus
}
#endif

#endif
