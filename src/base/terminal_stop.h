/* Stops a process by Ctrl-Z. */
#ifndef FT_BASE_TERMINAL_STOP_H
#define FT_BASE_TERMINAL_STOP_H

/* Stops this process as Ctrl-Z would (SIGTSTP). The kernel does not stop it if its process group is orphaned. Only the
 * kernel can check that, because the group may have become orphaned since this program was started. SIGTSTP must have
 * its default action and be blocked. Returns when the process is continued. */
void stop_by_terminal(void);

#endif
