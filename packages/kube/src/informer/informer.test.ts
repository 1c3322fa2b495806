import { fakeClock } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeKube } from "../testing/fake-kube-client.ts";
import type { FakeObject } from "../testing/fake-store.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { informer, objectCache } from "./informer.ts";

const PODS = { group: "", version: "v1", kind: "Pod", plural: "pods", isNamespaced: true } as const;

interface ColouredObject extends FakeObject {
  readonly colour?: string;
}

const coloured = (name: string, colour?: string): ColouredObject => ({
  metadata: { namespace: "default", name },
  ...(colour === undefined ? {} : { colour }),
});

function world(options: { isSame?: (a: { colour: string }, b: { colour: string }) => boolean } = {}) {
  const time = fakeClock();
  const kube = fakeKube({ clock: time });
  const link = kube.connect();
  const log = recordedLog();
  const pods = informer(
    {
      resource: { ...PODS, example: coloured("x") },
      transform: ({ colour }) => (colour === undefined ? undefined : { colour }),
      ...options,
    },
    { client: link.client, clock: time, random: () => 0.5, log },
  );
  const changes: string[] = [];
  pods.listen((key, now, before) => changes.push(`${key}: ${before?.colour} -> ${now?.colour}`));
  return { time, store: kube.store, link, log, pods, heard: changes };
}

describe("an informer", () => {
  test("finds by a new list what was deleted while nobody watched, and keeps the rest in force meanwhile", async () => {
    const { store, pods, time, link, heard: changes } = world({ isSame: (a, b) => a.colour === b.colour });
    store.create(PODS, coloured("a", "red"));
    store.create(PODS, coloured("b", "red"));
    await pods.start();
    changes.length = 0;
    link.down();
    store.delete(PODS, { namespace: "default", name: "a" });
    store.compact();
    await time.advance(5000);
    expect(pods.get("default/a")).toEqual({ colour: "red" });
    link.up();
    await time.advance(10_000);
    expect(changes).toEqual(["default/a: red -> undefined"]);
  });

  test("continues when a listener fails, and ends listening on demand", async () => {
    const { store, pods, heard: changes, log, time } = world();
    pods.listen(() => {
      throw new Error("oops");
    });
    const late: string[] = [];
    const end = pods.listen((key) => late.push(key));
    store.create(PODS, coloured("a", "red"));
    await pods.start();
    end();
    store.create(PODS, coloured("b", "red"));
    await time.advance(1);
    expect(changes).toHaveLength(2);
    expect(late).toEqual(["default/a"]);
    expect(log.lines).toContain("error a listener of an informer failed; that is a bug");
  });
});

describe("what an informer keeps", () => {
  test("is what the last whole list and the events after it say, also when lists break off", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("put" as const), name: fc.nat(5), value: fc.nat(3) }),
      fc.record({ kind: fc.constant("remove" as const), name: fc.nat(5) }),
      fc.record({ kind: fc.constant("list" as const), names: fc.array(fc.nat(5)), isWhole: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { sink, kept } = objectCache<{ metadata: { name: string }; value: number }, number>(
          { transform: ({ value }) => value },
          recordedLog(),
        );
        const replayed = new Map<string, number>();
        kept.listen((key, now) => (now === undefined ? replayed.delete(key) : replayed.set(key, now)));
        const model = new Map<string, number>();
        const object = (name: number, value = 0) => ({ metadata: { name: String(name) }, value });
        for (const each of steps) {
          if (each.kind === "put") {
            sink.put(object(each.name, each.value));
            model.set(String(each.name), each.value);
          } else if (each.kind === "remove") {
            sink.remove(object(each.name));
            model.delete(String(each.name));
          } else {
            sink.beginList();
            for (const name of each.names) sink.put(object(name, 9));
            if (each.isWhole) sink.endList();
            if (each.isWhole) model.clear();
            for (const name of each.names) model.set(String(name), 9);
          }
        }
        const known = new Map([...kept.keys()].map((key) => [key, kept.get(key)]));
        expect(known).toEqual(model);
        expect(replayed).toEqual(model);
      }),
    );
  });
});

describe("a server that names ever more objects", () => {
  test("does not fill the memory, however often its list breaks off", () => {
    const { kept, sink } = objectCache<ColouredObject, string>(
      { transform: ({ colour }) => colour },
      recordedLog(),
    );
    const put = (count: number): void => sink.put(coloured(`pod-${count}`, "red"));
    sink.beginList();
    for (let count = 0; count < 60_000; count++) put(count);
    sink.beginList();
    for (let count = 60_000; count < 100_000; count++) put(count);
    expect(() => put(100_000)).toThrow("there are more than 100000 objects");
    put(7);
    expect(kept.size()).toBe(100_000);
    sink.beginList();
    sink.endList();
    put(100_000);
    expect(kept.size()).toBe(1);
  });
});
