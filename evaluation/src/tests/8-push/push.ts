import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@resource-broker/testkit";
import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { reserveText } from "../../measure/load/requests.ts";
import { type OnCleanup, withCleanup } from "../../measure/with-cleanup.ts";
import { advertisementFor, requestFor } from "../subject/bodies.ts";
import { advertise, answerOf, sendTimed } from "../subject/calls.ts";
import { connectAll, openSubject, type Subject } from "../subject/subject.ts";
import { listen, POLL_EVERY_MS, poll } from "./providers.ts";
import { type Notification, pushFaults, WAYS, type Way } from "./results.ts";
import { chartsOf, findingsOf, type PushResult } from "./show.ts";

const PROVIDER_SIZE = { cpuMillis: 4_000_000, memoryMi: 4_000_000 };
const SMALL = { cpuMillis: 500, memoryMi: 256 };
/** The last poll, and time to read it on a busy machine. */
const LAST_WAIT_MS = 3 * POLL_EVERY_MS;
const POLL_MS = 20;

interface Plan {
  /** Of each way. */
  readonly providers: number;
  /** All in all; half of them for each way. */
  readonly reservations: number;
  readonly everyMs: number;
}

const PLANS: Readonly<Record<Size, Plan>> = {
  smoke: { providers: 10, reservations: 60, everyMs: 25 },
  quick: { providers: 50, reservations: 400, everyMs: 40 },
  full: { providers: 200, reservations: 1600, everyMs: 30 },
};

function run(context: Context): Promise<PushResult> {
  return withCleanup(async (onCleanup) => {
    const { size, seed, signal, progress } = context;
    const { providers, reservations, everyMs } = PLANS[size];
    const subject = await openSubject(context, onCleanup);
    progress(0, `${providers} providers listen, ${providers} ask every ${POLL_EVERY_MS / 1000} s`);
    const setup = await openSetup(subject, { providers, seed, later: onCleanup });
    const sent: Sent[] = [];
    const random = seededRandom(seed);
    for (let number = 0; number < reservations; number++) {
      const way = WAYS[number % WAYS.length] ?? "push";
      const requester = setup.requesters[number % setup.requesters.length];
      const target = random.pick(setup.providers[way]);
      if (requester !== undefined && target !== undefined)
        sent.push(sendOne(requester, { way, target, key: `push-${number}` }));
      if (number % 20 === 0)
        progress(number / (reservations * 1.2), `reservation ${number} of ${reservations}`);
      await sleep(everyMs / 2 + random.below(everyMs), undefined, { signal });
    }
    progress(0.9, "waiting for the last poll");
    const notifications = await Promise.all(sent.map(async (each) => ({ ...each, id: await each.id })));
    const areAllNotified = (): boolean => notifications.every(({ id }) => setup.notifiedAt.has(id));
    for (let waited = 0; waited < LAST_WAIT_MS && !areAllNotified(); waited += POLL_MS)
      await sleep(POLL_MS, undefined, { signal });
    return {
      providers,
      told: await Promise.all(notifications.map((each) => notificationOf(each, setup.notifiedAt))),
    };
  });
}

interface PushSetup {
  readonly requesters: readonly Connection[];
  readonly providers: Readonly<Record<Way, readonly string[]>>;
  /** When a provider first read of a reservation. */
  readonly notifiedAt: ReadonlyMap<string, number>;
}

async function openSetup(
  subject: Subject,
  {
    providers,
    seed,
    later: onCleanup,
  }: { readonly providers: number; readonly seed: number; readonly later: OnCleanup },
): Promise<PushSetup> {
  const identities = subject.identities(3 * providers);
  const open = (part: number, begin?: (connection: Connection) => Promise<void>): Promise<Connection[]> =>
    connectAll(subject, identities.slice(part * providers, (part + 1) * providers), {
      later: onCleanup,
      ...(begin === undefined ? {} : { begin }),
    });
  const advertiseOn = (each: Connection): Promise<void> =>
    advertise(each, advertisementFor(each.clusterId, PROVIDER_SIZE));
  const requesters = await open(0);
  const [pushed, polled] = [await open(1, advertiseOn), await open(2, advertiseOn)];
  const notifiedAt = new Map<string, number>();
  const onReservation = (id: string): void => {
    if (!notifiedAt.has(id)) notifiedAt.set(id, performance.now());
  };
  const random = seededRandom(seed).fork(8);
  for (const each of pushed) listen(each, onReservation);
  for (const each of polled) poll(each, onReservation, { random, later: onCleanup });
  const idsOf = (list: readonly Connection[]): string[] => list.map(({ clusterId }) => clusterId);
  return { requesters, providers: { push: idsOf(pushed), poll: idsOf(polled) }, notifiedAt };
}

interface Sent {
  readonly way: Way;
  readonly sentAt: number;
  readonly answeredMs: Promise<number>;
  /** Empty: it was not granted, so that nobody will ever hear of it. */
  readonly id: Promise<string>;
}

function sendOne(
  requester: Connection,
  { way, target, key }: { readonly way: Way; readonly target: string; readonly key: string },
): Sent {
  const sentAt = performance.now();
  const timed = sendTimed(requester, reserveText({ ...requestFor(SMALL), targetClusterID: target }, key));
  return {
    way,
    sentAt,
    answeredMs: timed.then(({ tookMs }) => tookMs),
    id: timed.then((reply) => answerOf(reply).id ?? ""),
  };
}

async function notificationOf(
  { way, sentAt, answeredMs, id }: Omit<Sent, "id"> & { readonly id: string },
  notifiedAt: ReadonlyMap<string, number>,
): Promise<Notification> {
  const at = notifiedAt.get(id);
  return { way, answeredMs: await answeredMs, ...(at === undefined ? {} : { toldMs: at - sentAt }) };
}

export const pushTest: EvaluationTest<PushResult> = {
  id: "8",
  title: "Providers told: push and poll",
  method: [
    "A real broker process over mTLS; providers are protocol clients in the load process, each with a certificate and a connection of its own. Half keep",
    "`GET /api/v1/instructions?watch=true` open (as our agents do), half ask `GET /api/v1/instructions` every 5 s, each beginning at a random moment (as agents do",
    "where the broker cannot push). Reservations are asked for one at a time, at random intervals, each for a named provider, push and poll in turn. Time: the",
    "monotonic clock of the load process, from sending the request until the provider has read its instruction; so deciding and the durable commit are included.",
    "What an agent then does with it (writing the ProviderInstruction) is in test 4.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 8, quick: 25, full: 80 })[size],
  run,
  faults: ({ told }) => pushFaults(told),
  charts: chartsOf,
  findings: findingsOf,
};
