# Completion of command lines: one file per shell for both programs. bash and fish find such a file by the program's
# name, so that functrace-postproc needs a link.
dist_bashcompletion_DATA = completion/functrace.bash
dist_zshcompletion_DATA = completion/_functrace
dist_fishcompletion_DATA = completion/functrace.fish

install-data-hook: install-completion-links
uninstall-hook: uninstall-completion-links

install-completion-links:
	@for file in "$(bashcompletiondir)/functrace.bash" "$(fishcompletiondir)/functrace.fish"; do \
		test -n "$${file%/*}" || continue; \
		link="$(DESTDIR)$${file%/*}/functrace-postproc.$${file##*.}"; \
		rm -f "$$link" && $(LN_S) "$${file##*/}" "$$link" || exit 1; \
	done

uninstall-completion-links:
	@for file in "$(bashcompletiondir)/functrace-postproc.bash" "$(fishcompletiondir)/functrace-postproc.fish"; do \
		test -z "$${file%/*}" || rm -f "$(DESTDIR)$$file"; \
	done

.PHONY: install-completion-links uninstall-completion-links
