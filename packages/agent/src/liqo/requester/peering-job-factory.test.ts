import { Fault } from "@resource-broker/base";
import {
  CONFIG_MAPS,
  type ConfigMap,
  type KubeClient,
  ROLE_BINDINGS,
  SELF_SUBJECT_ACCESS_REVIEWS,
} from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { type FakeCluster, fakeCluster } from "../../testing/fake-cluster.ts";
import { DEPLOYMENTS } from "../identity/read-identity.ts";
import { foreignText } from "../liqoctl/foreign-access.ts";
import type { KubeconfigLookup } from "../liqoctl/kubeconfigs.ts";
import type { RunResult } from "../liqoctl/run-liqoctl.ts";
import { TENANTS } from "../objects/authentication.ts";
import { clusterReads } from "./cluster-reads.ts";
import { peeringJobFactory } from "./peering-job-factory.ts";
import type { Job } from "./peering-job-runner.ts";
import { peeringTeardown } from "./peering-teardown.ts";

const PARIS = { server: "https://paris:6443", token: "of-paris" };
const ROME = { server: "https://rome:6443", token: "of-rome" };
const PAIR = { clusterId: "paris", liqoId: "calm-paris", ownLiqoId: "cool-rome" };

function install(cluster: FakeCluster, id: string, version?: string): void {
  const map: ConfigMap = {
    metadata: {
      name: "clusterid",
      namespace: "liqo",
      labels: { "app.kubernetes.io/name": "clusterid-configmap" },
    },
    data: { CLUSTER_ID: id },
  };
  cluster.put(CONFIG_MAPS, map);
  if (version === undefined) return;
  cluster.put(DEPLOYMENTS, {
    metadata: {
      name: "liqo-controller-manager",
      namespace: "liqo",
      labels: { "app.kubernetes.io/name": "controller-manager", "app.kubernetes.io/version": version },
    },
  });
}

function world({ here = "v1.2.0", there = "v1.2.3" }: { here?: string; there?: string } = {}) {
  const time = fakeClock();
  const [rome, paris] = [fakeCluster(time), fakeCluster(time)];
  install(rome, "cool-rome", here);
  install(paris, "calm-paris", there);
  const files: Record<string, KubeconfigLookup> = {
    paris: { kind: "found", path: "/k/paris.kubeconfig", access: PARIS },
  };
  /** What is lent at the moment, by its path. */
  const provided = new Map<string, string>();
  const begun = new Set<string>();
  const ran: { args: readonly string[]; timeoutMs: number; read: string[] }[] = [];
  const state: { end: RunResult; connects: Fault | undefined; openClients: number; isLimited: boolean } = {
    end: { code: 0, output: "" },
    connects: undefined,
    openClients: 0,
    isLimited: false,
  };
  const create: KubeClient["create"] = async (resource, object, options) =>
    state.isLimited && resource.plural === SELF_SUBJECT_ACCESS_REVIEWS.plural
      ? { ...object, status: { allowed: false } }
      : await rome.client.create(resource, object, options);
  const work = peeringJobFactory(
    {
      clusterId: "rome",
      ownAccess: { context: "rome" },
      liqoNamespace: "liqo",
      gatewayType: "LoadBalancer",
      hasNetworking: true,
      timeoutMs: 600_000,
    },
    {
      client: { ...rome.client, create },
      connect: async () => {
        if (state.connects !== undefined) throw state.connects;
        state.openClients += 1;
        return { ...paris.client, close: () => void (state.openClients -= 1) };
      },
      kubeconfigs: {
        fingerprintOf: async (id) => JSON.stringify(files[id]),
        of: async (id) => files[id] ?? { kind: "missing", problem: `no ${id}` },
      },
      peerings: {
        markBegun: async (liqoId) => !begun.has(liqoId) && begun.add(liqoId).has(liqoId),
        unmarkBegun: async (liqoId) => void begun.delete(liqoId),
      },
      reads: clusterReads(rome.client),
      teardown: peeringTeardown({ client: rome.client, reads: clusterReads(rome.client), clock: time }),
      run: async (args, { timeoutMs }) => {
        ran.push({ args, timeoutMs, read: [...provided.values()] });
        return state.end;
      },
      withFile: async (text, use) => {
        const path = `/private/${provided.size}`;
        provided.set(path, text);
        return await use(path).finally(() => provided.delete(path));
      },
    },
  );
  const done = async (job: Job) => {
    const result = await job.work(new AbortController().signal);
    expect(state.openClients).toBe(0);
    return result;
  };
  return { rome, paris, work, done, ran, begun, files, state, lent: provided };
}

