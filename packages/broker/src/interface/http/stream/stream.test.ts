import { Fault } from "@resource-broker/base";
import {
  describeProblems,
  EVENT_SCHEMAS,
  type EventName,
  type Schema,
  validateExactly,
} from "@resource-broker/contract";
import { request } from "@resource-broker/domain/testing";
import { fakeClock, memoryDisk, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ClientCredentials } from "../testing/call.ts";
import { openRawConnection, type RawConnection } from "../testing/raw-connection.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "../testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const tokyo = certificates.cluster("tokyo");
const ops = certificates.admin("ops");
/** Only a guard: a busy machine takes its time. */
const GUARD = { timeout: 20_000 };

let broker: RunningBroker;
let time: ReturnType<typeof fakeClock>;
const LIMITS = { changesRemembered: 8, maxStreamsPerCluster: 2, maxStreamBufferBytes: 256 * 1024 };

let isLeading: boolean;

beforeEach(async () => {
  time = fakeClock();
  isLeading = true;
  broker = await runBroker({
    store: memoryStore(),
    clock: time,
    certificates: certificates.broker,
    limits: LIMITS,
    notLeading: () => (isLeading ? undefined : new Fault("not-leader", "another one may lead")),
  });
  await advertise("16");
});
afterEach(() => broker.stop());

function advertise(cpu: string, who: ClientCredentials = paris, clusterId = "paris") {
  const amounts = { cpu, memory: "64Gi" };
  const { resources } = advertisementOf(clusterId);
  const body = advertisementOf(clusterId, {
    resources: { ...resources, allocatable: amounts, capacity: amounts },
  });
  return broker.call(who, "POST /api/v1/advertisements", { body, headers: NEWER_AGENT });
}

async function reserve(cpu = "1"): Promise<string> {
  const reply = await broker.call(rome, "POST /api/v1/reservations", { body: requestOf(cpu, "1Gi") });
  return (reply.json as { id: string }).id;
}

interface ReceivedEvent {
  readonly event: EventName;
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Watching extends RawConnection {
  readonly events: () => ReceivedEvent[];
  /** Resolves once so many events came. */
  readonly receives: (count: number) => Promise<ReceivedEvent[]>;
}

async function watch(credentials: ClientCredentials, lastEventId?: string): Promise<Watching> {
  const line = await openRawConnection(broker.port, credentials);
  const resume = lastEventId === undefined ? [] : [`Last-Event-ID: ${lastEventId}`];
  await line.ask("/api/v1/instructions?watch=true", ["Agent-Protocol: 2", ...resume]);
  const events = (): ReceivedEvent[] => eventsIn(line.received());
  const receives = async (count: number): Promise<ReceivedEvent[]> => {
    await expect.poll(() => events().length, GUARD).toBeGreaterThanOrEqual(count);
    return events();
  };
  return { ...line, events, receives };
}

/** Blocks that have data; each is checked against the contract. */
function eventsIn(text: string): ReceivedEvent[] {
  const blocks = text
    .slice(text.indexOf("\r\n\r\n") + 4)
    .split("\n\n")
    .slice(0, -1);
  return blocks.flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    const data = field("data");
    if (data === undefined) return [];
    const event = field("event") as EventName;
    const validation = validateExactly(EVENT_SCHEMAS[event] as Schema<unknown>, JSON.parse(data));
    if (!validation.ok) throw new Error(`${event}: ${describeProblems(validation.problems)}`);
    return [{ event, id: field("id"), data: JSON.parse(data) as ReceivedEvent["data"] }];
  });
}

