import { rejects } from "node:assert";
import { APPLIES } from "./applies.ts";
import { CUSTOM_KINDS } from "./custom-kinds.ts";
import { DELETES } from "./deletes.ts";
import type { KubePromise, KubeUnderTest } from "./kube-promise.ts";
import { MACHINERY } from "./machinery.ts";
import { PATCHES } from "./patches.ts";
import { READS } from "./reads.ts";
import { REFUSALS } from "./refusals.ts";
import { WATCHES } from "./watches.ts";
import { WIRE_FORMS } from "./wire-forms.ts";
import { WRITES } from "./writes.ts";

/** What our Kubernetes client promises on every API server. Where kube-sim cannot keep one, `DIVERGENCES` says why. */
export const KUBE_PROMISES: readonly KubePromise[] = [
  ...READS,
  ...WRITES,
  ...PATCHES,
  ...APPLIES,
  ...DELETES,
  ...WATCHES,
  ...WIRE_FORMS,
  ...CUSTOM_KINDS,
  ...MACHINERY,
  ...REFUSALS,
];

/** A promise that kube-sim is known not to keep, and what the failure says: another failure is another difference. */
interface Divergence {
  readonly promise: string;
  readonly says: RegExp;
  readonly reason: string;
}

/** Every difference between kube-sim and a real API server that a promise has met. */
const DIVERGENCES: readonly Divergence[] = [
  {
    promise: "what was created belongs to whoever created it",
    says: /conflict with "before-first-apply"/u,
    reason:
      "kube-sim notes who owns which field from the first apply on: notes on every object would double its memory",
  },
  {
    promise: "a pod's overhead, which its RuntimeClass gives it, is the same in both",
    says: /create runtimeclasses .* could not find the requested resource/u,
    reason: "kube-sim serves no RuntimeClasses; it takes overhead as the pod states it",
  },
  {
    promise: "who lacks a right is told which, and the rule that would give it",
    says: /kube-sim gives no tokens to service accounts/u,
    reason: "kube-sim knows no roles: whoever gets in may do everything",
  },
];

/** Fails on a difference that is not listed, and on a listed one that is none. */
export async function keepOrDiverge({ name, keep }: KubePromise, server: KubeUnderTest): Promise<void> {
  const known = DIVERGENCES.find(({ promise }) => promise === name && server.kind === "kube-sim");
  if (known === undefined) return keep(server);
  await rejects(keep(server), known.says, "kube-sim keeps or breaks this promise in another way than listed");
}
