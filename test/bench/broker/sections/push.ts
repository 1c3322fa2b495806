import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, instructionStreamRequest, reservationRequest } from "@resource-broker/testkit";
import { type BenchEnvironment, type Section, withBroker } from "../environment.ts";
import type { Connection } from "../load/connection.ts";
import { advertiseOn, closeAll, openFleet } from "../load/fleet.ts";
import { count, median, ms, percentile } from "../measure/percentile.ts";

const PROVIDERS = 1000;
const REQUESTS = { full: 3000, quick: 400 };
/** A broker with something to do, far from busy: how fast a provider is told, not how long a queue is. */
const EVERY_MS = 5;
const TIMEOUT_MS = 2000;

/** How soon a provider with an open stream hears of a reservation. */
export const push: Section = {
  name: "push",
  run: (env) => withBroker(env, ({ port }) => measure(env, port)),
};

async function measure(
  { certificates, isQuick, report }: BenchEnvironment,
  port: number,
): Promise<BenchRow[]> {
  const wanted = isQuick ? REQUESTS.quick : REQUESTS.full;
  report(`push to ${count(PROVIDERS)} open streams, ${count(wanted)} reservations`);
  const fleetOf = { port, certificates, prefix: "cluster", from: 0, to: PROVIDERS };
  const receivedAt = new Map<string, number>();
  const asking = await openFleet({ ...fleetOf, begin: (connection) => advertiseOn(connection) });
  const listening = await openFleet({ ...fleetOf, begin: (connection) => listen(connection, receivedAt) });
  await sleep(500);

  const sent = new Map<string, { readonly at: number; readonly answeredAt: number }>();
  for (let number = 0; number < wanted; number++) {
    const connection = asking[number % asking.length];
    if (connection !== undefined) askOnce(connection, `push-${number}`, sent);
    await sleep(EVERY_MS);
  }
  await waitForEvents(sent, receivedAt, wanted);
  closeAll([...asking, ...listening]);

  const delays = [...sent].flatMap(([id, { at, answeredAt }]) => {
    const received = receivedAt.get(id);
    return received === undefined ? [] : [{ sinceRequest: received - at, sinceReply: received - answeredAt }];
  });
  const total = delays.map(({ sinceRequest }) => sinceRequest);
  const after = delays.map(({ sinceReply }) => sinceReply);
  const missed = wanted - delays.length;
  return [
    {
      metric: "provider told (push), request → event, p50 / p99",
      now: `${ms(median(total))} / ${ms(percentile(total, 0.99))} ms`,
      target: "2 / 20 ms",
      predecessor: "2,165 ms mean (poll)",
      note:
        `an upper bound of commit → event: decision and commit included; reply → event ` +
        `${ms(median(after))} / ${ms(percentile(after, 0.99))} ms; ${count(PROVIDERS)} streams, ${missed} of ${count(wanted)} missed`,
    },
  ];
}

const EVENT = /event: instruction\ndata: \{"id":"([^"]+)"/g;

function listen(connection: Connection, receivedAt: Map<string, number>): void {
  let rest = "";
  connection.stream(instructionStreamRequest(), (text) => {
    rest += text;
    for (const [, id = ""] of rest.matchAll(EVENT)) receivedAt.set(id, performance.now());
    // An event may be cut in two: its last part waits for the next chunk.
    rest = rest.slice(Math.max(rest.lastIndexOf("\n\n"), 0));
  });
}

function askOnce(
  connection: Connection,
  key: string,
  sent: Map<string, { readonly at: number; readonly answeredAt: number }>,
): void {
  const at = performance.now();
  connection.send(reservationRequest(key), (status, body) => {
    const answeredAt = performance.now();
    const [, id] = /"id":"([^"]+)"/.exec(body.toString("latin1")) ?? [];
    if (status !== 201 || id === undefined) throw new Error(`no reservation: ${status}`);
    sent.set(id, { at, answeredAt });
  });
}

async function waitForEvents(
  sent: ReadonlyMap<string, unknown>,
  receivedAt: ReadonlyMap<string, number>,
  wanted: number,
): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline && (sent.size < wanted || receivedAt.size < wanted)) await sleep(20);
}
