#!/usr/bin/env bash
# System packages, by apt where the user may install them; elsewhere one line says what is missing and what it would give.
#   setup_system.sh python   what make demo needs: a Python that can make a virtual environment
#   setup_system.sh packages what make wheels and make deb need
#   setup_system.sh tests    what the tests talk to
set -euo pipefail
cd "$(dirname "$0")/.."

install() {  # install WHAT-IT-GIVES PACKAGE...
    local gives=$1 missing=() package
    shift
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo -n)
    if ! command -v apt-get >/dev/null || ! "${sudo[@]}" true 2>/dev/null; then
        echo "missing: ${missing[*]} ($gives); install them to have it" >&2
        return
    fi
    # Debian starts a server when it installs it, unless this file says no: the tests start their own.
    local policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        trap '"${sudo[@]}" rm -f /usr/sbin/policy-rc.d' RETURN
        printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
        "${sudo[@]}" chmod +x $policy
    fi
    if [ -z "${apt_updated:-}" ]; then
        "${sudo[@]}" apt-get update -qq
        apt_updated=1
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        >/dev/null || echo "could not install: ${missing[*]} ($gives)" >&2
}

case $1 in
python)
    python=$(command -v python3.11 || command -v python3)
    "$python" -c 'import ensurepip' 2>/dev/null || install "a virtual environment" python3-venv
    ;;
packages)
    install "wheels and Debian packages for x86-64 and arm64" \
        g++ g++-aarch64-linux-gnu unzip file dpkg-dev debhelper lintian debootstrap
    ;;
tests)
    install "radios by SoapySDR, and SoapyRemote" \
        python3-soapysdr soapysdr-tools libsoapysdr-dev soapysdr-module-remote soapyremote-server dbus-daemon
    install "the tests of the kernel on an arm64 that qemu imitates" g++ g++-aarch64-linux-gnu qemu-user
    install "an MQTT broker and a PostgreSQL server of the tests' own" mosquitto postgresql openssl
    install "faults of the disk for make soak" strace e2fsprogs
    install "a Prometheus of the tests' own, for the dashboard's queries" prometheus
    install "a Debian in a folder, for packages and the image" debootstrap systemd-container lintian qemu-user-static
    install "a browser for the dashboard" chromium fonts-dejavu-core
    .venv/bin/python tests/link_soapy.py
    bash tests/setup_gnuradio.sh
    ;;
esac
