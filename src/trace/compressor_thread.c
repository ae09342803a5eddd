#include "config.h"
#include "trace/compressor_thread.h"
#include "trace/fd_write.h"
#include "base/buf.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <zlib.h>
#include <zstd.h>

/* At this level zstd still compresses about ten times as fast as the tracer writes calls. A call of 100 to 150 bytes
 * becomes 3 to 8 bytes. */
#define ZSTD_LEVEL 8
#define GZIP_LEVEL 6

/* Maximum number of bytes that wait for compression. packed_put() blocks while its frame would exceed this number. */
#define QUEUE_MAX (8u * PACKER_FRAME)

struct packed {
	struct packer *packer;
	int fd;
	const int *let_go;
	atomic_int error;
	size_t waiting; /* number of frames that are not written yet; protected by the packer's lock, like `calls` */
	uint64_t calls;
};

struct frame {
	struct frame *next;
	struct packed *packed;
	struct buf data;
	uint64_t calls;
};

/* How frames pass from the writers to the thread:
 *
 * writers: packed_put() appends a frame, signals `filled`  | packed_wait() waits for `drained` while frames wait
 * thread:  takes the first frame, compresses and writes it, signals `drained` */
struct packer {
	pthread_t thread;
	pthread_mutex_t lock; /* protects the queue, and `waiting` and `calls` of all outputs */
	pthread_cond_t filled, drained;
	struct frame *first, **end;
	size_t queued; /* bytes in the queue, including the frame that is being compressed */
	bool is_over;
	/* The members below are used only by the thread. */
	enum packing packing;
	ZSTD_CCtx *zstd;
	z_stream gzip;
	struct buf out;
};

/* Compresses the data into packer->out. Returns 0 or a negative errno. */
static int compress_zstd(struct packer *packer, const struct buf *data)
{
	const size_t most = ZSTD_compressBound(data->size);
	const size_t size = ZSTD_compress2(packer->zstd, buf_room(&packer->out, most), most, data->data, data->size);

	if (ZSTD_isError(size))
		return -ENOMEM; /* packer->out has room for any result, so no other error is possible */
	packer->out.size = size;
	return 0;
}

static int compress_gzip(struct packer *packer, const struct buf *data)
{
	z_stream *const gzip = &packer->gzip;

	if (deflateReset(gzip) != Z_OK)
		return -ENOMEM;
	const size_t most = deflateBound(gzip, data->size);

	gzip->next_in = data->data;
	gzip->avail_in = (uInt)data->size;
	gzip->next_out = buf_room(&packer->out, most);
	gzip->avail_out = (uInt)most;
	if (deflate(gzip, Z_FINISH) != Z_STREAM_END)
		return -ENOMEM;
	packer->out.size = most - gzip->avail_out;
	return 0;
}

/* Compresses and writes a frame. If only a part can be written, removes that part from the file. */
static void pack_frame(struct packer *packer, const struct frame *frame)
{
	struct packed *const packed = frame->packed;
	size_t done = 0;

	if (packed->error)
		return;
	packer->out.size = 0;
	int error = packer->packing == PACKING_GZIP ? compress_gzip(packer, &frame->data)
						    : compress_zstd(packer, &frame->data);

	if (!error)
		error = fd_write(packed->fd, packer->out.data, packer->out.size, &done, packed->let_go);
	if (error) {
		fd_take_back(packed->fd, done);
		packed->error = error;
	}
}

static void *compressor_work(void *context)
{
	struct packer *const packer = context;
	struct frame *frame;

	prctl(PR_SET_NAME, "ft-packer");
	pthread_mutex_lock(&packer->lock);
	for (;;) {
		while (!packer->first && !packer->is_over)
			pthread_cond_wait(&packer->filled, &packer->lock);
		frame = packer->first;
		if (!frame)
			break;
		packer->first = frame->next;
		if (!packer->first)
			packer->end = &packer->first;
		pthread_mutex_unlock(&packer->lock);
		pack_frame(packer, frame);
		pthread_mutex_lock(&packer->lock);
		if (!frame->packed->error)
			frame->packed->calls += frame->calls;
		packer->queued -= frame->data.size;
		frame->packed->waiting--;
		pthread_cond_broadcast(&packer->drained);
		buf_free(&frame->data);
		free(frame);
	}
	pthread_mutex_unlock(&packer->lock);
	return NULL;
}

