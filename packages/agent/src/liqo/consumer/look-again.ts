import { parseTime } from "@resource-broker/contract";
import type { Patch } from "@resource-broker/kube";
import type { ResourceSlice } from "../objects/resource-slice.ts";
import { isOurSlice } from "./forge-slice.ts";
import type { LoanWish } from "./loan-wish.ts";

/**
 * Liqo's replicator forgets what the provider has refused, until it changes here. An API server that has just started
 * refuses everything for a moment, before it has read its Roles.
 */
const LOOK_AGAIN_ANNOTATION = "rear.fluidos.eu/look-again";
const EVERY_MS = 30_000;

/**
 * A change that says nothing, for what Liqo should have brought to the provider long ago. It is the same for half a minute:
 * to an API server that has it, it is none. Undefined: Liqo may still be at it.
 */
export function lookAgain(since: string | undefined, wallMs: number): Patch | undefined {
  const waitedMs = wallMs - (parseTime(since ?? "") ?? wallMs);
  if (waitedMs < EVERY_MS) return undefined;
  const turn = String(Math.floor(wallMs / EVERY_MS));
  return { kind: "merge", body: { metadata: { annotations: { [LOOK_AGAIN_ANNOTATION]: turn } } } };
}

/** The same for a slice that has not been answered. */
export function lookAgainAtSlice(slice: ResourceSlice, { id }: LoanWish, wallMs: number): Patch | undefined {
  const { creationTimestamp, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return undefined;
  if (slice.status?.conditions?.some(({ type }) => type === "Authentication") === true) return undefined;
  return lookAgain(creationTimestamp, wallMs);
}
