#!/bin/sh
# GNU Radio for the tests, headless: the libraries the flowgraphs need as system packages, and the Python
# files of the package `gnuradio` unpacked into .cache/gnuradio, without the desktop it would pull in.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
cache="$here/.cache/gnuradio"
version=3.10.5
packages="python3-numpy python3-zmq"
for part in zeromq blocks digital analog channels filter fft; do
    packages="$packages libgnuradio-$part$version"
done

works() {
    PYTHONPATH="$cache/usr/lib/python3/dist-packages" /usr/bin/python3 -c \
        "import zmq; from gnuradio import analog, blocks, channels, digital, filter, gr, zeromq" 2>/dev/null
}

if works; then
    echo "GNU Radio is ready in .cache/gnuradio"
    exit 0
fi
if ! dpkg -s $packages >/dev/null 2>&1; then
    if [ "$(id -u)" != 0 ]; then
        echo "GNU Radio is not installed; on Debian: apt install $packages" >&2
        exit 1
    fi
    apt-get install -y --no-install-recommends $packages
fi
mkdir -p "$cache"
cd "$cache"
apt-get download gnuradio
dpkg -x gnuradio_*.deb .
rm gnuradio_*.deb
works || { echo "GNU Radio was unpacked into .cache/gnuradio but does not import" >&2; exit 1; }
echo "GNU Radio is ready in .cache/gnuradio"
