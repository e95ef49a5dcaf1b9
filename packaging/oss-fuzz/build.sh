#!/bin/bash
# Builds each fuzz target of the module as OSS-Fuzz wants it: $OUT/<package>_<target>. To be run in
# the module, in an image of OSS-Fuzz or with its compile_native_go_fuzzer_v2 in PATH.
set -euo pipefail
module=$(awk '$1 == "module" { print $2 }' go.mod)
go get github.com/AdamKorcz/go-118-fuzz-build/testing
# The targets are in tests, which import test-only packages.
grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9]+\(f \*testing\.F\)' . | sort | while IFS=: read -r file function; do
	folder=$(dirname "${file#./}")
	target=${function#func }
	target=${target%%(*}
	compile_native_go_fuzzer_v2 "$module/$folder" "$target" "${folder//\//_}_$target"
done
