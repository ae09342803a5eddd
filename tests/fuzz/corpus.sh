#!/bin/sh
# The fuzzers' corpus, run through the harnesses once: what was found stays mended.
set -eu
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_trace" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/trace/*
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_conf" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/conf/*
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_layout" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/layout/*
