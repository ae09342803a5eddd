# profile/: sums of a trace for each allocating stack
noinst_LIBRARIES += libprofile.a
libprofile_a_SOURCES = \
	src/profile/account.c src/profile/account.h src/profile/account_end.c src/profile/account_estimates.c \
	src/profile/account_parts.h \
	src/profile/account_sums.h \
	src/profile/account_sites.c src/profile/site.h src/profile/frame_origin.c src/profile/frame_origin.h \
	src/profile/profile.c src/profile/profile.h src/profile/compared.h src/profile/profile_fill.h \
	src/profile/resolve.c src/profile/resolve.h \
	src/profile/stack_filter.c src/profile/stack_filter.h \
	src/profile/profile_trim.c src/profile/profile_trim.h \
	src/profile/profile_stage.c src/profile/profile_stage.h \
	src/profile/suppressions.c src/profile/suppressions.h src/profile/suppressions_read.c \
	src/profile/threadless.c src/profile/threadless.h src/profile/timeline.c src/profile/timeline.h
