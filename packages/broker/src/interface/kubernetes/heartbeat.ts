import { formatTime, toFault } from "@resource-broker/base";
import { PROTOCOL_VERSION } from "@resource-broker/contract";
import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract/crd";
import type { Instant } from "@resource-broker/domain";
import { failureReporter, LEASES, loop } from "@resource-broker/kube";
import type { Engine } from "../../engine/engine.ts";
import { CapacityWatch, changedReservations } from "../shared/capacity-watch.ts";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";

/** Minimum interval per cluster: each notice makes agents repeat all queued requests, which costs more in large fleets. */
const PAUSE_FOR_EACH_CLUSTER_MS = 10;

interface FreedCapacity {
  /** When freed capacity was last detected; undefined: not since start. */
  readonly noticedAt: () => Instant | undefined;
  readonly stop: () => void;
}

export function freedCapacity(engine: Engine): FreedCapacity {
  const watch = new CapacityWatch(engine);
  let noticedAt: Instant | undefined;
  let nextCheckAt: Instant = 0;
  const stop = engine.onCommit((batch) => {
    for (const { provider } of changedReservations(batch, engine.ledger)) watch.observe(provider);
  });
  return {
    noticedAt: () => {
      const now = engine.now();
      if (now >= nextCheckAt && watch.take().isFreed) {
        noticedAt = now;
        nextCheckAt = now + engine.ledger.accounts.size * PAUSE_FOR_EACH_CLUSTER_MS;
      }
      return noticedAt;
    },
    stop,
  };
}

const EVERY_MS = 2000;
/** Agents treat the broker as unavailable if its Lease is not renewed for this long. */
const LEASE_SECONDS = 15;
const HEARTBEAT_FIELD_MANAGER = "resource-broker-heartbeat";

/**
 * Renews the broker's Lease. From it agents learn that the broker is alive, its time, its ledger ID, and when capacity was
 * freed. All agents watch the Lease, so freed capacity needs no separate write.
 */
export function keepHeartbeat(
  { namespace, replica }: Pick<KubernetesOptions, "namespace" | "replica">,
  { engine, client, clock, log, isLeading }: KubernetesDeps,
): KubernetesPart {
  const failures = failureReporter({
    log,
    clock,
    what: "renewing the broker's Lease",
    fields: { lease: BROKER_LEASE },
  });
  let acquireTime = "";
  let freed: FreedCapacity | undefined;

  const annotations = (): Record<string, string> => {
    const freedAt = freed?.noticedAt();
    return {
      [KUBE_ANNOTATION.ledgerId]: engine.ledgerId,
      [KUBE_ANNOTATION.protocol]: String(PROTOCOL_VERSION),
      ...(freedAt === undefined ? {} : { [KUBE_ANNOTATION.capacityFreed]: formatTime(freedAt) }),
    };
  };

  const beat = async (): Promise<void> => {
    try {
      await client.apply(
        LEASES,
        {
          metadata: { name: BROKER_LEASE, namespace, annotations: annotations() },
          spec: {
            holderIdentity: replica,
            leaseDurationSeconds: LEASE_SECONDS,
            acquireTime,
            renewTime: microTime(engine.now()),
          },
        },
        { fieldManager: HEARTBEAT_FIELD_MANAGER, force: true },
      );
      failures.recovered();
    } catch (error) {
      failures.failed(toFault(error));
    }
  };

  const beats = loop({
    clock,
    round: async () => {
      const startedAt = clock.monotonicMs();
      if (isLeading()) await beat();
      // Measured from the start of the last renewal, so that a slow server does not add to the interval.
      return Math.max(1, startedAt + EVERY_MS - clock.monotonicMs());
    },
  });

  return {
    start: () => {
      acquireTime = microTime(engine.now());
      freed = freedCapacity(engine);
      beats.start();
      return Promise.resolve();
    },
    stop: async () => {
      freed?.stop();
      await beats.stop();
    },
  };
}

/** As a Lease wants it: six digits of a second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