describe("liqoctl", () => {
  test("peers clusters that are who they should be, and of one version", async () => {
    const { work, done, ran, lent: provided } = world();
    expect(await done(work.peer(PAIR))).toBeUndefined();
    expect(ran).toMatchObject([
      {
        args: [
          "peer",
          "--context=rome",
          "--remote-kubeconfig=/private/0",
          "--namespace=liqo",
          "--remote-namespace=liqo",
          "--timeout=10m",
          "--create-resource-slice=false",
          "--create-virtual-node=false",
          "--gw-server-service-type=LoadBalancer",
        ],
      },
    ]);
    expect(ran[0]?.read).toEqual([foreignText(PARIS)]);
    expect(provided.size).toBe(0);
    expect(ran[0]?.timeoutMs).toBeGreaterThan(600_000);
  });

  test("that could not be started has peered nobody, unless it was run before", async () => {
    const { work, done, begun, state } = world();
    state.end = { code: 127, output: "there is none" };
    await done(work.peer(PAIR));
    expect([...begun]).toEqual([]);
    state.end = { code: 1, output: "half" };
    await done(work.peer(PAIR));
    state.end = { code: 127, output: "there is none" };
    await done(work.peer(PAIR));
    expect([...begun]).toEqual([PAIR.liqoId]);
  });

  test("uses the folder's kubeconfig of the own cluster where there is one", async () => {
    const { work, done, ran, files } = world();
    files["rome"] = { kind: "found", path: "/k/rome.kubeconfig", access: ROME };
    await done(work.peer(PAIR));
    await done(work.forceUnpeer("calm-paris"));
    expect(ran.map(({ args }) => args.find((arg) => arg.startsWith("--kubeconfig")))).toEqual([
      "--kubeconfig=/private/0",
      "--kubeconfig=/private/0",
    ]);
    expect(ran.map(({ read }) => read)).toEqual([
      [foreignText(ROME), foreignText(PARIS)],
      [foreignText(ROME)],
    ]);
  });

  test("gets the agent's rights in the tenant namespace before it peers as the agent", async () => {
    const { work, done, ran, files, rome, state } = world();
    state.isLimited = true;
    files["rome"] = { kind: "found", path: "/k/rome.kubeconfig", access: ROME };
    await done(work.peer(PAIR));
    expect(rome.all(ROLE_BINDINGS)).toEqual([]);
    delete files["rome"];
    await done(work.peer(PAIR));
    expect(rome.all(ROLE_BINDINGS)).toMatchObject([{ metadata: { namespace: "liqo-tenant-calm-paris" } }]);
    expect(ran).toHaveLength(2);
  });

  test("is not run as an agent that may not get them", async () => {
    const { work, done, ran, rome, state } = world();
    state.isLimited = true;
    const fault = new Fault("forbidden", "may not create rolebindings");
    rome.setCallFaults(({ plural }) => (plural === "rolebindings" ? { fault } : undefined));
    expect(await done(work.peer(PAIR))).toMatchObject({ reason: "Forbidden" });
    expect(ran).toEqual([]);
  });

  test("is not run when the folder's kubeconfig of the own cluster is refused", async () => {
    const { work, done, ran, files } = world();
    files["rome"] = { kind: "refused", reason: "KubeconfigRefused", problem: "user.exec is refused" };
    for (const job of [work.peer(PAIR), work.unpeer(PAIR), work.forceUnpeer("calm-paris")]) {
      expect(await done(job)).toMatchObject({
        reason: "KubeconfigRefused",
        message: expect.stringContaining("user.exec is refused; or remove it"),
      });
    }
    expect(ran).toEqual([]);
  });

  test.each([
    ["older here", { here: "v1.1.4", there: "v1.2.0" }, "VersionMismatch"],
    ["older there", { here: "v1.2.0", there: "v1.0.1" }, "VersionMismatch"],
    ["another major version", { here: "v1.2.0", there: "v2.2.0" }, "VersionMismatch"],
    ["a patch apart", { here: "v1.2.0", there: "1.2.9" }, undefined],
    ["a build without a number", { here: "v1.2.0", there: "3f2a9c1" }, undefined],
  ])("is not run for clusters that cannot peer: %s", async (_, versions, reason) => {
    const { work, done, ran } = world(versions);
    expect((await done(work.peer(PAIR)))?.reason).toBe(reason);
    expect(ran).toHaveLength(reason === undefined ? 1 : 0);
  });

  test("is run though the peering user may not see the version", async () => {
    const { work, done, ran, paris } = world({ there: "v9.9.9" });
    paris.setCallFaults(({ plural }) =>
      plural === "deployments" ? { fault: new Fault("forbidden", "no"), isDone: false } : undefined,
    );
    expect(await done(work.peer(PAIR))).toBeUndefined();
    expect(ran).toHaveLength(1);
  });

  test.each<[string, (it: ReturnType<typeof world>) => void, string, string]>([
    ["no kubeconfig", ({ files }) => void delete files["paris"], "KubeconfigMissing", "no paris"],
    [
      "an ID that is no name",
      ({ files }) =>
        void (files["paris"] = { kind: "refused", reason: "ClusterIDRefused", problem: "no name" }),
      "ClusterIDRefused",
      "no name",
    ],
    [
      "a kubeconfig that runs programs",
      ({ files }) =>
        void (files["paris"] = { kind: "refused", reason: "KubeconfigRefused", problem: "user.exec" }),
      "KubeconfigRefused",
      "user.exec",
    ],
    [
      "a provider that does not answer",
      ({ state }) => void (state.connects = new Fault("store-unavailable", "connection refused")),
      "ProviderUnreachable",
      "connection refused",
    ],
    ["a provider without Liqo", ({ paris }) => uninstall(paris), "IdentityMismatch", "leads to no Liqo"],
    [
      "a provider that is still ending an earlier peering",
      ({ paris }) => {
        const metadata = { name: "cool-rome", namespace: "liqo-tenant-cool-rome", finalizers: ["liqo.io/x"] };
        paris.put(TENANTS, { apiVersion: "x", kind: "Tenant", metadata, spec: {} });
        paris.edit(TENANTS, metadata, (tenant) => ({
          ...tenant,
          metadata: { ...tenant.metadata, deletionTimestamp: "2026-07-01T10:00:00Z" },
        }));
      },
      "TenantLeaving",
      "Tenant cool-rome",
    ],
    ["no Liqo here", ({ rome }) => uninstall(rome), "LiqoMissing", "--liqo-mode=off"],
  ])("is not run with %s", async (_, act, reason, message) => {
    const it = world();
    act(it);
    expect(await it.done(it.work.peer(PAIR))).toEqual({ reason, message: expect.stringContaining(message) });
    expect(it.ran).toEqual([]);
  });

  test("is not run when the broker takes this cluster for another", async () => {
    const { work, done, ran } = world();
    expect(await done(work.peer({ ...PAIR, ownLiqoId: "old-rome" }))).toMatchObject({
      reason: "IdentityMismatch",
      message: expect.stringContaining("old-rome"),
    });
    expect(await done(work.peer({ ...PAIR, ownLiqoId: undefined }))).toBeUndefined();
    expect(ran).toHaveLength(1);
  });

  test.each<[RunResult, string, string]>([
    [{ code: 1, output: "INFO a\nERRO it broke" }, "PeeringFailed", "ended with 1:\nINFO a\nERRO it broke"],
    [{ code: undefined, output: "" }, "PeeringFailed", "was killed"],
    [{ code: 127, output: "there is none" }, "LiqoctlMissing", "there is none"],
  ])("that ends with %j says why", async (end, reason, message) => {
    const { work, done, state } = world();
    state.end = end;
    for (const job of [work.peer(PAIR), work.unpeer(PAIR), work.forceUnpeer("calm-paris")]) {
      expect(await done(job)).toEqual({ reason, message: expect.stringContaining(message) });
    }
  });
});

function uninstall(cluster: FakeCluster): void {
  cluster.remove(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" });
}
