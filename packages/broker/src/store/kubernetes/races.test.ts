import { add, type Clock, Fault, fits, NO_RESOURCES } from "@resource-broker/base";
import {
  apply,
  DEFAULT_POLICY,
  decide,
  isLive,
  type Ledger,
  ledgerFrom,
  type Policy,
} from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import { clusterOf, requestFor, reserve } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CommitBatch, StoreFailure } from "../store.ts";
import type { ReplicatedStore } from "../common/leader-elector.ts";
import { kubernetesStore } from "./kubernetes-store.ts";
import { memoryKube } from "./testing/memory-kube.ts";

/** How many stories are told: every day, and in the long mode. */
const RUNS = process.env["LONG"] === undefined ? 150 : 20_000;
const POLICY: Policy = { ...DEFAULT_POLICY, stalenessMs: Number.POSITIVE_INFINITY };
const NOW = Date.UTC(2026, 0, 5, 12);
/** Room for fewer than ask. */
const PARIS = clusterOf("paris", 5);

/** What becomes of a call: most arrive and are answered. */
type WriteFault = "answered" | "answer-lost" | "never-sent" | "late" | "resent";
const fault = fc.oneof(
  { weight: 16, arbitrary: fc.constant<WriteFault>("answered") },
  { weight: 4, arbitrary: fc.constantFrom<WriteFault>("answer-lost", "never-sent", "late", "resent") },
);

type Scheduler = fc.Scheduler;

/**
 * The client of one replica: each call waits its turn twice, on its way and on its way back, so anything may happen in
 * between. Its Leases are its own: every replica believes that it leads, and only the head can tell who does.
 */
function replicaClient(shared: KubeClient, scheduler: Scheduler, faults: () => WriteFault): KubeClient {
  const own = memoryKube().client;
  const turn = (what: string): Promise<void> => scheduler.schedule(Promise.resolve(), what);
  const call = async <T>(plural: string, make: (client: KubeClient) => Promise<T>): Promise<T> => {
    if (plural === "leases") return make(own);
    const fated = faults();
    const sent = turn("on its way").then(() => {
      if (fated === "never-sent") throw new Fault("unreachable", "never sent");
      return make(shared);
    });
    if (fated === "late") {
      void sent.catch(() => undefined);
      throw new Fault("unreachable", "the connection seems lost");
    }
    const answer = fated === "resent" ? sent.then(() => turn("again")).then(() => make(shared)) : sent;
    const made = await answer.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    await turn("on its way back");
    if (fated === "answer-lost") throw new Fault("unreachable", "the answer is lost");
    if ("error" in made) throw made.error;
    return made.value;
  };
  return {
    ...shared,
    find: (resource, name) => call(resource.plural, (client) => client.find(resource, name)),
    create: (resource, object) => call(resource.plural, (client) => client.create(resource, object)),
    update: (resource, object) => call(resource.plural, (client) => client.update(resource, object)),
    delete: (resource, name) => call(resource.plural, (client) => client.delete(resource, name)),
    // What is only looked after in the background has its own tests.
    list: (resource, query, each) =>
      resource.plural === "configmaps"
        ? call(resource.plural, (client) => client.list(resource, query, each))
        : Promise.resolve({ resourceVersion: "0", count: 0 }),
  };
}

/** Short pauses take their turn like everything else; long ones never end. */
function scheduledTime(scheduler: Scheduler): Clock {
  return {
    wallMs: () => NOW,
    monotonicMs: () => 0,
    after: (delayMs, action) => {
      let isCancelled = false;
      if (delayMs <= 50)
        void scheduler.schedule(Promise.resolve(), "a pause").then(() => isCancelled || action());
      return () => {
        isCancelled = true;
      };
    },
  };
}

interface Story {
  readonly acknowledged: Map<number, string>;
  readonly refused: Set<string>;
  readonly problems: string[];
}

const silent = (): void => undefined;
const NO_LOG = { info: silent, warn: silent, error: silent };

/** A process: opens the ledger, books as long as it may, and says what it has acknowledged. */
async function live(name: string, lives: number, parts: { client: KubeClient; clock: Clock; story: Story }) {
  for (let life = 0; life < lives; life++) {
    const { client, clock, story } = parts;
    const cluster = () => Promise.resolve({ client, namespace: "broker" });
    const store = kubernetesStore({ replica: name }, { clock, log: NO_LOG, cluster });
    try {
      await submitReserve(store, `${name}-${life}`, story);
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      if (error.kind === "corrupt") story.problems.push(error.message);
    }
    await store.close();
  }
}

