# syntax=docker/dockerfile:1
# wavetell as a service: docker build -t wavetell . && docker run -p 127.0.0.1:8433:8433 wavetell
FROM python:3.11-slim-bookworm AS build
# The image pins Debian's release; its security updates are wanted.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/wavetell && /opt/wavetell/bin/pip install --no-cache-dir --constraint constraints.txt '.[postgres]'

FROM python:3.11-slim-bookworm
# SoapySDR's C library and the drivers of common radios; wavetell needs no binding for Python.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libsoapysdr0.8 soapysdr-module-rtlsdr soapysdr-module-remote \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 8433 --create-home --home-dir /var/lib/wavetell --groups plugdev wavetell
COPY --from=build /opt/wavetell /opt/wavetell
ENV PATH=/opt/wavetell/bin:$PATH WAVETELL_DATA=/var/lib/wavetell/data
USER 8433
WORKDIR /var/lib/wavetell
VOLUME /var/lib/wavetell
EXPOSE 8433
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8433/v1/health', timeout=4)"]
ENTRYPOINT ["wavetell"]
CMD ["serve", "--host", "0.0.0.0"]
