import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerClient,
  type BrokerProcess,
  commonName,
  makeKeys,
  reservationBody,
  reservationRequest,
  type TestCertificates,
} from "@resource-broker/testkit";
import { openPipeline, type Pipeline } from "./pipeline.ts";
import { type LoadResult, Tally } from "./tally.ts";

const CONNECTIONS = 600;
/** Enough to keep the broker busy, few enough that nobody waits for long. */
const SUSTAINABLE_IN_FLIGHT = 64;
const TICK_MS = 10;
const RENEWERS = 8;
const RENEW_EVERY_MS = 100;
/** Each has at most 1,000 reservations at a time. */
const PROVIDERS = 400;
const ENDLESS = { cpu: 1_000_000, memoryGi: 4_000_000 };
const MOST_RECOVERY_MS = 30_000;
/** Normal again: a request takes no more than so many times what it took before. */
const NORMAL_FACTOR = 3;
const PROBES = 20;
const ROUNDS = 4;

export interface OverloadOptions {
  readonly broker: BrokerProcess;
  readonly certificates: TestCertificates;
  /** Under each load, in all. */
  readonly seconds: number;
  /** How many times the sustainable rate is offered. */
  readonly factor: number;
  readonly now: () => number;
  readonly print: (line: string) => void;
}

export interface OverloadResult {
  readonly sustainable: LoadResult;
  readonly overloaded: LoadResult;
  /** Renewals during the overload: how many, and how many were turned away or not answered. */
  readonly renewals: LoadResult;
  readonly recoveredAfterMs: number;
}

export async function runOverload(options: OverloadOptions): Promise<OverloadResult> {
  const { broker, seconds, factor, now, print } = options;
  for (let each = 0; each < PROVIDERS; each++) {
    const name = `provider-${each}`;
    const body = advertisementBody(name, ENDLESS);
    await broker.clientFor(name).request("POST", PATH.advertisements, { body });
    broker.clientFor(name).close();
  }
  const fleet = await openFleet(options);
  const renewers = await Promise.all(Array.from({ length: RENEWERS }, (_, each) => newRenewer(broker, each)));
  let serial = 0;
  const request = (): string => reservationRequest(`o-${serial++}`);

  const before = await probe(fleet, request);
  print(`${fleet.length} clients; alone a reservation takes ${before.toFixed(1)} ms`);
  const [sustainable, overloaded, renewals] = [new Tally(now), new Tally(now), new Tally(now)];
  const forMs = (seconds * 1000) / ROUNDS;
  let recoveredAfterMs = 0;
  // In turns, so that whatever else the machine does meets both alike.
  for (let round = 0; round < ROUNDS; round++) {
    await closedLoop(fleet, { tally: sustainable, request, forMs, now });
    let isOver = false;
    const renewing = renewers.map((renewer) => renewOn({ ...renewer, renewals, isOver: () => isOver, now }));
    renewals.begin();
    await openLoop(fleet, { tally: overloaded, request, forMs, now }, factor * sustainable.goodRate());
    const endedAt = now();
    isOver = true;
    await Promise.all(renewing);
    renewals.end();
    await untilNormal(fleet, request, { isOver: () => now() - endedAt > MOST_RECOVERY_MS, before });
    recoveredAfterMs = Math.max(recoveredAfterMs, now() - endedAt);
  }
  print(`sustainable: ${sustainable.describe()}`);
  print(`at ${factor} times that: ${overloaded.describe()}`);
  print(`renewals meanwhile: ${renewals.describe()}`);
  print(`normal again after ${(recoveredAfterMs / 1000).toFixed(1)} s at most`);
  for (const pipeline of fleet) pipeline.close();
  return {
    sustainable: sustainable.result(),
    overloaded: overloaded.result(),
    renewals: renewals.result(),
    recoveredAfterMs,
  };
}

async function untilNormal(
  fleet: readonly Pipeline[],
  request: () => string,
  { isOver, before }: { readonly isOver: () => boolean; readonly before: number },
): Promise<void> {
  while (fleet.some((pipeline) => pipeline.waiting() > 0) && !isOver()) await sleep(TICK_MS);
  while ((await probe(fleet, request)) > NORMAL_FACTOR * before && !isOver());
}

