import type { ClusterState, DemoUpdate, ResourceShare } from "../../updates/update.ts";
import { applyUpdate, emptyModel, type Model } from "../model.ts";

const GI = 1024 ** 3;

const share = (all: number, inUse: number, lent: number): ResourceShare => ({
  all,
  inUse,
  lent,
  free: Math.max(0, all - inUse - lent),
});

export interface SampleCluster {
  readonly name: string;
  readonly region?: string;
  /** Of CPUs: all, in use, lent. Each comes with 4Gi of memory. */
  readonly cpus: readonly [number, number, number];
  readonly gpus?: readonly [number, number, number];
  readonly price?: string;
  readonly state?: ClusterState["state"];
}

export function sampleCluster({
  name,
  region,
  cpus,
  gpus = [0, 0, 0],
  price,
  state = "ready",
}: SampleCluster): ClusterState {
  const [all, inUse, lent] = cpus;
  return {
    name,
    state,
    region,
    cpuMillis: share(all * 1000, inUse * 1000, lent * 1000),
    memoryBytes: share(all * 4 * GI, inUse * 4 * GI, lent * 4 * GI),
    gpus: share(...gpus),
    cpuPrice: price,
    currency: price === undefined ? undefined : "EUR",
  };
}

export const BROKER: DemoUpdate = {
  kind: "broker",
  broker: {
    url: "https://127.0.0.1:24000",
    store: "sqlite",
    folder: "/tmp/resource-broker-Ab12Cd",
    isKept: false,
  },
};

export const LINK: DemoUpdate = {
  kind: "dashboard",
  dashboard: {
    url: "http://127.0.0.1:24001/#token=mYq1Zb0n3kS5wTt7vXy9AcDeFgHiJkLmNoPqRsTuVwX",
    expiresAt: "2026-07-01T10:02:00Z",
    command: "/tmp/resource-broker-Ab12Cd/brokerctl dashboard",
  },
};

export const FOUR: readonly ClusterState[] = [
  sampleCluster({ name: "rome", region: "eu-south", cpus: [8, 7, 0], price: "0.05" }),
  sampleCluster({ name: "paris", region: "eu-west", cpus: [32, 4, 4], price: "0.032" }),
  sampleCluster({ name: "berlin", region: "eu-central", cpus: [24, 9, 0], price: "0.041" }),
  sampleCluster({
    name: "tokyo",
    region: "ap-northeast",
    cpus: [48, 20, 0],
    gpus: [4, 0, 0],
    price: "0.055",
  }),
];

const GRANTED: DemoUpdate = {
  kind: "decision",
  decision: {
    id: "dec-1",
    at: "2026-07-01T10:00:03.5Z",
    requester: "rome",
    winner: "paris",
    headline: "paris lends 4 CPU / 8Gi Memory to rome.",
    why: "more room left and cheaper than berlin (0.85 to 0.59); 3 of 4 fit",
    price: "0.1624 EUR/h",
  },
};

const REFUSED: DemoUpdate = {
  kind: "decision",
  decision: {
    id: "dec-2",
    at: "2026-07-01T10:00:09Z",
    requester: "rome",
    winner: undefined,
    headline: "No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 considered.",
    why: "Would fit tokyo with 4 GPU instead of 6. berlin offers no GPU, paris offers no GPU, tokyo needs 2 more GPU",
    price: undefined,
  },
};

export function event(
  second: number,
  source: string,
  text: string,
  level: "info" | "warn" | "error" = "info",
): DemoUpdate {
  const at = `2026-07-01T10:00:${String(second).padStart(2, "0")}Z`;
  return { kind: "event", event: { at, source, level, text } };
}

export const READY: DemoUpdate = {
  kind: "ready",
  afterMs: 2345,
  notes: [],
  steps: [
    {
      says: "rome asks for 4 CPU and 8Gi of memory",
      command:
        "kubectl --kubeconfig /tmp/resource-broker-Ab12Cd/rome/kubeconfig apply -f /tmp/resource-broker-Ab12Cd/request.yaml",
    },
    {
      says: "who would lend a GPU to rome, at what price, and why not the others",
      command: "/tmp/resource-broker-Ab12Cd/brokerctl quote --context rome --cpu 2 --memory 8Gi --gpu 1",
    },
  ],
};

export function modelAfter(
  update: readonly DemoUpdate[],
  names: readonly string[] = FOUR.map(({ name }) => name),
): Model {
  return update.reduce(applyUpdate, emptyModel(names));
}

/** Four clusters, a grant and a refusal. */
export const BUSY: readonly DemoUpdate[] = [
  BROKER,
  ...FOUR.map((cluster): DemoUpdate => ({ kind: "cluster", cluster })),
  READY,
  event(3, "rome", "paris lends 4 CPU / 8Gi Memory to rome."),
  GRANTED,
  event(4, "rome", "rsv-rome-c6luraq372l6kzso: Activated by its requester."),
  event(4, "paris", "rsv-rome-c6luraq372l6kzso: Held by its provider."),
  REFUSED,
  event(9, "rome", "No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 considered.", "warn"),
];
