# functrace-postproc: golden texts, an independent model, and the command itself
TESTS += tests/post/golden.py tests/post/model.py tests/post/run.py tests/post/damage.py \
	tests/post/choices.py tests/post/fidelity.py tests/post/naming.py tests/post/large.py tests/post/foreign.py \
	tests/post/convert.py tests/post/stacktrack.py tests/post/swap.py \
	tests/post/several.py
EXTRA_DIST += tests/post/encode.py tests/post/golden.py tests/post/model.py tests/post/run.py tests/post/damage.py \
	tests/post/choices.py tests/post/fidelity.py tests/post/naming.py tests/post/large.py tests/post/golden \
	tests/post/foreign.py tests/post/foreign tests/post/convert.py tests/post/stacktrack.py tests/post/swap.py \
	tests/post/several.py
