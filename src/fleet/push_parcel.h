/* A parcel: the profile of an interval with what a receiver has to know of it, as a file in the spool. */
#ifndef FT_FLEET_PUSH_PARCEL_H
#define FT_FLEET_PUSH_PARCEL_H

#include "base/buf.h"
#include "watch/interval.h"

struct push_parcel {
	/* Texts of UTF-8 without control characters. build_id may be "", the others not. */
	const char *service, *host, *build_id;
	uint64_t pid, begin_ns, end_ns; /* times in ns since the Epoch */
	const unsigned char *profile;   /* for pprof, compressed by gzip */
	size_t size;                    /* in bytes */
};

/* Appends the interval's parcel to `out`. Bytes of names that are no printable UTF-8 become '_'. Returns 0, or -errno
 * if there is no memory. is_unsigned: see interval_profile_write(). */
int push_parcel_write(const struct watch_interval *interval, bool is_unsigned, struct buf *out);

/* Reads a parcel from `data`, which has `size` bytes and a NUL after them. Writes NULs into `data`, to which the parcel
 * points then. Returns false if the data are not a whole parcel. */
bool push_parcel_read(char *data, size_t size, struct push_parcel *parcel);

#endif
