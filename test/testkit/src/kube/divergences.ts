import { ok } from "node:assert";
import type { KubePromise, KubeUnderTest } from "./kube-promise.ts";

/** A promise that one of the servers is known not to keep. */
export interface Divergence {
  readonly promise: string;
  readonly brokenBy: KubeUnderTest["kind"];
  /** What the failure says: another failure is another difference. */
  readonly says: RegExp;
  readonly reason: string;
}

/** Every difference between kube-sim and a real API server that a promise has met. */
export const DIVERGENCES: readonly Divergence[] = [
  {
    promise: "what was created belongs to whoever created it",
    brokenBy: "kube-sim",
    says: /conflict with "before-first-apply"/u,
    reason:
      "kube-sim notes who owns which field from the first apply on: notes on every object would double its memory",
  },
  {
    promise: "a pod's overhead, which its RuntimeClass gives it, is the same in both",
    brokenBy: "kube-sim",
    says: /create runtimeclasses .* could not find the requested resource/u,
    reason: "kube-sim serves no RuntimeClasses; it takes overhead as the pod states it",
  },
  {
    promise: "who lacks a right is told which, and the rule that would give it",
    brokenBy: "kube-sim",
    says: /kube-sim gives no tokens to service accounts/u,
    reason: "kube-sim knows no roles: whoever gets in may do everything",
  },
];

/** Fails on a difference that is not listed, and on a listed one that is none. */
export async function keepOrDiverge(
  { name, keep }: KubePromise,
  server: KubeUnderTest,
  divergences: readonly Divergence[] = DIVERGENCES,
): Promise<void> {
  const known = divergences.find(({ promise, brokenBy }) => promise === name && brokenBy === server.kind);
  if (known === undefined) return keep(server);
  const failure = await failureOf(() => keep(server));
  ok(failure !== undefined, `${server.kind} keeps this promise now: take it off the list of divergences`);
  if (!known.says.test(failure.message)) throw failure;
}

async function failureOf(work: () => Promise<void>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
