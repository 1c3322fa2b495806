import type { KubeClient } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { DataPlane } from "../../data-plane/data-plane.ts";
import { RESERVATION_LABEL } from "../objects/labels.ts";
import type { SliceAmountTerms } from "./amounts.ts";
import { clusterReads } from "./cluster-reads.ts";
import { establishing } from "./establish-loan.ts";
import { letGo } from "./let-go.ts";
import { type PeerWorkDeps, type PeerWorkOptions, peerWork } from "./peer-work.ts";
import { peeringJobs } from "./peering-jobs.ts";
import { peerings } from "./peerings.ts";
import { claimantsOf } from "./plan-offload.ts";
import { releasing } from "./release-loan.ts";
import { remainsReader } from "./remains.ts";

export interface LiqoOptions extends PeerWorkOptions, SliceAmountTerms {}

export interface LiqoDeps extends Omit<PeerWorkDeps, "client" | "marks" | "reads" | "letGo"> {
  readonly client: Pick<KubeClient, "find" | "list" | "create" | "update" | "patch" | "delete">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Delivers each reservation as a virtual node of exactly its size, and removes it in time. */
export interface LiqoDataPlane extends DataPlane {
  /** Stops running liqoctl jobs; a restarted agent continues from the markers. */
  readonly stop: () => Promise<void>;
}

export function liqoDataPlane(options: LiqoOptions, deps: LiqoDeps): LiqoDataPlane {
  const reads = clusterReads(deps.client);
  const marks = peerings(deps.client, options.liqoNamespace);
  const jobs = peeringJobs(deps);
  const work = peerWork(options, {
    ...deps,
    reads,
    marks,
    letGo: letGo({ ...deps, reads }),
  });
  const parts = { ...deps, reads, marks, jobs, work };
  return {
    ...establishing(options, parts),
    release: releasing({ ...parts, remainsOf: remainsReader(parts) }),
    leftovers: async () => {
      const [slices, offloadings, markers] = await Promise.all([
        reads.labelledSlices(),
        reads.offloadings(),
        marks.all(),
      ]);
      return [
        ...new Set([
          ...slices.map(({ metadata }) => metadata.labels?.[RESERVATION_LABEL] ?? metadata.name),
          ...offloadings.flatMap(claimantsOf),
          ...markers.flatMap(({ claims }) => claims),
        ]),
      ].sort();
    },
    stop: jobs.stop,
  };
}
