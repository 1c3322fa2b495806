import { BROKER_LEASE, formatTime, KUBE_ANNOTATION } from "@resource-broker/contract";
import { failureReporter, LEASES, toFault } from "@resource-broker/kube";
import { type FreedCapacity, freedCapacity } from "./freed-capacity.ts";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";

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
  let cancel = (): void => undefined;
  let isStopped = false;
  let beating: Promise<void> | undefined;
  let acquireTime = "";
  let freed: FreedCapacity | undefined;

  const annotations = (): Record<string, string> => {
    const freedAt = freed?.noticedAt();
    return {
      [KUBE_ANNOTATION.ledgerId]: engine.ledgerId,
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

  const tick = async (): Promise<void> => {
    if (isStopped) return;
    const startedAt = clock.monotonicMs();
    if (isLeading()) await beat();
    // Measured from the start of the last renewal, so that a slow server does not add to the interval.
    const pauseMs = Math.max(1, startedAt + EVERY_MS - clock.monotonicMs());
    if (!isStopped) cancel = clock.after(pauseMs, () => void (beating = tick()));
  };

  return {
    start: () => {
      acquireTime = microTime(engine.now());
      freed = freedCapacity(engine);
      beating = tick();
      return Promise.resolve();
    },
    stop: async () => {
      isStopped = true;
      freed?.stop();
      cancel();
      await beating;
    },
  };
}

/** As a Lease wants it: six digits of a second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
