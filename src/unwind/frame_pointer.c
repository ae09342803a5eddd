/* Finds callers by the frame pointer, for frames without any rule: code generated at run time, and code without a path
 * to a return.
 *
 * It is not certain that the code keeps a frame pointer. The register may contain a caller's frame pointer, or a
 * number, so the stack must prove that the register is a frame pointer. A call leaves its return address on the stack.
 * The register is accepted if it points to a word (the saved frame pointer) that is followed by an address after a
 * call, and no word between sp and this address is such an address. Then this address is the innermost return address.
 * If earlier calls have left return addresses in a frame, the walk ends there, so none of these is mistaken for a
 * caller's return address. */
#include "config.h"
#include "unwind/return_address.h"

#define FRAME_WORDS_MAX 1024

static bool holds_return(struct unwinder *unwinder, uint64_t start, uint64_t end)
{
	uint64_t word;

	for (uint64_t at = start; at < end; at += unwinder->arch->pointer_size)
		if (!unwind_memory_word(&unwinder->memory, at, &word) ||
		    unwinder_may_return(unwinder, return_address_plain(unwinder->arch, word)))
			return true;
	return false;
}

bool frame_pointer_caller(struct unwinder *unwinder, struct frame_registers *registers, uint64_t *pc)
{
	const struct arch *arch = unwinder->arch;
	const unsigned size = arch->pointer_size, number = arch->dwarf.frame;
	const uint64_t sp = registers->values[arch->dwarf.sp], frame = registers->values[number];
	uint64_t outer, caller;

	if (!number || !(registers->known >> number & 1) || sp % size || frame % size || frame < sp ||
	    frame - sp > (uint64_t)FRAME_WORDS_MAX * size)
		return false;
	if (!unwind_memory_word(&unwinder->memory, frame, &outer) ||
	    !unwind_memory_word(&unwinder->memory, unwind_memory_sum(&unwinder->memory, frame, size), &caller) ||
	    !unwinder_is_return(unwinder, return_address_plain(arch, caller)) || holds_return(unwinder, sp, frame))
		return false;
	registers->values[number] = outer;
	registers->values[arch->dwarf.sp] = unwind_memory_sum(&unwinder->memory, frame, 2 * (int64_t)size);
	registers->known = 1ull << number | 1ull << arch->dwarf.sp;
	*pc = caller;
	return true;
}
