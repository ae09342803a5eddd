/* Writes a C program that repeats the allocations of a trace, to compare malloc libraries. The program contains the
 * calls as a table, because a compiler needs seconds for a table of a million entries, but hours for a million
 * statements. */
#include "config.h"
#include "analysis/mpatrol/mpatrol_parts.h"
#include "base/hash.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdlib.h>

void mpatrol_sim_begin(struct mpatrol_sim *sim, const char *name)
{
	fputs("/* The calls of ", sim->file);
	struct buf plain = {0};

	plain_add(&plain, name);
	for (size_t i = 0; i < plain.size; i++)
		/* the name is printed in a C comment */
		fputc(plain.data[i] == '*' ? '?' : plain.data[i], sim->file);
	buf_free(&plain);
	fputs(" again. Written by functrace-postproc " PACKAGE_VERSION ".\n"
	      " *\n"
	      " *     cc -O2 -fno-builtin FILE.c && time ./a.out */\n"
	      "#include <stdio.h>\n"
	      "#include <stdlib.h>\n\n"
	      "/* The call ('a' malloc, 'r' realloc, 'f' free), the block's number, its size. */\n"
	      "static const struct step {\n"
	      "\tchar call;\n"
	      "\tunsigned long block;\n"
	      "\tunsigned long long size;\n"
	      "} steps[] = {\n",
	      sim->file);
}

static size_t mpatrol_sim_take_slot(struct mpatrol_sim *sim, uint64_t index)
{
	const size_t slot = sim->unused_count ? sim->unused[--sim->unused_count] : sim->slot_count++;

	hash_set(&sim->slots, index, slot);
	return slot;
}

static size_t mpatrol_sim_slot_of(const struct mpatrol_sim *sim, uint64_t index)
{
	const uint64_t *slot = hash_get(&sim->slots, index);

	return slot ? (size_t)*slot : 0;
}

void mpatrol_sim_put(struct mpatrol_sim *sim, const struct mpatrol_event *event)
{
	uint64_t slot;

	switch (event->type) {
	case MPATROL_ALLOC:
		fprintf(sim->file, "\t{'a', %zu, %" PRIu64 "u},\n", mpatrol_sim_take_slot(sim, event->index),
			event->size);
		break;
	case MPATROL_REALLOC:
		fprintf(sim->file, "\t{'r', %zu, %" PRIu64 "u},\n", mpatrol_sim_slot_of(sim, event->index),
			event->size);
		break;
	case MPATROL_FREE:
		if (!hash_remove(&sim->slots, event->index, &slot))
			break;
		fprintf(sim->file, "\t{'f', %" PRIu64 ", 0},\n", slot);
		ARRAY_GROW(sim->unused, sim->unused_capacity, sim->unused_count);
		sim->unused[sim->unused_count++] = (size_t)slot;
		break;
	case MPATROL_HEAP:
	case MPATROL_INTERNAL:
		break;
	}
}

void mpatrol_sim_end(struct mpatrol_sim *sim)
{
	fprintf(sim->file,
		"\t{0, 0, 0},\n"
		"};\n\n"
		"static void *blocks[%zu];\n\n"
		"int main(void)\n"
		"{\n"
		"\tfor (const struct step *step = steps; step->call; step++) {\n"
		"\t\tvoid **const block = &blocks[step->block];\n\n"
		"\t\tif (step->call == 'f' || (step->call == 'r' && !step->size)) {\n"
		"\t\t\tfree(*block);\n"
		"\t\t\t*block = NULL;\n"
		"\t\t}\n"
		"\t\tif (step->call == 'f')\n"
		"\t\t\tcontinue;\n"
		"\t\tvoid *const place = step->call == 'a' || !step->size ? malloc(step->size) :\n"
		"\t\t\t\t\t\t\t\t\t    realloc(*block, step->size);\n\n"
		"\t\tif (!place && step->size) {\n"
		"\t\t\tfprintf(stderr, \"there is no memory for step %%lu, of %%llu bytes\\n\",\n"
		"\t\t\t\t(unsigned long)(step - steps) + 1, step->size);\n"
		"\t\t\treturn 1;\n"
		"\t\t}\n"
		"\t\t*block = place;\n"
		"\t}\n"
		"\treturn 0;\n"
		"}\n",
		sim->slot_count ? sim->slot_count : (size_t)1);
}

void mpatrol_sim_free(struct mpatrol_sim *sim)
{
	hash_free(&sim->slots);
	free(sim->unused);
}
