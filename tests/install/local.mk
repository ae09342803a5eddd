# Tests of quickstart, make install and the Debian packages.
TESTS += tests/install/completion.py tests/install/quickstart.py
EXTRA_DIST += tests/install/completion.py tests/install/debian.py tests/install/quickstart.py tests/install/shells.py
# functrace-watch@.service: its script and its unit.
TESTS += tests/install/watch.py
EXTRA_DIST += tests/install/watch.py
TESTS += tests/install/systemd.py
EXTRA_DIST += tests/install/boot.sh tests/install/systemd.py
