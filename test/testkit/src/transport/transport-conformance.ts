import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert";
import type { BrokerEvent, BrokerTransport, ResponseMetadata } from "@resource-broker/agent";
import { Fault } from "@resource-broker/base";
import { type CallSender, drainCall, uncordonCall } from "@resource-broker/client";
import type { AdoptionRequestDTO, ReservationDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { advertisementBody, reservationBody } from "../broker/bodies.ts";
import { refused } from "../refused.ts";
import { until } from "../world/until.ts";

/** A broker without memory yet, and ways to it. */
export interface TransportUnderTest {
  /** The agent of this cluster; closed at the end by the suite. */
  readonly connect: (clusterId: string) => Promise<BrokerTransport>;
  /** Breaks every connection that is open. The broker goes on. */
  readonly cut: () => void;
  /** The same broker with an empty ledger, as after a lost disk. */
  readonly loseLedger: () => Promise<void>;
  /** Calls as an admin. */
  readonly admin: () => CallSender;
  readonly remove: () => Promise<void>;
}

type MakeTransport = () => Promise<TransportUnderTest>;

/** One promise of the port: `keep` throws when a transport breaks it. */
export interface TransportPromise {
  readonly name: string;
  readonly keep: (makeTransport: MakeTransport) => Promise<void>;
}

/** What a promise works with: rome borrows, paris has 16 CPU to lend. */
interface Setup {
  readonly transport: TransportUnderTest;
  readonly connect: TransportUnderTest["connect"];
  readonly rome: BrokerTransport;
  readonly paris: BrokerTransport;
}

const NOTHING_SUCH = "rsv-rome-aaaaaaaaaaaaaaaa";
const request = reservationBody({ cpu: 2, memoryGi: 4 });
/** All that paris has. */
const everything = reservationBody({ cpu: 16, memoryGi: 4 });

/** What every transport promises, whatever the protocol. A transport that cannot keep one names it as a gap. */
export const TRANSPORT_PROMISES: readonly TransportPromise[] = [
  promise("the broker takes us for the cluster we are", ({ rome, paris }) => {
    deepStrictEqual([rome.identity(), paris.identity()], ["rome", "paris"]);
    return Promise.resolve();
  }),

  promise(
    "an advertisement is answered with what the broker reserved, and what is to be held",
    async (setup) => {
      const { rome, paris } = setup;
      const before = await publish(paris, "paris");
      strictEqual(before.advertisement.resources.reserved?.cpu, "0");
      const { id } = await rome.reserve(request, "k");
      const { advertisement } = await publish(paris, "paris");
      deepStrictEqual(
        [advertisement.resources.reserved?.cpu, advertisement.resources.available.cpu],
        ["2", "14"],
      );
      // Over Kubernetes a watch of its own delivers the reservation, perhaps a moment after the answer.
      const told = await until("the provider is told what to hold", async () => {
        const { providerInstructions = [] } = await publish(paris, "paris");
        return providerInstructions.length === 0 ? undefined : providerInstructions;
      });
      deepStrictEqual(ids(told), [id]);
    },
  ),

  promise("nobody advertises for another cluster", async ({ rome }) => {
    await refused(publish(rome, "paris"), "forbidden");
  }),

  promise("a reservation is answered at once, whole", async ({ rome }) => {
    const made = await rome.reserve({ ...request, duration: "1h" }, "k");
    const { requesterID, targetClusterID, requestedResources, status, key } = made;
    deepStrictEqual(
      { requesterID, targetClusterID, requestedResources, phase: status.phase, key },
      {
        requesterID: "rome",
        targetClusterID: "paris",
        requestedResources: { cpu: "2", memory: "4Gi" },
        phase: "Reserved",
        key: "k",
      },
    );
    ok(status.expiresAt !== undefined, "it has an end");
  }),

  promise("one key books once, however often it is sent", async ({ rome }) => {
    const first = await rome.reserve(request, "k");
    const copies = Array.from({ length: 5 }, () => rome.reserve(request, "k"));
    for (const { id } of await Promise.all(copies)) strictEqual(id, first.id);
    const other = await rome.reserve(request, "another");
    notStrictEqual(other.id, first.id);
    deepStrictEqual(ids(await rome.listReservations("requester")), [first.id, other.id].toSorted());
  }),

  promise("a replay tells the reservation as it stands now", async ({ rome }) => {
    const { id } = await rome.reserve(request, "k");
    await rome.activate(id);
    const replayed = await rome.reserve(request, "k");
    deepStrictEqual([replayed.id, replayed.status.phase], [id, "Active"]);
  }),

  promise("a key that was used for something else is refused", async ({ rome }) => {
    await rome.reserve(request, "k");
    await refused(rome.reserve(reservationBody({ cpu: 3, memoryGi: 4 }), "k"), "key-mismatch");
  }),

  promise("a refusal says why for each cluster", async ({ rome }) => {
    const huge = reservationBody({ cpu: 1000, memoryGi: 4 });
    const { details } = await refused(rome.reserve(huge, "k"), "no-capacity");
    deepStrictEqual(
      details.reasons?.map(({ clusterID }) => clusterID),
      ["paris", "rome"],
    );
    ok(details.reasons?.every(({ message }) => message !== ""));
    ok(details.decisionID !== undefined);
  }),

  promise("nonsense is refused as such", async ({ rome }) => {
    const nonsense = { requestedResources: { cpu: "abc", memory: "-1" } };
    await refused(rome.reserve(nonsense, "k"), "invalid");
  }),

  promise("reservations are listed by role, to their parties only", async ({ rome, paris, connect }) => {
    const { id } = await rome.reserve(request, "k");
    const berlin = await connect("berlin");
    const roles = ["requester", "provider"] as const;
    const listed = async (who: BrokerTransport) =>
      Promise.all(roles.map(async (role) => ids(await who.listReservations(role))));
    deepStrictEqual(await listed(rome), [[id], []]);
    deepStrictEqual(await listed(paris), [[], [id]]);
    deepStrictEqual(await listed(berlin), [[], []]);
  }),

  promise("one reservation is told to its parties; an unknown one is undefined", async (setup) => {
    const { rome, paris, connect } = setup;
    const { id } = await rome.reserve(request, "k");
    strictEqual((await rome.getReservation(id))?.key, "k");
    strictEqual((await paris.getReservation(id))?.id, id);
    strictEqual(await (await connect("berlin")).getReservation(id), undefined);
    strictEqual(await rome.getReservation(NOTHING_SUCH), undefined);
  }),

  promise("instructions are what a provider has to hold, while it has to", async ({ rome, paris }) => {
    deepStrictEqual(await paris.listInstructions(), []);
    const { id } = await rome.reserve(request, "k");
    deepStrictEqual(ids(await paris.listInstructions()), [id]);
    deepStrictEqual(await rome.listInstructions(), []);
    await rome.release(id);
    deepStrictEqual(await paris.listInstructions(), []);
  }),

  promise("activating and releasing can each be done again", async ({ rome }) => {
    const { id } = await rome.reserve({ ...request, duration: "1h" }, "k");
    for (const _ of [1, 2]) strictEqual((await rome.activate(id)).status.phase, "Active");
    for (const _ of [1, 2]) await rome.release(id);
    const ended = await rome.getReservation(id);
    deepStrictEqual([ended?.status.phase, ended?.reason], ["Released", "ReleasedByRequester"]);
    await refused(rome.activate(id), "already-ended");
  }),

  promise("releasing what was never there is no error", async ({ rome }) => {
    await rome.release(NOTHING_SUCH);
    deepStrictEqual(await rome.listReservations("requester"), []);
  }),

  promise("a key is released before, after and without its reservation", async ({ rome }) => {
    const { id } = await rome.reserve(request, "made");
    for (const _ of [1, 2]) await rome.releaseByKey("made");
    strictEqual((await rome.getReservation(id))?.status.phase, "Released");
    for (const _ of [1, 2]) await rome.releaseByKey("never/made?&=#%");
    await refused(rome.reserve(request, "never/made?&=#%"), "key-released");
  }),

  promise("a provider holds, and says so as often as it likes", async ({ rome, paris }) => {
    const { id, generation } = await rome.reserve(request, "k");
    await paris.acknowledge(id, generation);
    await paris.acknowledge(id, undefined);
    strictEqual((await rome.getReservation(id))?.status.phase, "Reserved");
    await refused(paris.acknowledge(NOTHING_SUCH, undefined), "not-found");
  }),

  promise("a provider refuses, and the requester hears why", async ({ rome, paris }) => {
    const { id } = await rome.reserve(request, "k");
    for (const _ of [1, 2]) await paris.refuse(id, "two nodes failed");
    const failed = await rome.getReservation(id);
    deepStrictEqual([failed?.status.phase, failed?.reason], ["Failed", "ProviderRefused"]);
    ok(failed?.status.message.includes("two nodes failed"), failed?.status.message);
  }),

  promise("a stream begins with what is live and goes on with what changes, in order", async (setup) => {
    const { rome, paris } = setup;
    const { id } = await rome.reserve(request, "k");
    const [provider, requester] = [startWatch(paris), startWatch(rome)];
    deepStrictEqual(await provider.next(), ["instruction", id, "Reserved"]);
    deepStrictEqual(await requester.next(), ["reservation", id, "Reserved"]);
    await rome.activate(id);
    const second = await rome.reserve(request, "second");
    await rome.release(id);
    for (const [kind, watched] of [
      ["instruction", provider],
      ["reservation", requester],
    ] as const) {
      deepStrictEqual(await watched.next(), [kind, id, "Active"]);
      deepStrictEqual(await watched.next(), [kind, second.id, "Reserved"]);
      deepStrictEqual(await watched.next(), [kind, id, "Released"]);
    }
    await Promise.all([provider.stop(), requester.stop()]);
  }),

  promise(
    "a stream goes on where it was cut: nothing is lost, also not what ended meanwhile",
    async (setup) => {
      const { rome, paris, transport } = setup;
      const [first, second] = [await rome.reserve(request, "first"), await rome.reserve(request, "second")];
      const before = startWatch(paris);
      await before.next();
      await before.next();
      // The news after the list: only now is the list surely behind us.
      await rome.activate(first.id);
      deepStrictEqual(await before.next(), ["instruction", first.id, "Active"]);
      const ended = before.ended();
      transport.cut();
      await ended;
      await rome.release(first.id);
      const third = await rome.reserve(request, "third");
      const after = startWatch(paris);
      const phases = new Map<string, string>();
      while (!phases.has(third.id)) {
        const [, id, phase] = await after.next();
        phases.set(id, phase);
      }
      strictEqual(phases.get(first.id), "Released");
      ok(!after.wasReset(), "it went on");
      ok(!phases.has(second.id) || phases.get(second.id) === "Reserved");
      await after.stop();
    },
  ),

  promise("a stream ends quietly when its reader has had enough", async ({ paris }) => {
    const watched = startWatch(paris);
    await watched.alive();
    await watched.stop();
  }),

  promise("a request that does not fit waits with its place, for its requester only", async (setup) => {
    const { rome, paris } = setup;
    await rome.reserve(everything, "holder");
    const { id, requesterID, tenant, status, key } = await waits(rome, "k");
    deepStrictEqual([requesterID, tenant, status.phase, key], ["rome", "rome", "Pending", "k"]);
    // Over Kubernetes the place is computed a moment later.
    const placed = await until("its place is known", async () => {
      const [first, ...others] = await rome.listWaiting();
      deepStrictEqual([first?.id, others], [id, []]);
      return first?.queue;
    });
    deepStrictEqual([placed.position, placed.of, placed.reason], [1, 1, "Capacity"]);
    strictEqual((await rome.getWaiting(id))?.status.phase, "Pending");
    strictEqual(await rome.getReservation(id), undefined);
    deepStrictEqual([await paris.listWaiting(), await paris.getWaiting(id)], [[], undefined]);
  }),

  promise("a waiting request is granted under its ID, and its requester is told", async ({ rome }) => {
    const holder = await rome.reserve(everything, "holder");
    const waiting = await waits(rome, "k");
    const watched = startWatch(rome);
    deepStrictEqual(await watched.next(), ["reservation", holder.id, "Reserved"]);
    await rome.release(holder.id);
    deepStrictEqual(await watched.next(), ["reservation", holder.id, "Released"]);
    deepStrictEqual(await watched.next(), ["reservation", waiting.id, "Reserved"]);
    await watched.stop();
    const granted = await rome.getReservation(waiting.id);
    deepStrictEqual([granted?.targetClusterID, granted?.createdAt], ["paris", waiting.createdAt]);
    ok((granted?.generation ?? 0) > waiting.generation, "a grant is news");
    deepStrictEqual([await rome.listWaiting(), await rome.getWaiting(waiting.id)], [[], undefined]);
  }),

  promise("a retry finds the request that waits, and then its reservation", async ({ rome }) => {
    const holder = await rome.reserve(everything, "holder");
    const { id, until: end } = await waits(rome, "k");
    const again = await waits(rome, "k");
    deepStrictEqual([again.id, again.until], [id, end]);
    await refused(rome.reserveOrWait({ ...request, wait: {} }, "k"), "key-mismatch");
    await rome.release(holder.id);
    const granted = await until("it is granted", () => rome.getReservation(id));
    // Over Kubernetes a retry may be a moment behind what was watched.
    const replayed = await until("a retry finds it", async () => {
      const found = await rome.reserveOrWait({ ...everything, wait: {} }, "k");
      strictEqual(found.id, granted.id);
      return found.status.phase === "Pending" ? undefined : found;
    });
    strictEqual(replayed.status.phase, "Reserved");
  }),

  promise("a waiting request leaves the queue by its ID or by its key", async ({ rome }) => {
    await rome.reserve(everything, "holder");
    const [first, second] = [await waits(rome, "first"), await waits(rome, "second")];
    const watched = startWatch(rome);
    await watched.alive();
    for (const _ of [1, 2]) await rome.release(first.id);
    deepStrictEqual(await watched.nextLeft(), [first.id, "Released", "ReleasedByRequester"]);
    for (const _ of [1, 2]) await rome.releaseByKey("second");
    deepStrictEqual(await watched.nextLeft(), [second.id, "Released", "ReleasedByRequester"]);
    await watched.stop();
    deepStrictEqual(await rome.listWaiting(), []);
    strictEqual((await rome.getWaiting(first.id))?.status.phase, "Released");
    strictEqual((await rome.listReservations("requester")).length, 1);
  }),

  promise("a request that may wait for too long is refused", async ({ rome }) => {
    await refused(rome.reserveOrWait({ ...everything, wait: { for: "25h" } }, "k"), "ttl-too-long");
    deepStrictEqual(await rome.listWaiting(), []);
  }),

  promise("what waited at a broker that lost its memory is served once, with its key", async (setup) => {
    const { rome, paris, transport } = setup;
    await rome.reserve(everything, "holder");
    const { id } = await waits(rome, "k");
    await transport.loseLedger();
    await publish(rome, "rome");
    await publish(paris, "paris");
    strictEqual((await rome.reserveOrWait({ ...everything, wait: {} }, "k")).id, id);
    const { status } = await until("it is granted", () => rome.getReservation(id));
    strictEqual(status.phase, "Reserved");
    deepStrictEqual(ids(await rome.listReservations("requester")), [id]);
  }),

  promise("both parties are told of a notice, and that it was withdrawn", async (setup) => {
    const { rome, paris, transport } = setup;
    const { id, generation = 0 } = await rome.reserve(request, "k");
    const seen = async (who: BrokerTransport, isNoticed: boolean) =>
      until(`it is under notice: ${isNoticed}`, async () => {
        const found = await who.getReservation(id);
        return (found?.preempting !== undefined) === isNoticed ? found : undefined;
      });
    await transport.admin().request(drainCall("paris"));
    const [noticed] = await Promise.all([seen(rome, true), seen(paris, true)]);
    ok((noticed.generation ?? 0) > generation, "a notice is news");
    deepStrictEqual(noticed.preempting, (await paris.listInstructions())[0]?.preempting);
    await transport.admin().request(uncordonCall("paris"));
    await Promise.all([seen(rome, false), seen(paris, false)]);
  }),

  promise("a broker that lost its memory says so, and a stream begins anew", async (setup) => {
    const { rome, paris, transport } = setup;
    await rome.reserve(request, "k");
    const responses = responsesOf(paris);
    const before = startWatch(paris);
    await before.next();
    const ended = before.ended();
    await transport.loseLedger();
    await ended;
    const after = startWatch(paris);
    await after.untilReset();
    await after.stop();
    await publish(paris, "paris");
    const ledgers = new Set(responses.map(({ ledgerId }) => ledgerId));
    strictEqual(ledgers.size, 2, `two ledgers: ${[...ledgers].join(", ")}`);
  }),

  promise("what both parties still hold is adopted by a broker that lost its memory", async (setup) => {
    const { rome, paris, transport } = setup;
    const held = await rome.reserve(request, "k");
    await transport.loseLedger();
    await publish(paris, "paris");
    await publish(rome, "rome");
    const outcomes = async (who: BrokerTransport) =>
      (await who.adopt(offerOf(held))).results.map(({ outcome }) => outcome);
    deepStrictEqual(await outcomes(rome), ["waiting"]);
    deepStrictEqual(await outcomes(paris), ["adopted"]);
    deepStrictEqual(await outcomes(rome), ["adopted"]);
    deepStrictEqual(ids(await paris.listInstructions()), [held.id]);
  }),

  promise("every answer tells of the broker: its ledger, its time, its age", async ({ rome }) => {
    const responses = responsesOf(rome);
    await rome.listInstructions();
    await refused(rome.reserve(reservationBody({ cpu: 1000, memoryGi: 4 }), "k"), "no-capacity");
    strictEqual(responses.length, 2);
    const [first, second] = responses;
    ok(first?.ledgerId !== undefined && first.ledgerId === second?.ledgerId);
    ok(responses.every(({ isCurrent, brokerTimeMs }) => isCurrent && brokerTimeMs !== undefined));
    ok(responses.every(({ canQueue }) => canQueue));
  }),

  promise("whoever stops listening hears of no further answer", async ({ rome }) => {
    const responses: ResponseMetadata[] = [];
    const stop = rome.onResponse((response) => responses.push(response));
    await rome.listInstructions();
    stop();
    await rome.listInstructions();
    strictEqual(responses.length, 1);
  }),

  promise("a broken connection is made anew without anybody noticing", async ({ rome, transport }) => {
    await rome.ping();
    for (const round of [1, 2, 3]) {
      transport.cut();
      strictEqual((await rome.reserve(request, `round-${round}`)).status.phase, "Reserved");
    }
  }),

  promise("what is closed answers nothing any more, and can be closed again", async ({ connect }) => {
    const berlin = await connect("berlin");
    await berlin.ping();
    const watched = startWatch(berlin);
    await watched.alive();
    const ended = watched.ended();
    await berlin.close();
    await ended;
    await berlin.close();
    await refused(berlin.ping(), "unreachable");
    await refused(berlin.reserve(request, "k"), "unreachable");
  }),
];

function promise(name: string, body: (setup: Setup) => Promise<void>): TransportPromise {
  const keep = async (makeTransport: MakeTransport) => {
    const transport = await makeTransport();
    const opened: BrokerTransport[] = [];
    const connect = async (clusterId: string) => {
      const communicator = await transport.connect(clusterId);
      opened.push(communicator);
      return communicator;
    };
    try {
      const [rome, paris] = [await connect("rome"), await connect("paris")];
      await publish(rome, "rome");
      await publish(paris, "paris");
      await body({ transport, connect, rome, paris });
    } finally {
      await Promise.all(opened.map((each) => each.close()));
      await transport.remove();
    }
  };
  return { name, keep };
}

function publish(communicator: BrokerTransport, clusterId: string) {
  const size = clusterId === "paris" ? { cpu: 16, memoryGi: 64 } : { cpu: 1, memoryGi: 1 };
  return communicator.publish(advertisementBody(clusterId, size));
}

function ids(reservations: readonly ReservationDTO[]): string[] {
  return reservations.map(({ id }) => id).toSorted();
}

function responsesOf(communicator: BrokerTransport): readonly ResponseMetadata[] {
  const responses: ResponseMetadata[] = [];
  communicator.onResponse((response) => responses.push(response));
  return responses;
}

function offerOf({
  id,
  requesterID,
  targetClusterID,
  requestedResources,
  createdAt,
}: ReservationDTO): AdoptionRequestDTO {
  const offer = { id, requesterID, targetClusterID, requestedResources, createdAt, generation: 1 };
  return { reservations: [{ ...offer, phase: "Reserved" }] };
}

/** Asks for all that paris has, which somebody holds. */
async function waits(communicator: BrokerTransport, key: string): Promise<WaitingRequestDTO> {
  const answer = await communicator.reserveOrWait({ ...everything, wait: { for: "1h" } }, key);
  if ("until" in answer) return answer;
  throw new Error(`expected to wait, got ${JSON.stringify(answer)}`);
}

/** A reader that knows only reservations; each as kind, id and phase. */
function startWatch(communicator: BrokerTransport) {
  const stopping = new AbortController();
  const events = communicator.watch(stopping.signal)[Symbol.asyncIterator]();
  let isReset = false;

  const read = async (): Promise<BrokerEvent> => {
    const { done, value } = await events.next();
    if (done === true) throw new Error("the stream has ended");
    isReset ||= value.kind === "reset";
    return value;
  };
  return {
    next: async (): Promise<readonly [kind: string, id: string, phase: string]> => {
      for (;;) {
        const event = await read();
        if (event.kind !== "instruction" && event.kind !== "reservation") continue;
        return [event.kind, event.reservation.id, event.reservation.status.phase];
      }
    },
    /** The next request that left the queue. */
    nextLeft: async (): Promise<readonly [id: string, phase: string, reason: string | undefined]> => {
      for (;;) {
        const event = await read();
        if (event.kind !== "waiting" || event.waiting.status.phase === "Pending") continue;
        const { id, status, reason } = event.waiting;
        return [id, status.phase, reason];
      }
    },
    alive: async () => void (await read()),
    wasReset: () => isReset,
    untilReset: async () => {
      while (!isReset) await read();
    },
    /** Resolves when the stream is over, however it ended. */
    ended: async () => {
      try {
        while ((await events.next()).done !== true);
      } catch (error) {
        ok(error instanceof Fault, String(error));
      }
    },
    stop: async () => {
      stopping.abort();
      while ((await events.next()).done !== true);
    },
  };
}
