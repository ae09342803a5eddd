#!/bin/sh
# Compiles hot_calls.bpf.c in FOLDER, and prints the object's bytes as numbers of C, for hot_calls.inc.
# usage: embed.sh FOLDER [CLANG [LLVM-STRIP]]
set -e
object=$(mktemp)
trap 'rm -f "$object"' EXIT
cd "$1/../.."
"${2:-clang}" -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -I/usr/include/x86_64-linux-gnu -I. -Isrc \
	-Wno-gnu-variable-sized-type-not-at-end -Wno-unknown-pragmas -fdebug-compilation-dir=. \
	-c src/uprobe/hot_calls.bpf.c -o "$object"
"${3:-llvm-strip}" -g "$object"
od -An -v -tx1 "$object" | sed 's/ \(..\)/0x\1,/g'
