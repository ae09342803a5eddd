/* What holds for ELF machines, whichever ports are built. Apart from the tables, so that a program that only reads
 * traces links no port. */
#include "config.h"
#include "arch/arch.h"

#include <elf.h>

uint64_t arch_code_address(uint16_t elf_machine, uint64_t value)
{
	/* The lowest bit of a Thumb function's symbol, and of an address that returns to Thumb code, is set. */
	return elf_machine == EM_ARM ? value & ~(uint64_t)1 : value;
}
