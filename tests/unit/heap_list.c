/* heap_list PID: prints the heap of a process at rest: a line with the figures of mallinfo2(3), then address, size and
 * class (enum heap_class) of each block. Status 1 and the reason if it cannot be read. */
#include "config.h"
#include "heap/heap.h"
#include "scan/capture/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int print(const struct heap_image *image)
{
	struct heap *heap;
	const char *reason;
	size_t count;
	const enum heap_status status = heap_read(image, &heap, &reason);

	if (status != HEAP_READ) {
		printf("status %d: %s\n", (int)status, reason ? reason : "there is no heap");
		return 1;
	}
	const struct heap_figures *f = heap_figures(heap);

	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 0 %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 "\n",
	       f->arena, f->ordblks, f->smblks, f->hblks, f->hblkhd, f->fsmblks, f->uordblks, f->fordblks, f->keepcost);
	heap_classify(heap);
	count = heap_count(heap);

	for (size_t i = 0; i < count; i++)
		printf("%" PRIx64 " %" PRIu64 " %u\n", heap_block(heap, i).address, heap_block(heap, i).size,
		       heap_block(heap, i).class);
	heap_free(heap);
	return 0;
}

int main(int argc, char **argv)
{
	struct snapshot *snapshot = snapshot_new(argc > 1 ? (pid_t)atoi(argv[1]) : 0);
	int status = snapshot_warm(snapshot);

	if (!status)
		status = snapshot_take(snapshot, NULL);
	if (!status)
		status = print(snapshot_image(snapshot));
	snapshot_free(snapshot);
	return status;
}
