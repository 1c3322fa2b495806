# shellcheck shell=bash
# The images: each is made again only when something that it is made of has changed.

KUBERNETES=v1.34.4
NODE_IMAGE=resource-broker-kind/node:$KUBERNETES
SUITE=bookworm
PACKAGES=systemd,dbus,kmod,iptables,nftables,conntrack,ethtool,iproute2,procps,jq,curl,ca-certificates,containerd,runc,containernetworking-plugins,busybox-static
# Of the control plane, as kubeadm and kind name them: image, program, where the program is in it.
CONTROL_PLANE=(
  "registry.k8s.io/kube-apiserver:$KUBERNETES kube-apiserver /usr/local/bin"
  "registry.k8s.io/kube-controller-manager:$KUBERNETES kube-controller-manager /usr/local/bin"
  "registry.k8s.io/kube-scheduler:$KUBERNETES kube-scheduler /usr/local/bin"
  "registry.k8s.io/etcd:3.6.5-0 etcd /usr/local/bin"
  "registry.k8s.io/coredns/coredns:v1.12.1 coredns ''"
  "docker.io/kindest/local-path-provisioner:v20250214-acbabc1a local-path-provisioner /usr/local/bin"
)
STORAGE_HELPER=docker.io/kindest/local-path-helper:v20241212-8ac705d0
PAUSE=registry.k8s.io/pause
PROXY=registry.k8s.io/kube-proxy:$KUBERNETES

digest() { sha256sum | cut -c 1-16; }

