# What make install and the Debian packages bring.
TESTS += tests/install/completion.py tests/install/debian.py
EXTRA_DIST += tests/install/completion.py tests/install/debian.py tests/install/shells.py
