import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Fault } from "@resource-broker/base";
import type { UiEvent } from "@resource-broker/contract/dashboard";
import { fakeClock, memoryDisk, settle } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { NEWER_AGENT, requestOf } from "../../http/testing/samples.ts";
import { type Listening, listenTo } from "../testing/browser.ts";
import { certificates, type DashboardParts, runningDashboards } from "../testing/running-dashboard.ts";
import { createLiveHub } from "./live-hub.ts";

const start = runningDashboards();

interface Published {
  readonly id: string;
  readonly event: UiEvent["event"];
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
        event: (fields.get("event") ?? "") as Published["event"],
        id: fields.get("id") ?? "",
        data: JSON.parse(fields.get("data") ?? "null") as Published["data"],
      };
    });
}

const ids = (rows: unknown): string[] => (rows as { id: string }[]).map(({ id }) => id);

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
  test("greets with the ledger and the last commit, and tells a browser when to come again", async () => {
    const { browser, broker, reserve } = await world();
    await reserve();
    const stream = await browser.listen();
    const text = await stream.receives("event: hello");
    expect(text).toMatch(/^retry: 1000\n\n/);
    expect(eventsIn(text)).toEqual([
      { event: "hello", id: "1", data: { commit: 1, ledgerID: broker.engine.ledgerId } },
    ]);
  });

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
        commit: 2,
        more: false,
        reservations: [{ id, phase: "Active", provider: "paris" }],
        decisions: [{ requester: "rome", winner: "paris" }],
      },
    });
    expect(ids(published[0]?.data["clusters"]).sort()).toEqual(["paris", "rome"]);
  });

  test("reports clusters that speak, fall silent, or are cordoned", async () => {
    const { browser, advertise, time, news } = await world();
    const stream = await browser.listen();
    await stream.receives("event: hello");
    await time.advance(60_000);
    await advertise("paris");
    await time.advance(1000);
    const spoke = await news(stream);
    expect(spoke).toMatchObject([
      { event: "changes", data: { clusters: [{ id: "paris", isStale: false }] } },
    ]);
    await time.advance(61_000);
    const silent = await news(stream, 2);
    expect(silent.at(-1)).toMatchObject({ data: { clusters: [{ id: "rome", isStale: true }] } });
    await browser.send("POST /ui/clusters/paris/cordon");
    const cordoned = await news(stream, 3);
    expect(cordoned.at(-1)).toMatchObject({ data: { clusters: [{ id: "paris", isCordoned: true }] } });
  });

  test("reports the first cluster there ever was", async () => {
    const time = fakeClock();
    const { signIn, advertise } = await start({ time });
    const stream = await (await signIn()).listen();
    await stream.receives("event: hello");
    await time.advance(1000);
    await advertise("paris");
    await time.advance(1200);
    const [, published] = eventsIn(await stream.receives("event: changes"));
    expect(ids(published?.data["clusters"])).toEqual(["paris"]);
  });

  test("says that it lives every four seconds", async () => {
    const { browser, time } = await world();
    const stream = await browser.listen();
    await stream.receives("event: hello");
    await time.advance(12_000);
    const text = await stream.receives(/(?:: alive\n\n[^]*){3}/);
    expect(text.match(/^: alive$/gm)).toHaveLength(3);
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
          request: {
            resources: { cpuMillis: 10, memoryBytes: 1, storageBytes: 0, gpus: 0, extended: {} },
            priority: 0,
            constraints: {},
            tier: "on-demand",
          },
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

  test("keeps the number it knows until it has heard what it missed", async () => {
    const { browser, reserve } = await world();
    await reserve();
    await reserve();
    const back = await browser.listen("1");
    const published = eventsIn(await back.receives("event: changes"));
    expect(published.map(({ event, id }) => ({ event, id }))).toEqual([
      { event: "hello", id: "" },
      { event: "changes", id: "2" },
    ]);
  });

  test("while others wait for news hears of no decision twice", async () => {
    const { browser, reserve, news } = await world();
    const other = await browser.listen();
    await other.receives("event: hello");
    const [first, second] = [await reserve(), await reserve()];
    const back = await browser.listen("0");
    const published = await news(back, 2);
    expect(published.map(({ id }) => id)).toEqual(["0", "2"]);
    expect(published.flatMap(({ data }) => ids(data["reservations"]))).toEqual([first, second]);
    expect(published.flatMap(({ data }) => ids(data["decisions"]))).toHaveLength(2);
  });

  test("hears of a cluster that fell silent meanwhile", async () => {
    const { browser, reserve, advertise, time, news } = await world({ policy: { stalenessMs: 60_000 } });
    await time.advance(1000);
    await reserve();
    await time.advance(61_000);
    await advertise("rome");
    const [published] = await news(await browser.listen("1"));
    const clusters = published?.data["clusters"] as { id: string; isStale: boolean }[];
    expect(clusters.map(({ id, isStale }) => ({ id, isStale }))).toContainEqual({
      id: "paris",
      isStale: true,
    });
  });

  test.each([
    { name: "that nobody ever told", id: "999" },
    { name: "that is no number", id: "abc" },
    { name: "below zero", id: "-1" },
  ])("with an event $name starts over", async ({ id }) => {
    const { browser, reserve, news } = await world();
    await reserve();
    const stream = await browser.listen(id);
    expect(await news(stream)).toEqual([{ event: "reset", id: "1", data: { commit: 1 } }]);
  });

  test("too late starts over: only the last changes are remembered", async () => {
    const { browser, reserve, news } = await world({ limits: { changesRemembered: 12 } });
    for (let count = 0; count < 6; count++) await reserve();
    expect(await news(await browser.listen("1"))).toMatchObject([{ event: "reset", id: "6" }]);
    expect(await news(await browser.listen("5"))).toMatchObject([{ event: "changes", id: "6" }]);
    expect(await news(await browser.listen("6"))).toMatchObject([
      { event: "changes", data: { reservations: [] } },
    ]);
  });

  test("to a broker that restarted continues if nothing happened meanwhile, and else starts over", async () => {
    const disk = memoryDisk();
    const time = fakeClock();
    const first = await world({ disk, time });
    await first.reserve();
    await first.reserve();
    await first.stop();
    const again = await start({ disk, time });
    const browser = await again.signIn();
    expect(await first.news(await browser.listen("2"))).toMatchObject([{ event: "changes", id: "2" }]);
    expect(await first.news(await browser.listen("1"))).toMatchObject([{ event: "reset", id: "2" }]);
  });
});

