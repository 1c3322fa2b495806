import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { JsonObject } from "@resource-broker/kube-sim";
import {
  type ClusterPlan,
  type ControlPlanes,
  type FakeLiqo,
  fakeLiqo,
  installedLiqo,
  looseLiqoDefinitions,
  simulatedControlPlanes,
  startLiqoctlProgram,
  startWorld,
  until,
  type World,
} from "@resource-broker/testkit";
import type { ScenarioWorld } from "./directions.ts";

/** Clusters with a Liqo that we play, and an agent for each that uses it. */
export interface LiqoWorld extends ScenarioWorld {
  readonly liqo: FakeLiqo;
  /** Where each cluster's kubeconfig lies, by its ID. */
  readonly kubeconfigs: string;
  /** Flags with which an agent uses it. */
  readonly flags: readonly string[];
}

export interface LiqoWorldOptions {
  readonly clusters: readonly ClusterPlan[];
  /** Absent: kube-sim. */
  readonly controlPlanes?: ControlPlanes;
  /** Definitions of Liqo's kinds, and whatever else Liqo is. Absent: definitions that take anything. */
  readonly liqoObjects?: readonly JsonObject[];
}

/** Where the pods of a story are, in each cluster. */
export function userNamespaces(): JsonObject[] {
  return ["shop", "night"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
}

/** Liqo's ID of a cluster, which is not the broker's. */
export function liqoIdOf(clusterName: string): string {
  return `liqo-${clusterName}`;
}

/** Above the minute between two of them. */
const RESYNC_MS = 100_000;

/** A request that was made before would wait for the next resync. */
export async function untilKnown({ broker }: World, clusterId: string): Promise<void> {
  await until(
    `${clusterId} tells who it is to Liqo`,
    async () => {
      const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
      return (body as Partial<AdvertisementDTO>).liqo;
    },
    RESYNC_MS,
  );
}

export async function startLiqoWorld(options: LiqoWorldOptions): Promise<LiqoWorld> {
  const { controlPlanes = simulatedControlPlanes(), liqoObjects = looseLiqoDefinitions() } = options;
  const kubeconfigs = mkdtempSync(join(tmpdir(), "kubeconfigs-"));
  // Agents start it before there is anything behind it.
  const behind: { liqo?: FakeLiqo } = {};
  const program = await startLiqoctlProgram({
    run: async (args, more) =>
      (await behind.liqo?.liqoctl.run(args, more)) ?? { code: 1, output: "Liqo is not there yet\n" },
  });
  const flags = [`--kubeconfigs-dir=${kubeconfigs}`, `--liqoctl=${program.path}`];
  const withLiqo: ControlPlanes = {
    start: async (name, objects) => {
      const plane = await controlPlanes.start(name, [
        ...liqoObjects,
        ...installedLiqo(liqoIdOf(name)),
        ...userNamespaces(),
        ...objects,
      ]);
      await writeFile(join(kubeconfigs, `${name}.kubeconfig`), plane.kubeconfig, { mode: 0o600 });
      return plane;
    },
    stop: controlPlanes.stop,
  };
  const clusters = options.clusters.map((plan) => ({ ...plan, flags: [...flags, ...(plan.flags ?? [])] }));
  const world = await startWorld({ clusters, controlPlanes: withLiqo }).catch(async (error: unknown) => {
    await program.dispose();
    await rm(kubeconfigs, { recursive: true });
    throw error;
  });
  const liqo = fakeLiqo({
    sites: world.clusters.map(({ name, client }) => ({
      id: liqoIdOf(name),
      client,
      guestsRunOn: `${name}-1`,
    })),
  });
  behind.liqo = liqo;
  await liqo.start();
  for (const { name, hasAgent = true } of clusters) if (hasAgent) await untilKnown(world, name);
  return {
    ...world,
    liqo,
    kubeconfigs,
    flags,
    liqoctlCalls: async () =>
      liqo.liqoctl.calls.map((args) => /^[a-z ]+(?= --)/.exec(args.join(" "))?.[0] ?? ""),
    hasKubelets: false,
    dispose: async () => {
      // Whoever waits for liqoctl must be let go before the agent can be.
      await program.dispose();
      await liqo.stop();
      await world.dispose();
      await rm(kubeconfigs, { recursive: true, force: true });
    },
  };
}
