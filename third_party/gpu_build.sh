#!/usr/bin/env bash
# Builds here what ./test_gpu.sh runs on an x86_64 GPU host, so that the host
# need not spend its time on that:
#
#   third_party/gpu_build.sh [FILE]     (default build/gpu_bin.tar.xz)
#
# This machine may be of another architecture; it needs CMake, Ninja, protoc and
# Debian's g++-x86-64-linux-gnu. Libraries come from third_party/gpu_kit.sh, and
# travel with the programs. On the host:
#
#   mkdir -p build/gpu/bin && tar -C build/gpu/bin -xJf build/gpu_bin.tar.xz
#   ./test_gpu.sh --build build/gpu/bin
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
file=${1:-build/gpu_bin.tar.xz}
[ -d build/kit/usr ] || third_party/gpu_kit.sh
kit=$PWD/build/kit/usr libraries=$PWD/build/kit/usr/lib/x86_64-linux-gnu

cmake -G Ninja -S . -B build/gpu_cross -DCMAKE_BUILD_TYPE=Release \
  -DISOMER_GPU_TESTS=ON -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
  -DCMAKE_CXX_COMPILER=x86_64-linux-gnu-g++ \
  -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu \
  "-DCMAKE_FIND_ROOT_PATH=$kit" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
  -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
  -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "-DCMAKE_PREFIX_PATH=$kit" \
  "-DProtobuf_PROTOC_EXECUTABLE=$(command -v protoc)" \
  "-DISOMER_OPENBLAS_LIBRARY=$libraries/openblas-pthread/libopenblas.a" \
  "-DISOMER_CBLAS_INCLUDE_DIR=$kit/include/x86_64-linux-gnu/openblas-pthread" \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags \
  "-DCMAKE_BUILD_RPATH=\$ORIGIN/lib"
ninja -C build/gpu_cross isomer_tool executor_test gpu_test

packed=build/gpu_cross/packed
rm -rf "$packed"
mkdir -p "$packed/lib"
for program in isomer executor_test gpu_test; do
  x86_64-linux-gnu-strip -o "$packed/$program" "build/gpu_cross/$program"
done
cp -P "$libraries"/libabsl_*.so.* "$libraries"/libprotobuf-lite.so.* \
  "$packed/lib/"
tar -C "$packed" -cJf "$file" .
echo "$file: $(du -h "$file" | cut -f 1)"
