#!/bin/sh
# Runs the harnesses once on the fuzzers' corpus: bugs that were found before must not come back.
set -eu
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_trace" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/trace/*
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_conf" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/conf/*
"${TOP_BUILDDIR:-.}/tests/fuzz/replay_layout" "${TOP_SRCDIR:-.}"/tests/fuzz/corpus/layout/*
