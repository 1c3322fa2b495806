#!/bin/sh
# check-engine.sh ENGINE...: whether this engine can build our Dockerfiles, which keep npm's cache in a build mount.
# BuildKit and buildah know build mounts; Docker's old builder stops at the first FROM with "failed to parse platform".
case "$1" in *podman) other=docker ;; *) other=podman ;; esac
if ! command -v "$1" >/dev/null 2>&1; then
  echo "$1 is not installed: install it, or name another engine, such as make images ENGINE=$other" >&2
  exit 1
fi
if ! DOCKER_BUILDKIT=1 "$@" build --help 2>&1 | grep -q -e --secret; then
  echo "$* cannot build the images: they need BuildKit, and here it has none ($("$@" --version 2>&1))." >&2
  echo "Docker 23 or newer has it as a plugin: install docker-buildx-plugin (Debian: docker-buildx), check it with \"docker buildx version\"." >&2
  echo "Or name an engine that has it, such as make images ENGINE=$other." >&2
  exit 1
fi
