/* Compresses what writers hand over, and writes it, in a separate thread.
 *
 * Each buffer that is handed over becomes a whole frame (zstd) or member (gzip), which can be unpacked without those
 * before it. So a file is sound up to its last frame whatever happens. Writers wait if too many bytes are waiting to be
 * compressed. */
#ifndef FT_TRACE_COMPRESSOR_THREAD_H
#define FT_TRACE_COMPRESSOR_THREAD_H

#include "trace/compression_kinds.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct packed;
struct packer;

/* Bytes that are worth a frame: longer ones compress hardly better. */
#define PACKER_FRAME (1u << 20)

/* Returns a packer with its thread, which handles no signals and may use the caller's CPUs; NULL and errno if that
 * cannot be started. A packer has any number of outputs; only the thread that made the packer may use them. */
struct packer *packer_new(enum packing packing);
/* Frees the packer, after all its outputs. `packer` may be NULL. */
void packer_free(struct packer *packer);

/* Returns an output whose frames go to fd, which stays the caller's. let_go: see fd_write(). */
struct packed *packed_new(struct packer *packer, int fd, const int *let_go);
/* Hands over the content of `data`, which is empty then, as a frame with `calls` calls. Returns 0, or the negative
 * errno of the first frame that could not be written; all frames after it are dropped. */
int packed_put(struct packed *packed, struct buf *data, uint64_t calls);
/* Waits until all frames are written. Returns as packed_put(). */
int packed_wait(struct packed *packed);
/* Returns the number of calls in the frames that were written. */
uint64_t packed_calls(const struct packed *packed);
/* Waits until all frames are written, and frees the output. */
void packed_free(struct packed *packed);

#endif
