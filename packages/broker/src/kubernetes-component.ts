import { toFault } from "@resource-broker/base";
import { type EventRecorder, eventRecorder } from "@resource-broker/kube";
import type { ReadinessCheck } from "@resource-broker/runtime";
import { type BrokerCluster, USER_AGENT } from "./cluster-access.ts";
import {
  createKubernetesInterface,
  type KubernetesInterface,
} from "./interface/kubernetes/kubernetes-interface.ts";
import type { KubernetesDeps, KubernetesOptions } from "./interface/kubernetes/ports.ts";

/** How long start waits for the BrokerPolicy before the ledger is judged by another policy, and then for the objects. */
const START_TIMEOUT_MS = 3000;

/** The broker's objects on its own cluster: served and shown by the replica that leads. */
export interface KubernetesComponent {
  /**
   * Reads the BrokerPolicy because this replica leads, before the engine starts. Resolves when it has been read, whether there
   * is a valid one or not, or after a timeout: an unreachable API server must not delay HTTP callers.
   */
  readonly readPolicy: () => Promise<void>;
  /**
   * Starts the rest of the interface. Resolves when its objects are synced, or after a timeout; at once if the API server
   * has not answered `readPolicy`.
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
  let opened: Promise<KubernetesInterface> | undefined;
  let stopServed: (() => Promise<void>) | undefined;
  let isStopped = false;
  let isAway = false;

  const openInterface = async (): Promise<KubernetesInterface> => {
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
    if (isStopped) await stopServed();
    return served;
  };
  const theInterface = (): Promise<KubernetesInterface> => {
    state = "starting";
    opened ??= openInterface();
    return opened;
  };

  const start = async (): Promise<void> => {
    const served = await theInterface();
    if (isStopped) return;
    await served.start();
    const { client, namespace } = await open();
    state = "serving";
    log.info({ namespace, server: client.server, ...options }, "the broker's objects are synced");
  };
  const warn = (error: unknown): void => {
    if (!isStopped) log.error({ error: toFault(error).message }, "the broker's objects cannot be watched");
  };

  /** True if it came to its end in time. */
  const inTime = (task: Promise<void>): Promise<boolean> =>
    new Promise((resolve) => {
      const cancel = clock.after(START_TIMEOUT_MS, () => resolve(false));
      void task.then(() => {
        cancel();
        resolve(true);
      });
    });

  return {
    readPolicy: async () => {
      const reading = theInterface().then((served) => (isStopped ? undefined : served.readPolicy()));
      isAway = !(await inTime(reading.catch(warn)));
    },
    lead: async () => {
      const started = start().catch(warn);
      if (!isAway) await inTime(started);
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
