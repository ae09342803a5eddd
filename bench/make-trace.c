/* Writes a trace for measuring functrace-postproc: allocations with a fixed number of different stacks, and releases,
 * so that a given number of blocks is live at the end.
 *
 *     make-trace [--compat] EVENTS [STACKS [DEPTH [LIVE]]] > FILE
 *
 * Defaults: 500 stacks of 10 frames; 20000 live blocks, or a tenth of the events if there are fewer than 200000. The
 * same arguments give the same bytes. The program does not use functrace's writer, so its traces stay the same when the
 * writer changes. */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generator {
	bool compat;
	uint64_t random;
	uint64_t events, live_at_end;
	uint32_t stacks, depth;
	uint64_t *frames;
	/* The numbers of all blocks: first the `live` blocks that are in use, then the free ones. */
	uint32_t *blocks;
	uint64_t live, blocks_made;
};

static uint64_t random_below(struct generator *g, uint64_t limit)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random % limit;
}

static void put32(uint32_t value)
{
	fwrite(&value, sizeof(value), 1, stdout);
}

static void put64(uint64_t value)
{
	fwrite(&value, sizeof(value), 1, stdout);
}

static uint32_t string_size(const char *text)
{
	return (uint32_t)(2 + strlen(text) + 3) & ~3u;
}

static void put_string(const struct generator *g, const char *text)
{
	const uint16_t length = (uint16_t)strlen(text);
	const uint16_t padded = (uint16_t)(string_size(text) - 2);
	const uint16_t word = g->compat ? padded : length;

	fwrite(&word, sizeof(word), 1, stdout);
	fwrite(text, length, 1, stdout);
	fwrite("\0\0\0", (size_t)(padded - length), 1, stdout);
}

static void put_head(const char *type, uint32_t size)
{
	fwrite(type, 4, 1, stdout);
	put32(size);
}

static void put_declarations(const struct generator *g)
{
	static const char program[] = "/usr/bin/measured", library[] = "/usr/lib/libmeasured.so";
	static const char handshake[] = "\xf0\x0e\x01\x04\x06"
					"x86_64"
					"\x00\x08\x00\x00\x00";

	fwrite(handshake, 2, 1, stdout);
	fwrite(g->compat ? "\2\0" : "\1\4", 2, 1, stdout);
	fwrite(handshake + 4, 7, 1, stdout);
	putchar(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	fwrite(handshake + 12, 4, 1, stdout);
	put_head("PINF", 16 + string_size(program));
	put32(4242);
	put32(1700000000);
	put32(0);
	put32(g->depth);
	put_string(g, program);
	put_head("MINF", 8 + string_size("memory"));
	put32(1);
	put32(1 << 16);
	put_string(g, "memory");
	put_head("RESR", 8 + string_size("memory") + string_size("memory allocation in bytes"));
	put32(1);
	put32(0);
	put_string(g, "memory");
	put_string(g, "memory allocation in bytes");
	put_head("MMAP", 16 + string_size(program));
	put64(0x555555554000);
	put64(0x555555754000);
	put_string(g, program);
	put_head("MMAP", 16 + string_size(library));
	put64(0x7ffff7a00000);
	put64(0x7ffff7c00000);
	put_string(g, library);
}

static void put_call(const struct generator *g, uint64_t index, bool alloc, uint64_t id, uint32_t size)
{
	const char *name = alloc ? "malloc" : "free";
	const uint32_t time = 3600000 + (uint32_t)(index / 100);

	put_head("CALL", 16 + string_size(name) + 4 + 8);
	if (g->compat) {
		put32(1);
		put32(0);
		put32(time);
	} else {
		put32(time);
		put32(0);
		put32(0);
	}
	put32(alloc ? 2 : 1);
	put_string(g, name);
	if (g->compat)
		put32(size);
	put64(id);
	if (!g->compat)
		put32(size);
}

static void put_stack(const uint64_t *frames, uint32_t count)
{
	put_head("BTRC", 4 + 8 * count);
	put32(count);
	fwrite(frames, sizeof(*frames), count, stdout);
}

static void put_alloc(struct generator *g, uint64_t index)
{
	if (g->live == g->blocks_made) {
		g->blocks = realloc(g->blocks, (g->blocks_made + 1) * 2 * sizeof(*g->blocks));
		if (!g->blocks)
			abort();
		g->blocks[g->live] = (uint32_t)g->blocks_made++;
	}
	const uint64_t id = 0x555555800010 + (uint64_t)g->blocks[g->live++] * 4096;
	const uint64_t stack = random_below(g, g->stacks);

	put_call(g, index, true, id, (uint32_t)random_below(g, 4000) + 1);
	put_stack(g->frames + stack * g->depth, g->depth);
}

static void put_release(struct generator *g, uint64_t index)
{
	const uint64_t which = random_below(g, g->live);
	const uint32_t block = g->blocks[which];

	g->blocks[which] = g->blocks[--g->live];
	g->blocks[g->live] = block;
	put_call(g, index, false, 0x555555800010 + (uint64_t)block * 4096, 0);
	if (g->compat)
		put_stack(g->frames, 0);
}

static void put_events(struct generator *g)
{
	for (uint64_t i = 1; i <= g->events; i++) {
		const uint64_t left = g->events - i + 1;
		bool alloc = g->live < g->live_at_end || random_below(g, 2);

		/* Near the end, allocate or release only, so that live_at_end is reached. */
		if (g->live >= g->live_at_end + left)
			alloc = false;
		else if (g->live + left <= g->live_at_end)
			alloc = true;
		if (alloc)
			put_alloc(g, i);
		else
			put_release(g, i);
	}
}

int main(int argc, char **argv)
{
	struct generator g = {.random = 88172645463325252u};

	if (argc > 1 && !strcmp(argv[1], "--compat")) {
		g.compat = true;
		argv++;
		argc--;
	}
	if (argc < 2) {
		fputs("usage: make-trace [--compat] EVENTS [STACKS [DEPTH [LIVE]]] > FILE\n", stderr);
		return 2;
	}
	g.events = strtoull(argv[1], NULL, 10);
	g.stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 500;
	g.depth = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 10;
	g.live_at_end = argc > 4 ? strtoull(argv[4], NULL, 10) : g.events >= 200000 ? 20000 : g.events / 10;
	g.frames = calloc((size_t)g.stacks * g.depth + 1, sizeof(*g.frames));
	if (!g.frames || !g.stacks)
		return 2;
	for (size_t i = 0; i < (size_t)g.stacks * g.depth; i++)
		g.frames[i] = (random_below(&g, 2) ? 0x555555554000 : 0x7ffff7a00000) + random_below(&g, 0x200000);
	put_declarations(&g);
	put_events(&g);
	free(g.frames);
	free(g.blocks);
	return fclose(stdout) ? 1 : 0;
}
