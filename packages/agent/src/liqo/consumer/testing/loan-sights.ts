import { type EstablishStep, type ObservedVirtualNode, planEstablish } from "../plan-establish.ts";
import {
  aDesiredVirtualNode,
  aForeignCluster,
  aMarker,
  aNode,
  aSlice,
  aVirtualNode,
  NOW,
} from "./samples.ts";

export const DESIRED = aDesiredVirtualNode();
export const ACCEPTED = { authentication: "Accepted", resources: "Accepted" } as const;

export const VIRTUAL_NODE = aVirtualNode(DESIRED);
/** Everything is as it should be. */
export const GOOD: ObservedVirtualNode = {
  foreignCluster: aForeignCluster("Provider"),
  marker: aMarker([DESIRED.id]),
  job: { kind: "none" },
  slice: aSlice(DESIRED, ACCEPTED),
  virtualNode: VIRTUAL_NODE,
  node: aNode(DESIRED),
  tenantStatus: "admitted",
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
export const plan = (changes: Partial<ObservedVirtualNode>): EstablishStep =>
  planEstablish(DESIRED, { ...GOOD, ...changes });
