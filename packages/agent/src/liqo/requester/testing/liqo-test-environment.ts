import { CONFIG_MAPS, type ConfigMap, NAMESPACES } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { expect } from "vitest";
import type { DataPlaneState, DeliverySpec, ReleaseState } from "../../../data-plane/data-plane.ts";
import { fakeCluster } from "../../../testing/fake-cluster.ts";
import { recordedLog } from "../../../testing/recorded-log.ts";
import { liqoRequester } from "../../liqo-data-plane.ts";
import { RESOURCE_SLICES, TENANTS } from "../../objects/authentication.ts";
import { NAMESPACE_OFFLOADINGS, VIRTUAL_NODES } from "../../objects/offloading.ts";
import { RESERVATION_NODES } from "../reservation-nodes.ts";
import { liqoClient, liqoInMemory } from "./liqo-in-memory.ts";
import { NOW, TERMS } from "./samples.ts";

export const MINUTE_MS = 60_000;
export function clusterIdMap(id: string): ConfigMap {
  const labels = { "app.kubernetes.io/name": "clusterid-configmap" };
  return { metadata: { name: "clusterid", namespace: "liqo", labels }, data: { CLUSTER_ID: id } };
}

/** The Tenant by which paris lets rome in. */
export const ROME_AT_PARIS = { name: "cool-rome", namespace: "liqo-tenant-cool-rome" };

export type LiqoTestEnvironment = ReturnType<typeof liqoTestEnvironment>;

/** A data plane with a Liqo that does as it is told; paris lends to rome. */
export function liqoTestEnvironment() {
  const time = fakeClock(NOW);
  const cluster = fakeCluster(time);
  const liqo = liqoInMemory(cluster);
  const remote = fakeCluster(time);
  cluster.put(CONFIG_MAPS, clusterIdMap("cool-rome"));
  remote.put(CONFIG_MAPS, clusterIdMap("calm-paris"));
  remote.put(TENANTS, {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: ROME_AT_PARIS,
    spec: { clusterID: "cool-rome" },
  });
  for (const name of ["shop", "bank"]) cluster.put(NAMESPACES, { metadata: { name } });
  const state = { kubeconfig: true };
  const open = () =>
    liqoRequester(
      {
        ...TERMS,
        clusterId: "rome",
        liqoNamespace: "liqo",
        gatewayType: "NodePort",
        hasNetworking: true,
        timeoutMs: 10 * MINUTE_MS,
        ownAccess: {},
      },
      {
        client: liqoClient(cluster, liqo, time),
        connect: async () => remote.client,
        kubeconfigs: {
          fingerprintOf: async () => (state.kubeconfig ? "1" : ""),
          of: async (id) =>
            state.kubeconfig && id === "paris"
              ? {
                  kind: "found",
                  path: `/k/${id}.kubeconfig`,
                  access: { server: `https://${id}`, token: "abc" },
                }
              : { kind: "missing", problem: `there is no ${id}.kubeconfig` },
        },
        withFile: async (text, use) => await use(`/private/${serverIn(text)}.kubeconfig`),
        run: liqo.run,
        clock: time,
        log: recordedLog([]),
      },
    );
  let plane = open();

  /** Calls again and again, as the agent does, until it is done or the time is over. */
  const until = async <S extends DataPlaneState | ReleaseState>(
    call: () => Promise<S>,
    isDone: (state: S) => boolean,
    withinMs: number,
  ): Promise<{ readonly last: S; readonly tookMs: number; readonly reasons: string[] }> => {
    const began = time.monotonicMs();
    const reasons: string[] = [];
    for (;;) {
      const now = await call();
      if (now.kind !== "clean" && reasons.at(-1) !== now.reason) reasons.push(now.reason);
      const tookMs = time.monotonicMs() - began;
      if (isDone(now) || tookMs > withinMs) return { last: now, tookMs, reasons };
      liqo.work();
      await time.advance(now.kind === "working" ? now.retryAfterMs : 1000);
    }
  };
  const ready = (spec: DeliverySpec, withinMs = MINUTE_MS) =>
    until(
      () => plane.establish(spec),
      ({ kind }) => kind === "ready",
      withinMs,
    );
  const reason = (spec: DeliverySpec, wanted: string) =>
    until(
      () => plane.establish(spec),
      (now) => now.reason === wanted,
      MINUTE_MS,
    );
  /** liqoctl has begun. */
  const peering = async (spec: DeliverySpec) => {
    await until(
      () => plane.establish(spec),
      ({ reason }) => reason === "Peering" && liqo.running() > 0,
      MINUTE_MS,
    );
    expect(liqo.running()).toBe(1);
  };
  const clean = (id: string, withinMs = 15 * MINUTE_MS) =>
    until(
      () => plane.release(id),
      ({ kind }) => kind === "clean",
      withinMs,
    );
  const kinds = [RESOURCE_SLICES, VIRTUAL_NODES, RESERVATION_NODES, NAMESPACE_OFFLOADINGS];
  return {
    time,
    cluster,
    remote,
    liqo,
    state,
    plane: () => plane,
    restart: async () => {
      await plane.stop();
      plane = open();
    },
    /** The provider's API server does not answer, and Liqo says so; then it does again. */
    lose: () => {
      remote.down();
      liqo.harm.isProviderGone = true;
      liqo.setReach("calm-paris", false, new Date(time.wallMs()).toISOString());
    },
    find: () => {
      remote.up();
      liqo.harm.isProviderGone = false;
      liqo.setReach("calm-paris", true, new Date(time.wallMs()).toISOString());
    },
    ready,
    reason,
    peering,
    clean,
    slices: () => cluster.all(RESOURCE_SLICES).map(({ metadata }) => metadata.name),
    commands: () => liqo.calls.map(([first, second]) => (first === "force" ? `force ${second}` : first)),
    /** What the agent and Liqo have left, markers included. */
    left: () =>
      [...kinds.flatMap((kind) => cluster.all<{ metadata: { name: string } }>(kind)), ...markers()].map(
        ({ metadata }) => metadata.name,
      ),
  };

  function markers() {
    return cluster.all(CONFIG_MAPS).filter(({ metadata }) => metadata.name.startsWith("liqo-peering-"));
  }
}

function serverIn(text: string): string {
  return /"https:\/\/([^"]*)"/.exec(text)?.[1] ?? "";
}
