import { serveAdvertisements } from "./advertisements/advertisement-controller.ts";
import { keepHeartbeat } from "./heartbeat.ts";
import { objectInformers } from "./objects/object-informers.ts";
import { followBrokerPolicy } from "./policy/follow-broker-policy.ts";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";
import { serveReservations } from "./reservations/reservation-controller.ts";
import { createViews } from "./views/views.ts";

/**
 * The Kubernetes interface: serves objects that agents and people write, and shows the ledger as objects. Start it when
 * this replica leads. `start` resolves when all objects are synced, without a time limit.
 */
export function createKubernetesInterface(options: KubernetesOptions, deps: KubernetesDeps): KubernetesPart {
  const { namespace } = options;
  const known = objectInformers(namespace, deps);
  const partDeps = { ...deps, known };
  const parts: readonly KubernetesPart[] = [
    // First, so that waiting requests are decided by the operator's policy.
    ...(options.views ? [followBrokerPolicy({ namespace }, partDeps)] : []),
    ...(options.objects
      ? [
          serveAdvertisements({ namespace }, partDeps),
          serveReservations({ namespace }, partDeps),
          keepHeartbeat(options, deps),
        ]
      : []),
    ...(options.views ? [createViews({ namespace, objects: options.objects }, partDeps)] : []),
  ];
  let isStopped = false;
  return {
    start: async () => {
      await known.start();
      for (const part of parts) if (!isStopped) await part.start();
    },
    stop: async () => {
      isStopped = true;
      await known.stop();
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}
