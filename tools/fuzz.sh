#!/usr/bin/env bash
# Fuzzes each target of packages for a time, two at a time: tools/fuzz.sh 5s ./message ./config
#
# A package is built once for all of its targets.
#
# When the time ends while an input is under way, package testing now and then says "context deadline exceeded"
# and fails, with nothing found (go.dev/issue/75804, mended in Go 1.27). That alone is no failure; an input that fails
# is written down, and is one.
set -uo pipefail

# one fuzzes one target, in its package's directory, where an input that fails is kept.
one() {
	local binary=$1 dir=$2 cache=$3 target=$4
	output=$(cd "$dir" && "$binary" -test.run xxx -test.fuzz "^$target\$" -test.fuzztime "$FUZZTIME" -test.parallel 1 -test.fuzzcachedir "$cache" 2>&1)
	failed=$?
	sed "s|^|${cache##*/} $target: |" <<<"$output"
	if ((failed)) && grep -q '^    context deadline exceeded$' <<<"$output" && ! grep -qE 'Failing input written|panic|DATA RACE|_test\.go:' <<<"$output"; then
		return 0
	fi
	return $failed
}
export -f one
export FUZZTIME=$1
shift

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for package in "$@"; do
	read -r path dir < <(go list -f '{{.ImportPath}} {{.Dir}}' "$package")
	binary=$built/${path//\//_}.test
	go test -c -fuzz=. -o "$binary" "$package" || exit
	targets=$("$binary" -test.list '^Fuzz') || exit
	for target in $targets; do
		echo "$binary" "$dir" "$(go env GOCACHE)/fuzz/$path" "$target"
	done >>"$built/targets"
done
xargs -P 2 -n 4 bash -c 'one "$@"' one <"$built/targets"
