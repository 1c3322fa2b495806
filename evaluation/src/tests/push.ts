import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";
import { seededRandom } from "@resource-broker/testkit";
import { type Chart, OURS, series, THEIRS } from "../charts/chart.ts";
import { type BySize, type Context, evaluationTest } from "../evaluation-test.ts";
import { lookUntil } from "../measure/async.ts";
import { type Connection, getText, reserveText } from "../measure/load/connection.ts";
import { inTurn, numbersTo } from "../measure/scope.ts";
import { distributionOf, median } from "../measure/statistics.ts";
import { PREDECESSOR } from "../predecessor.ts";
import { columnsOf, countText, factorText, NOTHING, numberText, tableOf } from "../report/format.ts";
import { advertiseSize, answerOf, read, requestFor, sendTimed, SMALL } from "./subject/calls.ts";
import { connectAll, openOwn } from "./subject/subject.ts";

/** How a provider hears of what it has to hold. */
const WAYS = ["push", "poll"] as const;
type Way = (typeof WAYS)[number];

/** One reservation; both times since the request was sent. */
interface Notification {
  readonly way: Way;
  /** Until the requester had its reply. */
  readonly answeredMs: number;
  /** Until the provider had read of it; absent: it never did. */
  readonly toldMs?: number;
}

interface PushResult {
  readonly providers: number;
  readonly told: readonly Notification[];
}

/** What an agent does unless it is told otherwise, and what agents of the predecessor do. */
const POLL_EVERY_MS = 5000;
/** The last poll, and time to read it on a busy machine. */
const LAST_WAIT_MS = 3 * POLL_EVERY_MS;
const LOOK_EVERY_MS = 20;

/** Providers of each way; reservations in all, half of them for each way. */
const PLANS: BySize<{ providers: number; reservations: number; everyMs: number }> = {
  smoke: { providers: 10, reservations: 60, everyMs: 25 },
  quick: { providers: 50, reservations: 400, everyMs: 40 },
  full: { providers: 200, reservations: 1600, everyMs: 30 },
};

async function measure(context: Context): Promise<PushResult> {
  const { size, seed, signal, progress } = context;
  const { providers, reservations, everyMs } = PLANS[size];
  progress(0, `${providers} providers listen, ${providers} ask every ${POLL_EVERY_MS / 1000} s`);
  const { requesters, targets, notifiedAt } = await openProviders(context, providers);
  const random = seededRandom(seed);
  const sent: Promise<{ way: Way; sentAt: number; answeredMs: number; id: string }>[] = [];
  await inTurn(context, numbersTo(reservations), {
    doing: (number) => `reservation ${number} of ${reservations}`,
    task: async (_, index) => {
      const way = WAYS[index % WAYS.length] ?? "push";
      const requester = requesters[index % requesters.length];
      const target = random.pick(targets[way])?.clusterId;
      if (requester !== undefined && target !== undefined)
        sent.push(reserveAt(target, requester, `push-${index}`).then((reply) => ({ way, ...reply })));
      await sleep(everyMs / 2 + random.below(everyMs), undefined, { signal });
    },
  });
  progress(0.9, "waiting for the last poll");
  const replies = await Promise.all(sent);
  await lookUntil({ everyMs: LOOK_EVERY_MS, withinMs: LAST_WAIT_MS, signal }, () =>
    replies.every(({ id }) => notifiedAt.has(id)) ? true : undefined,
  );
  const told = replies.map(({ way, sentAt, answeredMs, id }): Notification => {
    const at = notifiedAt.get(id);
    return { way, answeredMs, ...(at === undefined ? {} : { toldMs: at - sentAt }) };
  });
  return { providers, told };
}

/** Those who ask; providers that listen, and those that poll; and when a provider first read of a reservation. */
async function openProviders(context: Context, providers: number) {
  const subject = await openOwn(context);
  const all = subject.identities(3 * providers);
  const part = (at: number) => ({ subject, identities: all.slice(at * providers, (at + 1) * providers) });
  const requesters = await connectAll(context, part(0));
  const targets = {
    push: await connectAll(context, { ...part(1), begin: advertiseSize }),
    poll: await connectAll(context, { ...part(2), begin: advertiseSize }),
  };
  const notifiedAt = new Map<string, number>();
  const onReservation: OnReservation = (id) => {
    if (!notifiedAt.has(id)) notifiedAt.set(id, performance.now());
  };
  const random = seededRandom(context.seed).fork(8);
  for (const each of targets.push) listen(each, onReservation);
  for (const each of targets.poll) context.onCleanup(poll(each, onReservation, random.below(POLL_EVERY_MS)));
  return { requesters, targets, notifiedAt };
}

/** An empty id: it was not granted, so that nobody will ever hear of it. */
async function reserveAt(targetClusterID: string, requester: Connection, key: string) {
  const sentAt = performance.now();
  const timed = await sendTimed(requester, reserveText({ ...requestFor(SMALL), targetClusterID }, key));
  return { sentAt, answeredMs: timed.tookMs, id: answerOf(timed).id ?? "" };
}

/** Called with the id of each reservation that a provider reads of. */
type OnReservation = (id: string) => void;

const EVENT = /event: instruction\r?\ndata: \{"id":"([^"]+)"/g;

/** Keeps a stream open and reads what is pushed. */
export function listen(connection: Connection, onReservation: OnReservation): void {
  let rest = "";
  connection.stream(getText(PATH.instructionStream), (chunk) => {
    rest += chunk.toString("latin1");
    for (const [, id = ""] of rest.matchAll(EVENT)) onReservation(id);
    // An event may be cut in two: its last part waits for the next chunk.
    rest = rest.slice(Math.max(rest.lastIndexOf("\n\n"), 0));
  });
}

