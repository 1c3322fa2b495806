import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LiqoBehaviour } from "@resource-broker/testkit";
import type { LiqoWorld } from "./liqo-world.ts";

/** Something that goes wrong on the way to a virtual node. */
export interface Failure {
  readonly name: string;
  /** Before anything is asked for. */
  readonly spoil: (world: LiqoWorld) => void | Promise<void>;
  /** True: the provider's agent is gone once it has advertised; whatever grants does so in its place. */
  readonly isProviderAway?: boolean;
  /** Flags of rome's agent that count as given last. */
  readonly flags?: readonly string[];
  /** What the condition Peered says then. */
  readonly reason: string;
  readonly message: RegExp;
}

const ERRO = "ERRO (remote) Unable to ensure networking: the gateway is not ready\n";
const behave =
  (change: Partial<LiqoBehaviour>) =>
  ({ liqo }: LiqoWorld): void =>
    liqo.behave(change);
const kubeconfigIn = ({ kubeconfigs }: LiqoWorld, name: string): string =>
  join(kubeconfigs, `${name}.kubeconfig`);

export const FAILURES: readonly Failure[] = [
  {
    name: "there is no liqoctl",
    spoil: () => undefined,
    flags: ["--liqoctl=/nowhere/liqoctl"],
    reason: "LiqoctlMissing",
    message: /\/nowhere\/liqoctl cannot be started: install liqoctl/,
  },
  {
    name: "there is no kubeconfig of the provider",
    spoil: (world) => rm(kubeconfigIn(world, "paris")),
    reason: "KubeconfigMissing",
    message: /there is no readable .*paris\.kubeconfig/,
  },
  {
    name: "the kubeconfig leads to another cluster",
    spoil: (world) => copyFile(kubeconfigIn(world, "rome"), kubeconfigIn(world, "paris")),
    reason: "IdentityMismatch",
    message: /the kubeconfig of paris leads to Liqo's cluster liqo-rome instead of liqo-paris/,
  },
  {
    // Readers that know merge keys, as liqoctl's does, would run the program.
    name: "the kubeconfig runs a program that a merge key brings in",
    spoil: (world) =>
      writeFile(
        kubeconfigIn(world, "paris"),
        "x: &x {exec: {command: sh}}\nusers: [{name: u, user: {<<: *x}}]\n",
      ),
    reason: "KubeconfigRefused",
    message: /paris\.kubeconfig: x has an anchor \(&\), which is refused/,
  },
  {
    name: "liqoctl fails",
    spoil: ({ liqo }) =>
      liqo.liqoctl.failNext("peer", { kind: "fails", end: { code: 1, output: ERRO } }, true),
    reason: "PeeringFailed",
    message: /liqoctl peer ended with 1:\nERRO \(remote\) Unable to ensure networking/,
  },
  {
    name: "liqoctl does half of it",
    spoil: ({ liqo }) =>
      liqo.liqoctl.failNext("peer", { kind: "fails", end: { code: 1, output: ERRO }, does: "half" }, true),
    reason: "PeeringFailed",
    message: /the gateway is not ready/,
  },
  {
    name: "liqoctl says that all is well, and nothing is",
    spoil: ({ liqo }) => liqo.liqoctl.failNext("peer", { kind: "pretends" }, true),
    reason: "AwaitingPeering",
    message: /Liqo does not yet say that paris is peered/,
  },
  {
    name: "liqoctl does not end",
    spoil: ({ liqo }) => liqo.liqoctl.failNext("peer", { kind: "hangs" }, true),
    flags: ["--liqo-timeout=30s"],
    reason: "LiqoctlTimedOut",
    message: /liqoctl peer did not end within \d+ s/,
  },
  {
    name: "the slice does not reach the provider",
    spoil: behave({ replicates: false }),
    reason: "AwaitingAuthentication",
    message: /paris has not signed/,
  },
  {
    name: "the provider lets nobody in",
    spoil: behave({ authenticates: "Denied" }),
    reason: "AuthenticationDenied",
    message: /paris does not authenticate this cluster .*denied/,
  },
  {
    name: "nobody grants",
    spoil: () => undefined,
    isProviderAway: true,
    reason: "AwaitingGrant",
    message: /paris has not granted/,
  },
  {
    name: "the provider denies",
    spoil: behave({ grants: () => "Denied" }),
    isProviderAway: true,
    reason: "SliceDenied",
    message: /paris denies the resources .*denied/,
  },
  {
    name: "the provider grants a part",
    spoil: behave({ grants: (asked) => ({ ...asked, cpu: "1" }) }),
    isProviderAway: true,
    reason: "PartialGrant",
    message: /paris grants other amounts: cpu is 1 instead of 4/,
  },
  {
    name: "no virtual node is made",
    spoil: behave({ makesVirtualNode: false }),
    reason: "AwaitingVirtualNode",
    message: /Liqo has not made VirtualNode/,
  },
  {
    name: "the node does not come",
    spoil: behave({ node: "Absent" }),
    reason: "AwaitingNode",
    message: /does not exist yet/,
  },
  {
    name: "the node is not ready",
    spoil: behave({ node: "NotReady" }),
    reason: "NodeNotReady",
    message: /is not ready \(KubeletNotReady/,
  },
  {
    name: "the node is of another size",
    spoil: behave({ allocatable: (granted) => ({ ...granted, memory: "1Gi" }) }),
    reason: "NodeSizeDiffers",
    message: /memory is 1Gi instead of 8Gi/,
  },
];
