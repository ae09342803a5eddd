/* From registers and memory to the text of a call's arguments and result.
 *
 * What a function's parameters are comes from a module's row or from debug information (symbols/types/types.h);
 * where they are, from the processor's ABI (arch/abi.h). Nothing here knows ptrace: the caller gives registers,
 * and reads memory. */
#ifndef FT_ARGS_ARGS_H
#define FT_ARGS_ARGS_H

#include "args/list.h"
#include "arch/abi.h"
#include "modules/module.h"
#include "symbols/types/types.h"

/* The task that makes a call, as it is at the entry or at the return. */
struct args_source {
	const struct arch *arch;
	const struct arch_regs *regs;
	/* Fills as many bytes as there are of the register set arch->abi->floats_set: how many, 0 none. Asked once a
	 * call, and only if something is in such a register. */
	size_t (*floats)(void *context, unsigned char *bytes, size_t size);
	/* Reads as much as there is before the end of a mapping: how many bytes, or -errno. */
	ssize_t (*read)(void *context, uint64_t address, void *to, size_t size);
	/* The value of errno of the task. False: it is not known. */
	bool (*error)(void *context, int *error);
	/* The name of the function at an address, for pointers to functions; NULL none. */
	const char *(*name)(void *context, uint64_t address);
	/* Whether a program's or a library's file is mapped at an address: a virtual table lies in one. */
	bool (*is_object)(void *context, uint64_t address);
	void *context;
	size_t limit; /* bytes of a string that are shown (--args-limit), ARGS_LIMIT_MAX at most */
};

#define ARGS_LIMIT_MAX 4096

/* What is known of a function's parameters, and where they are. */
struct args_plan;

/* Of a module's row; NULL: the row says nothing. Of a signature; NULL of NULL. It refers to the row or the signature.
 * is_soft_float: of the function's object, elf_file_is_soft_float(). args_plan_free(). */
struct args_plan *args_plan_of_row(const struct arch *arch, const struct function *row, bool is_soft_float);
struct args_plan *args_plan_of_signature(const struct arch *arch, const struct signature *signature,
					 bool is_soft_float);
/* The function's result as one number, out of the value of the integer result register: of integers, pointers,
 * enumerations and the like that are in it, as wide as they are. 0: it has another one, or none. Where it is not known
 * whether it has one, the register's value. */
uint64_t args_plan_number(const struct args_plan *plan, uint64_t result_register);
void args_plan_free(struct args_plan *plan); /* NULL is allowed */

/* What has to be kept from the entry for the return: arguments that are results, the address of a result in memory. */
struct args_kept {
	uint64_t result_at;
	uint32_t unread; /* a bit for each of `args` that could not be read */
	uint64_t args[FUNCTION_PARAMS];
};

/* The arguments at the entry: a new list. Reads at most once for each argument that points to something, and once more
 * for the text of a string object. */
struct arg_list *args_at_entry(const struct args_plan *plan, const struct args_source *source, struct args_kept *kept);
/* Adds to the list what only the return knows: arguments that the function has filled, the result as "return", and
 * "errno" where the row says that the function sets it, and the call has failed: `failed`, or by the row. */
void args_at_return(const struct args_plan *plan, const struct args_source *source, const struct args_kept *kept,
		    bool failed, struct arg_list *list);

#endif
