/* Frames without any rule, by their frame pointer: code that is made at run time, and code that no path leads out of.
 *
 * Nothing says that the code keeps a frame pointer. The register may hold that of a caller, or a number, so the stack
 * has to prove it. A call leaves its return address on the stack: if no word between sp and the frame that the
 * register leads to is the address behind a call, and the word beside the caller's frame pointer is, this is the
 * innermost return address. What earlier calls have left in a frame ends the stack there; it is never taken for a
 * caller. */
#include "config.h"
#include "unwind/returns.h"

#define FRAME_WORDS_MAX 1024

static bool holds_return(struct unwinder *unwinder, uint64_t start, uint64_t end)
{
	uint64_t word;

	for (uint64_t at = start; at < end; at += unwinder->arch->pointer_size)
		if (!memory_word(&unwinder->memory, at, &word) ||
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
	if (!memory_word(&unwinder->memory, frame, &outer) ||
	    !memory_word(&unwinder->memory, memory_sum(&unwinder->memory, frame, size), &caller) ||
	    !unwinder_is_return(unwinder, return_address_plain(arch, caller)) || holds_return(unwinder, sp, frame))
		return false;
	registers->values[number] = outer;
	registers->values[arch->dwarf.sp] = memory_sum(&unwinder->memory, frame, 2 * (int64_t)size);
	registers->known = 1ull << number | 1ull << arch->dwarf.sp;
	*pc = caller;
	return true;
}
