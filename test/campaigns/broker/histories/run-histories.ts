import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  History,
  type HistoryCall,
  HistoryClient,
  type SeededRandom,
  until,
} from "@resource-broker/testkit";
import type { OneBroker } from "../one-broker.ts";
import type { Strike } from "../target.ts";
import { askBroker } from "./ask-broker.ts";

const CAPACITY = { cpu: 8, memoryGi: 1 };
const CLIENTS = 3;
const LANES = 2;
const OPERATIONS = 20;
const BETWEEN_STRIKES_MS = 500;
const LONGEST_PAUSE_MS = 150;

export interface HistoriesResult {
  readonly histories: number;
  /** Histories for which the search was given up: too many calls were never answered. */
  readonly undecided: number;
  readonly calls: number;
  /** Requests that were told that they wait. */
  readonly waited: number;
  readonly strikes: readonly Strike[];
  readonly violations: readonly string[];
}

/** Lets real clients ask providers of their own while the target is struck, and judges what each was told. */
export async function runHistories(
  target: OneBroker,
  random: SeededRandom,
  { count, from }: { readonly count: number; readonly from: number },
): Promise<HistoriesResult> {
  const histories = Array.from(
    { length: count },
    (_, each) => new History(`history-${from + each}`, CAPACITY.cpu),
  );
  for (const { provider } of histories) {
    const body = advertisementBody(provider, CAPACITY);
    const { status } = await target.clientFor(provider).request("POST", PATH.advertisements, { body });
    if (status !== 200) throw new Error(`${provider} cannot advertise: ${status}`);
  }
  // An advertisement is soft: until it is written, a killed broker forgets it, and what follows would be no history.
  await until("the advertisements are written", async () => {
    const written = target.advertised();
    return histories.every(({ provider }) => written.includes(provider)) || undefined;
  });

  const problems: string[] = [];
  const strikes: Strike[] = [];
  let isOver = false;
  const striking = (async () => {
    const own = random.fork(0);
    while (!isOver) {
      await sleep(own.below(BETWEEN_STRIKES_MS));
      strikes.push(await target.strike(own));
    }
  })();
  const admin = target.admin();
  const working = histories.flatMap((history, each) =>
    Array.from({ length: CLIENTS }, (_, number) => {
      const name = `${history.provider}-client-${number}`;
      const own = random.fork(1 + each * CLIENTS + number);
      const deps = { client: target.clientFor(name), admin, random: own, problems };
      const ask = (call: HistoryCall) => askBroker(deps, call);
      const client = new HistoryClient({ name, history, random: own, ask });
      return Promise.all(Array.from({ length: LANES }, () => work(client, own)));
    }),
  );
  try {
    await Promise.all(working);
  } finally {
    isOver = true;
    await striking;
  }
  const judged = histories.map((history) => ({ history, ...history.judge() }));
  const bad = judged.filter(({ isLinearizable }) => isLinearizable !== true);
  const files = await Promise.all(bad.map(({ history }) => writeDown(history)));
  const wrong = bad.map(({ problem }, each) => `${problem} (all of it in ${files[each]})`);
  return {
    histories: count,
    undecided: bad.filter(({ isLinearizable }) => isLinearizable === "undecided").length,
    calls: histories.reduce((sum, { size }) => sum + size, 0),
    waited: histories.reduce((sum, { waited }) => sum + waited, 0),
    strikes,
    violations: [
      ...strikes.flatMap(({ problems: own = [] }) => own),
      ...problems,
      ...wrong.filter((_, each) => bad[each]?.isLinearizable === false),
    ],
  };
}

/** One call after the other. */
async function work(client: HistoryClient, random: SeededRandom): Promise<void> {
  for (let each = 0; each < OPERATIONS; each++) {
    await client.act();
    await sleep(random.below(LONGEST_PAUSE_MS));
  }
}

/** For whoever looks for the cause: real processes do not do the same again. */
async function writeDown(history: History): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), "history-")), `${history.provider}.txt`);
  await writeFile(file, history.lines().join("\n"));
  return file;
}
