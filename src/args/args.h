/* Formats the arguments and the result of a call, from registers and memory to text.
 *
 * A module's row or debug information (symbols/types/types.h) describes the parameters; the processor's ABI
 * (arch/abi.h) says where they are. This room does not use ptrace: the caller passes the registers and a function that
 * reads memory. */
#ifndef FT_ARGS_ARGS_H
#define FT_ARGS_ARGS_H

#include "args/list.h"
#include "arch/abi.h"
#include "modules/module.h"
#include "symbols/types/types.h"

/* The state of the task that makes a call, at the entry or at the return. */
struct args_source {
	const struct arch *arch;
	const struct arch_regs *regs;
	/* Copies the register set arch->abi->floats_set, at most `size` bytes. Returns the number of bytes, 0 if there
	 * are none. Called at most once at the entry and once at the return, and only if a value is in such a
	 * register. */
	size_t (*floats)(void *context, unsigned char *bytes, size_t size);
	/* Reads up to `size` bytes, fewer where a mapping ends. Returns the number of bytes, or -errno. */
	ssize_t (*read)(void *context, uint64_t address, void *to, size_t size);
	/* Gets the task's errno. False if it is unknown. */
	bool (*error)(void *context, int *error);
	/* Returns the name of the function at an address (for pointers to functions), or NULL. */
	const char *(*name)(void *context, uint64_t address);
	/* Whether the file of a program or a library is mapped at an address. Virtual tables are in such mappings. */
	bool (*is_object)(void *context, uint64_t address);
	void *context;
	size_t limit; /* bytes of a string that are shown (--args-limit), ARGS_LIMIT_MAX at most */
};

#define ARGS_LIMIT_MAX 4096

/* A function's parameters and their places (args/plan.h). */
struct args_plan;

/* Make the plan of a module's row (NULL if it describes nothing) or of a signature (NULL if `signature` is NULL). Both
 * return NULL if the processor has no arch->abi. The plan refers to the row or the signature, which must outlive it.
 * is_soft_float: elf_file_is_soft_float() of the function's object. Free it with args_plan_free(). */
struct args_plan *args_plan_of_row(const struct arch *arch, const struct function *row, bool is_soft_float);
struct args_plan *args_plan_of_signature(const struct arch *arch, const struct signature *signature,
					 bool is_soft_float);
/* Returns the function's result as one number, from the value of the integer result register: for integers, pointers,
 * enumerations and the like that are in this register, cut to their width. Returns 0 for other results and without a
 * result, and the whole register if it is unknown whether there is a result. */
uint64_t args_plan_number(const struct args_plan *plan, uint64_t result_register);
void args_plan_free(struct args_plan *plan); /* NULL is allowed */

/* What args_at_return() needs from the entry: the arguments of a row, and the address of a result in memory. */
struct args_kept {
	uint64_t result_at;
	uint32_t unread; /* a bit for each of `args` that could not be read */
	uint64_t args[FUNCTION_PARAMS];
};

/* Returns a new list of the arguments at the entry, and fills *kept. Bounds the reads of the target's memory for each
 * argument: one for what it points to, and as many more as TEXTS_MAX, BASES_READ and VALUE_ITEMS allow
 * (args/formatter.h). */
struct arg_list *args_at_entry(const struct args_plan *plan, const struct args_source *source, struct args_kept *kept);
/* Adds to the list what is known only at the return: arguments that the function has filled, the result as "return",
 * and "errno" if the row says that the function sets it and the call has failed. A call has failed if `failed` is set
 * or if the row says so of its result. */
void args_at_return(const struct args_plan *plan, const struct args_source *source, const struct args_kept *kept,
		    bool failed, struct arg_list *list);

#endif
