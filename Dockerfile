# The server: no torch, no compiler, no root. See docs/serve.md.
#   docker build -t sieve .
#   docker run --rm --read-only -p 5000:5000 -v "$PWD/keys:/keys:ro" sieve --host 0.0.0.0 --api-keys /keys

FROM python:3.11-slim AS build
# the distribution keeps one version of each, and none of them gets into the final stage
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends g++ cmake ninja-build && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# wheels of everything that the server needs, each with the SHA-256 that is recorded; the lock is for
# x86-64: make one on another kind of machine (make lock)
COPY release/requirements.txt release/
# without an index there are only the wheels that the line before has fetched by their hashes
# hadolint ignore=DL3013
RUN pip wheel --no-cache-dir --require-hashes --wheel-dir /wheels --requirement release/requirements.txt \
    && pip install --no-cache-dir --no-index --find-links /wheels scikit-build-core nanobind
COPY . .
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels 'sieve-nmt[serve]' \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sieve
USER 10001
EXPOSE 5000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:5000/health', timeout=4)"]
# models of one's own: -v DIRECTORY:/models:ro sieve --host 0.0.0.0 /models/en-de
# it listens to the outside only when told to: --host 0.0.0.0, best with --api-keys FILE
ENTRYPOINT ["sieve", "serve"]
