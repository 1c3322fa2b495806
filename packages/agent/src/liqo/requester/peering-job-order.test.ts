import { CONFIG_MAPS } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import type { ResourceSlice } from "../objects/authentication.ts";
import type { ForeignCluster } from "../objects/core.ts";
import { peeringJobFactory } from "./peering-job-factory.ts";
import type { Job } from "./peering-job-runner.ts";
import { aForeignCluster, othersSlice } from "./testing/samples.ts";

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
