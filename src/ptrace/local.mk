# ptrace/: tasks, their stops and memory; the only code that calls ptrace for the target
noinst_LIBRARIES += libptrace.a
libptrace_a_SOURCES = src/ptrace/collect.c src/ptrace/collect.h src/ptrace/exec_lock.c src/ptrace/exec_lock.h \
	src/ptrace/halt.c src/ptrace/halt.h \
	src/ptrace/freeze_untraced.c src/ptrace/freeze_untraced.h src/ptrace/target_memory.c \
	src/ptrace/target_memory.h src/ptrace/spin.c src/ptrace/spin.h src/ptrace/wait_status.c \
	src/ptrace/wait_status.h \
	src/ptrace/pending_stops.c src/ptrace/pending_stops.h src/ptrace/task_requests.c \
	src/ptrace/tasks.c src/ptrace/tasks.h src/ptrace/tracee.h
