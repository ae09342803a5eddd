/* Compresses and writes the output of trace writers in a separate thread.
 *
 * Each buffer that is handed over becomes a whole zstd frame or gzip member (below: a frame), which can be unpacked
 * without the earlier ones. So a file can be read up to its last whole frame, even if functrace is killed. A writer
 * blocks while too many bytes wait for compression. */
#ifndef FT_TRACE_COMPRESSOR_THREAD_H
#define FT_TRACE_COMPRESSOR_THREAD_H

#include "trace/compression_kinds.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct packed;
struct packer;

/* Size of the data for one frame, in bytes. Larger frames would hardly be compressed better. */
#define PACKER_FRAME (1u << 20)

/* Returns a packer with a thread of its own. The thread blocks all signals except SIGPIPE and SIGXFSZ, and runs on the
 * CPUs that the caller may use. Returns NULL and sets errno if the thread cannot be started. A packer can have any
 * number of outputs; only the thread that created the packer may use them. */
struct packer *packer_new(enum packing packing);
/* Frees the packer. Its outputs must have been freed before. `packer` may be NULL. */
void packer_free(struct packer *packer);

/* Returns an output whose frames are written to fd; the caller closes fd. let_go: see fd_write(). */
struct packed *packed_new(struct packer *packer, int fd, const int *let_go);
/* Hands over the content of `data` as one frame, and leaves `data` empty. calls: the number of calls in it. Returns 0,
 * or the negative errno of the first frame that could not be written; all frames after it are dropped. */
int packed_put(struct packed *packed, struct buf *data, uint64_t calls);
/* Waits until all frames are written. Return value as packed_put(). */
int packed_wait(struct packed *packed);
/* Returns the number of calls in the frames that were written. */
uint64_t packed_calls(const struct packed *packed);
/* Waits until all frames are written, and frees the output. */
void packed_free(struct packed *packed);

#endif
