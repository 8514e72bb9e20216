#!/usr/bin/env bash
# The CUDA kernels on a GPU: tests/gpu/run.sh [build|check|time|tune] [--dry-run] (default check).
# Each fits into ten minutes, the build included, and needs nvcc, and (but for build) a Python with
# PyTorch; nothing has to be edited or installed: the kernels are built from their own sources alone,
# without the program, and not again while these stay the same and the GPU is one they are for.
#   build  the kernels alone; needs no GPU
#   check  compares with float64, looks for bad accesses and races
#   time   ours beside PyTorch's in one interleaved run: a table and one HDF5
#   tune   variants of the fast kernels against each other
# --dry-run goes the same way without a GPU: commands of the build are printed, numbers come from the
# CPU and mean nothing; no file is left.
# CONELAB_OUT (build-gpu) receives results; CONELAB_PYTHON names the Python.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mode=check
dry=
# Where the ten minutes begin: run.py opens no new case when they near their end.
export CONELAB_STARTED=${CONELAB_STARTED:-$(date +%s)}
out=${CONELAB_OUT:-build-gpu}
work=${CONELAB_GPU_BUILD:-build-gpu}
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf '%s\n' "== $*"; }
die() { printf '%s\n' "run.sh: error: $*" >&2; exit 1; }
for word in "$@"; do
  case $word in
    build|check|time|tune) mode=$word ;;
    --dry-run) dry=--dry-run ;;
    *) printf '%s\n' "run.sh: usage: run.sh [build|check|time|tune] [--dry-run]" >&2; exit 2 ;;
  esac
done
shown=$work
if [ "$dry" ]; then
  work=$(mktemp -d)
  out=$work
  trap 'rm -rf "$work"' EXIT
fi
# Runs a command, or prints it as it would be.
perform() { if [ "$dry" ]; then printf '+ %s\n' "${*//$work/$shown}"; else "$@"; fi; }

find_nvcc() {
  local place
  for place in "${CUDA_HOME:-}/bin/nvcc" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    [ -x "$place" ] && { printf '%s' "$place"; return; }
  done
  return 1
}

# Asked before the build, which takes minutes.
find_python() {
  local python candidates=(${CONELAB_PYTHON:-python3 python})
  for python in "${candidates[@]}"; do
    "$python" -c 'import torch' 2>/dev/null && { printf '%s' "$python"; return; }
  done
  say "SKIPPED: no PyTorch in ${candidates[*]} (CONELAB_PYTHON names the Python); nothing was built" >&2
  return 77
}

has_device() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

