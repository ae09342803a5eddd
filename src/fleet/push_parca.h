/* Parca's two forms of a request: JSON for its HTTP gateway, and gRPC-Web. Both call the method WriteRaw. */
#ifndef FT_FLEET_PUSH_PARCA_H
#define FT_FLEET_PUSH_PARCA_H

#include "fleet/push_parcel.h"

/* Append the body of a request with the parcel. */
void parca_add_json(struct buf *body, const struct push_parcel *parcel);
void parca_add_web(struct buf *body, const struct push_parcel *parcel);

/* Reads the trailer of gRPC-Web in an answer's body: appends its lines "name: value", each with a line end, to `to`,
 * which is a string of at most `room` bytes with its NUL. What does not fit, or is no trailer, is left out. */
void parca_read_trailer(const unsigned char *body, size_t size, char *to, size_t room);

/* Returns the value of the line grpc-status in such lines; -1 without one. */
int parca_grpc_status(const char *lines);
/* Returns true if a request with this status of gRPC may succeed later. */
bool parca_is_passing(int grpc_status);

#endif
