# breakpoints/: breakpoints in the text of processes, out-of-line copies, stepping over breakpoints
noinst_LIBRARIES += libbreakpoints.a
libbreakpoints_a_SOURCES = src/breakpoints/breakpoints.c src/breakpoints/breakpoints.h \
	src/breakpoints/tail_jump.c src/breakpoints/step_over.c \
	src/breakpoints/step_over.h \
	src/breakpoints/fork_text.c src/breakpoints/fork_text.h src/breakpoints/out_of_line_slots.c \
	src/breakpoints/out_of_line_slots.h src/breakpoints/process_text.c src/breakpoints/process_text.h