/** Asks every five seconds, beginning at a moment of its own, until it is told to end. */
function poll(connection: Connection, onReservation: OnReservation, beginsAfterMs: number): () => void {
  const ask = async (): Promise<void> => {
    const list = await read(connection, PATH.instructions);
    for (const each of Array.isArray(list) ? list : []) if (hasId(each)) onReservation(each.id);
  };
  const askOrEnd = (): void =>
    void ask().catch((error: unknown) => {
      // A poller that ends would look like a provider that is never told; the connection was closed at the end of the test.
      if (!connection.isClosed()) throw error;
    });
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    askOrEnd();
    every = setInterval(askOrEnd, POLL_EVERY_MS);
  }, beginsAfterMs);
  return () => {
    clearTimeout(first);
    clearInterval(every);
  };
}

function hasId(value: unknown): value is { readonly id: string } {
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
}

function metricsOf(told: readonly Notification[], way: Way) {
  const known = told.flatMap(({ toldMs, ...each }) =>
    each.way === way && toldMs !== undefined ? [{ ...each, toldMs }] : [],
  );
  const notified = distributionOf(known.map(({ toldMs }) => toldMs));
  // From the requester's reply on: below 0 where the provider knew first.
  const afterReply = median(known.map(({ toldMs, answeredMs }) => toldMs - answeredMs));
  return notified === undefined ? undefined : { ...notified, way, afterReply };
}

const CURVE_POINTS = 30;

/** Points of a curve: after so long, this share of them knew, in percent. At most so many, the last one among them. */
function notifiedShare(
  told: readonly Notification[],
  way: Way,
): { readonly x: number; readonly y: number }[] {
  const ofWay = told.filter((each) => each.way === way);
  const times = ofWay.flatMap(({ toldMs }) => toldMs ?? []).toSorted((a, b) => a - b);
  const points = times.map((x, at) => ({ x, y: (100 * (at + 1)) / ofWay.length }));
  const step = Math.max(1, Math.ceil(points.length / CURVE_POINTS));
  return points.filter((_, at) => at % step === 0 || at === points.length - 1);
}

const THEIR_MEAN_MS = PREDECESSOR.latencyMs.providerInstruction;
const TARGET = { median: 2, p99: 20 };

function chartOf({ providers, told }: PushResult): Chart {
  const everyText = `poll every ${POLL_EVERY_MS / 1000} s`;
  return {
    name: "8-push",
    title: "When a provider knows what it has to hold",
    subtitle: `since the request was sent (decision and durable commit included); ${providers} providers of each kind`,
    kind: "lines",
    x: { label: "time since the request", unit: "ms", scale: "log" },
    y: { label: "providers that know", unit: "%", scale: "linear" },
    series: [
      series(`${OURS}, push`, "ours", notifiedShare(told, "push")),
      series(`${OURS}, ${everyText}`, "third", notifiedShare(told, "poll")),
    ],
    notes: [`${THEIRS}: ${countText(THEIR_MEAN_MS)} ms on average, by polling every 5 s`],
  };
}

export const pushTest = evaluationTest<PushResult>({
  id: "8",
  title: "Providers told: push and poll",
  method: [
    "A real broker process over mTLS; providers are protocol clients in the load process, each with a certificate and a connection of its own. Half keep",
    "`GET /api/v1/instructions?watch=true` open (as our agents do), half ask `GET /api/v1/instructions` every 5 s, each beginning at a random moment (as agents do",
    "where the broker cannot push). Reservations are asked for one at a time, at random intervals, each for a named provider, push and poll in turn. Time: the",
    "monotonic clock of the load process, from sending the request until the provider has read its instruction; so deciding and the durable commit are included.",
    "What an agent then does with it (writing the ProviderInstruction) is in test 4.",
  ].join("\n"),
  expectedSeconds: { smoke: 8, quick: 25, full: 80 },
  run: measure,
  report: (result) => {
    const { told } = result;
    const [push, polled] = [metricsOf(told, "push"), metricsOf(told, "poll")];
    const isShort = push !== undefined && (push.median > TARGET.median || push.p99 > TARGET.p99);
    return {
      faults: WAYS.map((way) => {
        const never = told.filter((each) => each.way === way && each.toldMs === undefined).length;
        return never > 0 && `${way}: ${never} reservations that their provider never heard of`;
      }),
      charts: [chartOf(result)],
      summary: [
        {
          metric: "8 provider told by push, median / p99",
          ours: push === undefined ? NOTHING : `${numberText(push.median)} / ${numberText(push.p99)} ms`,
          theirs: `${countText(THEIR_MEAN_MS)} ms mean (poll)`,
          factor: factorText(push?.mean, THEIR_MEAN_MS),
        },
      ],
      text: [
        tableOf(
          [push, polled].filter((each) => each !== undefined),
          {
            way: ({ way }) => way,
            reservations: ({ count }) => count,
            ...columnsOf("ms", "mean", "median", "p95", "p99", "most"),
            "median after the requester's reply": ({ afterReply }) => [afterReply, "ms"],
          },
        ),
        isShort &&
          `**Short of our own target** of ${TARGET.median} / ${TARGET.p99} ms (median / p99 after the commit): ours is measured from the request on, with the decision and the commit in it, on a machine that is shared.`,
        `Polling is no better than the predecessor's: ${numberText(polled?.mean ?? 0)} ms on average here, because half of a 5 s interval is 2.5 s. It is the fallback for brokers and proxies that cannot keep a stream open.`,
      ],
    };
  },
});
