import { randomBytes } from "node:crypto";
import { createKubeSim, type JsonObject, type SimCluster } from "@resource-broker/kube-sim";
import { freePorts } from "../process/free-ports.ts";
import { MACHINE_CLOCK } from "../time/machine-clock.ts";

/** The API server of one cluster, whoever runs it. */
export interface ControlPlane {
  /** The text of a kubeconfig with full rights. */
  readonly kubeconfig: string;
  /** The one of its agent, with the rights it is given there. Absent: the same. */
  readonly agentKubeconfig?: string;
}

/** Where the clusters of a world come from. */
export interface ControlPlanes {
  /** A cluster with these objects in it. */
  readonly start: (name: string, objects: readonly JsonObject[]) => Promise<ControlPlane>;
  /** Ends all of them. */
  readonly stop: () => Promise<void>;
}

export interface SimulatedControlPlanes extends ControlPlanes {
  /** One of them, with its faults. */
  readonly cluster: (name: string) => SimCluster;
}

export interface SimulatedControlPlanesOptions {
  /** False: pods stay as they are written, as on a control plane without nodes. */
  readonly behaves?: boolean;
}

/** Clusters on kube-sim, in this process. */
export function simulatedControlPlanes(options: SimulatedControlPlanesOptions = {}): SimulatedControlPlanes {
  const sim = createKubeSim({ clock: MACHINE_CLOCK, randomBytes });
  return {
    start: async (name, objects) => {
      // One that is down for a while must find its port free again.
      const [port = 0] = await freePorts(1);
      return sim.addCluster({ ...options, name, port, objects });
    },
    stop: sim.stop,
    cluster: (name) => {
      const found = sim.clusters().find((cluster) => cluster.name === name);
      if (found === undefined) throw new Error(`there is no simulated cluster ${name}`);
      return found;
    },
  };
}
