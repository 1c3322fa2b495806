import { setTimeout as sleep } from "node:timers/promises";
import type { ReservationRequestDTO } from "@resource-broker/contract";
import { type SeededRandom, seededRandom } from "@resource-broker/testkit";
import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import { type OnCleanup, withCleanup } from "../../measure/async.ts";
import { type Connection, reserveText } from "../../measure/load/connection.ts";
import {
  advertiseSize,
  type Amounts,
  type Answer,
  answerOf,
  LARGE,
  NO_ANSWER,
  requestFor,
  sendTimed,
  SMALL,
} from "../subject/calls.ts";
import { grantedIds, listReservations } from "../subject/fill.ts";
import { type SideBySide, sideBySide } from "../subject/side-by-side.ts";
import { connectAll, openSubject, type Subject, settle } from "../subject/subject.ts";
import {
  type BrokerConcurrency,
  type Contest,
  faultsOf,
  hasFailed,
  type Level,
  levelOf,
  recount,
} from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

/** Between two bursts, so that they do not fall into step with anything; both in milliseconds. */
const PAUSE = { least: 5, most: 40 };

interface Bursts {
  readonly rounds: number;
  readonly request: ReservationRequestDTO;
  /** Begins every idempotency key. */
  readonly name: string;
  readonly random: SeededRandom;
  readonly signal: AbortSignal;
}

/** Every connection asks in the same moment; the next round begins when all are answered. */
async function inBursts(connections: readonly Connection[], bursts: Bursts): Promise<Answer[][]> {
  const { rounds, request, name, random, signal } = bursts;
  const answers: Answer[][] = [];
  for (let round = 0; round < rounds; round++) {
    const texts = connections.map((_, at) => reserveText(request, `${name}-${round}-${at}`));
    const sent = connections.map((connection, at) => sendTimed(connection, texts[at] ?? ""));
    answers.push((await Promise.all(sent)).map(answerOf));
    await sleep(random.between(PAUSE.least, PAUSE.most), undefined, { signal });
  }
  return answers;
}

/** Too much for any provider that has only what it has at first. */
const HUGE: Amounts = { cpuMillis: 5_000_000, memoryMi: 1024 };
const THEIR_LEVELS = [1, 2, 4, 6, 8, 10];
const BASELINE_PROVIDERS = 1;

interface Step {
  readonly simultaneous: number;
  readonly rounds: number;
}

const STEPS: Readonly<Record<Size, readonly Step[]>> = {
  smoke: [...steps(THEIR_LEVELS, 6), { simultaneous: 100, rounds: 2 }],
  quick: [...steps(THEIR_LEVELS, 60), { simultaneous: 100, rounds: 15 }, { simultaneous: 1000, rounds: 4 }],
  full: [...steps(THEIR_LEVELS, 300), { simultaneous: 100, rounds: 60 }, { simultaneous: 1000, rounds: 20 }],
};
const WARM_UP_ROUNDS: Readonly<Record<Size, number>> = { smoke: 5, quick: 100, full: 300 };
const WARM_UP_SIMULTANEOUS = 10;

function steps(levels: readonly number[], rounds: number): Step[] {
  return levels.map((simultaneous) => ({ simultaneous, rounds }));
}

function runOne(context: Context): Promise<BrokerConcurrency> {
  return withCleanup(async (onCleanup) => {
    const { size, seed, signal, progress } = context;
    const subject = await openSubject(context, onCleanup);
    const most = Math.max(...STEPS[size].map(({ simultaneous }) => simultaneous));
    progress(0, `${most} clusters connect and advertise`);
    const { requesters, providers } = await openConnections(subject, most, onCleanup);
    await settle(subject, [...new Set([...requesters, ...providers])], signal);
    const random = seededRandom(seed);
    const all: Answer[] = [];
    const ask = async (simultaneous: number, rounds: number, name: string): Promise<Answer[][]> => {
      const answers = await inBursts(requesters.slice(0, simultaneous), {
        rounds,
        request: requestFor(SMALL),
        name,
        random,
        signal,
      });
      all.push(...answers.flat());
      return answers;
    };
    await ask(WARM_UP_SIMULTANEOUS, WARM_UP_ROUNDS[size], "warm");
    const levels: Level[] = [];
    for (const [index, { simultaneous, rounds }] of STEPS[size].entries()) {
      progress((index + 1) / (STEPS[size].length + 2), `${simultaneous} at the same time, ${rounds} times`);
      levels.push(levelOf(simultaneous, await ask(simultaneous, rounds, `at-${simultaneous}`)));
    }
    progress(0.95, "more requests than there is room for");
    const { contest, provider, answers } = await contestOf(requesters, providers, context);
    const recounted = await recountOf(subject, {
      small: all,
      huge: answers,
      room: contest.room,
      provider,
    });
    return { subject: subject.label, lenders: providers.length, levels, contest, ...recounted };
  });
}

