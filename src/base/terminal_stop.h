/* Stops a process by Ctrl-Z. */
#ifndef FT_BASE_TERMINAL_STOP_H
#define FT_BASE_TERMINAL_STOP_H

/* Stops this process as any program stops by Ctrl-Z: not at all if its process group is orphaned. The kernel decides
 * that, because the group may have become orphaned since this program was started. SIGTSTP must have its default action
 * and be blocked. Returns when the process is continued. */
void stop_by_terminal(void);

#endif
