import type { KubeClient } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { DataPlane } from "../../data-plane/data-plane.ts";
import { RESERVATION_LABEL } from "../objects/labels.ts";
import type { SliceAmountTerms } from "./amounts.ts";
import { clusterReads } from "./cluster-reads.ts";
import { establisher } from "./establish-loan.ts";
import { peeringTeardown } from "./let-go.ts";
import { type PeeringJobFactoryDeps, type PeeringJobFactoryOptions, peeringJobFactory } from "./peer-work.ts";
import { peeringJobRunner } from "./peering-jobs.ts";
import { peeringStore } from "./peerings.ts";
import { claimantsOf } from "./plan-offload.ts";
import { releaser } from "./release-loan.ts";
import { reservationObjectsReader } from "./remains.ts";

export interface LiqoOptions extends PeeringJobFactoryOptions, SliceAmountTerms {}

export interface LiqoDeps extends Omit<PeeringJobFactoryDeps, "client" | "peerings" | "reads" | "teardown"> {
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
  const peerings = peeringStore(deps.client, options.liqoNamespace);
  const jobs = peeringJobRunner(deps);
  const jobFactory = peeringJobFactory(options, {
    ...deps,
    reads,
    peerings,
    teardown: peeringTeardown({ ...deps, reads }),
  });
  const parts = { ...deps, reads, peerings, jobs, jobFactory };
  return {
    ...establisher(options, parts),
    release: releaser({ ...parts, readObjects: reservationObjectsReader(parts) }),
    listReservationIds: async () => {
      const [slices, offloadings, markers] = await Promise.all([
        reads.labelledSlices(),
        reads.offloadings(),
        peerings.all(),
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
