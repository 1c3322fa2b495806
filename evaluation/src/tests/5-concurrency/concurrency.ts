import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@resource-broker/testkit";
import type { BySize, Context } from "../../evaluation-test.ts";
import { type Connection, reserveText } from "../../measure/load/connection.ts";
import { inTurn } from "../../measure/scope.ts";
import {
  advertiseSize,
  type Amounts,
  type Answer,
  answerOf,
  LARGE,
  requestFor,
  sendTimed,
  SMALL,
} from "../subject/calls.ts";
import { grantedIds, listReservations } from "../subject/fill.ts";
import { comparedTest } from "../subject/side-by-side.ts";
import { connectAll, openSubject, type Subject, settle } from "../subject/subject.ts";
import { type BrokerConcurrency, countAnswers, faultsOf, levelOf, recount, reportOf } from "./results.ts";

/** Between two bursts, so that they do not fall into step with anything; both in milliseconds. */
const PAUSE = { least: 5, most: 40 };
/** Too much for any provider that has only what it has at first. */
const HUGE: Amounts = { cpuMillis: 5_000_000, memoryMi: 1024 };
const THEIR_LEVELS = [1, 2, 4, 6, 8, 10];
const BASELINE_PROVIDERS = 1;

interface Step {
  readonly simultaneous: number;
  readonly rounds: number;
}

const steps = (levels: readonly number[], rounds: number): Step[] =>
  levels.map((simultaneous) => ({ simultaneous, rounds }));
const STEPS: BySize<readonly Step[]> = {
  smoke: [...steps(THEIR_LEVELS, 6), ...steps([100], 2)],
  quick: [...steps(THEIR_LEVELS, 60), ...steps([100], 15), ...steps([1000], 4)],
  full: [...steps(THEIR_LEVELS, 300), ...steps([100], 60), ...steps([1000], 20)],
};
const WARM_UP_ROUNDS: BySize<number> = { smoke: 5, quick: 100, full: 300 };
const WARM_UP_SIMULTANEOUS = 10;

interface Bursts {
  readonly rounds: number;
  readonly wanted: Amounts;
  /** Begins every idempotency key. */
  readonly name: string;
}

/** Every connection asks in the same moment; the next round begins when all are answered. */
type AskInBursts = (connections: readonly Connection[], bursts: Bursts) => Promise<Answer[][]>;

function burstsOf({ seed, signal }: Context): AskInBursts {
  const random = seededRandom(seed);
  return async (connections, { rounds, wanted, name }) => {
    const answers: Answer[][] = [];
    for (let round = 0; round < rounds; round++) {
      const texts = connections.map((_, at) => reserveText(requestFor(wanted), `${name}-${round}-${at}`));
      const sent = connections.map((connection, at) => sendTimed(connection, texts[at] ?? ""));
      answers.push((await Promise.all(sent)).map(answerOf));
      await sleep(random.between(PAUSE.least, PAUSE.most), undefined, { signal });
    }
    return answers;
  };
}

async function measure(context: Context): Promise<BrokerConcurrency> {
  const { size, signal } = context;
  const subject = await openSubject(context);
  const most = Math.max(...STEPS[size].map(({ simultaneous }) => simultaneous));
  context.progress(0, `${most} clusters connect and advertise`);
  const { requesters, providers } = await openConnections(context, subject, most);
  await settle(subject, [...new Set([...requesters, ...providers])], signal);
  const inBursts = burstsOf(context);
  const small: Answer[] = [];
  const ask = async (simultaneous: number, rounds: number, name: string): Promise<Answer[][]> => {
    const asking = requesters.slice(0, simultaneous);
    const answers = await inBursts(asking, { rounds, wanted: SMALL, name });
    small.push(...answers.flat());
    return answers;
  };
  await ask(WARM_UP_SIMULTANEOUS, WARM_UP_ROUNDS[size], "warm");
  const levels = await inTurn(context, STEPS[size], {
    doing: ({ simultaneous, rounds }) => `${simultaneous} at the same time, ${rounds} times`,
    task: async ({ simultaneous, rounds }) =>
      levelOf(simultaneous, await ask(simultaneous, rounds, `at-${simultaneous}`)),
  });
  context.progress(0.95, "more requests than there is room for");
  const { contest, provider, huge } = await contestOf(requesters, providers, inBursts);
  const counted =
    subject.broker === undefined
      ? {}
      : {
          recount: recount(
            [...grantedIds(small), ...grantedIds(huge)],
            await listReservations(subject.broker),
            roomWith({ huge, provider, room: contest.room }),
          ),
        };
  return { subject: subject.label, lenders: providers.length, levels, contest, ...counted };
}

interface OpenConnections {
  readonly requesters: readonly Connection[];
  readonly providers: readonly Connection[];
}

/** With our broker everybody lends and asks; somebody else's knows few clusters: the last one lends, the others ask. */
async function openConnections(context: Context, subject: Subject, most: number): Promise<OpenConnections> {
  const begin = advertiseSize;
  if (subject.broker !== undefined) {
    const requesters = await connectAll(context, { subject, identities: subject.identities(most), begin });
    return { requesters, providers: requesters };
  }
  const known = [...new Map(subject.identities(most + 1).map((each) => [each.clusterId, each])).values()];
  const lending = known.slice(-BASELINE_PROVIDERS);
  const providers = await connectAll(context, { subject, identities: lending, begin });
  const asking = known.slice(0, -BASELINE_PROVIDERS);
  const identities = Array.from({ length: most }, (_, at) => asking[at % asking.length]);
  const some = identities.filter((each) => each !== undefined);
  return { requesters: await connectAll(context, { subject, identities: some }), providers };
}

/** One provider grows until it has room for half of the huge requests that all others send in the same moment. */
async function contestOf(
  requesters: readonly Connection[],
  providers: readonly Connection[],
  inBursts: AskInBursts,
) {
  const provider = providers.at(-1);
  if (provider === undefined) throw new Error("nobody lends");
  const asking = requesters.filter(({ clusterId }) => clusterId !== provider.clusterId).slice(0, 100);
  const room = Math.floor(asking.length / 2);
  const size = { ...LARGE, cpuMillis: LARGE.cpuMillis + room * HUGE.cpuMillis };
  await advertiseSize(provider, size);
  const huge = (await inBursts(asking, { rounds: 1, wanted: HUGE, name: "huge" })).flat();
  const contest = { simultaneous: asking.length, room, ...countAnswers(huge) };
  return { contest, provider: provider.clusterId, huge };
}

interface HugeGrants {
  readonly huge: readonly Answer[];
  /** Who has room for so many huge ones. */
  readonly provider: string;
  readonly room: number;
}

function roomWith({ huge, provider, room }: HugeGrants): Parameters<typeof recount>[2] {
  const isHuge = new Set(grantedIds(huge));
  return {
    taken: (id) => (isHuge.has(id) ? HUGE : SMALL).cpuMillis,
    roomOf: (each) => LARGE.cpuMillis + (each === provider ? room * HUGE.cpuMillis : 0),
  };
}

export const concurrencyTest = comparedTest<BrokerConcurrency>({
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
  expectedSeconds: { smoke: 5, quick: 25, full: 75 },
  measure,
  faults: faultsOf,
  report: reportOf,
});
