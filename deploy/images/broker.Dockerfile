# The broker. From the root of the repository:
#   docker build -f deploy/images/broker.Dockerfile -t resource-broker/broker:0.1.0 .
# What it consists of, and how to pin its bases by digest: deploy/images/README.md.
ARG BUILD_IMAGE=node:24.21.0-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# Bundles are the same for every processor: they are made once, on the processor of whoever builds.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
# Bundling needs no install script of any package, so none is run. The same layer serves all three images.
RUN --mount=type=cache,target=/root/.npm --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm ci --ignore-scripts
RUN node scripts/bundle/main.ts --into=/out --program=broker

FROM ${RUNTIME_IMAGE} AS broker
ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="resource-broker" \
      org.opencontainers.image.description="Decides which cluster lends CPU, memory and GPU to which" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=build /src/LICENSE /app/LICENSE
COPY --from=build /out/broker.licenses.txt /app/LICENSES-of-others
COPY --from=build /out/broker.mjs /app/broker.mjs
COPY --from=build /out/openapi.json /app/openapi.json
COPY --from=build /out/dashboard /app/dashboard
# As in scripts/bundle/programs.ts, where it says what for.
ENV MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TOP_PAD_=0 MALLOC_TRIM_THRESHOLD_=65536
USER 65532:65532
EXPOSE 8443 8080 8081 8090
ENTRYPOINT ["/nodejs/bin/node", "/app/broker.mjs"]
