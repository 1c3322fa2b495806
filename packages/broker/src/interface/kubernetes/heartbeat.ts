import { BROKER_LEASE, KUBE_ANNOTATION } from "@resource-broker/contract";
import { LEASES, toFault, trouble } from "@resource-broker/kube";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";

const EVERY_MS = 2000;
/** Agents count a broker as gone when its Lease stands still for so long. */
const LEASE_SECONDS = 15;
const HEARTBEAT_FIELD_MANAGER = "resource-broker-heartbeat";

/** Keeps the Lease by which agents learn that the broker lives, what its time is, and which ledger it keeps. */
export function keepHeartbeat(
  { namespace, replica }: Pick<KubernetesOptions, "namespace" | "replica">,
  { engine, client, machine, log, isLeading }: KubernetesDeps,
): KubernetesPart {
  const troubles = trouble({
    log,
    machine,
    what: "renewing the broker's Lease",
    fields: { lease: BROKER_LEASE },
  });
  let cancel = (): void => undefined;
  let isStopped = false;
  let beating: Promise<void> | undefined;
  let acquireTime = "";

  const beat = async (): Promise<void> => {
    try {
      await client.apply(
        LEASES,
        {
          metadata: {
            name: BROKER_LEASE,
            namespace,
            annotations: { [KUBE_ANNOTATION.ledgerId]: engine.ledgerId },
          },
          spec: {
            holderIdentity: replica,
            leaseDurationSeconds: LEASE_SECONDS,
            acquireTime,
            renewTime: microTime(engine.now()),
          },
        },
        { fieldManager: HEARTBEAT_FIELD_MANAGER, force: true },
      );
      troubles.ends();
    } catch (error) {
      troubles.begins(toFault(error));
    }
  };

  const tick = async (): Promise<void> => {
    if (isStopped) return;
    const startedAt = machine.monotonicMs();
    if (isLeading()) await beat();
    // By the beginning of the last one: a slow server does not make the pulse slower than it has to be.
    const pauseMs = Math.max(1, startedAt + EVERY_MS - machine.monotonicMs());
    if (!isStopped) cancel = machine.after(pauseMs, () => void (beating = tick()));
  };

  return {
    start: () => {
      acquireTime = microTime(engine.now());
      beating = tick();
      return Promise.resolve();
    },
    stop: async () => {
      isStopped = true;
      cancel();
      await beating;
    },
  };
}

/** As a Lease wants it: six digits of a second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
