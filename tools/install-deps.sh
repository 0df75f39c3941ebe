#!/usr/bin/env bash
# Installs what the tests need beside Go where it lacks: a JDK and Maven for the official Java
# client, a C compiler for the race detector. On Debian as root; elsewhere it says what to do.
set -euo pipefail

missing=()
command -v javac >/dev/null || missing+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || missing+=(maven)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "please install: ${missing[*]} (Debian's names)" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -qy --no-install-recommends "${missing[@]}"
