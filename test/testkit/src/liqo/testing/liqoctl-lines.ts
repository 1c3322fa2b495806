/** Command lines, and whether liqoctl's parser takes them. The real program is asked about the same ones. */
export interface LiqoctlLine {
  readonly name: string;
  readonly args: readonly string[];
  /** Undefined: it goes on to read the kubeconfigs. Else a part of what it says. */
  readonly says?: string;
}

const KUBECONFIGS = ["--kubeconfig=/nowhere/rome", "--remote-kubeconfig=/nowhere/paris"];
const PEER = ["peer", ...KUBECONFIGS];

export const LIQOCTL_LINES: readonly LiqoctlLine[] = [
  {
    name: "peering without a slice is taken",
    args: [...PEER, "--create-resource-slice=false", "--gw-server-service-type=NodePort", "--timeout=10m0s"],
  },
  { name: "peering without a network is taken", args: [...PEER, "--networking-disabled=true"] },
  {
    name: "the namespaces of Liqo are taken",
    args: [...PEER, "--namespace=liqo", "--remote-namespace=liqo"],
  },
  { name: "unpeering is taken", args: ["unpeer", ...KUBECONFIGS, "--timeout=2m"] },
  { name: "taking back the keys alone is taken", args: ["unauthenticate", ...KUBECONFIGS, "--timeout=2m"] },
  {
    name: "unpeering from one that is gone is taken",
    args: ["force", "unpeer", "--kubeconfig=/nowhere/rome", "--skip-confirm", "--", "paris"],
  },
  { name: "an unknown flag is refused", args: ["peer", "--nope"], says: "Error: unknown flag: --nope" },
  {
    name: "a flag of other commands is refused",
    args: ["unpeer", "--liqo-namespace=liqo"],
    says: "Error: unknown flag: --liqo-namespace",
  },
  {
    name: "an unknown gateway is refused",
    args: ["peer", "--gw-server-service-type=Pigeon"],
    says: 'invalid argument "Pigeon" for "--gw-server-service-type" flag: Pigeon is not included in',
  },
  {
    name: "a time without a unit is refused",
    args: ["peer", "--timeout=10x"],
    says: 'invalid argument "10x" for "--timeout" flag: time: ',
  },
  {
    name: "a boolean does not take the next word",
    args: ["peer", "--create-resource-slice", "false"],
    says: 'unknown command "false" for ',
  },
  {
    name: "a flag without its value is refused",
    args: ["peer", "--kubeconfig"],
    says: "flag needs an argument",
  },
  {
    name: "nobody to unpeer from is refused",
    args: ["force", "unpeer"],
    says: "accepts 1 arg(s), received 0",
  },
  {
    name: "two to unpeer from are refused",
    args: ["force", "unpeer", "--skip-confirm", "paris", "oslo"],
    says: "accepts 1 arg(s), received 2",
  },
];