# Of files and of whole folders in the work tree, wherever that is: equal work trees share what is made.
digest_of() { # <path from its root>...
  (cd "$ROOT" && find "$@" -name node_modules -prune -o -name dist -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | digest
}

is_made() { # <what> <key>
  [[ -e $CACHE/made/$1 && $(<"$CACHE/made/$1") == "$2" ]]
}

# Makes it unless it is made of the same already.
make_once() { # <what> <key> <function>
  local began=$SECONDS
  if is_made "$1" "$2"; then return; fi
  say "$1: is being made …"
  rm -f "$CACHE/made/$1"
  "$3"
  mkdir -p "$CACHE/made"
  printf '%s\n' "$2" >"$CACHE/made/$1"
  say "$1: made in $((SECONDS - began)) s"
}

# Sets PROGRAMS, a folder with all of them, and the keys of what is made.
find_programs() {
  local tool folder found=''
  PROGRAMS=$CACHE/programs
  rm -rf "$PROGRAMS"
  mkdir -p "$PROGRAMS"
  for tool in kube deploy kind; do
    if ! folder=$("$ROOT/node_modules/.bin/node" "$ROOT/tools/$tool-assets/main.ts" --where); then
      not_tested "not all programs are on this machine: npm run $tool:assets"
    fi
    ln -sf "$folder"/* "$PROGRAMS/"
    found+=" $folder"
  done
  DEBIAN_KEY=$(digest <<<"$SUITE $PACKAGES")
  NODE_KEY=$({ digest_of test-setup/kind/{node,images.sh,runc} && printf '%s\n' "$DEBIAN_KEY$found"; } | digest)
  BASES_KEY=$({ digest_of test-setup/kind/{base,node/copy-programs.sh} && "$ROOT/node_modules/.bin/node" --version && printf '%s\n' "$DEBIAN_KEY"; } | digest)
  OURS_KEY=$({ digest_of {package.json,package-lock.json,LICENSE,tsconfig.base.json,.dockerignore,Makefile,scripts,packages,apps,deploy/images} && printf '%s\n' "$BASES_KEY"; } | digest)
  export PROGRAMS DEBIAN_KEY NODE_KEY BASES_KEY OURS_KEY
  export PATH=$PROGRAMS:$ROOT/node_modules/.bin:$PATH
}

has_images() {
  is_made debian "$DEBIAN_KEY" && is_made node "$NODE_KEY" && is_made bases "$BASES_KEY" && is_made ours "$OURS_KEY"
}

# What is no longer in the engine, or in part, is not made.
forget_lost_images() {
  local what image version
  version=$(node -p 'require(process.argv[1]).version' "$ROOT/package.json")
  while read -r what image; do
    docker image inspect "$image" >/dev/null 2>&1 || rm -f "$CACHE/made/$what"
  done <<END
debian resource-broker-kind/debian
node $NODE_IMAGE
node resource-broker-kind/busybox
bases resource-broker-kind/nodejs24:nonroot
bases resource-broker-kind/node-build:24
ours resource-broker/broker:$version
ours resource-broker/agent:$version
ours resource-broker/brokerctl:$version
END
}

has_debian() { is_made debian.tar "$DEBIAN_KEY" && [[ -s $CACHE/debian.tar ]]; }

# Never into something that is mounted there: it could be the machine's own.
remove_folder() { # <path>
  if grep -qF " ${1// /\\040}/" /proc/self/mountinfo; then fail "something is mounted below $1: unmount it first (grep $1 /proc/mounts)"; fi
  rm -rf --one-file-system "$1"
}

make_debian_tar() {
  local root=$CACHE/debian
  remove_folder "$root"
  debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$root" >"$CACHE/debootstrap.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 3 "$CACHE/debootstrap.log")"
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale} "$root/debootstrap"
  tar -C "$root" -cf "$CACHE/debian.tar" .
  remove_folder "$root"
}

make_images() {
  make_once debian "$DEBIAN_KEY" import_debian
  make_once node "$NODE_KEY" make_node
  make_once bases "$BASES_KEY" make_bases
  make_once ours "$OURS_KEY" make_ours
  docker image prune --force >/dev/null
  # But for what npm has loaded, which is of another type.
  docker builder prune --all --force --filter type=regular >/dev/null
  docker builder prune --all --force --filter type=source.local >/dev/null
}

import_debian() { docker import "$CACHE/debian.tar" resource-broker-kind/debian >/dev/null; }

# What it says is kept for when it fails.
build() { # <name> <folder> <argument>...
  docker build --progress=plain --network=none --tag "$1" "${@:3}" "$2" >"$CACHE/build.log" 2>&1 ||
    fail "$1 could not be built: $(tail -n 20 "$CACHE/build.log")"
}

# An image of a folder, with the command it runs.
import_folder() { # <name> <folder> <command as JSON>
  tar -C "$2" -c . | docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change "ENTRYPOINT $3" - "$1" >/dev/null
}

make_busybox() { # <folder>
  local name
  mkdir -p "$1"/{bin,tmp}
  tar -xOf "$CACHE/debian.tar" ./usr/bin/busybox >"$1/bin/busybox"
  chmod 0755 "$1/bin/busybox"
  for name in sh mkdir rm chmod cat ls sleep wget nc nslookup ip id env; do ln -s busybox "$1/bin/$name"; done
  tar -C "$1" -c . | docker import --change 'ENV PATH=/bin' --change 'CMD ["sh"]' - resource-broker-kind/busybox >/dev/null
  docker tag resource-broker-kind/busybox "$STORAGE_HELPER"
  # All that it does is wait. It gets no other signal than KILL.
  import_folder "$PAUSE:3.10" "$1" '["/bin/sleep", "2147483647"]'
  docker tag "$PAUSE:3.10" "$PAUSE:3.10.1"
}

make_node() {
  local work each image program folder
  local -a images=("$PAUSE:3.10" "$PAUSE:3.10.1" "$STORAGE_HELPER" "$PROXY")
  work=$(mktemp -d "$RUN/node.XXXXXX")
  make_busybox "$work/busybox"
  for each in "${CONTROL_PLANE[@]}"; do
    read -r image program folder <<<"$each"
    folder=${folder#"''"}
    mkdir -p "$work/one$folder"
    cp "$PROGRAMS/$program" "$work/one$folder/"
    import_folder "$image" "$work/one" "[\"$folder/$program\"]"
    rm -rf "$work/one"
    images+=("$image")
  done
  mkdir "$work/bin"
  for each in kubeadm kubelet kubectl kube-proxy kube-network-policies; do cp "$PROGRAMS/$each" "$work/bin/"; done
  cp "$HERE"/node/* "$HERE/runc" "$work/"
  build "$PROXY" "$work" --file "$work/kube-proxy.Dockerfile"
  docker save --output "$work/images.tar" "${images[@]}"
  cp -r "$PROGRAMS/node-files/." "$work/kind"
  storage_manifest >"$work/default-storage.yaml"
  [[ $(grep -c '^kind:' "$work/default-storage.yaml") -ge 8 ]] || fail "kind's storage manifest is not where it was"
  build "$NODE_IMAGE" "$work" --build-arg "VERSION=$KUBERNETES"
  # They are in the node image now.
  docker rmi "${images[@]}" >/dev/null
}

# It is a text in kind's source, with the names of two images put in.
# shellcheck disable=SC2016 # the backticks are Go's
storage_manifest() {
  sed -n '/^const defaultStorageManifest = `/,/^`/p' "$PROGRAMS/const_storage.go" |
    sed -e '1d;$d' -e "s,\` + storageHelperImage + \`,$STORAGE_HELPER," \
      -e "s,\` + storageProvisionerImage + \`,${CONTROL_PLANE[5]%% *},"
}

make_bases() {
  local work npm
  npm=$(readlink -f "$(command -v npm)")
  work=$(mktemp -d "$RUN/bases.XXXXXX")
  cp "$HERE"/base/* "$HERE/node/copy-programs.sh" "$work/"
  cp "$(node -p process.execPath)" "$work/node"
  cp -r "${npm%/bin/*}" "$work/npm"
  cp /etc/ssl/certs/ca-certificates.crt "$work/authorities.crt"
  build resource-broker-kind/nodejs24:nonroot "$work" --file "$work/runtime.Dockerfile"
  build resource-broker-kind/node-build:24 "$work" --file "$work/build.Dockerfile"
}

make_ours() {
  make -C "$ROOT" images RUNTIME_IMAGE=resource-broker-kind/nodejs24:nonroot BUILD_IMAGE=resource-broker-kind/node-build:24 \
    BUILD_FLAGS="--network=host --progress=plain" >"$CACHE/build.log" 2>&1 || fail "make images failed: $(tail -n 20 "$CACHE/build.log")"
}
