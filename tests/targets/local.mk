# Small programs that scenarios trace. tests/scenarios/builds.py builds them in each variant that a scenario needs.
EXTRA_DIST += tests/targets/allocating.c tests/targets/innerlinks.c tests/targets/namespaced.c \
	tests/targets/heaps.c tests/targets/heaps.h tests/targets/heaps_blocks.h tests/targets/heaps_library.c \
	tests/targets/heaps_places.h tests/targets/heaps_threads.h \
	tests/targets/stackroots.c tests/targets/staleexit.cpp tests/targets/untabled.c \
	tests/targets/unwritten.c
EXTRA_DIST += tests/targets/abandoned.c tests/targets/backtraces.c tests/targets/catching.cpp \
	tests/targets/calls_then_exec.c tests/targets/dispatched.c tests/targets/flooding.c \
	tests/targets/manyforks.c tests/targets/probes_client.c tests/targets/replaces.c tests/targets/saturating.c
EXTRA_DIST += tests/targets/aligned.c tests/targets/aliases.c tests/targets/aliasfork.c tests/targets/aliasifunc.c \
	tests/targets/aliaslibrary.c tests/targets/aliaslibrary2.c tests/targets/alloc_basic.c \
	tests/targets/alloc_cpp.cpp tests/targets/altstack.c tests/targets/args_calls.c \
	tests/targets/args_more.c tests/targets/args_rows.c tests/targets/args_said.h \
	tests/targets/args_cxx.cpp tests/targets/armforms.c \
	tests/targets/bareforks.c tests/targets/barrier.c tests/targets/besidestack.c tests/targets/besidetls.c \
	tests/targets/busyheap.c \
	tests/targets/cachedends.c tests/targets/cgo.go tests/targets/chosen.c tests/targets/chosen_classes.cpp \
	tests/targets/churn.c tests/targets/contexts.c tests/targets/contexts.h \
	tests/targets/contexts_library.c tests/targets/contexts_many.c tests/targets/contexts_throwing.cpp \
	tests/targets/coroutines.c tests/targets/cxx_resources.cpp tests/targets/damaged.c \
	tests/targets/descriptors.c tests/targets/descriptors_inner.c tests/targets/records.h \
	tests/targets/described.c tests/targets/described.conf \
	tests/targets/ending.c tests/targets/errnos.c \
	tests/targets/execs.c tests/targets/forks.c tests/targets/forkstorm.c \
	tests/targets/goroutines.go \
	tests/targets/growers.c tests/targets/growing.c \
	tests/targets/serving.c tests/targets/handled.c tests/targets/hidden.c \
	tests/targets/ifunclibrary.c tests/targets/ifuncs.c \
	tests/targets/images.c tests/targets/inflight.c tests/targets/invfork.c \
	tests/targets/kind.h tests/targets/kind_gobject.c \
	tests/targets/kind_several.c tests/targets/kind_shmsysv.c tests/targets/kind_mapstorm.c \
	tests/targets/kind_memtransfer.c tests/targets/kind_qobject.cpp \
	tests/targets/kind_qobject.h tests/targets/kind_qobjectlib.cpp \
	tests/targets/kind_shmposix.c tests/targets/kind_thread.c tests/targets/kind_threadstorm.c \
	tests/targets/largelost.c tests/targets/later.cpp tests/targets/leaderless.c tests/targets/leaving.c \
	tests/targets/library.c tests/targets/heapfigures.c tests/targets/heaplog.c tests/targets/heapmodes.c \
	tests/targets/emptycache.c tests/targets/inner.cpp tests/targets/insidenew.cpp \
	tests/targets/planted.c tests/targets/planted_types.cpp \
	tests/targets/loading.c tests/targets/manysites.c tests/targets/misuse.cpp \
	tests/targets/moments.c tests/targets/namespaces.c tests/targets/nested.c tests/targets/nopwrite.c \
	tests/targets/odd_entry.c tests/targets/oldfree.c tests/targets/older.c tests/targets/own_blocks.cpp \
	tests/targets/own_new.cpp \
	tests/targets/ownmalloc.c \
	tests/targets/ownstack.c tests/targets/padding.s tests/targets/periodic.c tests/targets/pieces.c \
	tests/targets/pinned.c tests/targets/placed.c tests/targets/prefixed.c \
	tests/targets/prefork.c tests/targets/race.c tests/targets/recursion.c \
	tests/targets/kindlog.c tests/targets/readonly.c \
	tests/targets/reflog.c tests/targets/reflog.h tests/targets/regress_asleep.c \
	tests/targets/regress_bigfork.c tests/targets/regress_deadcall.cpp \
	tests/targets/regress_execfork.c tests/targets/regress_forkincall.cpp tests/targets/regress_execstorm.c \
	tests/targets/regress_fault.c tests/targets/regress_forkstorm.c tests/targets/regress_jit.c \
	tests/targets/regress_spawnstorm.c tests/targets/regress_step.c tests/targets/regress_undone.c \
	tests/targets/regress_vforkstorm.c \
	tests/targets/regress_vforktrap.c tests/targets/reloading.c tests/targets/rusty.rs \
	tests/targets/sandboxed.c \
	tests/targets/segments.c tests/targets/sharedpages.c tests/targets/sharedsite.c \
	tests/targets/sharers.c tests/targets/sigstorm.c \
	tests/targets/sigtrap.c tests/targets/sleepers.c tests/targets/slowfile.c tests/targets/slowreads.c \
	tests/targets/sound.c tests/targets/stackend.c \
	tests/targets/starving.c \
	tests/targets/steady.c tests/targets/target.h tests/targets/threads.c tests/targets/throwing.cpp \
	tests/targets/timeouts.c \
	tests/targets/tiny32.c tests/targets/two_users.c tests/targets/unsettled.c \
	tests/targets/uring.c tests/targets/vforker.c tests/targets/virtual_bases.cpp tests/targets/workers.c \
	tests/targets/wrapped.c tests/targets/wrappers.cpp

clean-local: clean-targets
clean-targets:
	rm -rf tests/targets/bin
