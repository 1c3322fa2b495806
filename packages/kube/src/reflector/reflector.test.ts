import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { KubeClient } from "../client/client.ts";
import { checkedSink, stateOf } from "../testing/checked-sink.ts";
import { fakeKube } from "../testing/fake-kube-client.ts";
import type { FakeObject } from "../testing/fake-store.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { reflector } from "./reflector.ts";
import type { ReflectorOptions, Sink } from "./types.ts";

const PODS = { group: "", version: "v1", kind: "Pod", plural: "pods", isNamespaced: true } as const;
const MINUTE = 60_000;

interface WorldOptions {
  readonly random?: () => number;
  readonly options?: Partial<ReflectorOptions<FakeObject>>;
  readonly client?: (client: KubeClient) => KubeClient;
  readonly sink?: (sink: Sink<FakeObject>) => Sink<FakeObject>;
}

function world({
  options = {},
  random = () => 0.5,
  client = (same) => same,
  sink: wrapped = (same) => same,
}: WorldOptions = {}) {
  const time = fakeClock();
  const kube = fakeKube({ clock: time });
  const link = kube.connect();
  const sink = checkedSink();
  const log = recordedLog();
  const restarts: string[] = [];
  const follower = reflector<FakeObject>({ resource: PODS, ...options }, wrapped(sink), {
    client: client(link.client),
    clock: time,
    random,
    log,
    observer: {
      onRestart: (resource, reason) => restarts.push(`${resource} ${reason}`),
    },
  });
  const put = (name: string) => kube.store.create(PODS, { metadata: { namespace: "default", name } });
  const expectCurrent = () => expect(sink.state()).toEqual(stateOf(kube.store.objects(PODS)));
  const begin = async () => {
    void follower.start();
    await time.advance(10);
  };
  return { time, store: kube.store, link, sink, log, restarts, follower, put, expectCurrent, begin };
}

const count = (requests: readonly string[], request: string) =>
  requests.filter((each) => each === request).length;

