import { Fault } from "@resource-broker/base";
import type { CallSender } from "@resource-broker/client";
import type { AdvertisementDTO, AuditEntryDTO, DecisionDTO } from "@resource-broker/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { decisionUpdate, followBroker } from "./follow-broker.ts";
import type { DemoUpdate } from "./update.ts";

const QUANTITIES = { cpu: "8", memory: "32Gi" };

const advertisement = (clusterID: string, reserved = "0"): AdvertisementDTO => ({
  clusterID,
  resources: {
    capacity: QUANTITIES,
    allocatable: QUANTITIES,
    allocated: { cpu: "2500m", memory: "8Gi" },
    reserved: { cpu: reserved, memory: "0" },
    available: { cpu: "-1", memory: "24Gi" },
  },
  labels: { "topology.kubernetes.io/region": "eu-west" },
  cost: { cpuCost: "0.032", memoryCost: "0.004", currency: "EUR" },
  timestamp: "2026-07-01T10:00:00Z",
});

const entry = (sequence: number, more: Partial<AuditEntryDTO>): AuditEntryDTO => ({
  sequence,
  at: "2026-07-01T10:00:00Z",
  actor: "rome",
  action: "reserve",
  message: "",
  hash: "0".repeat(64),
  ...more,
});

/** A broker that knows what the test says it knows. */
function brokerInHand() {
  const known = { ledger: "first", advertisements: [] as AdvertisementDTO[], audit: [] as AuditEntryDTO[] };
  const reply = (value: unknown) => ({ value, headers: { "ledger-id": known.ledger } });
  const request = async ({ path }: { readonly path: string }) => {
    const url = new URL(path, "https://broker");
    const after = url.searchParams.get("after") ?? "";
    if (url.pathname.endsWith("/advertisements"))
      return reply(pageOf(known.advertisements, ({ clusterID }) => clusterID > after));
    if (url.pathname.endsWith("/audit"))
      return reply(pageOf(known.audit, ({ sequence }) => sequence > Number(after)));
    throw new Fault("not-found", "no such decision");
  };
  /** Two at a time, so that there is always another page. */
  const pageOf = <T extends AdvertisementDTO | AuditEntryDTO>(
    all: readonly T[],
    isWanted: (item: T) => boolean,
  ) => {
    const found = all.filter(isWanted);
    const items = found.slice(0, 2);
    const last = items.at(-1);
    const next = last === undefined ? "" : "sequence" in last ? String(last.sequence) : last.clusterID;
    return found.length > items.length ? { items, next } : { items };
  };
  return { known, request };
}

describe("following a broker", () => {
  let broker: ReturnType<typeof brokerInHand>;
  let agents: Map<string, "starting" | "ready" | "down">;
  let published: DemoUpdate[];
  let look: () => Promise<boolean>;
  beforeEach(() => {
    broker = brokerInHand();
    agents = new Map();
    published = [];
    look = followBroker({
      names: ["rome", "paris"],
      admin: broker as unknown as CallSender,
      agentOf: (name) => agents.get(name) ?? "starting",
      onUpdate: (update) => void published.push(update),
    });
  });
  const update = async () => {
    await look();
    return published.splice(0);
  };

  test("reports each cluster when something about it changed, however many pages there are", async () => {
    agents.set("paris", "ready");
    broker.known.advertisements = ["athens", "berlin", "paris"].map((name) => advertisement(name));
    const states = (await update()).map(
      (each) => "cluster" in each && [each.cluster.name, each.cluster.state],
    );
    expect(states.join(" ")).toBe("athens,starting berlin,starting paris,ready");
    expect(await update()).toEqual([]);
    broker.known.advertisements[2] = advertisement("paris", "4");
    const cluster = {
      name: "paris",
      state: "ready",
      region: "eu-west",
      cpuMillis: { all: 8000, inUse: 2500, lent: 4000, free: 0 },
      memoryBytes: { all: 32 * 1024 ** 3, inUse: 8 * 1024 ** 3, lent: 0, free: 24 * 1024 ** 3 },
      gpus: { all: 0, inUse: 0, lent: 0, free: 0 },
      cpuPrice: "0.032",
      currency: "EUR",
    };
    expect(await update()).toEqual([{ kind: "cluster", cluster }]);
  });

  test("reports each line of the audit log once, also when a decision is forgotten already", async () => {
    broker.known.audit = [
      entry(1, { subject: "rsv-rome-a", message: "paris lends 4 CPU to rome. Decision dec-1." }),
      entry(2, { action: "activate", subject: "rsv-rome-a", message: "Activated by its requester." }),
      entry(3, { subject: "dec-2", message: "No cluster can lend 6 GPU to rome; 4 considered." }),
    ];
    const events = (await update()).map(
      (each) => "event" in each && `${each.event.level} ${each.event.text}`,
    );
    expect(events).toEqual([
      "info paris lends 4 CPU to rome.",
      "info rsv-rome-a: Activated by its requester.",
      "warn No cluster can lend 6 GPU to rome; 4 considered.",
    ]);
    const cordon = { action: "cordon", actor: "admin", subject: "paris", message: "Cordoned." };
    broker.known.audit.push(entry(4, cordon));
    agents.set("paris", "ready");
    broker.known.advertisements = [advertisement("paris")];
    expect(await update()).toMatchObject([
      { kind: "event", event: { source: "admin", text: "paris: Cordoned." } },
      { kind: "cluster", cluster: { state: "cordoned" } },
    ]);
  });

  test("says when every cluster is there, or will not come any more", async () => {
    agents.set("paris", "ready");
    expect(await look()).toBe(false);
    broker.known.advertisements = [advertisement("paris")];
    expect(await look()).toBe(false);
    agents.set("rome", "down");
    published.length = 0;
    expect(await look()).toBe(true);
    expect(published).toMatchObject([{ kind: "cluster", cluster: { name: "rome", state: "down" } }]);
    agents.set("paris", "starting");
    expect(await look()).toBe(true);
  });

  test("of a long history reports the end only, but knows who is cordoned", async () => {
    const cordon = entry(1, { action: "cordon", subject: "paris", message: "Cordoned." });
    const lines = Array.from({ length: 100 }, (_, index) =>
      entry(index + 2, { subject: "rsv-a", message: "x" }),
    );
    broker.known.audit = [cordon, ...lines];
    agents.set("paris", "ready");
    broker.known.advertisements = [advertisement("paris")];
    const all = await update();
    expect(all.filter(({ kind }) => kind === "event")).toHaveLength(30);
    expect(all.at(-1)).toMatchObject({ cluster: { state: "cordoned" } });
  });

  test("begins again with a broker that has another ledger", async () => {
    broker.known.audit = [entry(1, { message: "One." }), entry(2, { message: "Two." })];
    await update();
    broker.known.ledger = "second";
    broker.known.audit = [entry(1, { message: "New." })];
    await update();
    expect(await update()).toMatchObject([{ kind: "event", event: { text: "New." } }]);
  });

  test("rejects with the broker's own words when it does not know better", async () => {
    broker.request = () => Promise.reject(new Fault("not-leader", "another replica leads"));
    await expect(look()).rejects.toThrow("another replica leads");
  });
});

