import { keepHeartbeat } from "./heartbeat.ts";
import { objectInformers } from "./objects/object-informers.ts";
import { followBrokerPolicy } from "./policy/follow-broker-policy.ts";
import type { KubernetesDeps, KubernetesOptions, KubernetesPart } from "./ports.ts";
import { createProjection } from "./projection/projection.ts";

export interface KubernetesInterface extends KubernetesPart {
  /**
   * Follows the BrokerPolicy from now on. Resolves when it has been read, whether there is a valid one or not, or after some
   * seconds. To be called before the engine starts: the ledger is judged by the operator's policy from the beginning.
   */
  readonly readPolicy: () => Promise<void>;
}

/**
 * The Kubernetes interface: serves objects that agents and people write, and shows the ledger as objects. Start it when
 * this replica leads. `start` resolves when all objects are synced, without a time limit.
 */
export function createKubernetesInterface(
  options: KubernetesOptions,
  deps: KubernetesDeps,
): KubernetesInterface {
  const known = objectInformers(options.namespace, deps);
  const policy = options.views ? followBrokerPolicy(options, deps) : undefined;
  const parts: readonly KubernetesPart[] = [
    // First, so that waiting requests are decided by the operator's policy: the API server may answer only now.
    ...(policy === undefined ? [] : [policy]),
    ...(options.objects ? [keepHeartbeat(options, deps)] : []),
    ...(options.objects || options.views ? [createProjection(options, { ...deps, known })] : []),
  ];
  let isStopped = false;
  return {
    readPolicy: async () => policy?.start(),
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
