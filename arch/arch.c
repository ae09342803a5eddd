/* Lists the processors of this build. ARCH_PORTS contains PORT(NAME) for each of them, first for the processor for
 * which functrace is built (local.mk). */
#include "config.h"
#include "arch/arch.h"

#include "base/util.h"

#include <errno.h>
#include <string.h>

#define PORT(name) extern const struct arch arch_##name;
ARCH_PORTS
#undef PORT

#define PORT(name) &arch_##name,
static const struct arch *const tables[] = {ARCH_PORTS NULL};

const struct arch *arch_for_regset(size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables) && tables[i]; i++)
		if (tables[i]->registers.size == size)
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

const struct arch *arch_known(size_t i)
{
	return i < ARRAY_SIZE(tables) ? tables[i] : NULL;
}

const struct arch *arch_native(void)
{
	return tables[0];
}

#define LEAST_PAGE 4096 /* bytes; the start of every page is a multiple of this */

int arch_call_before(const struct arch *arch, uint64_t return_address, const struct arch_memory *code,
		     enum arch_call *call)
{
	const uint64_t end = arch_text_address(arch, return_address), in_page = end % LEAST_PAGE;
	unsigned char bytes[ARCH_CALL_BYTES];
	size_t size = sizeof(bytes);

	if (end < size)
		return -EFAULT;
	int error = code->read(code->context, end - size, bytes, size);

	if (error < 0 && in_page && in_page < size) {
		size = (size_t)in_page;
		error = code->read(code->context, end - size, bytes, size);
	}
	if (error < 0)
		return error;
	*call = arch->code.follows_call(return_address, bytes, size);
	return 0;
}

static void arch_put_number(unsigned char *bytes, unsigned offset, unsigned size, uint64_t number)
{
	const uint32_t narrow = (uint32_t)number;

	if (size == sizeof(narrow))
		memcpy(bytes + offset, &narrow, sizeof(narrow));
	else
		memcpy(bytes + offset, &number, sizeof(number));
}

static uint64_t get_number(const unsigned char *bytes, unsigned offset, unsigned size)
{
	uint32_t narrow;
	uint64_t number;

	memcpy(&narrow, bytes + offset, sizeof(narrow));
	if (size == sizeof(narrow))
		return narrow;
	memcpy(&number, bytes + offset, sizeof(number));
	return number;
}

void action_pack(const struct action_layout *layout, const struct arch_action *action, unsigned char *bytes)
{
	memset(bytes, 0, layout->size);
	arch_put_number(bytes, layout->handler, layout->word, action->handler);
	arch_put_number(bytes, layout->flags, layout->flags_size, action->flags);
	arch_put_number(bytes, layout->mask, sizeof(action->mask), action->mask);
	if (layout->restorer)
		arch_put_number(bytes, layout->restorer, layout->word, action->restorer);
}

void action_unpack(const struct action_layout *layout, const unsigned char *bytes, struct arch_action *action)
{
	*action = (struct arch_action){.handler = get_number(bytes, layout->handler, layout->word),
				       .flags = get_number(bytes, layout->flags, layout->flags_size),
				       .mask = get_number(bytes, layout->mask, sizeof(action->mask))};
	if (layout->restorer)
		action->restorer = get_number(bytes, layout->restorer, layout->word);
}

bool arch_uprobe_place(const struct arch *arch, const unsigned char *code, size_t size, unsigned arguments,
		       size_t *offset)
{
	if (arch->uprobe.site(code, size, arguments, offset))
		return true;
	*offset = 0;
	return arch->uprobe.can_step(code, size);
}
