# functrace-postproc: golden texts, an independent model, and the command itself
TESTS += tests/post/golden.py tests/post/model.py tests/post/run.py tests/post/naming.py \
	tests/post/large.py
EXTRA_DIST += tests/post/large.py tests/post/encode.py tests/post/golden.py tests/post/model.py tests/post/naming.py tests/post/run.py tests/post/golden
