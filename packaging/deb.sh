#!/usr/bin/env bash
# A Debian package of a wheel in dist/, with the Python packages that it needs: packaging/deb.sh amd64 x86_64
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$1 machine=$2 build=.cache/deb/$1
rm -rf "$build" && mkdir -p "$build/venv/bin"
cp -a packaging/debian "$build/debian"
# A virtual environment of Debian's Python, which need not run here.
printf 'home = /usr/bin\ninclude-system-site-packages = false\n' >"$build/venv/pyvenv.cfg"
ln -s /usr/bin/python3.11 "$build/venv/bin/python"
platforms=()
for tag in linux manylinux2014 manylinux_2_{17..36}; do platforms+=(--platform "${tag}_$machine"); done
site=$build/venv/lib/python3.11/site-packages
.venv/bin/pip --disable-pip-version-check install --quiet --constraint constraints.txt --no-compile --target "$site" \
    --only-binary :all: --implementation cp --python-version 3.11 "${platforms[@]}" dist/wavetell-*_"$machine".whl
mv "$site/share" "$build/venv/share"
rm -r "$site/bin"
(cd "$build" && dpkg-buildpackage --build=binary --host-arch="$arch" --no-check-builddeps --no-sign >../"$arch".log 2>&1) ||
    { tail .cache/deb/"$arch".log >&2; exit 1; }
mv .cache/deb/wavetell_*_"$arch".deb dist/
