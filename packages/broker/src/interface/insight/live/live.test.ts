import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Fault } from "@resource-broker/base";
import { request } from "@resource-broker/domain/testing";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NEWER_AGENT, requestOf, WAITING_AGENT } from "../../http/testing/samples.ts";
import type { Listening } from "../../http/testing/call.ts";
import {
  certificates,
  type DashboardParts,
  runningDashboards,
} from "../../dashboard/testing/running-dashboard.ts";
import { createLiveHub, DEFAULT_LIVE_LIMITS } from "./live-hub.ts";

const start = runningDashboards();

interface Published {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events of a stream, as a browser reads them. */
function eventsIn(text: string): Published[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const fields = new Map(
        block.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]),
      );
      return {
        event: fields.get("event") ?? "",
        id: fields.get("id") ?? "",
        data: JSON.parse(fields.get("data") ?? "null") as Published["data"],
      };
    });
}

const ids = (rows: unknown): string[] =>
  (rows as { id?: string; clusterID?: string }[]).map(({ id, clusterID }) => id ?? clusterID ?? "");
const clusterAs = (clusterID: string, standing: object) => ({
  data: { clusters: [{ clusterID, standing }] },
});

async function world(parts: DashboardParts = {}) {
  const time = parts.time ?? fakeClock();
  const running = await start({ ...parts, time });
  await running.advertise("paris");
  await running.advertise("rome");
  const browser = await running.signIn();
  const reserve = async (cpu = "1"): Promise<string> => {
    const { json } = await running.broker.call(certificates.cluster("rome"), "POST /api/v1/reservations", {
      body: requestOf(cpu, "1Gi"),
      headers: NEWER_AGENT,
    });
    return (json as { id: string }).id;
  };
  /** What was heard beside the greeting, once so many things were told, and nothing more is due. */
  const news = async (stream: Listening, count = 1): Promise<Published[]> => {
    await time.advance(200);
    await stream.receives(new RegExp(`(?:event: (?:changes|reset)\\n[^]*\\n\\n){${count}}`));
    await settle();
    return eventsIn(stream.received()).filter(({ event }) => event !== "hello");
  };
  return { ...running, time, browser, reserve, news };
}

describe("a stream of events", () => {
  test("gathers what happens within 200 ms: each row once, in its newest state", async () => {
    const { browser, broker, reserve, time, news } = await world();
    const stream = await browser.listen();
    await stream.receives("event: hello");
    const id = await reserve();
    await broker.call(certificates.cluster("rome"), `POST /api/v1/reservations/${id}/activate`);
    await time.advance(199);
    await settle();
    expect(eventsIn(stream.received())).toHaveLength(1);
    const published = await news(stream);
    expect(published).toHaveLength(1);
    expect(published[0]).toMatchObject({
      event: "changes",
      id: "2",
      data: {
        more: false,
        reservations: [{ id, status: { phase: "Active" }, targetClusterID: "paris" }],
        decisions: [{ requesterID: "rome", winner: "paris" }],
      },
    });
    expect(ids(published[0]?.data["clusters"]).sort()).toEqual(["paris", "rome"]);
  });

  test("says that the queue changed when a request joins or leaves it", async () => {
    const { browser, broker, reserve, news } = await world();
    await reserve("16");
    const stream = await browser.listen();
    await stream.receives("event: hello");
    const rome = certificates.cluster("rome");
    const headers = { ...WAITING_AGENT, "Idempotency-Key": "late" };
    await broker.call(rome, "POST /api/v1/reservations", {
      body: requestOf("16", "1Gi", { wait: {} }),
      headers,
    });
    expect((await news(stream)).at(-1)).toMatchObject({ data: { queue: true, reservations: [] } });
    await broker.call(rome, "DELETE /api/v1/reservations?key=late", { headers });
    expect((await news(stream, 2)).at(-1)).toMatchObject({ data: { queue: true } });
  });

  test("reports clusters that speak, fall silent, or are cordoned", async () => {
    const { browser, advertise, time, news } = await world();
    const stream = await browser.listen();
    await stream.receives("event: hello");
    await time.advance(60_000);
    await advertise("paris");
    await time.advance(1000);
    const spoke = await news(stream);
    expect(spoke).toMatchObject([{ event: "changes", ...clusterAs("paris", { isStale: false }) }]);
    await time.advance(61_000);
    const silent = await news(stream, 2);
    expect(silent.at(-1)).toMatchObject(clusterAs("rome", { isStale: true }));
    await browser.send("POST /api/v1/clusters/paris/cordon");
    const cordoned = await news(stream, 3);
    expect(cordoned.at(-1)).toMatchObject(clusterAs("paris", { cordon: { by: "ops" } }));
  });

  test("says nothing while another replica may lead", async () => {
    let isLeading = true;
    const notLeading = () => (isLeading ? undefined : new Fault("not-leader", "another one may lead"));
    const { browser, time } = await world({ notLeading });
    const stream = await browser.listen();
    await stream.receives("event: hello");
    isLeading = false;
    await time.advance(12_000);
    isLeading = true;
    await time.advance(4000);
    const text = await stream.receives(/: alive\n\n/);
    expect(text.match(/^: alive$/gm)).toHaveLength(1);
  });

  test("reports that there is more than it tells", async () => {
    const { browser, broker, news } = await world();
    const stream = await browser.listen();
    await stream.receives("event: hello");
    await Promise.all(
      Array.from({ length: 230 }, (_, count) =>
        broker.engine.submit({
          kind: "reserve",
          requester: `c-${count}`,
          request: request({ cpu: 0.01, memoryGi: 0 }),
          reservationId: `rsv-${count}`,
          decisionId: `dec-${count}`,
        }),
      ),
    );
    const [published] = await news(stream);
    expect(published?.data["more"]).toBe(true);
    expect(published?.data["reservations"]).toHaveLength(200);
  });
});

