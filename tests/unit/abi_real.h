/* What functions that tests/generate/signatures.py makes are called with. The compiler puts the arguments somewhere,
 * and arch/abi.h says where. In C and in C++. */
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

/* Types that not every processor, or language, has; another stands in for one that is missing. */
#if defined __SIZEOF_INT128__ && !(defined __clang__ && __clang_major__ < 18) /* older ones had rules of their own */
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
typedef double vector8; /* not passed the same way by all compilers, or options */
typedef double vector16;
#else
typedef int vector8 __attribute__((vector_size(8)));
typedef float vector16 __attribute__((vector_size(16)));
#define HAS_VECTORS 1
#endif
enum some { SOME_NONE, SOME_MORE = 70000 };

enum { MADE_ARGS = 12 }; /* at most, of one function */

/* ---- The description of a value: abi_real.c ---- */

struct made_value;
enum made_kind { MADE_INTEGER, MADE_FLOAT, MADE_LONG_DOUBLE, MADE_VECTOR, MADE_BITS };

/* The next argument of the function that is described, or its result. */
struct made_value *made_argument(size_t size, size_t align, int is_struct);
struct made_value *made_result(size_t size, size_t align, int is_struct);
void made_by_address(struct made_value *value);
/* One of the fields of which a value consists. compared: its bytes are to arrive; of a union only those of the member
 * that has been set. */
void made_field(struct made_value *value, size_t offset, size_t size, enum made_kind kind, int compared);
/* A bit field of the struct of `size` bytes at `offset`: what that is with its bits set and all others zero. */
void made_bits(struct made_value *value, size_t offset, size_t size, const void *set, int compared);
/* What the value is. */
void made_bytes(struct made_value *value, const void *bytes);

/* ---- A function ---- */

void made_begin(unsigned number, const char *words, int is_variadic);
/* Makes the dump, called with the prototype that the function would have: a compiler is not to know that it is another
 * function's. */
extern void (*volatile made_entry)(void);
/* The same for one that returns a struct: i386's takes its address off the stack when it returns. */
#ifdef __i386__
extern void (*volatile made_entry_pop)(void);
#define MADE_ENTRY_FOR(result) made_entry_pop
#else
#define MADE_ENTRY_FOR(result) made_entry
#endif
/* Compares what abi_entry() has found with the arguments. */
void made_check_arguments(void);
/* Calls a function that returns its result, and compares that. */
void made_check_result(void (*function)(void));

/* ---- Values ---- */

uint64_t made_random(void);
void made_fill(void *bytes, size_t size);
static inline double made_float(void)
{
	return (double)(int)(made_random() % 4001) / 8 - 200;
}

/* The functions, and how many. */
extern void (*const made_functions[])(void);
extern const unsigned made_count;

#ifdef __cplusplus
}
#endif

#endif
