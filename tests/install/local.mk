# What make install brings: completion in its shells.
TESTS += tests/install/completion.py
EXTRA_DIST += tests/install/completion.py tests/install/shells.py
