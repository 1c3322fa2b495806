import { type Assets, printedBy, recipeOf } from "../go-assets/assets-tool.ts";
import type { AssetsList } from "../go-assets/bring.ts";
import type { PinnedModule } from "../go-assets/go.ts";
import { GO_MODULE, KUBERNETES, kubernetesProgram, PINS } from "../kube-assets/assets.ts";

/** What real kind clusters need beside the control plane that `kube-assets` builds and Debian's packages, and how it is made. */

const KIND: PinnedModule = {
  path: "sigs.k8s.io/kind",
  version: "v0.30.0",
  sum: "h1:2Xi1KFEfSMm0XDcvKnUt15ZfgRPCT0OnCBbpgh8DztY=",
};

/** The release that kubeadm 1.34 names. */
const COREDNS: PinnedModule = {
  path: "github.com/coredns/coredns",
  version: "v1.12.1",
  sum: "h1:haptbGscSbdWU46xrjdPj1vp3wvH1Z2FgCSQKEdgN5s=",
};

/** The storage of kind's clusters. */
const STORAGE: PinnedModule = {
  path: "github.com/rancher/local-path-provisioner",
  version: "v0.0.30",
  sum: "h1:OkiuofkCSscddl7tma/B9Ox1wu+JEVSrP7IcZI65Ggo=",
};

/** Enforces NetworkPolicies; kind's own network, which does it too, is no module that can be had by its name. */
const NETWORK_POLICIES: PinnedModule = {
  path: "sigs.k8s.io/kube-network-policies",
  version: "v1.1.0",
  sum: "h1:UM2m/TdfmWgHClGnrKA+mevqG+OH4883kfup4DnXsHs=",
};

const FROM_KUBERNETES = ["kubelet", "kubeadm", "kube-proxy", "kube-scheduler"];

/** By name: the module, and where in it. */
const FROM_MODULES: readonly (readonly [name: string, module: PinnedModule, inside: string])[] = [
  ["kind", KIND, ""],
  ["coredns", COREDNS, ""],
  ["local-path-provisioner", STORAGE, ""],
  ["kube-network-policies", NETWORK_POLICIES, "/cmd/kube-network-policies/standard"],
];

const LIST: AssetsList = {
  copies: [
    // What kind puts into its node image, and the source that holds the manifest of its storage.
    { to: "node-files", module: KIND, from: "images/base/files" },
    { to: "const_storage.go", module: KIND, from: ["pkg/build/nodeimage/const_storage.go"] },
  ],
  programs: [
    ...FROM_KUBERNETES.map(kubernetesProgram),
    ...FROM_MODULES.map(([name, module, inside]) => ({
      name,
      module,
      package: `${module.path}${inside}`,
      linkFlags: "-s -w",
    })),
  ],
};

export const KIND_ASSETS: Assets = {
  name: "kind-assets",
  label: KIND.version,
  what: `kind ${KIND.version}`,
  firstTimeTakes: "ten minutes or more",
  noGo: "Go is not installed, and kind is not on this machine. Install Go 1.26 or newer and run this again.",
  goModule: GO_MODULE,
  list: LIST,
  recipe: recipeOf(PINS, LIST),
  describe: async (folder) => {
    const kind = await printedBy(folder, "kind", "version");
    const kubeadm = await printedBy(folder, "kubeadm", "version", "-o", "short");
    if (!kind.includes(KIND.version)) throw new Error(`kind is not ${KIND.version} but says: ${kind}`);
    if (!kubeadm.includes(KUBERNETES)) throw new Error(`kubeadm is not ${KUBERNETES} but says: ${kubeadm}`);
    return `kind ${KIND.version} and the programs of its nodes, of Kubernetes ${KUBERNETES},`;
  },
};
