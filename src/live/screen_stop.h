/* Stops the live view when the user presses Ctrl-Z. */
#ifndef FT_LIVE_SCREEN_STOP_H
#define FT_LIVE_SCREEN_STOP_H

/* Handles SIGTSTP from now on, unless this process ignores it. Must be called before newterm(). */
void screen_handle_stop(void);
/* If SIGTSTP has come, leaves the screen and stops. The next refresh draws the whole screen again. */
void screen_stop_if_asked(void);

#endif
