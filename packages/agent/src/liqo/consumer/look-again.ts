import { parseTime } from "@resource-broker/contract";
import type { Patch } from "@resource-broker/kube";
import type { ResourceSlice } from "../objects/resource-slice.ts";
import { isOurSlice } from "./forge-slice.ts";
import type { DesiredVirtualNode } from "./loan-wish.ts";

/**
 * Liqo's replicator does not retry what the provider has refused until the object changes. An API server that
 * has just started refuses everything until it has loaded its Roles.
 */
const TOUCH_ANNOTATION = "rear.fluidos.eu/look-again";
const TOUCH_MS = 30_000;

/**
 * A patch without meaning that makes Liqo replicate again. Its value changes every 30 s, so repeated patches in
 * between change nothing. Undefined: Liqo may still be working.
 */
export function touchPatch(since: string | undefined, wallMs: number): Patch | undefined {
  const waitedMs = wallMs - (parseTime(since ?? "") ?? wallMs);
  if (waitedMs < TOUCH_MS) return undefined;
  const period = String(Math.floor(wallMs / TOUCH_MS));
  return { kind: "merge", body: { metadata: { annotations: { [TOUCH_ANNOTATION]: period } } } };
}

/** The same for a slice without an answer. */
export function touchSlicePatch(
  slice: ResourceSlice,
  { id }: DesiredVirtualNode,
  wallMs: number,
): Patch | undefined {
  const { creationTimestamp, deletionTimestamp } = slice.metadata;
  if (!isOurSlice(slice, id) || deletionTimestamp !== undefined) return undefined;
  if (slice.status?.conditions?.some(({ type }) => type === "Authentication") === true) return undefined;
  return touchPatch(creationTimestamp, wallMs);
}
