#!/bin/sh
exec /usr/lib/wavetell/bin/python -I -m service.cli "$@"
