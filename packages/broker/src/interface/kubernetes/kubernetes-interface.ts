import { keepHeartbeat } from "./heartbeat.ts";
import { objectInformers } from "./objects/object-informers.ts";
import { followBrokerPolicy } from "./policy/follow-broker-policy.ts";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";
import { createProjection } from "./projection/projection.ts";

/**
 * The Kubernetes interface: serves objects that agents and people write, and shows the ledger as objects. Start it when
 * this replica leads. `start` resolves when all objects are synced, without a time limit.
 */
export function createKubernetesInterface(options: KubernetesOptions, deps: KubernetesDeps): KubernetesPart {
  const known = objectInformers(options.namespace, deps);
  const parts: readonly KubernetesPart[] = [
    // First, so that waiting requests are decided by the operator's policy.
    ...(options.views ? [followBrokerPolicy(options, deps)] : []),
    ...(options.objects ? [keepHeartbeat(options, deps)] : []),
    ...(options.objects || options.views ? [createProjection(options, { ...deps, known })] : []),
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
