/* Shows the latest interval of each process to monitoring systems: as a web page that Prometheus reads, or as a file
 * for the textfile collector of node_exporter. The text is that of metrics_text.h. */
#ifndef FT_FLEET_METRICS_H
#define FT_FLEET_METRICS_H

#include "watch/interval.h"

/* Number of stacks of each process in the text. */
#define METRICS_STACKS 20

struct metrics;

/* Begins to serve http://ADDRESS:PORT/metrics, or writes a first file without processes.
 *
 * where: [ADDRESS:]PORT, or the path of a file, which has a '/'. ADDRESS is numeric, IPv6 in brackets, or localhost; by
 * default 127.0.0.1. PORT 0 is any free port. Prints a message with the URL, or if node_exporter would not read the
 * file. The server has a thread in which all signals are blocked; it does not survive a fork().
 *
 * Returns NULL if that is impossible; `why` (of `size` bytes) then has a sentence, without the name of the option, that
 * says the reason and what to do. The caller ends the result by metrics_close(). */
struct metrics *metrics_open(const char *where, char *why, size_t size);

/* Shows the interval instead of the process's earlier one. If the file cannot be written, prints a message, the next
 * ones only after a success, and tries again at the next call. */
void metrics_set(struct metrics *m, const struct watch_interval *interval);
/* Shows nothing of this process, which has ended, any more. */
void metrics_forget(struct metrics *m, pid_t pid);

/* Stops the server, in at most a second; or removes the file, because node_exporter would show it for ever. Prints how
 * often the file was not written. */
void metrics_close(struct metrics *m);

#endif