type Candidate = DecisionDTO["candidates"][number];

const RICH = { resources: 0.79, cost: 1 };
const POOR = { resources: 0.5, cost: 0.8 };
const PARIS: Candidate = { clusterID: "paris", score: 0.853, parts: RICH, price: "0.16239738" };
const BERLIN: Candidate = { clusterID: "berlin", score: 0.591, parts: POOR, price: "0.2" };
const ROME: Candidate = { clusterID: "rome", reason: "self", message: "is the requester itself" };
const TOKYO: Candidate = { clusterID: "tokyo", reason: "capacity", message: "needs 2 more GPU" };

function decisionOf(candidates: readonly Candidate[], more: Partial<DecisionDTO> = {}): DecisionDTO {
  return {
    id: "dec-1",
    at: "2026-07-01T10:00:00Z",
    requesterID: "rome",
    request: { requestedResources: { cpu: "4", memory: "8Gi" } },
    policyVersion: "default",
    weights: { resources: 0.7, cost: 0.3 },
    currency: "EUR",
    considered: candidates.length,
    fitted: candidates.filter(({ score }) => score !== undefined).length,
    counts: {},
    candidates,
    explanation: "The outcome.\n  and the rest",
    ...more,
  };
}

const WON = { winner: "paris" };
const MIXED = { ...BERLIN, parts: { resources: 0.9, cost: 0.1 } };
const FLIP = "Would fit tokyo with 4 GPU instead of 6.";
test.each<[name: string, candidates: Candidate[], more: Partial<DecisionDTO>, why: string]>([
  [
    "a winner that is better in all parts",
    [PARIS, BERLIN, ROME],
    WON,
    "more room left and cheaper than berlin (0.85 to 0.59); 2 of 3 fit",
  ],
  ["a winner that is better in one", [PARIS, MIXED], WON, "cheaper than berlin (0.85 to 0.59); 2 of 2 fit"],
  [
    "a winner by a scorer nobody here knows",
    [{ ...PARIS, parts: { latency: 1 } }, BERLIN],
    WON,
    "better latency than berlin (0.85 to 0.59); 2 of 2 fit",
  ],
  [
    "a winner by a tie",
    [PARIS, { ...PARIS, clusterID: "berlin" }],
    WON,
    "ranks higher than berlin (0.85 to 0.85); 2 of 2 fit",
  ],
  [
    "the only one that fits",
    [PARIS, ROME, TOKYO],
    WON,
    "the only one of 3 that fits: tokyo needs 2 more GPU",
  ],
  ["nobody", [ROME, TOKYO], { flip: FLIP }, `${FLIP} tokyo needs 2 more GPU`],
])("%s is explained, with the winner's price", (_, candidates, more, why) => {
  const price = more.winner === undefined ? undefined : "0.1624 EUR/h";
  expect(decisionUpdate(decisionOf(candidates, more))).toMatchObject({
    headline: "The outcome.",
    why,
    price,
  });
});
