import { setTimeout as sleep } from "node:timers/promises";
import { type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { type ChaosFleet, createFleet } from "./fleet.ts";
import { type LoadClients, startLoadClients } from "./load-clients.ts";
import { snapshotFromApi } from "./read-snapshot.ts";
import type { Strike, Target } from "./target.ts";
import { checkSnapshot, type Drained, violations } from "./violations.ts";

/** Few providers, and small: most requests compete for the last cores. */
const FLEET = { requesters: 16, providers: 8, provider: { cpu: 64, memoryGi: 256 }, lanes: 4 };
const LONGEST_LIFE_MS = 1200;
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
  /** Empty when every promise was kept. */
  readonly violations: readonly string[];
}

/** Strikes brokers again and again under load, and compares their books with what their clients were told. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  let total: CampaignResult = { strikes: [], orders: 0, acknowledged: 0, released: 0, violations: [] };
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
      violations: one.violations,
    };
  }
  return total;
}

interface CampaignContext {
  readonly target: Target;
  readonly fleet: ChaosFleet;
  readonly clients: LoadClients;
}

async function oneLedger(
  target: Target,
  random: SeededRandom,
  options: CampaignOptions & { readonly before: number },
): Promise<CampaignResult> {
  const { strikes: wanted, now, untilMs = Number.POSITIVE_INFINITY, print, before } = options;
  try {
    const fleet = createFleet(target, FLEET);
    await fleet.advertise();
    const clients = startLoadClients({
      clients: fleet.requesters,
      random: random.fork(1),
      lanes: FLEET.lanes,
    });
    const context = { target, fleet, clients };
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
    return { strikes, ...tally(clients), violations: found };
  } finally {
    await target.dispose();
  }
}

async function strikeOnce(
  { target, fleet, clients }: CampaignContext,
  random: SeededRandom,
): Promise<{ readonly strike: Strike; readonly line: string; readonly problems: string[] }> {
  const livedMs = random.below(LONGEST_LIFE_MS);
  const isAtReply = random.chance(AT_A_REPLY);
  await sleep(livedMs);
  const drained = random.chance(AT_A_DRAIN) ? await drain({ fleet, clients }, random) : undefined;
  if (isAtReply) await clients.nextAcknowledgement();
  const strike = await target.strike(random);
  if (drained !== undefined) await served(clients);
  await clients.pause();
  const problems = [
    ...(strike.problems ?? []),
    ...clients.problems,
    ...(await apiViolations({ target, fleet, clients }, drained)),
  ];
  // As agents would: a provider that was full has room again.
  await fleet.advertise();
  clients.resume();
  const { acknowledged, released } = tally(clients);
  const counts = `${acknowledged} acknowledged, ${released} released`;
  const verdict = problems.length === 0 ? "all found, sums right" : `${problems.length} VIOLATIONS`;
  const moment = `${isAtReply ? " at a reply" : ""}${drained === undefined ? "" : `, ${drained.provider} full`}`;
  const when = `after ${livedMs} ms${moment}`;
  const line = `${strike.what} ${when}; served again in ${strike.downMs.toFixed(0)} ms; ${counts}: ${verdict}`;
  return { strike, line, problems };
}

/** A provider has nothing left to lend, and was answered that this is known. */
async function drain(
  { fleet, clients }: Omit<CampaignContext, "target">,
  random: SeededRandom,
): Promise<Drained> {
  const provider = await fleet.drain(random);
  return { provider, requestsBefore: clients.requests.length };
}

/** Lets the broker grant for a while on what it remembers. */
async function served(clients: LoadClients): Promise<void> {
  const waited = sleep(SERVED_AFTER.forMs, "waited");
  for (let left = SERVED_AFTER.orders; left > 0; left--)
    if ((await Promise.race([clients.nextAcknowledgement(), waited])) === "waited") return;
}

/** What of the books over the API is wrong. */
async function apiViolations(
  { target, fleet, clients }: CampaignContext,
  drained?: Drained,
): Promise<readonly string[]> {
  const read = () => snapshotFromApi(target.admin(), fleet.requesters);
  return (await checkSnapshot(clients.requests, read, drained)).problems;
}

/** The last word: over the API once more, then a graceful end, then the store itself. */
async function finalViolations({ target, fleet, clients }: CampaignContext): Promise<string[]> {
  const overApi = await apiViolations({ target, fleet, clients });
  const { snapshot, problems } = await target.close();
  return [...clients.problems, ...overApi, ...violations(clients.requests, snapshot), ...problems];
}

function tally({ requests }: LoadClients): Pick<CampaignResult, "orders" | "acknowledged" | "released"> {
  return {
    orders: requests.length,
    acknowledged: requests.filter(({ acknowledged }) => acknowledged !== undefined).length,
    released: requests.filter(({ release }) => release === "acknowledged").length,
  };
}
