# functrace-postproc: golden texts, an independent model, and the command itself
POST_TESTS = tests/post/alike.py \
	tests/post/choices.py \
	tests/post/convert.py \
	tests/post/damage.py \
	tests/post/estimates.py \
	tests/post/exports.py \
	tests/post/fidelity.py \
	tests/post/filters.py \
	tests/post/fleet.py \
	tests/post/foreign.py \
	tests/post/gate.py \
	tests/post/golden.py \
	tests/post/large.py \
	tests/post/long_work.py \
	tests/post/lost.py \
	tests/post/model.py \
	tests/post/naming.py \
	tests/post/packed.py \
	tests/post/report.py \
	tests/post/reports.py \
	tests/post/rows.py \
	tests/post/run.py \
	tests/post/several.py \
	tests/post/stacktrack.py \
	tests/post/swap.py \
	tests/post/verdicts.py \
	tests/post/viewers.py
# page.py is in TESTS of tests/local.mk, because it must start early.
TESTS += $(POST_TESTS)
EXTRA_DIST += $(POST_TESTS) tests/post/page.py
EXTRA_DIST += tests/post/chromium.py tests/post/encode.py tests/post/alike tests/post/golden tests/post/foreign
