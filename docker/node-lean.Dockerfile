# A Node that has only what sexton reaches, for a directory with less to explain. `DIR` has Node's sources, of the version in
# package-lock.json, unpacked and verified as Node's README says:
#
#   docker build --file docker/node-lean.Dockerfile --build-context sources=DIR --output type=local,dest=dist/node docker
#   npm run build -- --node "$PWD/dist/node" --icu full
#
# The developers have NOT run it. They read each flag in configure.py of a newer line than Node 24. No figure is measured:
# `bin/node` may become about a tenth smaller.
#
#   --without-inspector     the protocol of debuggers: no import, and init starts Node so that USR1 opens no port
#   --without-sqlite        `node:sqlite` and Web Storage: no import
#   --without-amaro         the reader of TypeScript: what is delivered is JavaScript
#   --without-npm           npm, which the directory does not have anyway
#   --with-intl=small-icu   all languages but English. Without any ICU V8 refuses \p{..}, by which sexton cleans what it prints
#
# TLS stays for https probes and `--otlp`, HTTP/2 for gRPC probes.
ARG DEBIAN_IMAGE=debian:trixie-slim

FROM ${DEBIAN_IMAGE} AS build
RUN set -e; apt-get update; \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++ make python3
WORKDIR /source
COPY --from=sources / .
RUN set -e; \
    ./configure --without-inspector --without-sqlite --without-amaro --without-npm --with-intl=small-icu; \
    make --jobs "$(nproc)"; \
    install -D out/Release/node /node/bin/node; \
    install -m 644 LICENSE /node/LICENSE

FROM scratch
COPY --from=build /node /