static bool open_compressor(struct packer *packer)
{
	if (packer->packing == PACKING_GZIP)
		return deflateInit2(&packer->gzip, GZIP_LEVEL, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) ==
		       Z_OK;
	packer->zstd = ZSTD_createCCtx();
	if (!packer->zstd)
		return false;
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
	return true;
}

static void close_compressor(struct packer *packer)
{
	if (packer->packing == PACKING_GZIP)
		deflateEnd(&packer->gzip);
	ZSTD_freeCCtx(packer->zstd);
	buf_free(&packer->out);
}

/* Starts the thread with signals blocked, because other threads handle the signals of the process. SIGPIPE and SIGXFSZ
 * stay unblocked, because a failing write() raises them in this thread, and they must have the same effect as without
 * compression. */
static int compressor_start_thread(struct packer *packer)
{
	sigset_t blocked, before;

	sigfillset(&blocked);
	sigdelset(&blocked, SIGPIPE);
	sigdelset(&blocked, SIGXFSZ);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	const int error = pthread_create(&packer->thread, NULL, compressor_work, packer);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

struct packer *packer_new(enum packing packing)
{
	struct packer *const packer = xcalloc(1, sizeof(*packer));
	int error = ENOMEM;

	packer->packing = packing;
	packer->end = &packer->first;
	pthread_mutex_init(&packer->lock, NULL);
	pthread_cond_init(&packer->filled, NULL);
	pthread_cond_init(&packer->drained, NULL);
	if (open_compressor(packer))
		error = compressor_start_thread(packer);
	if (!error)
		return packer;
	close_compressor(packer);
	free(packer);
	errno = error;
	return NULL;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	pthread_mutex_lock(&packer->lock);
	packer->is_over = true;
	pthread_cond_signal(&packer->filled);
	pthread_mutex_unlock(&packer->lock);
	pthread_join(packer->thread, NULL);
	close_compressor(packer);
	pthread_cond_destroy(&packer->filled);
	pthread_cond_destroy(&packer->drained);
	pthread_mutex_destroy(&packer->lock);
	free(packer);
}

struct packed *packed_new(struct packer *packer, int fd, const int *let_go)
{
	struct packed *const packed = xcalloc(1, sizeof(*packed));

	packed->packer = packer;
	packed->fd = fd;
	packed->let_go = let_go;
	return packed;
}

int packed_put(struct packed *packed, struct buf *data, uint64_t calls)
{
	struct packer *const packer = packed->packer;

	if (data->size && !packed->error) {
		struct frame *const frame = xmalloc(sizeof(*frame));

		*frame = (struct frame){.packed = packed, .data = *data, .calls = calls};
		*data = (struct buf){0};
		pthread_mutex_lock(&packer->lock);
		while (packer->queued && packer->queued + frame->data.size > QUEUE_MAX)
			pthread_cond_wait(&packer->drained, &packer->lock);
		*packer->end = frame;
		packer->end = &frame->next;
		packer->queued += frame->data.size;
		packed->waiting++;
		pthread_cond_signal(&packer->filled);
		pthread_mutex_unlock(&packer->lock);
	}
	data->size = 0;
	return packed->error;
}

int packed_wait(struct packed *packed)
{
	struct packer *const packer = packed->packer;

	pthread_mutex_lock(&packer->lock);
	while (packed->waiting)
		pthread_cond_wait(&packer->drained, &packer->lock);
	pthread_mutex_unlock(&packer->lock);
	return packed->error;
}

uint64_t packed_calls(const struct packed *packed)
{
	struct packer *const packer = packed->packer;

	pthread_mutex_lock(&packer->lock);
	const uint64_t calls = packed->calls;

	pthread_mutex_unlock(&packer->lock);
	return calls;
}

void packed_free(struct packed *packed)
{
	packed_wait(packed);
	free(packed);
}
