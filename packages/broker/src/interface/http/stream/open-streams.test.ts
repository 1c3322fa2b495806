import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { EventStream } from "./event-stream.ts";
import { OpenStreams } from "./open-streams.ts";

/** A reader that takes nothing from the moment it is told to stop. */
function reader(clusterId = "paris", isAdmin = false) {
  const written: string[] = [];
  const state = { isStuck: false, isDropped: false, isEnded: false };
  let onDrain = (): void => undefined;
  const response = {
    get destroyed() {
      return state.isDropped;
    },
    get writableEnded() {
      return state.isEnded;
    },
    get writableNeedDrain() {
      return state.isStuck;
    },
    writableLength: 0,
    write: (text: string) => {
      written.push(text);
      return !state.isStuck;
    },
    once: (_: "drain", listener: () => void) => {
      onDrain = listener;
    },
    destroy: () => {
      state.isDropped = true;
    },
    end: () => {
      state.isEnded = true;
    },
  } as unknown as ServerResponse;
  const stream = new EventStream({
    response,
    clusterId,
    isAdmin,
    isOlderAgent: false,
    protocol: 3,
    maxBufferBytes: 1000,
    commit: () => 7,
  });
  const readOn = (): void => {
    state.isStuck = false;
    onDrain();
  };
  return { stream, written, state, readOn };
}

const OPTIONS = { maxPerCluster: 2, maxLagMs: 30_000, ticksPerHeartbeat: 3 };

describe("open streams", () => {
  test("of a cluster with the name of an admin do not end those of the admin", () => {
    const streams = new OpenStreams(OPTIONS);
    const admin = reader("ops", true);
    const readers = [admin, reader("ops"), reader("ops"), reader("ops")];
    for (const { stream } of readers) streams.add(stream);
    expect(readers.map(({ state }) => state.isEnded)).toEqual([false, true, false, false]);
  });

  test("each hears one heartbeat in a full turn of the wheel", () => {
    const streams = new OpenStreams(OPTIONS);
    const readers = ["a", "b", "c", "d", "e"].map((clusterId) => reader(clusterId));
    for (const { stream } of readers) streams.add(stream);
    for (let tick = 0; tick < 3; tick++) streams.tick(tick * 1000);
    expect(readers.map(({ written }) => written)).toEqual(readers.map(() => [": alive\nid: 7\n\n"]));
  });

  test("one that has not read for 30 seconds is dropped, one that caught up is not", () => {
    const streams = new OpenStreams(OPTIONS);
    const [stuck, slow] = [reader("a"), reader("b")];
    for (const { stream, state } of [stuck, slow]) {
      streams.add(stream);
      state.isStuck = true;
      streams.send(stream, ["x"], 0);
    }
    streams.tick(29_000);
    expect([stuck.state.isDropped, slow.state.isDropped]).toEqual([false, false]);
    slow.state.isStuck = false;
    streams.tick(30_000);
    streams.tick(30_001);
    expect([stuck.state.isDropped, slow.state.isDropped]).toEqual([true, false]);
    slow.state.isStuck = true;
    streams.send(slow.stream, ["x"], 31_000);
    streams.tick(60_000);
    expect(slow.state.isDropped).toBe(false);
  });

  test("until its list is through nothing tells a reader how far it is: cut off, it must hear all of it again", () => {
    const streams = new OpenStreams({ ...OPTIONS, ticksPerHeartbeat: 1 });
    const { stream, written, state, readOn } = reader();
    streams.add(stream);
    state.isStuck = true;
    const long = `event: a\ndata: ${"1".repeat(20_000)}\n`;
    stream.catchUp([long, "event: b\ndata: 2\n"].values());
    streams.send(stream, ["event: c\ndata: 3\n"], 0);
    streams.tick(1000);
    expect(written).toEqual([`${long}\n`, "event: c\ndata: 3\n\n", ": alive\n\n"]);
    readOn();
    streams.send(stream, ["event: d\ndata: 4\n"], 2000);
    expect(written.slice(3)).toEqual(["event: b\ndata: 2\nid: 7\n\n", "event: d\ndata: 4\nid: 7\n\n"]);
  });
});
