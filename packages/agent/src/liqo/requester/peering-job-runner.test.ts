import { CONFIG_MAPS } from "@resource-broker/kube";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import { recordedLog } from "../../testing/recorded-log.ts";
import type { ResourceSlice } from "../objects/authentication.ts";
import type { ForeignCluster } from "../objects/core.ts";
import { peeringJobFactory } from "./peering-job-factory.ts";
import { type Job, type JobResult, peeringJobRunner } from "./peering-job-runner.ts";
import { aForeignCluster, othersSlice } from "./testing/samples.ts";

const FAILURE = { reason: "PeeringFailed", message: "no route" };

function world() {
  const clock = fakeClock();
  const lines: string[] = [];
  const jobs = peeringJobRunner({ clock, log: recordedLog(lines) });
  const ends: ((end: JobResult) => void)[] = [];
  const signals: AbortSignal[] = [];
  const job = (kind: Job["kind"] = "peer"): Job => ({
    kind,
    timeoutMs: 60_000,
    work: (signal) => {
      signals.push(signal);
      return new Promise((resolve) => void ends.push(resolve));
    },
  });
  const end = async (how: JobResult) => {
    ends.at(-1)?.(how);
    await settle();
  };
  return { clock, jobs, job, ends, signals, end, state: () => jobs.state("paris") };
}

describe("liqoctl beside everything else", () => {
  test("runs once for a provider, however many ask", async () => {
    const { jobs, job, ends, state, end } = world();
    expect(state()).toEqual({ kind: "none" });
    jobs.start("paris", job());
    jobs.start("paris", job());
    jobs.start("paris", job("unpeer"));
    expect(ends).toHaveLength(1);
    expect(state()).toMatchObject({ kind: "running", job: "peer" });
    jobs.start("oslo", job());
    expect(ends).toHaveLength(2);
    ends[0]?.(undefined);
    await end(undefined);
    expect(state()).toMatchObject({ kind: "done", job: "peer" });
  });

  test("is tried again after a pause that grows", async () => {
    const { jobs, job, clock, state, end } = world();
    const pauses: number[] = [];
    for (let times = 1; times <= 6; times++) {
      jobs.start("paris", job());
      await end(FAILURE);
      const now = state();
      if (now.kind !== "failed") throw new Error(now.kind);
      expect(now).toMatchObject({ times, obstacle: FAILURE });
      pauses.push(now.retryInMs);
      await clock.advance(now.retryInMs);
      expect(state()).toMatchObject({ retryInMs: 0 });
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  test("counts failures of one kind only", async () => {
    const { jobs, job, state, end } = world();
    jobs.start("paris", job());
    await end(FAILURE);
    jobs.start("paris", job("unpeer"));
    await end(FAILURE);
    expect(state()).toMatchObject({ job: "unpeer", times: 1 });
  });

  test("that hangs is killed, and not waited for", async () => {
    const { jobs, job, clock, state, signals } = world();
    jobs.start("paris", job());
    await clock.advance(59_999);
    expect(state()).toMatchObject({ kind: "running" });
    await clock.advance(1);
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "LiqoctlTimedOut" } });
    expect(signals[0]?.aborted).toBe(true);
  });

  test("is ended when nobody needs it, and when the agent stops", async () => {
    const { jobs, job, state, signals } = world();
    jobs.abort("paris");
    jobs.start("paris", job());
    jobs.abort("paris");
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "Aborted" } });
    jobs.start("paris", job());
    await jobs.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("that breaks fails like any other", async () => {
    const { jobs, state } = world();
    jobs.start("paris", { kind: "peer", timeoutMs: 1000, work: () => Promise.reject(new Error("a bug")) });
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { message: "a bug" } });
  });

  test("is forgotten when it is over, not before", async () => {
    const { jobs, job, state, end } = world();
    jobs.start("paris", job());
    jobs.forget("paris");
    expect(state()).toMatchObject({ kind: "running" });
    await end(undefined);
    jobs.forget("paris");
    expect(state()).toEqual({ kind: "none" });
  });
});

const PAIR = { clusterId: "paris", liqoId: "calm-paris", ownLiqoId: "cool-rome" };
const LETTING_GO = aForeignCluster("Provider", { hasIdentity: false });
const SLICE = othersSlice({ name: "theirs", namespace: "liqo-tenant-calm-paris" });

interface Situation {
  readonly seen: ForeignCluster;
  readonly slices?: readonly ResourceSlice[];
  /** Whether Liqo lets go in time, by attempt; afterwards it does. */
  readonly letsGo?: readonly boolean[];
}

function clusterOf(liqoId: string) {
  const cluster = fakeCluster(fakeClock());
  const labels = { "app.kubernetes.io/name": "clusterid-configmap" };
  const metadata = { name: "clusterid", namespace: "liqo", labels };
  cluster.put(CONFIG_MAPS, { metadata, data: { CLUSTER_ID: liqoId } });
  return cluster.client;
}

/** Does it, and tells what was done in which order. */
async function steps({ seen, slices = [], letsGo = [] }: Situation, kind: "peer" | "unpeer") {
  const did: string[] = [];
  const answers = [...letsGo];
  const options = {
    clusterId: "rome",
    ownAccess: { context: "rome" },
    liqoNamespace: "liqo",
    gatewayType: "NodePort",
    hasNetworking: true,
    timeoutMs: 1000,
  } as const;
  const work = peeringJobFactory(options, {
    client: clusterOf("cool-rome"),
    connect: async () => clusterOf("calm-paris"),
    kubeconfigs: {
      fingerprintOf: async () => "",
      of: async (id) =>
        id === "paris"
          ? { kind: "found", path: "/k", access: { server: "https://paris:6443", token: "x" } }
          : { kind: "missing", problem: "none" },
    },
    withFile: (_, use) => use("/private"),
    peerings: {
      markBegun: async () => did.push("write down") > 0,
      unmarkBegun: async () => void did.push("take back"),
    },
    reads: { foreignCluster: async () => seen, slicesTo: async () => [...slices] },
    teardown: {
      endIdentity: async () => void did.push("end identity"),
      endSlices: async () => void did.push("end slices"),
      wait: async () => (did.push("wait"), answers.shift() ?? true),
    },
    run: async ([verb = ""]) => (did.push(verb), { code: 0, output: "" }),
  });
  const job: Job = work[kind](PAIR);
  return { did, end: await job.work(new AbortController().signal) };
}

describe("liqoctl and Liqo", () => {
  test("are told to peer only when it is written down, also over the rests of another peering", async () => {
    const { did, end } = await steps({ seen: LETTING_GO, letsGo: [false] }, "peer");
    expect(did).toEqual(["write down", "wait", "peer", "end identity", "wait", "peer"]);
    expect(end).toBeUndefined();
  });

  test("do not end the rests of a peering that somebody's slice uses", async () => {
    const { did, end } = await steps({ seen: LETTING_GO, slices: [SLICE], letsGo: [false] }, "peer");
    expect(did).toEqual(["write down", "wait"]);
    expect(end).toMatchObject({
      reason: "PeeringInUse",
      message: expect.stringContaining(
        "kubectl delete resourceslices.authentication.liqo.io -n liqo-tenant-calm-paris theirs",
      ),
    });
  });

  test.each([
    ["end the network with the last direction", "Unknown", "unpeer"],
    ["leave the network to a provider that borrows here", "Consumer", "unauthenticate"],
  ] as const)("%s", async (_, role, verb) => {
    const { did } = await steps({ seen: aForeignCluster(role) }, "unpeer");
    expect(did).toEqual(["end identity", "wait", verb]);
  });
});