interface OpenConnections {
  readonly requesters: readonly Connection[];
  readonly providers: readonly Connection[];
}

/** With our broker everybody lends and asks; somebody else's knows few clusters: the last one lends, the others ask. */
async function openConnections(
  subject: Subject,
  most: number,
  onCleanup: OnCleanup,
): Promise<OpenConnections> {
  if (subject.broker !== undefined) {
    const requesters = await connectAll(subject, subject.identities(most), {
      later: onCleanup,
      begin: advertiseSize,
    });
    return { requesters, providers: requesters };
  }
  const known = [...new Map(subject.identities(most + 1).map((each) => [each.clusterId, each])).values()];
  const providers = await connectAll(subject, known.slice(-BASELINE_PROVIDERS), {
    later: onCleanup,
    begin: advertiseSize,
  });
  const asking = known.slice(0, -BASELINE_PROVIDERS);
  const identities = Array.from({ length: most }, (_, at) => asking[at % asking.length]);
  const requesters = await connectAll(
    subject,
    identities.filter((each) => each !== undefined),
    { later: onCleanup },
  );
  return { requesters, providers };
}

/** One provider grows until it has room for half of the huge requests that all others send in the same moment. */
async function contestOf(
  requesters: readonly Connection[],
  providers: readonly Connection[],
  { seed, signal }: Context,
): Promise<{ readonly contest: Contest; readonly provider: string; readonly answers: readonly Answer[] }> {
  const provider = providers.at(-1);
  if (provider === undefined) throw new Error("nobody lends");
  const asking = requesters.filter(({ clusterId }) => clusterId !== provider.clusterId).slice(0, 100);
  const room = Math.floor(asking.length / 2);
  const size = {
    cpuMillis: LARGE.cpuMillis + room * HUGE.cpuMillis,
    memoryMi: LARGE.memoryMi,
  };
  await advertiseSize(provider, size);
  const bursts = { rounds: 1, request: requestFor(HUGE), name: "huge", random: seededRandom(seed), signal };
  const answers = (await inBursts(asking, bursts)).flat();
  return {
    contest: {
      simultaneous: asking.length,
      room,
      granted: answers.filter(({ status }) => status === 201).length,
      timeouts: answers.filter(({ status }) => status === NO_ANSWER).length,
      failed: answers.filter(hasFailed).length,
    },
    provider: provider.clusterId,
    answers,
  };
}

interface RecountInput {
  readonly small: readonly Answer[];
  readonly huge: readonly Answer[];
  /** Who has room for so many huge ones. */
  readonly provider: string;
  readonly room: number;
}

async function recountOf(
  { broker }: Subject,
  asked: RecountInput,
): Promise<Pick<BrokerConcurrency, "recount">> {
  if (broker === undefined) return {};
  const [small, huge] = [grantedIds(asked.small), grantedIds(asked.huge)];
  const isHuge = new Set(huge);
  const taken = (id: string): number => (isHuge.has(id) ? HUGE : SMALL).cpuMillis;
  const roomOf = (provider: string): number =>
    LARGE.cpuMillis + (provider === asked.provider ? asked.room * HUGE.cpuMillis : 0);
  return { recount: recount([...small, ...huge], await listReservations(broker), { taken, roomOf }) };
}

export const concurrencyTest: EvaluationTest<SideBySide<BrokerConcurrency>> = {
  id: "5",
  title: "Concurrency: many requests in the same moment",
  method: [
    "A real broker process on its own core, over mTLS; every client has a certificate, a cluster ID and a kept connection of its own. So many clients send one",
    "`POST /api/v1/reservations` (500m, 256Mi, an idempotency key) in the same turn of the event loop; a random pause of 5 to 40 ms follows when all are",
    "answered. Time: the monotonic clock of the load process, from handing the request to the socket until the whole reply is there; so the load generator's own work",
    "is included. With our broker all clusters also lend, and stay fresh for the whole test (each decision weighs all of them). Rounds before the first level are not counted (warm-up). Spread:",
    "the 10th and 90th percentile of the rounds' medians. Time-out: 10 s. Double bookings: 100 clients ask in the same moment for what one provider can give 50",
    "times; and at the end the ledger is listed and counted against the acknowledgements and against what each cluster has. Every grant is durable before its reply.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 5, quick: 25, full: 75 })[size],
  run: (context) => sideBySide(context, runOne),
  faults: ({ ours }) => faultsOf(ours).map((fault) => `${ours.subject}: ${fault}`),
  charts: chartsOf,
  findings: findingsOf,
};
