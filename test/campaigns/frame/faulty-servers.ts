import {
  type ControlPlanes,
  type FaultyProxy,
  type RealControlPlanes,
  realControlPlanes,
  type SimulatedControlPlanes,
  type SimulatedControlPlanesOptions,
  simulatedControlPlanes,
  startFaultyProxy,
} from "@resource-broker/testkit";

/** An API server that can be harmed. Those under test reach it through the proxy; `kubeconfig` is a way beside it. */
export interface FaultyServer {
  readonly kubeconfig: string;
  readonly proxy: FaultyProxy;
  readonly kill: () => Promise<unknown>;
  /** Resolves when it serves again. */
  readonly restart: () => Promise<unknown>;
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface FaultyServers extends ControlPlanes {
  readonly server: (name: string) => FaultyServer;
}

/** Real API servers, in processes of their own. */
export function realServers(): FaultyServers & RealControlPlanes {
  const planes = realControlPlanes();
  return {
    ...planes,
    server: (name) => {
      const { plane, proxy } = planes.reached(name);
      return { kubeconfig: plane.kubeconfig, proxy, ...plane.apiServer };
    },
  };
}

/** kube-sim in this process, with proxies before it as the real ones have. */
export function simulatedServers(
  options?: SimulatedControlPlanesOptions,
): FaultyServers & SimulatedControlPlanes {
  const planes = simulatedControlPlanes(options);
  const servers = new Map<string, FaultyServer>();
  return {
    ...planes,
    start: async (name, objects) => {
      const { kubeconfig } = await planes.start(name, objects);
      const { url, faults } = planes.cluster(name);
      const { port } = new URL(url);
      const proxy = await startFaultyProxy({ port: Number(port) });
      const { down: kill, up: restart, pause, resume } = faults;
      servers.set(name, { kubeconfig, proxy, kill, restart, pause, resume });
      return { kubeconfig: kubeconfig.replace(`:${port}`, `:${proxy.port}`) };
    },
    stop: async () => {
      for (const { proxy } of servers.values()) await proxy.close();
      await planes.stop();
    },
    server: (name) => {
      const found = servers.get(name);
      if (found === undefined) throw new Error(`there is no API server of ${name}`);
      return found;
    },
  };
}

export const SERVER_FAULTS = ["kill", "pause", "cut"] as const;
export type ServerFault = (typeof SERVER_FAULTS)[number];

/** Harms a server. What is returned mends it, and resolves when it serves again. */
export async function injectFault(fault: ServerFault, server: FaultyServer): Promise<() => Promise<unknown>> {
  switch (fault) {
    case "kill":
      await server.kill();
      return server.restart;
    case "pause":
      server.pause();
      return async () => server.resume();
    case "cut":
      server.proxy.refuse();
      server.proxy.cut();
      return async () => server.proxy.admit();
  }
}
