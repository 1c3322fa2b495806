import { setTimeout as sleep } from "node:timers/promises";
import {
  type BrokerProcess,
  type SeededRandom,
  seededRandom,
  startBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { type Crowd, startCrowd } from "./crowd.ts";
import { booksInStore, booksOverApi } from "./read-books.ts";
import { type Scene, sceneOn } from "./scene.ts";
import { violations } from "./violations.ts";

/** Few providers, and small: most requests compete for the last cores. */
const SCENE = { requesters: 16, providers: 8, provider: { cpu: 64, memoryGi: 256 }, lanes: 4 };
const LONGEST_LIFE_MS = 2500;
/** How often the kill waits for a reply: whatever was answered too early is most likely not yet written then. */
const AT_A_REPLY = 0.5;
/** How often a broker is killed again while it is still coming back, and how soon. */
const KILLED_AGAIN = { chance: 0.2, withinMs: 400 };
/** Then a new ledger: what is kept for a day would slow down the checks, not the broker. */
const KILLS_PER_LEDGER = 25;

export interface CampaignOptions {
  readonly seed: number;
  readonly kills: number;
  /** No more kills after this time. Absent: however long it takes. */
  readonly untilMs?: number;
  /** A bundled broker to test instead of the sources. */
  readonly program?: string;
  readonly print: (line: string) => void;
  /** A clock to measure with. */
  readonly now: () => number;
}

export interface CampaignResult {
  readonly kills: number;
  readonly orders: number;
  readonly acknowledged: number;
  readonly released: number;
  /** Empty when every promise was kept. */
  readonly violations: readonly string[];
}

/** Kills a broker again and again under load, and compares its books with what its clients were told. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  let total: CampaignResult = { kills: 0, orders: 0, acknowledged: 0, released: 0, violations: [] };
  const isOver = (): boolean =>
    total.kills >= options.kills ||
    total.violations.length > 0 ||
    (options.untilMs !== undefined && options.now() >= options.untilMs);
  for (let ledger = 0; !isOver(); ledger++) {
    const kills = Math.min(KILLS_PER_LEDGER, options.kills - total.kills);
    const random = seededRandom(options.seed).fork(ledger);
    const one = await oneLedger(random, { ...options, kills }, total.kills);
    total = {
      kills: total.kills + one.kills,
      orders: total.orders + one.orders,
      acknowledged: total.acknowledged + one.acknowledged,
      released: total.released + one.released,
      violations: one.violations,
    };
  }
  return total;
}

interface Stage {
  readonly broker: BrokerProcess;
  readonly scene: Scene;
  readonly crowd: Crowd;
}

async function oneLedger(
  random: SeededRandom,
  options: CampaignOptions,
  killsBefore: number,
): Promise<CampaignResult> {
  const { program, kills, now, untilMs = Number.POSITIVE_INFINITY, print } = options;
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates, ...(program === undefined ? {} : { program }) });
  try {
    const scene = sceneOn(broker, SCENE);
    await scene.advertise();
    const crowd = startCrowd({ clients: scene.requesters, random: random.fork(1), lanes: SCENE.lanes });
    const stage = { broker, scene, crowd };
    let found: string[] = [];
    let killed = 0;
    while (killed < kills && found.length === 0 && now() < untilMs) {
      const { line, problems } = await killOnce(stage, random);
      killed++;
      found = problems;
      print(`kill ${killsBefore + killed}: ${line}`);
    }
    await crowd.stop();
    if (found.length === 0) found = await closeBooks(stage);
    return { kills: killed, ...tally(crowd), violations: found };
  } finally {
    await broker.dispose();
  }
}

async function killOnce(
  { broker, scene, crowd }: Stage,
  random: SeededRandom,
): Promise<{ readonly line: string; readonly problems: string[] }> {
  const livedMs = random.below(LONGEST_LIFE_MS);
  const isAtReply = random.chance(AT_A_REPLY);
  await sleep(livedMs);
  if (isAtReply) await crowd.nextAcknowledgement();
  await broker.kill("SIGKILL");
  let again = isAtReply ? " at a reply" : "";
  while (random.chance(KILLED_AGAIN.chance)) {
    const afterMs = random.below(KILLED_AGAIN.withinMs);
    await broker.launch();
    await sleep(afterMs);
    await broker.kill("SIGKILL");
    again += `, again ${afterMs} ms after its start`;
  }
  const { readyAfterMs } = await broker.restart();
  await crowd.pause();
  const books = await booksOverApi(broker.admin(), scene.requesters);
  const problems = [...crowd.problems, ...violations(crowd.orders, books)];
  // As agents would: what was not yet written of their advertisements is gone.
  await scene.advertise();
  crowd.resume();
  const { acknowledged, released } = tally(crowd);
  const counts = `${acknowledged} acknowledged, ${released} released`;
  const verdict = problems.length === 0 ? "all found, sums right" : `${problems.length} VIOLATIONS`;
  const line = `after ${livedMs} ms${again}; ready in ${readyAfterMs.toFixed(0)} ms; ${counts}: ${verdict}`;
  return { line, problems };
}

/** The last word: over the API once more, then a graceful end, then the file itself. */
async function closeBooks({ broker, scene, crowd }: Stage): Promise<string[]> {
  const overApi = violations(crowd.orders, await booksOverApi(broker.admin(), scene.requesters));
  const code = await broker.stop();
  const inStore = violations(crowd.orders, await booksInStore(broker.storeDirectory));
  return [
    ...crowd.problems,
    ...overApi,
    ...inStore,
    ...(code === 0 ? [] : [`the broker ended with ${code} when asked to stop`]),
  ];
}

function tally({ orders }: Crowd): Pick<CampaignResult, "orders" | "acknowledged" | "released"> {
  return {
    orders: orders.length,
    acknowledged: orders.filter(({ acknowledged }) => acknowledged !== undefined).length,
    released: orders.filter(({ release }) => release === "acknowledged").length,
  };
}