test("too many pages are turned away", async () => {
  const { browser } = await world({ limits: { maxStreams: 2 } });
  await browser.listen();
  const second = await browser.listen();
  expect((await browser.listen()).status).toBe(503);
  second.close();
  await second.closed;
  await expect.poll(async () => (await browser.listen()).status, { timeout: 20_000 }).toBe(200);
});

test("one session cannot take the streams of others", async () => {
  const { browser, signIn } = await world({ limits: { maxStreamsPerSession: 2 } });
  await browser.listen();
  const second = await browser.listen();
  const third = await browser.get("/ui/events");
  expect(third).toMatchObject({
    status: 503,
    json: { code: "overloaded", error: "this browser has 2 pages open already; close some" },
  });
  expect((await (await signIn()).listen()).status).toBe(200);
  second.close();
  await second.closed;
  await expect.poll(async () => (await browser.listen()).status, { timeout: 20_000 }).toBe(200);
});

test("a page may name the last event in the address, where its browser sets no header", async () => {
  const { browser, port, reserve, news } = await world();
  await reserve();
  const missed = await reserve();
  const stream = await listenTo({ port }, "GET /ui/events?after=1", { headers: { Cookie: browser.cookie } });
  const [published] = await news(stream);
  expect(ids(published?.data["reservations"])).toEqual([missed]);
});

test("whoever does not read is cut off before much waits for them", async () => {
  const { broker, time } = await world();
  const hub = createLiveHub({
    engine: broker.engine,
    clock: time,
    headers: () => [],
    limits: { changesRemembered: 10, maxStreams: 10, maxStreamsPerSession: 10, maxStreamBufferBytes: 800 },
  });
  onTestFinished(hub.stop);
  // Without a connection to send it on, everything waits.
  const unread = new ServerResponse(new IncomingMessage(new Socket()));
  hub.open({ lastEventId: undefined, sessionId: "one", isAllowed: () => true })(unread);
  await time.advance(8000);
  expect(unread.destroyed).toBe(false);
  await time.advance(400_000);
  expect(unread.destroyed).toBe(true);
});