interface Load {
  readonly tally: Tally;
  readonly request: () => string;
  readonly forMs: number;
  readonly now: () => number;
}

/** As soon as one request is answered, the next one leaves: what the broker can do. */
async function closedLoop(fleet: readonly Pipeline[], { tally, request, forMs, now }: Load): Promise<void> {
  const until = now() + forMs;
  tally.begin();
  const lanes = fleet.slice(0, SUSTAINABLE_IN_FLIGHT).map(async (_, lane) => {
    // Connections take turns, so that no cluster exceeds its share of calls.
    for (let turn = lane; now() < until; turn += SUSTAINABLE_IN_FLIGHT) {
      const pipeline = fleet[turn % fleet.length];
      if (pipeline !== undefined) tally.count(await answerTo(pipeline, request()));
    }
  });
  await Promise.all(lanes);
  tally.end();
}

/** Requests come at their own rate, whatever becomes of those before; where every connection waits, they are given up. */
async function openLoop(fleet: readonly Pipeline[], load: Load, perSecond: number): Promise<void> {
  const { tally, request, forMs, now } = load;
  const startedAt = now();
  let due = 0;
  let turn = 0;
  tally.begin();
  while (now() - startedAt < forMs) {
    const wanted = Math.floor(((now() - startedAt) / 1000) * perSecond);
    for (; due < wanted; due++) {
      const pipeline = fleet[turn++ % fleet.length];
      if (pipeline === undefined || pipeline.waiting() > 0) tally.unsent++;
      else pipeline.send(request(), (status, latencyMs) => tally.count({ status, latencyMs }));
    }
    await sleep(TICK_MS);
  }
  tally.end();
}

async function renewOn({
  client,
  path,
  renewals,
  isOver,
  now,
}: {
  readonly client: BrokerClient;
  readonly path: string;
  readonly renewals: Tally;
  readonly isOver: () => boolean;
  readonly now: () => number;
}): Promise<void> {
  while (!isOver()) {
    const sentAt = now();
    const reply = await client
      .request("POST", path, { body: { duration: "2h" }, timeoutMs: MOST_RECOVERY_MS })
      .catch(() => ({ status: 0 }));
    renewals.count({ status: reply.status, latencyMs: now() - sentAt });
    await sleep(RENEW_EVERY_MS);
  }
}

/** The median of some requests, one after the other. */
async function probe(fleet: readonly Pipeline[], request: () => string): Promise<number> {
  const latencies: number[] = [];
  for (const pipeline of fleet.slice(0, PROBES))
    latencies.push((await answerTo(pipeline, request())).latencyMs);
  return latencies.toSorted((a, b) => a - b)[PROBES >> 1] ?? 0;
}

function answerTo(
  pipeline: Pipeline,
  request: string,
): Promise<{ readonly status: number; readonly latencyMs: number }> {
  return new Promise((resolve) =>
    pipeline.send(request, (status, latencyMs) => resolve({ status, latencyMs })),
  );
}

async function openFleet({ broker, certificates, now }: OverloadOptions): Promise<Pipeline[]> {
  const keys = makeKeys();
  const fleet: Pipeline[] = [];
  for (let each = 0; each < CONNECTIONS; each++) {
    const clusterId = `crowd-${each}`;
    const credentials = certificates.leaf({ subject: [commonName(clusterId)], keys });
    const pipeline = await openPipeline({ clusterId, credentials, port: broker.port, now });
    // The broker closes connections that say nothing.
    await answerTo(pipeline, reservationRequest(`hello-${each}`));
    fleet.push(pipeline);
  }
  return fleet;
}

async function newRenewer(
  broker: BrokerProcess,
  each: number,
): Promise<{ readonly client: BrokerClient; readonly path: string }> {
  const client = broker.clientFor(`renewer-${each}`);
  const body = { ...reservationBody({ cpu: 1, memoryGi: 1 }), duration: "1h" };
  const { body: made } = await client.request("POST", PATH.reservations, { body, key: "k" });
  const id = typeof made === "object" && made !== null && "id" in made ? String(made.id) : "";
  return { client, path: PATH.renew(id) };
}
