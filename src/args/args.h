/* Formats the arguments and the result of a call as text, from registers and memory.
 *
 * The parameters are described by a module's table row or by debug information (symbols/types/types.h). The processor's
 * ABI (arch/abi.h) determines their places. This code does not use ptrace: the caller passes the registers and a
 * function that reads memory. */
#ifndef FT_ARGS_ARGS_H
#define FT_ARGS_ARGS_H

#include "args/list.h"
#include "arch/abi.h"
#include "modules/module.h"
#include "symbols/types/types.h"

/* The state of the task at a call's entry or return. */
struct args_source {
	const struct arch *arch;
	const struct arch_regs *regs;
	/* Copies the register set arch->abi->floats_set, at most `size` bytes. Returns the number of bytes, 0 if there
	 * are none. Called only if a value is in a register of this set, and at most once at the entry and once at the
	 * return. */
	size_t (*floats)(void *context, unsigned char *bytes, size_t size);
	/* Reads up to `size` bytes, fewer if the mapping ends before. Returns the number of bytes, or -errno. */
	ssize_t (*read)(void *context, uint64_t address, void *to, size_t size);
	/* Gets the task's errno. Returns false if it is unknown. */
	bool (*error)(void *context, int *error);
	/* Returns the name of the function whose first instruction is at the address; NULL: unknown. */
	const char *(*name)(void *context, uint64_t address);
	/* Returns true if a file of a program or library is mapped at an address. Vtables are in such mappings. */
	bool (*is_object)(void *context, uint64_t address);
	void *context;
	size_t limit; /* maximum number of bytes shown of a string (--args-limit), at most ARGS_LIMIT_MAX */
};

#define ARGS_LIMIT_MAX 4096

/* A function's parameters and their places (args/plan.h). */
struct args_plan;

/* args_plan_of_row() makes a plan from a row of a module's table; it returns NULL if the row describes neither an
 * argument nor a result nor errno. args_plan_of_signature() makes a plan from a signature; it returns NULL if
 * `signature` is NULL. Both return NULL if the processor has no arch->abi. The plan refers to the row or the signature,
 * which must outlive it. is_soft_float: elf_file_is_soft_float() of the function's object. The caller frees the plan
 * with args_plan_free(). */
struct args_plan *args_plan_of_row(const struct arch *arch, const struct function *row, bool is_soft_float);
struct args_plan *args_plan_of_signature(const struct arch *arch, const struct signature *signature,
					 bool is_soft_float);
/* Returns the function's result as one number, from the value of the integer result register. A result that is an
 * integer, pointer, enumeration or the like in this register is cut to its width. For any other result, and without a
 * result, returns 0. If it is unknown whether there is a result, returns the whole register. */
uint64_t args_plan_number(const struct args_plan *plan, uint64_t result_register);

/* Reasons for which the number that args_plan_number() returns may not be the function's result. */
enum args_doubt {
	DOUBT_NONE,
	DOUBT_UNKNOWN, /* it is unknown whether there is a result, or where */
	DOUBT_LOST,    /* the function leaves the result out if no caller uses it */
};
/* Returns the reason why the number that args_plan_number() returns may not be the function's result, or DOUBT_NONE.
 * Returns DOUBT_UNKNOWN if `plan` is NULL. */
enum args_doubt args_plan_doubt(const struct args_plan *plan);
void args_plan_free(struct args_plan *plan); /* NULL is allowed */

/* Data that args_at_return() needs from the entry: the arguments, if the plan was made from a table row, and the
 * address of a result in memory. */
struct args_kept {
	uint64_t result_at;
	uint32_t unread; /* one bit for each of `args` that could not be read */
	uint64_t args[FUNCTION_PARAMS];
};

/* Returns a new list of the arguments at the entry, with one reference, and fills *kept. TEXTS_MAX, BASES_READ and
 * VALUE_ITEMS (args/formatter.h) limit how often the target's memory is read for one argument. */
struct arg_list *args_at_entry(const struct args_plan *plan, const struct args_source *source, struct args_kept *kept);
/* Adds the values that exist only at the return: arguments that the function has filled in, the result as "return",
 * and "errno". The errno is added if the call has failed and the row says that the function sets it. The call has
 * failed if `failed` is set, or if the result is one that the row defines as a failure. */
void args_at_return(const struct args_plan *plan, const struct args_source *source, const struct args_kept *kept,
		    bool failed, struct arg_list *list);

#endif
