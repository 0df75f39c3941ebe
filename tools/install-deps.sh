#!/usr/bin/env bash
# Installs what the tests need beside Go where it lacks: a JDK and Maven, Python and Node for the
# official clients, a C compiler for the race detector, Prometheus' promtool for the alerts. On Debian as root; elsewhere it says what to do.
set -euo pipefail

missing=()
command -v javac >/dev/null || missing+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
command -v promtool >/dev/null || missing+=(promtool)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "please install: ${missing[*]} (Debian's names)" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# Of Prometheus its tool only, which tests the alerts: the package would run a server.
if [[ " ${missing[*]} " == *" promtool "* ]]; then
  dir=$(mktemp -d)
  (cd "$dir" && apt-get download -q prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool)
  install "$dir/usr/bin/promtool" /usr/local/bin/promtool
  rm -rf "$dir"
fi
packages=()
for package in "${missing[@]}"; do [ "$package" = promtool ] || packages+=("$package"); done
[ ${#packages[@]} -eq 0 ] || apt-get install -qy --no-install-recommends "${packages[@]}"
