import { type EstablishStep, type LoanSight, planEstablish } from "../plan-establish.ts";
import { aForeignCluster, aMarker, aNode, aSlice, aVirtualNode, aWish, NOW } from "./samples.ts";

export const WISH = aWish();
export const ACCEPTED = { authentication: "Accepted", resources: "Accepted" } as const;

export const VIRTUAL_NODE = aVirtualNode(WISH);
/** Everything is as it should be. */
export const GOOD: LoanSight = {
  foreignCluster: aForeignCluster("Provider"),
  marker: aMarker([WISH.id]),
  job: { kind: "none" },
  slice: aSlice(WISH, ACCEPTED),
  virtualNode: VIRTUAL_NODE,
  node: aNode(WISH),
  standing: "let-in",
  offload: { kind: "done" },
  wallMs: NOW,
};
/** Changes to it: nothing is there yet. */
export const NOT_PEERED = {
  foreignCluster: undefined,
  slice: undefined,
  virtualNode: undefined,
  node: undefined,
};
/** What has become of liqoctl. */
export const FAILED = {
  kind: "failed",
  job: "peer",
  obstacle: { reason: "KubeconfigMissing", message: "there is none" },
  times: 1,
  retryInMs: 5000,
} as const;
/** The next step of a loan where all is good but this. */
export const plan = (changes: Partial<LoanSight>): EstablishStep =>
  planEstablish(WISH, { ...GOOD, ...changes });
