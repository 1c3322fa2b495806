import { setTimeout as sleep } from "node:timers/promises";
import { isFinal } from "@resource-broker/domain";
import { type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { type ChaosFleet, createFleet } from "./fleet.ts";
import { type LoadClients, startLoadClients } from "./load-clients.ts";
import type { LedgerSnapshot } from "./ledger-snapshot.ts";
import { type ApiReader, apiReader } from "./snapshot-from-api.ts";
import type { Strike, Target } from "./target.ts";
import { isWaiting, type TrackedRequest } from "./tracked-request.ts";
import { checkSnapshot, type Drained, violations, waitingInVain } from "./violations.ts";

/** Few providers, and small: most requests compete for the last cores. */
const FLEET = { requesters: 16, providers: 8, provider: { cpu: 64, memoryGi: 256 }, lanes: 4 };
const LONGEST_LIFE_MS = 1200;
/** The part of the orders that wait if there is no room: most of the time somebody does. */
const PATIENCE = 0.5;
/** Only a guard: the broker looks at its queue at once after a change, and a busy machine takes its time. */
const SETTLED_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 100;
/** How often the strike waits for a reply: whatever was answered too early is most likely not yet written then. */
const AT_A_REPLY = 0.5;
/** How often a provider has nothing left right before the strike: what is written behind is not written yet then. */
const AT_A_DRAIN = 0.5;
/** So many orders are served afterwards, or so long is waited for them, before the provider speaks again. */
const SERVED_AFTER = { orders: 60, forMs: 1500 };
/** Then a new ledger: what is kept for a day would slow down the checks, not the broker. */
const STRIKES_PER_LEDGER = 25;

export interface CampaignOptions {
  readonly seed: number;
  readonly strikes: number;
  /** No more strikes after this time. Absent: however long it takes. */
  readonly untilMs?: number;
  /** A target with an empty ledger; they are numbered. */
  readonly newTarget: (number: number) => Promise<Target>;
  readonly print: (line: string) => void;
  /** A clock to measure with. */
  readonly now: () => number;
}

export interface CampaignResult {
  readonly strikes: readonly Strike[];
  readonly orders: number;
  readonly acknowledged: number;
  readonly released: number;
  /** Orders that were told to wait; how many of them got a reservation, and how many left before. */
  readonly waited: number;
  readonly grantedFromQueue: number;
  readonly leftQueue: number;
  /** Reservations that gave way to others. */
  readonly preempted: number;
  /** Empty when every promise was kept. */
  readonly violations: readonly string[];
}

/** Strikes brokers again and again under load, and compares their ledgers with what their clients were told. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  let total: CampaignResult = { strikes: [], ...tally([]), violations: [] };
  const isOver = (): boolean =>
    total.strikes.length >= options.strikes ||
    total.violations.length > 0 ||
    (options.untilMs !== undefined && options.now() >= options.untilMs);
  for (let ledger = 0; !isOver(); ledger++) {
    const strikes = Math.min(STRIKES_PER_LEDGER, options.strikes - total.strikes.length);
    const random = seededRandom(options.seed).fork(ledger);
    const target = await options.newTarget(ledger);
    const one = await oneLedger(target, random, { ...options, strikes, before: total.strikes.length });
    total = {
      strikes: [...total.strikes, ...one.strikes],
      orders: total.orders + one.orders,
      acknowledged: total.acknowledged + one.acknowledged,
      released: total.released + one.released,
      waited: total.waited + one.waited,
      grantedFromQueue: total.grantedFromQueue + one.grantedFromQueue,
      leftQueue: total.leftQueue + one.leftQueue,
      preempted: total.preempted + one.preempted,
      violations: one.violations,
    };
  }
  return total;
}

interface CampaignContext {
  readonly target: Target;
  readonly fleet: ChaosFleet;
  readonly clients: LoadClients;
  readonly reader: ApiReader;
}

async function oneLedger(
  target: Target,
  random: SeededRandom,
  options: CampaignOptions & { readonly before: number },
): Promise<CampaignResult> {
  const { strikes: wanted, now, untilMs = Number.POSITIVE_INFINITY, print, before } = options;
  let stopAdvertising: (() => Promise<void>) | undefined;
  try {
    const fleet = createFleet(target, FLEET);
    await fleet.advertise();
    stopAdvertising = fleet.keepFresh();
    const clients = startLoadClients({
      clients: fleet.requesters,
      random: random.fork(1),
      lanes: FLEET.lanes,
      patience: PATIENCE,
    });
    const context = { target, fleet, clients, reader: apiReader(target.admin(), fleet.requesters) };
    const strikes: Strike[] = [];
    let found: string[] = [];
    while (strikes.length < wanted && found.length === 0 && now() < untilMs) {
      const { strike, line, problems } = await strikeOnce(context, random);
      strikes.push(strike);
      found = problems;
      print(`${before + strikes.length}: ${line}`);
    }
    await clients.stop();
    if (found.length === 0) found = await finalViolations(context);
    return { strikes, ...tally(clients.requests), violations: found };
  } finally {
    await stopAdvertising?.();
    await target.dispose();
  }
}

async function strikeOnce(
  context: CampaignContext,
  random: SeededRandom,
): Promise<{ readonly strike: Strike; readonly line: string; readonly problems: string[] }> {
  const { target, fleet, clients, reader } = context;
  const livedMs = random.below(LONGEST_LIFE_MS);
  const isAtReply = random.chance(AT_A_REPLY);
  await sleep(livedMs);
  const drained = random.chance(AT_A_DRAIN) ? await drain(context, random) : undefined;
  if (isAtReply) await clients.nextAcknowledgement();
  const strike = await target.strike(random);
  if (drained !== undefined) await served(clients);
  await clients.pause();
  const overApi = await apiViolations(context, drained);
  const problems = [...(strike.problems ?? []), ...clients.problems, ...overApi.problems];
  // As agents would: a provider that was full has room again.
  await fleet.advertise();
  if (problems.length === 0) problems.push(...(await readUntilRight(reader, waitingInVain)));
  clients.resume();
  const verdict = problems.length === 0 ? "all found, sums right" : `${problems.length} VIOLATIONS`;
  const moment = `${isAtReply ? " at a reply" : ""}${drained === undefined ? "" : `, ${drained.provider} full`}`;
  const when = `after ${livedMs} ms${moment}`;
  const counts = `${countsOf(clients.requests)}, ${overApi.waiting} waiting`;
  const line = `${strike.what} ${when}; served again in ${strike.downMs.toFixed(0)} ms; ${counts}: ${verdict}`;
  return { strike, line, problems };
}

function countsOf(requests: readonly TrackedRequest[]): string {
  const { acknowledged, released, waited, grantedFromQueue, leftQueue, preempted } = tally(requests);
  const queue = `${waited} waited, ${grantedFromQueue} of them granted, ${leftQueue} left`;
  return `${acknowledged} acknowledged, ${released} released, ${preempted} preempted; ${queue}`;
}

/** Reads the queue until nothing is wrong with it; returns what still is. */
async function readUntilRight(
  reader: ApiReader,
  wrong: (queue: Pick<LedgerSnapshot, "waiting" | "providers">) => string[],
): Promise<string[]> {
  const endsAt = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const problems = wrong(await reader.queue());
    if (problems.length === 0 || performance.now() >= endsAt) return problems;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** A provider has nothing left to lend, and was answered that this is known. */
async function drain({ fleet, clients }: CampaignContext, random: SeededRandom): Promise<Drained> {
  const provider = await fleet.drain(random);
  return { provider, requestsBefore: clients.requests.length };
}

/** Lets the broker grant for a while on what it remembers. */
async function served(clients: LoadClients): Promise<void> {
  const waited = sleep(SERVED_AFTER.forMs, "waited");
  for (let left = SERVED_AFTER.orders; left > 0; left--)
    if ((await Promise.race([clients.nextAcknowledgement(), waited])) === "waited") return;
}

/** What is wrong in the lists that the API returns. What they say of requests that waited is remembered as any other reply. */
async function apiViolations(
  { clients, reader }: CampaignContext,
  drained?: Drained,
): Promise<{ readonly problems: readonly string[]; readonly waiting: number }> {
  const { requests } = clients;
  const { snapshot, problems } = await checkSnapshot(requests, () => reader.snapshot(requests), drained);
  const booked = new Map(snapshot.reservations.map((each) => [each.id, each]));
  for (const request of requests.filter(isWaiting)) {
    const reservation = booked.get(request.queued?.id ?? "");
    if (reservation !== undefined) request.acknowledged = { ...reservation, reservedAt: "" };
  }
  for (const request of requests)
    if (booked.get(request.acknowledged?.id ?? "")?.reason === "Preempted") request.isPreempted = true;
  return { problems, waiting: snapshot.waiting.filter(({ phase }) => !isFinal(phase)).length };
}

/** Everything is given back, and there is room for all that wait: then nobody waits. */
async function stillWaiting({ clients, fleet, reader }: CampaignContext): Promise<string[]> {
  await clients.releaseAll();
  await fleet.advertise();
  return readUntilRight(reader, ({ waiting }) =>
    waiting.map(({ id }) => `${id} waits though all was released`),
  );
}

/** The last word: over the API once more, also when all was given back, then a graceful end, then the store itself. */
async function finalViolations(context: CampaignContext): Promise<string[]> {
  const { target, clients } = context;
  const { problems: underLoad } = await apiViolations(context);
  const waiting = underLoad.length === 0 ? await stillWaiting(context) : [];
  const { problems: overApi } = await apiViolations(context);
  const { snapshot, problems } = await target.close();
  const inStore = violations(clients.requests, snapshot);
  return [...clients.problems, ...underLoad, ...waiting, ...overApi, ...inStore, ...problems];
}

type Tally = Omit<CampaignResult, "strikes" | "violations">;

function tally(requests: readonly TrackedRequest[]): Tally {
  const count = (isCounted: (request: TrackedRequest) => boolean): number =>
    requests.filter(isCounted).length;
  return {
    orders: requests.length,
    acknowledged: count(({ acknowledged }) => acknowledged !== undefined),
    released: count(({ release }) => release === "acknowledged"),
    waited: count(({ queued }) => queued !== undefined),
    grantedFromQueue: count(({ queued, acknowledged }) => queued !== undefined && acknowledged !== undefined),
    leftQueue: count(({ hasLeft }) => hasLeft),
    preempted: count(({ isPreempted }) => isPreempted),
  };
}
