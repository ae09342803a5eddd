# functrace's processes, as the terminal, the shell and the program see them.
TESTS += tests/scenarios/pty_jobs.py tests/scenarios/pty_attach.py tests/scenarios/pty_progress.py \
	tests/scenarios/process_state.py
EXTRA_DIST += tests/scenarios/pty_jobs.py tests/scenarios/pty_attach.py tests/scenarios/pty_progress.py \
	tests/scenarios/process_state.py tests/scenarios/terminal.py
