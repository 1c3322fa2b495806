import type { ServerResponse } from "node:http";
import {
  CURRENT,
  fakeClock,
  reply,
  reservationReply,
  type Script,
  settle,
  startFakeBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BrokerClient, BrokerEvent } from "./broker-client.ts";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const credentials = certificates.cluster("paris");

const instruction = (id: string, commit?: number): string =>
  `event: instruction\ndata: ${JSON.stringify(reservationReply(id))}\n${commit === undefined ? "" : `id: ${commit}\n`}\n`;

async function setup(random: () => number = () => 0) {
  /** The streams that were opened, in order. */
  const streams: ServerResponse[] = [];
  const warnings: unknown[] = [];
  const clock = fakeClock();
  const ledger = { id: "led-1" };
  const script: Script = (response) => {
    response.writeHead(200, { ...CURRENT, "Ledger-ID": ledger.id, "Content-Type": "text/event-stream" });
    response.write(": alive\n\n");
    streams.push(response);
  };
  const broker = await startFakeBroker({
    credentials: certificates.broker,
    whenDone: onTestFinished,
    script,
  });
  const [info, error] = [() => undefined, () => undefined];
  const log = { info, error, warn: (fields: unknown) => warnings.push(fields) };
  const { client, rotate } = await clientOf({ brokerUrls: [broker.url], credentials, clock, random, log });
  onTestFinished(client.close);
  /** Numbers that the streams were asked to go on from. */
  const resumedFrom = () => broker.received.map(({ headers }) => headers["last-event-id"]?.toString());
  return { broker, paris: client, clock, streams, rotate, resumedFrom, warnings, ledger };
}

/** A reader that shows what it reads, in short. */
function reading(client: BrokerClient, signal = new AbortController().signal) {
  const events = client.watch(signal)[Symbol.asyncIterator]();
  return {
    next: async (): Promise<string | undefined> => {
      const { done, value } = await events.next();
      return done === true ? undefined : shown(value);
    },
    stop: () => events.return?.(),
  };
}

function shown(event: BrokerEvent): string {
  return event.kind === "instruction" ? event.reservation.id : event.kind;
}

