# engine/: the processes of a run (V, G, E and the target T), and the guard, with which G repairs T if E is killed
noinst_LIBRARIES += libengine.a
libengine_a_SOURCES = src/engine/shared_state.h src/engine/cpus.c src/engine/cpus.h src/engine/engine.c \
	src/engine/engine.h \
	src/engine/fds.c src/engine/fds.h src/engine/guardian_journal.c src/engine/guardian_journal.h \
	src/engine/guardian.c src/engine/hide.c \
	src/engine/launch.c src/engine/message_queue.c src/engine/message_queue.h \
	src/engine/rescue_code.c src/engine/rescue_code.h \
	src/engine/rescue_tasks.c src/engine/rescue_tasks.h src/engine/rescue_report.c src/engine/settings.h \
	src/engine/supervisor.c \
	src/engine/unanswered.c src/engine/view_message.h src/engine/watch_settings.h
