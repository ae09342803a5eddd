/* uring: io_uring with a kernel thread that polls its queue. The thread is among the process's tasks, and runs no user
 * code: some kernels refuse to have it traced, others do not. One exists when the tracer attaches, another one is
 * created later. */
#include "target.h"
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define ENTRIES 8

struct ring {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_flags, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

/* Opens a ring with a polling thread. Returns false if the kernel has no io_uring, or forbids it. */
static int ring_open(struct ring *ring)
{
	struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 60000};

	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
	if (ring->fd < 0)
		return 0;
	const size_t sq_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	const size_t cq_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	char *sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, (off_t)IORING_OFF_SQ_RING);
	char *cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, (off_t)IORING_OFF_CQ_RING);

	ring->sqes = mmap(NULL, params.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
			  ring->fd, (off_t)IORING_OFF_SQES);
	CHECK(sq != MAP_FAILED && cq != MAP_FAILED && ring->sqes != MAP_FAILED);
	ring->sq_tail = (unsigned *)(sq + params.sq_off.tail);
	ring->sq_mask = (unsigned *)(sq + params.sq_off.ring_mask);
	ring->sq_flags = (unsigned *)(sq + params.sq_off.flags);
	ring->sq_array = (unsigned *)(sq + params.sq_off.array);
	ring->cq_head = (unsigned *)(cq + params.cq_off.head);
	ring->cq_tail = (unsigned *)(cq + params.cq_off.tail);
	ring->cq_mask = (unsigned *)(cq + params.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
	return 1;
}

/* Submits a no-operation to the ring; waits for its completion in the kernel. */
static void ring_nop(const struct ring *ring, uint64_t mark)
{
	const unsigned tail = *ring->sq_tail, at = tail & *ring->sq_mask;

	ring->sqes[at] = (struct io_uring_sqe){.opcode = IORING_OP_NOP, .user_data = mark};
	ring->sq_array[at] = at;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_SEQ_CST);
	const unsigned flags = __atomic_load_n(ring->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP
				       ? IORING_ENTER_SQ_WAKEUP | IORING_ENTER_GETEVENTS
				       : IORING_ENTER_GETEVENTS;

	while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == *ring->cq_head)
		CHECK(syscall(SYS_io_uring_enter, ring->fd, 1, 1, flags, NULL, 0) >= 0);
	CHECK(ring->cqes[*ring->cq_head & *ring->cq_mask].user_data == mark);
	__atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
}

static void work(const struct ring *ring)
{
	for (unsigned i = 0; i < 20; i++) {
		void *p = malloc(36701);

		KEEP(p);
		ring_nop(ring, i + 1);
		free(p);
	}
}

int main(void)
{
	struct ring before, later;

	if (!ring_open(&before)) {
		say("skip: this kernel has no io_uring for us: %s", strerror(errno));
		return 0;
	}
	ring_nop(&before, 100);
	gate();
	work(&before);
	CHECK(ring_open(&later));
	work(&later);
	expect_alloc(40, 36701, "malloc");
	expect_release(40, 36701, "free");
	gate();
	return 0;
}