async function submitReserve(store: ReplicatedStore, name: string, story: Story): Promise<void> {
  const { records, commitNumber } = await store.open();
  const ledger = ledgerFrom(records, NOW);
  apply(ledger, { kind: "advertised", at: NOW, advertisement: PARIS });
  for (let number = commitNumber + 1; number <= commitNumber + 3; number++) {
    const { batch, id } = nextBatch(ledger, number, `${name}-${number}`);
    if (batch === undefined) return;
    const isThere = await persisted(store, batch).catch((error: unknown) => {
      story.refused.add(id);
      throw error;
    });
    if (!isThere) return;
    const other = story.acknowledged.get(number);
    if (other !== undefined)
      story.problems.push(`commit ${number} was acknowledged for ${other} and for ${id}`);
    story.acknowledged.set(number, id);
  }
}

/** The reservation's id follows from the first eight letters of the key. */
function nextBatch(ledger: Ledger, number: number, key: string) {
  const command = reserve("rome", key, requestFor(1));
  const { events } = decide(ledger, command, { now: NOW + number, policy: POLICY });
  for (const event of events) apply(ledger, event);
  const [granted] = events.flatMap((event) => (event.kind === "granted" ? event.reservation.id : []));
  if (granted === undefined) return { batch: undefined, id: "" };
  const batch = { number, at: NOW + number, entries: [{ by: "rome", action: "reserve", events }] };
  return { batch, id: granted };
}

/** As the engine does it, with an end: undefined means that nobody can know. */
async function persisted(store: ReplicatedStore, batch: CommitBatch): Promise<boolean | undefined> {
  for (let tries = 0; tries < 10; tries++) {
    try {
      await store.commit(batch);
      return true;
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.kind !== "unknown") throw error;
    }
    const last = await askWithRetry(store);
    if (last === undefined) return undefined;
    if (last === batch.number) return true;
  }
  return undefined;
}

async function askWithRetry(store: ReplicatedStore): Promise<number | undefined> {
  for (let tries = 0; tries < 10; tries++) {
    const last = await store.lastCommit().catch((error: unknown) => {
      if (error instanceof StoreFailure && error.kind === "corrupt") throw error;
    });
    if (last !== undefined) return last;
  }
  return undefined;
}

describe("replicas that all believe to lead, whatever happens to their calls", () => {
  it("book nothing twice, lose nothing they acknowledged, and keep nothing they refused", async () => {
    const property = fc.asyncProperty(
      fc.scheduler(),
      fc.array(fault, { minLength: 200, maxLength: 200 }),
      fc.integer({ min: 2, max: 3 }),
      async (scheduler, faults, replicas) => {
        const kube = memoryKube();
        const clock = scheduledTime(scheduler);
        const story: Story = { acknowledged: new Map(), refused: new Set(), problems: [] };
        let calls = 0;
        const nextFault = (): WriteFault => faults[calls++ % faults.length] ?? "answered";
        const all = Array.from({ length: replicas }, (_, number) =>
          live(`r${number}`, 2, {
            client: replicaClient(kube.client, scheduler, nextFault),
            clock,
            story,
          }),
        );
        await scheduler.waitFor(Promise.all(all));
        await expectWhole(kube.client, story);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
});

/** Compares what was said with what a last process finds. */
async function expectWhole(client: KubeClient, { acknowledged, refused, problems }: Story): Promise<void> {
  const clock = { wallMs: () => NOW, monotonicMs: () => 0, after: () => () => undefined };
  const cluster = () => Promise.resolve({ client, namespace: "broker" });
  const auditor = kubernetesStore({ replica: "auditor" }, { clock, log: NO_LOG, cluster });
  const { records, commitNumber } = await auditor.open();
  const ids = new Set(records.reservations.map(({ id }) => id));
  expect(problems).toEqual([]);
  expect([...acknowledged.values()].filter((id) => !ids.has(id))).toEqual([]);
  expect([...refused].filter((id) => ids.has(id))).toEqual([]);
  expect(ids.size).toBe(commitNumber);
  let held = NO_RESOURCES;
  for (const { phase, granted } of records.reservations) if (isLive(phase)) held = add(held, granted);
  expect(fits(held, PARIS.allocatable)).toBe(true);
  await auditor.close();
}
