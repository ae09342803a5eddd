/* The state of a watch in a file, so that the watch goes on when functrace is started anew. */
#ifndef FT_TRACER_WATCHING_STATE_H
#define FT_TRACER_WATCHING_STATE_H

#include "tracer/watching_parts.h"
#include "base/buf.h"

/* Returns what identifies the program that a process executes now. */
struct watching_image watching_state_image(pid_t pid);
/* Returns the whole state as bytes, for watching_state_write(), which may be called by another thread. */
void watching_state_save(const struct watching *one, struct buf *out);
/* Adds the state of the watch and the stacks to these bytes, and writes the file DIR/PID.state, unless the process has
 * ended or executes another program by now. Prints a message if that fails. The caller frees `state`. */
void watching_state_write(const char *folder, pid_t pid, struct buf *state, const struct watch *watch,
			  const struct watching_stacks *stacks);
/* Removes the file if the process has ended, or executes another program than that of the watch. */
void watching_state_remove_old(const struct watching *one);
/* Takes the state from the file, if it is of this process and program. Otherwise leaves the new watch as it is. */
void watching_state_take(struct watching *one, const struct watch_options *options);

#endif