describe("a follower", () => {
  test("continues from the last version, without listing, when a watch ends by its time", async () => {
    const { begin, put, time, link, restarts, log, expectCurrent } = world();
    await begin();
    for (let hour = 0; hour < 4; hour++) {
      await time.advance(60 * MINUTE);
      put(`pod-${hour}`);
    }
    await time.advance(1);
    expectCurrent();
    expect(count(link.requests, "list pods")).toBe(1);
    expect(count(link.requests, "watch pods")).toBeGreaterThan(20);
    expect({ restarts, lines: log.lines }).toEqual({ restarts: [], lines: [] });
  });

  test("remembers the versions of bookmarks, so that a quiet watch never grows too old", async () => {
    const { begin, store, time, link } = world();
    await begin();
    const nodes = { ...PODS, plural: "nodes" };
    for (let step = 0; step < 100; step++) store.create(nodes, { metadata: { name: `node-${step}` } });
    await time.advance(61_000);
    store.compact();
    link.cut();
    await time.advance(10_000);
    expect(count(link.requests, "list pods")).toBe(1);
  });

  test("says once that the server is away, and once that it is back", async () => {
    const { begin, time, link, log, follower } = world();
    await begin();
    link.down();
    await time.advance(10 * MINUTE);
    expect(follower.health()).toMatchObject({ state: "failing", fault: { code: "unreachable" } });
    expect(count(link.requests, "watch pods")).toBeGreaterThan(100);
    link.up();
    await time.advance(5000);
    expect(follower.health()).toEqual({ state: "synced" });
    expect(log.lines).toEqual([
      "warn following pods fails: connection reset; retrying",
      "info following pods works again",
    ]);
    expect(count(link.requests, "list pods")).toBe(1);
  });

  test("tells clearly that it is forbidden to watch, and asks seldom", async () => {
    const { begin, time, link, log, follower } = world();
    const fault = new Fault("forbidden", 'may not "watch" pods');
    link.failNext({ verb: "watch", times: 1000, fault });
    await begin();
    await time.advance(10 * MINUTE);
    expect(follower.health()).toMatchObject({ state: "failing", fault: { code: "forbidden" } });
    expect(log.lines).toEqual(['warn following pods fails: may not "watch" pods; retrying']);
    expect(count(link.requests, "watch pods")).toBeLessThan(50);
    expect(count(link.requests, "list pods")).toBe(1);
    link.clearFailures();
    await time.advance(30_000);
    expect(follower.health()).toEqual({ state: "synced" });
  });

  test("takes a watch on which nothing comes for no trouble, as long as the server accepts the next one", async () => {
    const { begin, time, link, follower, log } = world();
    await begin();
    link.resumeWithoutStreams();
    await time.advance(76_000);
    expect({ health: follower.health(), lines: log.lines }).toEqual({
      health: { state: "synced" },
      lines: [],
    });
    link.resumeWithoutStreams();
    link.pause();
    await time.advance(90_000);
    expect(follower.health()).toMatchObject({ state: "failing", fault: { code: "unreachable" } });
  });

  test("notices a server that takes connections and says nothing", async () => {
    const { begin, time, link, follower } = world();
    link.pause();
    await begin();
    await time.advance(8000);
    expect(follower.health()).toMatchObject({
      state: "failing",
      fault: { code: "unreachable", message: "the API server sent nothing for 8 s during the list of pods" },
    });
    await time.advance(MINUTE);
    expect(count(link.requests, "list pods")).toBeGreaterThan(1);
    expect(count(link.requests, "list pods")).toBeLessThan(6);
  });

  test("has more and more patience with a server that is slow to list", async () => {
    const { time, link, begin, follower } = world();
    link.pause();
    await begin();
    await time.advance(8000 + 50 + 15_000);
    // The second try has waited for 15 s and is answered now.
    link.resume();
    await time.advance(1);
    expect(count(link.requests, "list pods")).toBe(2);
    expect(follower.health()).toEqual({ state: "synced" });
  });

  test.each([
    ["an event that cannot be read", new Fault("malformed", "unreadable event"), 3],
    ["a version that a restored server has not reached", new Fault("overloaded", "Too large version"), 10],
  ])("goes around %s, by a list", async (_, fault, times) => {
    const { begin, put, time, link, sink, expectCurrent } = world();
    await begin();
    link.failNext({ verb: "watch", times, fault });
    link.cut();
    put("a");
    await time.advance(MINUTE);
    expectCurrent();
    expect(sink.lists()).toBe(2);
  });

  test("waits as long as a busy server asks for", async () => {
    const { begin, time, link } = world();
    const fault = new Fault("rate-limited", "slowly", { details: { retryAfterMs: 20_000 } });
    link.failNext({ verb: "list", fault });
    await begin();
    await time.advance(19_000);
    expect(count(link.requests, "list pods")).toBe(1);
    await time.advance(1000);
    expect(count(link.requests, "list pods")).toBe(2);
  });

  test("does not hammer a server that ends watches at once", async () => {
    const ending = (client: KubeClient): KubeClient => ({
      ...client,
      async *watch(resource, query) {
        for await (const event of client.watch(resource, { ...query, timeoutSeconds: 0 })) yield event;
      },
    });
    const { begin, time, link } = world({ client: ending });
    await begin();
    await time.advance(MINUTE);
    expect(count(link.requests, "watch pods")).toBeLessThan(40);
  });

  test("does not take a list without a version for whole", async () => {
    let versions = ["", "7"];
    const nameless = (client: KubeClient): KubeClient => ({
      ...client,
      list: async (resource, query, each) => {
        const end = await client.list(resource, query, each);
        const [version = end.resourceVersion, ...rest] = versions;
        versions = rest;
        return { ...end, resourceVersion: version };
      },
    });
    const { begin, time, sink, log } = world({ client: nameless });
    await begin();
    await time.advance(1000);
    expect(sink.lists()).toBe(1);
    expect(log.lines[0]).toContain("the list of pods came without a resourceVersion");
  });

  test("lists again after its sink failed, since the event may be lost", async () => {
    let isFailing = true;
    const failing = (sink: Sink<FakeObject>): Sink<FakeObject> => ({
      ...sink,
      put: (object) => {
        const fails = isFailing && object.metadata.name === "bad";
        if (fails) isFailing = false;
        if (fails) throw new Error("no room");
        sink.put(object);
      },
    });
    const { begin, put, time, sink, log, expectCurrent } = world({ sink: failing });
    await begin();
    put("bad");
    put("good");
    await time.advance(5000);
    expectCurrent();
    expect(sink.lists()).toBe(2);
    expect(log.lines[0]).toContain("no room");
  });
});

describe("a follower that is stopped", () => {
  test.each<[string, (it: ReturnType<typeof world>) => Promise<void>]>([
    ["while it watches", ({ time }) => time.advance(1)],
    [
      "while it waits for an answer",
      async ({ link, time }) => {
        link.pause();
        link.cut();
        await time.advance(3000);
      },
    ],
    [
      "while it pauses between tries",
      async ({ link, time }) => {
        link.down();
        await time.advance(60_001);
      },
    ],
  ])("%s runs nothing any more and puts nothing", async (_, until) => {
    const it = world();
    it.put("a");
    await it.begin();
    await until(it);
    await it.follower.stop();
    it.sink.close();
    it.link.up();
    it.link.resume();
    const requests = it.link.requests.length;
    it.put("b");
    await it.time.advance(10 * MINUTE);
    expect(it.sink.violations).toEqual([]);
    expect(it.link.requests).toHaveLength(requests);
    expect(it.link.openWatches()).toBe(0);
  });

  test("before its first list says why the list never came", async () => {
    const { follower, link, time } = world();
    link.down();
    const started = follower.start();
    await time.advance(1000);
    await follower.stop();
    await expect(started).rejects.toThrow(
      "the reflector of pods was stopped before its first list was complete: connection refused",
    );
    await expect(follower.start()).rejects.toThrow("stopped");
  });

  test("puts nothing, also when its client continues with a list", async () => {
    let goOn = () => {};
    const unresponsive = (client: KubeClient): KubeClient => ({
      ...client,
      list: async (resource, query, each) => {
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        return await client.list(resource, { pageSize: query.pageSize ?? 1 }, each);
      },
    });
    const { follower, put, sink, begin, time } = world({ client: unresponsive });
    put("a");
    await begin();
    const stopped = follower.stop();
    sink.close();
    goOn();
    await time.advance(1);
    await stopped;
    expect(sink.violations).toEqual([]);
  });
});
