import type { JobResult } from "./peering-jobs.ts";

/** Peers in Liqo need the same minor version. An unknown version is accepted. */
export function versionProblem(
  { clusterId }: { readonly clusterId: string },
  here: string,
  there: string,
): JobResult {
  const [own, other] = [minorOf(here), minorOf(there)];
  if (own === undefined || other === undefined || own === other) return undefined;
  return {
    reason: "VersionMismatch",
    message: `this cluster has Liqo ${here} and ${clusterId} has ${there}: they peer only when both are of one minor version`,
  };
}

function minorOf(version: string): string | undefined {
  return /^v?(\d+\.\d+)(?:\.|$)/.exec(version)?.[1];
}
