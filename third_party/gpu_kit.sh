#!/usr/bin/env bash
# Fetches what ./test_gpu.sh needs on an x86_64 GPU host that has no network:
#
#   third_party/gpu_kit.sh [FOLDER]     (default build/kit)
#
# Downloads Debian's amd64 packages of Abseil, protobuf and GoogleTest and
# unpacks them; nothing is installed, and the machine may be of another
# architecture. Take the folder to the host as build/kit of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kit=${1:-build/kit}
mkdir -p "$kit"/apt/lists/partial "$kit"/apt/cache/archives/partial
kit=$(cd "$kit" && pwd)
apt=(-o APT::Architecture=amd64 -o APT::Architectures=amd64
  -o "Dir::State::lists=$kit/apt/lists" -o "Dir::Cache=$kit/apt/cache"
  -o Dir::State::status=/dev/null)
cd "$kit/apt"
apt-get "${apt[@]}" update >/dev/null
apt-get "${apt[@]}" download libabsl-dev libabsl20220623 libprotobuf-dev \
  libprotobuf-lite32 libgtest-dev libopenblas-pthread-dev zlib1g-dev
for package in *.deb; do dpkg -x "$package" "$kit"; done
rm -r "$kit/apt"
echo "unpacked in $kit"
