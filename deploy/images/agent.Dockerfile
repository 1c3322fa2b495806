# The agent. From the root of the repository:
#   docker build -f deploy/images/agent.Dockerfile -t resource-broker/agent:0.1.0 .
# With liqoctl, for clusters that borrow through Liqo:
#   docker build -f deploy/images/agent.Dockerfile --target=agent-with-liqoctl -t resource-broker/agent:0.1.0-liqoctl .
# What it consists of, and how to pin its bases by digest: deploy/images/README.md.
ARG BUILD_IMAGE=node:24.21.0-trixie-slim
ARG GO_IMAGE=golang:1.25.5-trixie
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian13:nonroot

# Bundles are the same for every processor: they are made once, on the processor of whoever builds.
FROM --platform=$BUILDPLATFORM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
# Bundling needs no install script of any package, so none is run. The same layer serves all three images.
RUN --mount=type=cache,target=/root/.npm --mount=type=secret,id=npmrc,target=/root/.npmrc \
    npm ci --ignore-scripts
RUN node scripts/bundle/main.ts --into=/out --program=agent

# Only built for agent-with-liqoctl: the release and checksum of Liqo that the tests run with (tools/liqo-assets/recipe.ts). It
# builds in its own module, whose replace lines count there.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS liqoctl
ARG TARGETOS
ARG TARGETARCH
ARG LIQO_VERSION=v1.2.0
ARG LIQO_SUM=h1:2KOA/pMeIz/2+HglNF/YcfAdn3iQH1wRRIbUm2TvzfM=
WORKDIR /src
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    go mod download -json github.com/liqotech/liqo@${LIQO_VERSION} | grep -F "\"Sum\": \"${LIQO_SUM}\"" && \
    cd /go/pkg/mod/github.com/liqotech/liqo@${LIQO_VERSION} && \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/liqotech/liqo/pkg/liqoctl/version.LiqoctlVersion=${LIQO_VERSION}" \
    -o /out/liqoctl ./cmd/liqoctl

FROM ${RUNTIME_IMAGE} AS base
ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="resource-broker-agent" \
      org.opencontainers.image.description="Speaks for one cluster: lends what is free, borrows what is short" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=build /src/LICENSE /app/LICENSE
COPY --from=build /out/agent.licenses.txt /app/LICENSES-of-others
COPY --from=build /out/agent.mjs /app/agent.mjs
USER 65532:65532
EXPOSE 8080 8081
# The flags are those of packages/agent/node-flags.json, with which the agent's memory is measured.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=1", "--optimize-for-size", "--no-turbofan", "--invocation-count-for-maglev=50000", "/app/agent.mjs"]

FROM base AS agent-with-liqoctl
COPY --from=liqoctl /out/liqoctl /usr/local/bin/liqoctl

FROM base AS agent
