#!/usr/bin/env bash
# Brings a fresh machine or clone to where the demo and the tests run, and says nothing where nothing is to be done.
# --tests: also what only the tests need. With CI set, the formatter for C++ is installed too. With FOLDSTEP_SETUP_NCCL=pip, NCCL is brought through
# pip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v node >/dev/null || ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'; then
  echo "foldstep needs Node.js 20.19 or later; this is $(node --version 2>/dev/null || echo none). See https://nodejs.org" >&2
  exit 1
fi

# The package that brings a command, for each command that is missing.
missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); }
need g++ g++
need make make
need cmake cmake
need mpirun openmpi-bin
need mpicc libopenmpi-dev
if [ "${1:-}" = --tests ]; then need spin spin; fi
if [ -n "${CI:-}" ]; then need clang-format clang-format; fi

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "These packages are missing, and installing them takes root and apt. Run this, or install them your own way:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
    exit 1
  fi
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  echo "installing npm packages"
  export npm_config_update_notifier=false
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  # npm keeps an old time here where it changed nothing, and the next run would install again.
  touch node_modules/.package-lock.json
fi

if [ "${FOLDSTEP_SETUP_NCCL:-}" = pip ] && [ ! -d build/nccl ]; then
  echo "fetching NCCL"
  node scripts/get-nccl.mjs
fi

if [ ! -f build/Release/foldstep.node ]; then echo "building the addon (a minute or two)"; fi
# The build tools report also where they had nothing to do.
npm run --silent build:native 2>&1 | sed -u -e '/^-- /d' -e '/^Not searching for unused/d' -e '/^\[0\/.*Re-/d' -e '/^ninja: no work/d' -e '/Built target/d'
npm run --silent build:ts
chmod +x dist/cli/main.js
