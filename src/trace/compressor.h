/* Compresses what writers hand over, and writes it, in a thread of its own.
 *
 * What is handed over at once becomes a whole frame (zstd) or member (gzip), which can be unpacked without those
 * before it: a file is sound up to the last frame whatever happens. The writers wait where more than a bound is left
 * to do. */
#ifndef FT_TRACE_COMPRESSOR_H
#define FT_TRACE_COMPRESSOR_H

#include "trace/compression.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct packed;
struct packer;

/* So much is worth a frame of its own: more of it compresses hardly better. */
#define PACKER_FRAME (1u << 20)

/* A packer with its thread, which handles no signals and has the CPUs of the caller; NULL and errno if it cannot be
 * started. For any number of outputs, all used by the thread that has made it. */
struct packer *packer_new(enum packing packing);
/* After all its outputs have been closed; may be NULL. */
void packer_free(struct packer *packer);

/* An output: frames go to fd, which stays the caller's; let_go: as fd_write() has it. */
struct packed *packed_new(struct packer *packer, int fd, const int *let_go);
/* Hands over the content of `data` as a frame, which has so many calls; `data` is empty then. 0, or the negative errno
 * of the first frame that could not be written: from then on all are dropped. */
int packed_put(struct packed *packed, struct buf *data, uint64_t calls);
/* Waits until all is written. As packed_put(). */
int packed_wait(struct packed *packed);
/* The calls in frames that were written. */
uint64_t packed_calls(const struct packed *packed);
/* Waits, and frees it. */
void packed_free(struct packed *packed);

#endif
