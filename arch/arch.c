/* Which processors this build knows: the Makefile says, by ARCH_ and the family's name. */
#include "config.h"
#include "arch/arch.h"

#include "base/util.h"

#ifdef ARCH_X86
#include "arch/x86_insn.h"
#endif

static const struct arch *const tables[] = {
#ifdef ARCH_X86
	&arch_x86_64,
#endif
	NULL,
};

const struct arch *arch_for_regset(size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables) && tables[i]; i++)
		if (tables[i]->regset_size == size)
			return tables[i];
	return NULL;
}

const struct arch *arch_for_elf(uint16_t machine, unsigned char elf_class)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables) && tables[i]; i++)
		if (tables[i]->elf_machine == machine && tables[i]->elf_class == elf_class)
			return tables[i];
	return NULL;
}

/* A build knows one family of processors, so the pointers' size tells its own port. */
const struct arch *arch_native(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables) && tables[i]; i++)
		if (tables[i]->pointer_size == sizeof(void *))
			return tables[i];
	return NULL;
}
