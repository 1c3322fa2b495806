import type { Fault } from "@resource-broker/base";
import {
  CONFIG_MAPS,
  type KubeClient,
  NAMESPACES,
  ROLE_BINDINGS,
  SELF_SUBJECT_ACCESS_REVIEWS,
} from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { expect } from "vitest";
import type { DataPlaneState, DeliverySpec, ReleaseState } from "../../../data-plane/data-plane.ts";
import { type FakeCluster, fakeCluster } from "../../../testing/fake-cluster.ts";
import { recordedLog } from "../../../testing/recorded-log.ts";
import { DEPLOYMENTS } from "../../identity.ts";
import type { KubeconfigLookup } from "../../liqoctl/kubeconfigs.ts";
import {
  NAMESPACE_OFFLOADINGS,
  RESERVATION_NODES,
  RESOURCE_SLICES,
  type Tenant,
  TENANTS,
  VIRTUAL_NODES,
} from "../../objects.ts";
import { liqoRequester } from "../liqo-requester.ts";
import { type PeeringJobsDeps, peeringJobs } from "../peering-jobs.ts";
import { liqoClient, liqoInMemory } from "./liqo-in-memory.ts";
import { accessTo, NOW } from "./samples.ts";

export const MINUTE_MS = 60_000;
export const AGENT = "system:serviceaccount:rear-agent:resource-broker-agent";
const CLUSTER_ID_MAP = { name: "clusterid", namespace: "liqo" };

/** Liqo with this cluster ID and version is installed instead of the one before. */
export function install(cluster: FakeCluster, id: string | undefined, version = "v1.2.0"): void {
  const labels = { "app.kubernetes.io/name": "clusterid-configmap" };
  if (cluster.find(CONFIG_MAPS, CLUSTER_ID_MAP)) cluster.remove(CONFIG_MAPS, CLUSTER_ID_MAP);
  if (id === undefined) return;
  cluster.put(CONFIG_MAPS, { metadata: { ...CLUSTER_ID_MAP, labels }, data: { CLUSTER_ID: id } });
  const controller = { name: "liqo-controller-manager", namespace: "liqo" };
  if (cluster.find(DEPLOYMENTS, controller)) cluster.remove(DEPLOYMENTS, controller);
  const named = { "app.kubernetes.io/name": "controller-manager", "app.kubernetes.io/version": version };
  cluster.put(DEPLOYMENTS, { metadata: { ...controller, labels: named } });
}

/** The Tenant by which paris lets rome in. */
export const ROME_AT_PARIS = { name: "cool-rome", namespace: "liqo-tenant-cool-rome" };
export const TENANT: Tenant = {
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Tenant",
  metadata: ROME_AT_PARIS,
  spec: { clusterID: "cool-rome" },
};

export type LiqoTestEnvironment = ReturnType<typeof liqoTestEnvironment>;

