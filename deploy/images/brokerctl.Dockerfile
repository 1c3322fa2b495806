# brokerctl, for Jobs and pipelines; at a desk bin/brokerctl is nearer. From the root of the repository:
#   docker build -f deploy/images/brokerctl.Dockerfile -t resource-broker/brokerctl:0.1.0 .
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
RUN node scripts/bundle/main.ts --into=/out --program=brokerctl

FROM ${RUNTIME_IMAGE} AS brokerctl
ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="brokerctl" \
      org.opencontainers.image.description="The command line of Resource Broker" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=build /src/LICENSE /app/LICENSE
COPY --from=build /out/brokerctl.licenses.txt /app/LICENSES-of-others
COPY --from=build /out/brokerctl.mjs /app/brokerctl.mjs
COPY --from=build /out/agent-chart.json /app/agent-chart.json
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/brokerctl.mjs"]