# The types that core/similarity/all.h lists.
similarities() {
  sed -n '/^using Similarities/,/;/p' core/similarity/all.h | tr -cs '[:alnum:]' '\n' \
    | grep -vxE 'using|Similarities|TypeList'
}
# Those of them that gpu/hopper/fast.h declares: they have fast kernels.
fast_similarities() { sed -n 's/^struct \([A-Za-z]*\);$/\1/p' gpu/hopper/fast.h; }
# write_source TEMPLATE SIMILARITY [WIDTH LAW]
write_source() {
  local header
  header=$(grep -l "^struct $2 " core/similarity/*.h)
  sed -e "s/@CONELAB_SIMILARITY@/$2/g; s|@CONELAB_HEADER@|$header|; s/@CONELAB_WIDTH@/${3:-}/g" \
    -e "s/@CONELAB_LAW@/${4:-}/g" "$1"
}

# One shared library from the kernels alone: no other library of the project is needed.
flags=(-std=c++20 -O3 -lineinfo -I. -Xcompiler=-fPIC --expt-relaxed-constexpr
  --generate-code=arch=compute_90a,code=sm_90a)
build() {
  mkdir -p "$work" "$out"
  rm -f "$work"/portable_*.cu "$work"/fast_*.cu
  local similarity width law
  for similarity in $(similarities); do
    write_source gpu/portable.cu.in "$similarity" > "$work/portable_$similarity.cu"
  done
  for similarity in $(fast_similarities); do
    for width in 64 128; do
      for law in softmax biased sigmoid; do
        write_source gpu/hopper/fast.cu.in "$similarity" "$width" "$law" \
          > "$work/fast_${similarity}_${width}_$law.cu"
      done
    done
  done
  cp gpu/portable.cpp "$work/portable_table.cu"
  cp gpu/hopper/fast.cpp "$work/fast_table.cu"
  cp gpu/hopper/pack.cpp "$work/fast_pack.cu"
  cp tests/gpu/binding.cu "$work/binding.cu"
  if [ "$(device_architecture)" != 90 ]; then flags+=(--generate-code=arch=compute_80,code=compute_80); fi
  say "building with $jobs jobs into $shown"
  local sources=("$work"/portable_*.cu "$work"/fast_*.cu "$work/binding.cu")
  local newest
  newest=$(find gpu core tests/gpu -newer "$work/libconelab_kernels.so" \( -name '*.[chip]*' -o -name run.sh \) 2>/dev/null | head -1 || true)
  if [ -f "$work/libconelab_kernels.so" ] && [ -z "$newest" ] && built_with_these_flags; then
    say "library is up to date"
    return
  fi
  rm -f "$work/flags"
  if [ "$dry" ]; then
    local source
    for source in "${sources[@]}"; do perform nvcc -c "$source"; done
  else
    printf '%s\n' "${sources[@]}" | xargs -P "$jobs" -I{} "$nvcc" "${flags[@]}" -c {} -o {}.o
  fi
  perform "$nvcc" -shared -o "$work/libconelab_kernels.so" "${sources[@]/%/.o}"
  printf '%s\n' "${flags[@]}" > "$work/flags"
}

# A library for further architectures will do as well.
built_with_these_flags() {
  local flag
  for flag in "${flags[@]}"; do grep -qxF -e "$flag" "$work/flags" 2>/dev/null || return 1; done
}

device_architecture() {
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '.' || true
}

# Both tools run, whatever the first finds.
sanitize() {
  local sanitizer tool found=0
  sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
  if [ ! -x "$sanitizer" ] && [ -z "$dry" ]; then
    say "compute-sanitizer not found: bad accesses and races were not looked for"
    return
  fi
  perform "$nvcc" "${flags[@]}" tests/gpu/sanitize.cu -o "$work/sanitize" -L"$work" \
    -lconelab_kernels -Xlinker -rpath,"$(absolute "$work")"
  for tool in memcheck racecheck; do
    say "compute-sanitizer $tool"
    perform timeout 100 "$sanitizer" --tool "$tool" --error-exitcode 9 "$work/sanitize" \
      || { say "$tool found errors, or did not finish"; found=1; }
  done
  return $found
}
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s' "$PWD/$1" ;; esac; }

nvcc=$(find_nvcc) || nvcc=
if [ -z "$nvcc" ]; then
  [ "$dry" ] || die "nvcc not found (looked in CUDA_HOME, PATH and the usual place)"
  nvcc=nvcc
fi
if [ "$mode" != build ]; then python=$(find_python); fi
build
if [ "$mode" = build ]; then exit 0; fi
if [ -z "$dry" ] && ! has_device; then
  say "SKIPPED: cuda: no device; everything compiled, nothing was run"
  exit 77
fi
say "device, read only"
# Names of fields change with the driver: what it does not know is no reason to stop.
perform nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw,power.limit,clocks_throttle_reasons.active --format=csv || true
status=0
# A kernel that never ends must not take the ten minutes with it, nor what was printed before.
export PYTHONUNBUFFERED=1
limit=$((CONELAB_STARTED + 560 - $(date +%s)))
timeout -k 10 "$((limit > 60 ? limit : 60))" \
  "$python" tests/gpu/run.py "$mode" "$work/libconelab_kernels.so" "$out" $dry || status=$?
if [ "$dry" ]; then say "dry run: that file is removed"; fi
if [ "$mode" = check ]; then
  sanitize || status=1
  if [ -x build/bin/conelab_tests_gpu ]; then
    perform build/bin/conelab_tests_gpu --gtest_brief=1 || status=1
  fi
fi
exit $status
