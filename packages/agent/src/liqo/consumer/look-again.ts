import { parseTime } from "@resource-broker/contract";
import type { Patch } from "@resource-broker/kube";
import type { ResourceSlice } from "../objects/resource-slice.ts";
import { isOurSlice } from "./forge-slice.ts";
import type { LoanWish } from "./loan-wish.ts";

/**
 * Liqo's replicator does not retry what the provider has refused until the object changes. An API server that
 * has just started refuses everything until it has loaded its Roles.
 */
const LOOK_AGAIN_ANNOTATION = "rear.fluidos.eu/look-again";
const EVERY_MS = 30_000;

/**
 * A patch without meaning that makes Liqo replicate again. Its value changes every 30 s, so repeated patches in
 * between change nothing. Undefined: Liqo may still be working.
 */
export function lookAgain(since: string | undefined, wallMs: number): Patch | undefined {
  const waitedMs = wallMs - (parseTime(since ?? "") ?? wallMs);
  if (waitedMs < EVERY_MS) return undefined;
  const turn = String(Math.floor(wallMs / EVERY_MS));
  return { kind: "merge", body: { metadata: { annotations: { [LOOK_AGAIN_ANNOTATION]: turn } } } };
}

/** The same for a slice without an answer. */
export function lookAgainAtSlice(slice: ResourceSlice, { id }: LoanWish, wallMs: number): Patch | undefined {
  const { creationTimestamp, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return undefined;
  if (slice.status?.conditions?.some(({ type }) => type === "Authentication") === true) return undefined;
  return lookAgain(creationTimestamp, wallMs);
}
