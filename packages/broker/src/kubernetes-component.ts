import { toFault } from "@resource-broker/base";
import { type EventRecorder, eventRecorder } from "@resource-broker/kube";
import type { ReadinessCheck } from "@resource-broker/runtime";
import { type BrokerCluster, USER_AGENT } from "./cluster-access.ts";
import { createKubernetesInterface } from "./interface/kubernetes/kubernetes-interface.ts";
import type { KubernetesDeps, KubernetesOptions } from "./interface/kubernetes/ports.ts";

/** How long start waits for the BrokerPolicy before calls are answered with another policy. */
const START_TIMEOUT_MS = 3000;

/** The broker's objects on its own cluster: served and shown by the replica that leads. */
export interface KubernetesComponent {
  /**
   * Starts the interface because this replica leads. Resolves when its objects are synced and the BrokerPolicy is in
   * force, or after a timeout: an unreachable API server must not delay HTTP callers.
   */
  readonly lead: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly check: ReadinessCheck;
}

export interface KubernetesComponentDeps extends Omit<KubernetesDeps, "client" | "recorder"> {
  readonly open: () => Promise<BrokerCluster>;
}

export function kubernetesComponent(
  options: Omit<KubernetesOptions, "namespace">,
  { open, ...deps }: KubernetesComponentDeps,
): KubernetesComponent {
  const { log, clock, random } = deps;
  let state: "waiting" | "starting" | "serving" = "waiting";
  let stopServed: (() => Promise<void>) | undefined;
  let isStopped = false;

  const start = async (): Promise<void> => {
    const { client, namespace } = await open();
    const recorder: EventRecorder = eventRecorder(
      { component: USER_AGENT, instance: options.replica },
      { client, clock, random, log },
    );
    const served = createKubernetesInterface({ ...options, namespace }, { ...deps, client, recorder });
    stopServed = async () => {
      await served.stop();
      await recorder.stop();
    };
    if (isStopped) return stopServed();
    await served.start();
    state = "serving";
    log.info({ namespace, server: client.server, ...options }, "the broker's objects are synced");
  };

  return {
    lead: () => {
      state = "starting";
      const started = start().catch((error: unknown) => {
        if (!isStopped)
          log.error({ error: toFault(error).message }, "the broker's objects cannot be watched");
      });
      return new Promise((resolve) => {
        const cancel = clock.after(START_TIMEOUT_MS, resolve);
        void started.then(() => {
          cancel();
          resolve();
        });
      });
    },
    stop: async () => {
      isStopped = true;
      await stopServed?.();
    },
    check: {
      name: "kubernetes",
      // The API server is required only if agents and people use objects. Views are optional. A standby replica watches
      // nothing and passes.
      problem: () =>
        options.objects && state === "starting" ? "the broker's objects are not synced yet" : undefined,
    },
  };
}