describe("a stream", () => {
  test("passes events on as they come, and leaves out what it does not know or cannot read", async () => {
    const { paris, streams, warnings } = await setup();
    const reader = reading(paris);
    expect(await reader.next()).toBe("heartbeat");
    streams[0]?.write(
      `event: news\ndata: {}\n\n${instruction("a")}event: instruction\ndata: {"id":1}\n\nevent: capacity\ndata: {"change":"freed"}\n\n`,
    );
    expect(await reader.next()).toBe("a");
    expect(await reader.next()).toBe("capacity");
    expect(warnings).toMatchObject([{ event: "instruction" }]);
  });

  test("puts letters together that were cut apart", async () => {
    const { paris, streams } = await setup();
    const reader = reading(paris);
    await reader.next();
    const text = Buffer.from(instruction("a").replace('"message":""', '"message":"fünf"'));
    const cut = text.indexOf(0xc3) + 1;
    streams[0]?.write(text.subarray(0, cut));
    await settle();
    streams[0]?.write(text.subarray(cut));
    expect(await reader.next()).toBe("a");
  });

  test.each<[name: string, sent: string, heard: (string | undefined)[], from: string | undefined]>([
    // It has not asked for more: whether it dealt with b is not known, and c it has not seen.
    ["an event", instruction("a", 5) + instruction("b") + instruction("c", 6), ["a", "b"], "5"],
    ["the event before the last one given", instruction("a", 5) + instruction("b", 6), ["a", "b"], "5"],
    ["a sign of life", ": alive\nid: 41\n\n", ["heartbeat", undefined], "41"],
    [
      "nothing, after a reset",
      `${instruction("a", 5)}event: reset\ndata: {"reason":"too old"}\n\n`,
      ["a", "reset", undefined],
      undefined,
    ],
  ])("continues after what its reader has dealt with: %s", async (_, sent, heard, from) => {
    const { paris, streams, resumedFrom } = await setup();
    const first = reading(paris);
    await first.next();
    streams[0]?.end(sent);
    for (const each of heard) expect(await first.next()).toBe(each);
    await first.stop();
    await reading(paris).next();
    expect(resumedFrom()).toEqual([undefined, from]);
  });

  test("begins again in another ledger, whose numbers say nothing", async () => {
    const { paris, streams, resumedFrom, ledger } = await setup();
    const first = reading(paris);
    await first.next();
    streams[0]?.end(instruction("a", 5));
    expect([await first.next(), await first.next()]).toEqual(["a", undefined]);
    ledger.id = "led-2";
    const second = reading(paris);
    expect(await second.next()).toBe("reset");
    expect(await second.next()).toBe("heartbeat");
    expect(resumedFrom()).toEqual([undefined, "5", undefined]);
    streams[2]?.write(instruction("b", 1));
    expect(await second.next()).toBe("b");
  });

  test("breaks when it is cut, or nothing comes for as long as three signs of life take", async () => {
    const { paris, clock, streams } = await setup();
    const reader = reading(paris);
    await reader.next();
    const broken = reader.next().catch((error: Error) => error.message);
    await clock.advance(44_999);
    streams[0]?.write(": alive\n\n");
    expect(await broken).toBe("heartbeat");
    const silent = reader.next().catch((error: Error) => error.message);
    await clock.advance(45_000);
    expect(await silent).toContain("the broker sent nothing for 45 s");
    const again = reading(paris);
    await again.next();
    const cut = again.next();
    streams[1]?.socket?.destroy();
    await expect(cut).rejects.toMatchObject({ code: "unreachable" });
  });

  test.each(["while it is open", "while it opens", "before"])(
    "ends quietly when its reader stops it %s",
    async (when) => {
      const { paris, broker } = await setup();
      if (when === "while it opens") broker.script(() => undefined);
      const stopping = new AbortController();
      if (when === "before") stopping.abort();
      const reader = reading(paris, stopping.signal);
      if (when === "while it is open") await reader.next();
      const ended = reader.next();
      await settle();
      stopping.abort();
      expect(await ended).toBeUndefined();
    },
  );

  test("is opened again at once when there are new certificates", async () => {
    const { paris, rotate, streams } = await setup(() => 1);
    const reader = reading(paris);
    await reader.next();
    const ended = reader.next();
    rotate(certificates.cluster("paris"));
    expect(await ended).toBeUndefined();
    expect(await reading(paris).next()).toBe("heartbeat");
    expect(streams).toHaveLength(2);
  });

  test("waits a while before it comes back, longer each time it is cut at once", async () => {
    const { paris, clock, streams } = await setup(() => 1);
    for (const waitMs of [0, 2000, 4000, 8000, 10_000, 10_000]) {
      const opened = streams.length;
      const reader = reading(paris);
      const first = reader.next();
      if (waitMs > 0) {
        await clock.advance(waitMs - 1);
        expect(streams).toHaveLength(opened);
        await clock.advance(1);
      }
      expect(await first).toBe("heartbeat");
      streams.at(-1)?.end();
      expect(await reader.next()).toBeUndefined();
    }
  });

  test("comes back soon when the last one had lasted", async () => {
    const { paris, clock, streams } = await setup(() => 1);
    for (const waitMs of [0, 2000, 4000]) {
      const reader = reading(paris);
      const first = reader.next();
      if (waitMs > 0) await clock.advance(waitMs);
      expect(await first).toBe("heartbeat");
      for (let beats = 0; waitMs === 4000 && beats < 2; beats++) {
        const next = reader.next();
        await clock.advance(30_000);
        streams.at(-1)?.write(": alive\n\n");
        await next;
      }
      streams.at(-1)?.end();
      expect(await reader.next()).toBeUndefined();
    }
    const soon = reading(paris).next();
    await clock.advance(1000);
    expect(await soon).toBe("heartbeat");
  });

  test("is told apart from an answer that is none", async () => {
    const { paris, broker } = await setup();
    broker.script((response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>"));
    await expect(reading(paris).next()).rejects.toMatchObject({ code: "unreachable" });
    broker.script(reply(200, []));
    await vi.waitFor(() => expect(reading(paris).next()).rejects.toMatchObject({ code: "unsupported" }), {
      timeout: 20_000,
    });
  });
});