describe("a page that comes back", () => {
  test("hears what it missed and nothing twice", async () => {
    const { browser, reserve, news } = await world();
    const known = await reserve();
    const missed = [await reserve(), await reserve()];
    const stream = await browser.listen("1");
    const [published, ...more] = await news(stream);
    expect(more).toEqual([]);
    expect(published).toMatchObject({ event: "changes", id: "3" });
    expect(ids(published?.data["reservations"])).toEqual(missed);
    expect(ids(published?.data["reservations"])).not.toContain(known);
  });

  test("loses no row when it was cut off between a commit and its telling", async () => {
    const { browser, reserve, time, news } = await world();
    const first = await browser.listen();
    await first.receives("event: hello");
    const early = await reserve();
    // Not told yet: a second page that greets now must not believe that it knows the reservation.
    const second = await browser.listen();
    const greeting = eventsIn(await second.receives("event: hello"));
    second.close();
    await second.closed;
    await time.advance(1000);
    const back = await browser.listen(greeting[0]?.id ?? "");
    const published = await news(back);
    expect(ids(published[0]?.data["reservations"])).toContain(early);
  });

  test("hears of a cluster that fell silent meanwhile", async () => {
    const { browser, reserve, advertise, time, news } = await world({ policy: { stalenessMs: 60_000 } });
    await time.advance(1000);
    await reserve();
    await time.advance(61_000);
    await advertise("rome");
    const [published] = await news(await browser.listen("1"));
    expect(published?.data["clusters"]).toContainEqual(
      expect.objectContaining({ clusterID: "paris", standing: expect.objectContaining({ isStale: true }) }),
    );
  });

  test.each([
    { name: "that nobody ever told", id: "999" },
    { name: "that is no number", id: "abc" },
    { name: "below zero", id: "-1" },
  ])("with an event $name starts over", async ({ id }) => {
    const { browser, reserve, news } = await world();
    await reserve();
    const stream = await browser.listen(id);
    expect(await news(stream)).toEqual([
      { event: "reset", id: "1", data: { reason: `event "${id}" is unknown or too old` } },
    ]);
  });

  test("too late starts over: only the last changes are remembered", async () => {
    const { browser, reserve, news } = await world({
      liveLimits: { ...DEFAULT_LIVE_LIMITS, changesRemembered: 12 },
    });
    for (let count = 0; count < 6; count++) await reserve();
    expect(await news(await browser.listen("1"))).toMatchObject([{ event: "reset", id: "6" }]);
    expect(await news(await browser.listen("5"))).toMatchObject([{ event: "changes", id: "6" }]);
    expect(await news(await browser.listen("6"))).toMatchObject([
      { event: "changes", data: { reservations: [] } },
    ]);
  });
});

test("one session cannot take the streams of others", async () => {
  const { browser, signIn } = await world({ liveLimits: { ...DEFAULT_LIVE_LIMITS, maxStreamsPerReader: 2 } });
  await browser.listen();
  const second = await browser.listen();
  const third = await browser.get("/api/v1/events");
  expect(third).toMatchObject({
    status: 503,
    json: { code: "overloaded", error: "this browser has 2 pages open already; close some" },
  });
  expect((await (await signIn()).listen()).status).toBe(200);
  second.close();
  await second.closed;
  await expect.poll(async () => (await browser.listen()).status, { timeout: 20_000 }).toBe(200);
});

test("whoever does not read is cut off before much waits for them", async () => {
  const { broker, time } = await world();
  const hub = createLiveHub({
    engine: broker.engine,
    clock: time,
    headers: () => [],
    renderContext: () => ({ ledger: broker.engine.ledger }),
    limits: { changesRemembered: 10, maxStreams: 10, maxStreamsPerReader: 10, maxBufferBytes: 800 },
  });
  onTestFinished(hub.stop);
  // Without a connection to send it on, everything waits.
  const unread = new ServerResponse(new IncomingMessage(new Socket()));
  hub.open({ lastEventId: undefined, id: "one", isAllowed: () => true })(unread);
  await time.advance(8000);
  expect(unread.destroyed).toBe(false);
  await time.advance(400_000);
  expect(unread.destroyed).toBe(true);
});