describe("an event stream", () => {
  test("tells provider and requester of a grant and of its end, and nobody else", async () => {
    const [provider, requester, stranger] = await Promise.all([watch(paris), watch(rome), watch(tokyo)]);
    const id = await reserve();
    const commit = String(broker.engine.commitNumber);
    expect(await provider.receives(1)).toMatchObject([
      {
        event: "instruction",
        id: commit,
        data: { id, status: { message: "Hold 1 CPU / 1Gi Memory for requester rome" } },
      },
    ]);
    expect(await requester.receives(1)).toMatchObject([
      {
        event: "reservation",
        id: commit,
        data: { id, status: { message: "Use paris for 1 CPU / 1Gi Memory" } },
      },
    ]);
    await broker.call(rome, `DELETE /api/v1/reservations/${id}`);
    expect((await provider.receives(2))[1]).toMatchObject({ data: { status: { phase: "Released" } } });
    expect((await requester.receives(2))[1]).toMatchObject({ data: { reason: "ReleasedByRequester" } });
    expect(stranger.events()).toEqual([]);
  });

  test("says nothing while another replica may lead, not even that it lives", async () => {
    const provider = await watch(paris);
    await time.advance(20_000);
    await expect.poll(() => provider.received(), GUARD).toContain(": alive\nid: ");
    isLeading = false;
    const before = provider.received();
    await time.advance(20_000);
    isLeading = true;
    // What was said meanwhile would have come before this.
    const id = await reserve();
    await expect.poll(() => provider.events().at(-1)?.data, GUARD).toMatchObject({ id });
    expect(provider.received().slice(before.length).split("\n\n")[0]).toContain("event: instruction");
  });

  test("is an endless reply with the usual headers, and never cached", async () => {
    const { received } = await watch(paris);
    expect(received()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    for (const header of [
      "Content-Type: text/event-stream",
      "Cache-Control: no-store",
      "Ledger-ID: ",
      "Broker-Protocol: 3",
    ]) {
      expect(received()).toContain(header);
    }
    expect(received()).not.toMatch(/Content-Length|Transfer-Encoding/);
  });
});

describe("a reader that was away", () => {
  test("continues where it was, hearing of each reservation once and as it is now", async () => {
    const first = await reserve();
    const away = broker.engine.commitNumber;
    await broker.call(rome, `POST /api/v1/reservations/${first}/activate`);
    await broker.call(rome, `DELETE /api/v1/reservations/${first}`);
    const second = await reserve();
    const provider = await watch(paris, String(away));
    expect(await provider.receives(2)).toMatchObject([
      { event: "instruction", data: { id: first, status: { phase: "Released" } } },
      { event: "instruction", id: String(broker.engine.commitNumber), data: { id: second } },
    ]);
  });

  test("hears of the very next commit, wherever it was cut off", async () => {
    const from = broker.engine.commitNumber;
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.push(await reserve());
    const commits = broker.engine.commitNumber;
    expect(commits - from).toBe(ids.length);
    for (let seen = from; seen < commits; seen++) {
      const provider = await watch(paris, String(seen));
      await provider.hears(`id: ${commits}\n`);
      expect(provider.events().map(({ data }) => data["id"])).toEqual(ids.slice(seen - from));
      provider.socket.destroy();
    }
  });

  test("that has seen more than this ledger, which was put back, is told to start over", async () => {
    const id = await reserve();
    const provider = await watch(paris, String(broker.engine.commitNumber + 1));
    expect(await provider.receives(2)).toMatchObject([{ event: "reset" }, { data: { id } }]);
  });

  test("is told to start over by a process that has not seen what it missed", async () => {
    const disk = memoryDisk();
    const start = () =>
      runBroker({
        store: memoryStore(disk),
        clock: time,
        certificates: certificates.broker,
        limits: LIMITS,
      });
    await broker.stop();
    broker = await start();
    await advertise("16");
    const [first, second] = [await reserve(), await reserve()];
    const last = broker.engine.commitNumber;
    await broker.stop();
    broker = await start();
    const behind = await watch(paris, String(last - 1));
    const received = await behind.receives(3);
    expect(received.map(({ event }) => event)).toEqual(["reset", "instruction", "instruction"]);
    expect(new Set(received.slice(1).map(({ data }) => data["id"]))).toEqual(new Set([first, second]));
    const current = await watch(paris, String(last));
    await current.hears(`id: ${last}\n\n`);
    expect(current.events()).toEqual([]);
  });

  test.each([
    ["that is too old", "0"],
    ["from another ledger", "999999"],
    ["that is no number", "yesterday"],
    ["below nothing", "-1"],
  ])("with an event %s is told to start over, and gets everything that is live", async (_, lastEventId) => {
    const ids: string[] = [];
    for (let count = 0; count < 10; count++) ids.push(await reserve());
    const provider = await watch(paris, lastEventId);
    const [reset, ...live] = await provider.receives(11);
    expect(reset).toMatchObject({
      event: "reset",
      data: { reason: expect.stringContaining(JSON.stringify(lastEventId)) },
    });
    expect(new Set(live.map(({ data }) => data["id"]))).toEqual(new Set(ids));
  });
});

/** What was there before is told to the first reader; after it only what is new is heard. */
async function hearOldNews(): Promise<void> {
  const first = await watch(tokyo);
  await time.advance(1000);
  await first.hears('{"change":"freed"}');
  first.socket.destroy();
  await vi.waitUntil(() => broker.api.openStreams() === 0, GUARD);
}

describe("capacity", () => {
  beforeEach(hearOldNews);

  test("that came back is told to everybody, at most once a second", async () => {
    const id = await reserve("8");
    const [provider, stranger] = await Promise.all([watch(paris), watch(tokyo)]);
    await time.advance(1000);
    await broker.call(rome, `DELETE /api/v1/reservations/${id}`);
    await time.advance(1000);
    expect(await stranger.receives(1)).toMatchObject([{ event: "capacity", data: { change: "freed" } }]);
    expect((await provider.receives(3)).map(({ event }) => event)).toEqual([
      "instruction",
      "instruction",
      "capacity",
    ]);
    for (let step = 1; step <= 5; step++) await advertise(String(16 + step));
    await time.advance(1000);
    expect(await stranger.receives(2)).toHaveLength(2);
    await time.advance(5000);
    expect(stranger.events()).toHaveLength(2);
  });

  test("of a cluster that is uncordoned is told, and while it is cordoned nothing of it", async () => {
    const stranger = await watch(tokyo);
    await broker.call(ops, "POST /api/v1/clusters/paris/cordon");
    await advertise("32");
    await time.advance(5000);
    expect(stranger.events()).toEqual([]);
    await broker.call(ops, "POST /api/v1/clusters/paris/uncordon");
    await time.advance(1000);
    expect(await stranger.receives(1)).toMatchObject([{ event: "capacity", data: { change: "freed" } }]);
  });

  test("at risk is told to those whose reservations it touches, each of its own only", async () => {
    const ofRome = await reserve("4");
    const madeByTokyo = await broker.call(tokyo, "POST /api/v1/reservations", {
      body: requestOf("4", "1Gi"),
    });
    const ofTokyo = (madeByTokyo.json as { id: string }).id;
    const [provider, requester, other] = await Promise.all([watch(paris), watch(rome), watch(tokyo)]);
    await advertise("6");
    await time.advance(1000);
    const riskOf = async ({ receives }: Watching, count: number) =>
      (await receives(count)).find(({ event }) => event === "capacity")?.data;
    expect(await riskOf(requester, 2)).toEqual({
      change: "at-risk",
      reservationIDs: [ofRome],
      message: "paris has 2 CPU less than it lends",
    });
    expect(await riskOf(other, 2)).toMatchObject({ reservationIDs: [ofTokyo] });
    expect(await riskOf(provider, 3)).toMatchObject({ reservationIDs: [ofRome, ofTokyo] });
  });
});

describe("readers that are a burden", () => {
  test("one stream more than allowed ends the oldest of that cluster", async () => {
    const [first, second] = [await watch(paris), await watch(paris)];
    const other = await watch(rome);
    const third = await watch(paris);
    await first.closed;
    await reserve();
    for (const { receives } of [second, third, other]) expect(await receives(1)).toHaveLength(1);
    expect(broker.api.openStreams()).toBe(3);
  });

  test("one that does not read is dropped, and the others do not notice", async () => {
    const [deaf, good] = [await watch(paris), await watch(paris)];
    deaf.socket.pause();
    // Far more than the kernel's own buffers and ours hold together.
    const isGone = () => broker.api.openStreams() === 1;
    for (let round = 0; round < 400 && !isGone(); round++) {
      const instances = Array.from({ length: 20 }, () => reserveAndRelease());
      await Promise.all(instances);
    }
    expect(isGone()).toBe(true);
    const before = good.events().length;
    await reserve();
    expect((await good.receives(before + 1)).at(-1)).toMatchObject({ event: "instruction" });
  }, 120_000);

  async function reserveAndRelease(): Promise<void> {
    const { engine } = broker;
    const by = { clusterId: "ops", isAdmin: true };
    const id = `rsv-rome-${serial++}`;
    await engine.submit({
      kind: "reserve",
      requester: "rome",
      request: request({ cpu: 0.001, memoryGi: 0 }),
      reservationId: id,
      decisionId: `dec-${serial}`,
    });
    await engine.submit({ kind: "release", by, id });
  }
  let serial = 0;
});
