import { randomBytes } from "node:crypto";
import { createKubeSim } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import type { RealControlPlane } from "../control-plane/control-plane.ts";
import { until } from "../world/until.ts";
import { kubeClientFor, readTable, unauthenticatedClient } from "./clients.ts";
import type { KubeUnderTest } from "./kube-promise.ts";

/** A simulated cluster in which pods stay as they are written, as on a control plane without nodes. */
export async function simulatedKube(): Promise<KubeUnderTest> {
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  const { kubeconfig, faults } = await sim.addCluster({ name: "sim", behaves: false });
  const { close, ...ways } = clientsFor(kubeconfig);
  return {
    ...ways,
    kind: "kube-sim",
    accountClient: () => Promise.reject(new Error("kube-sim gives no tokens to service accounts")),
    compact: async () => {
      faults.compact();
      faults.cut();
      await reconnect(ways);
    },
    dispose: async () => {
      close();
      await sim.stop();
    },
  };
}

/** A real control plane. Whoever started it ends it. */
export function realKube(plane: RealControlPlane): KubeUnderTest {
  const { close, ...ways } = clientsFor(plane.kubeconfig);
  return {
    ...ways,
    kind: "real",
    accountClient: async (account) => kubeClientFor(await plane.kubeconfigFor(account)),
    compact: async () => {
      await plane.compact();
      await reconnect(ways);
    },
    dispose: () => {
      close();
      return Promise.resolve();
    },
  };
}

/** A create is not sent again when a kept connection turns out to be dead: so none is left. */
async function reconnect({ client, other }: Pick<KubeUnderTest, "client" | "other">): Promise<void> {
  for (const each of [client, other]) await until("the server is back", () => each.read("/version"));
}

function clientsFor(kubeconfig: string) {
  const clients = {
    client: kubeClientFor(kubeconfig),
    other: kubeClientFor(kubeconfig),
    unauthenticated: unauthenticatedClient(kubeconfig),
  };
  return {
    ...clients,
    readTable: (path: string) => readTable(kubeconfig, path),
    close: () => {
      for (const client of Object.values(clients)) client.close();
    },
  };
}