/** A data plane with a Liqo that does as it is told; paris lends to rome. */
export function liqoTestEnvironment() {
  const time = fakeClock(NOW);
  const [cluster, remote] = [fakeCluster(time), fakeCluster(time)];
  const liqo = liqoInMemory(cluster);
  install(cluster, "cool-rome");
  install(remote, "calm-paris", "v1.2.3");
  remote.put(TENANTS, TENANT);
  for (const name of ["shop", "bank"]) cluster.put(NAMESPACES, { metadata: { name } });
  const files: Record<string, KubeconfigLookup> = {
    paris: { kind: "found", path: "/k/paris.kubeconfig", access: accessTo("paris") },
  };
  const state = {
    /** What every connection to paris fails with. */
    connects: undefined as Fault | undefined,
    openClients: 0,
    /** True: the agent may list Secrets only where a RoleBinding names it. */
    isLimited: false,
  };
  /** What is lent at the moment, by its path. */
  const lent = new Map<string, string>();
  /** The files that each run of liqoctl could read. */
  const readable: string[][] = [];
  const played = liqoClient(cluster, liqo, time);
  const create: KubeClient["create"] = async (resource, object, options) => {
    if (!state.isLimited || resource.plural !== SELF_SUBJECT_ACCESS_REVIEWS.plural) {
      return await played.create(resource, object, options);
    }
    const subjects = cluster.all(ROLE_BINDINGS).flatMap((binding) => binding.subjects ?? []);
    return { ...object, status: { allowed: subjects.some(({ name }) => name === AGENT) } };
  };
  const options = {
    gpuResource: "nvidia.com/gpu",
    clusterId: "rome",
    liqoNamespace: "liqo",
    gatewayType: "NodePort" as const,
    hasNetworking: true,
    timeoutMs: 10 * MINUTE_MS,
    ownAccess: { context: "rome" },
  };
  const client = { ...played, create };
  const deps: Omit<PeeringJobsDeps, "markers" | "reads"> = {
    client,
    connect: () => {
      if (state.connects !== undefined) throw state.connects;
      state.openClients += 1;
      return { ...remote.client, close: () => void (state.openClients -= 1) };
    },
    kubeconfigs: {
      fingerprintOf: async (id) => JSON.stringify(files[id]) ?? "",
      of: async (id) =>
        files[id] ?? {
          kind: "refused",
          reason: "KubeconfigMissing",
          message: `there is no ${id}.kubeconfig`,
        },
    },
    withFile: async (text, use) => {
      const path = `/private/${lent.size}`;
      lent.set(path, text);
      return await use(path).finally(() => lent.delete(path));
    },
    run: (args, limits) => {
      readable.push([...lent.values()]);
      return liqo.run(args, limits);
    },
    clock: time,
  };
  const open = () =>
    liqoRequester(options, {
      client,
      clock: time,
      log: recordedLog([]),
      createJobs: (parts) => peeringJobs(options, { ...deps, ...parts }),
    });
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
  const established = (spec: DeliverySpec, isDone: (now: DataPlaneState) => boolean, withinMs = MINUTE_MS) =>
    until(() => plane.establish(spec), isDone, withinMs);
  const setReach = (isReachable: boolean): void => {
    (isReachable ? remote.up : remote.down)();
    liqo.faults.isProviderGone = !isReachable;
    liqo.setReach(isReachable, new Date(time.wallMs()).toISOString());
  };
  const kinds = [RESOURCE_SLICES, VIRTUAL_NODES, RESERVATION_NODES, NAMESPACE_OFFLOADINGS];
  return {
    time,
    cluster,
    remote,
    liqo,
    files,
    state,
    lent,
    readable,
    plane: () => plane,
    restart: async () => {
      await plane.stop();
      plane = open();
    },
    /** The provider's API server does not answer, and Liqo says so; then it does again. */
    lose: () => setReach(false),
    find: () => setReach(true),
    ready: (spec: DeliverySpec, withinMs?: number) =>
      established(spec, ({ kind }) => kind === "ready", withinMs),
    reason: (spec: DeliverySpec, wanted: string) => established(spec, ({ reason }) => reason === wanted),
    /** liqoctl has begun. */
    peering: async (spec: DeliverySpec) => {
      await established(spec, ({ reason }) => reason === "Peering" && liqo.running() > 0);
      expect(liqo.running()).toBe(1);
    },
    clean: (id: string, withinMs = 15 * MINUTE_MS) =>
      until(
        () => plane.release(id),
        ({ kind }) => kind === "clean",
        withinMs,
      ),
    slices: () => cluster.all(RESOURCE_SLICES).map(({ metadata }) => metadata.name),
    commands: () => liqo.calls.map(([first, second]) => (first === "force" ? `force ${second}` : first)),
    /** What the agent and Liqo have left, markers included. */
    left: () =>
      [...kinds, CONFIG_MAPS]
        .flatMap((kind) => cluster.all<{ metadata: { name: string } }>(kind))
        .map(({ metadata }) => metadata.name)
        .filter((name) => name !== CLUSTER_ID_MAP.name),
  };
}
