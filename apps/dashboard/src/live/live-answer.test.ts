import { expect, test } from "vitest";
import { type ApiClient, ApiError } from "../net/api-client.ts";
import { fakeTimers, settle } from "../testing/fake-timers.ts";
import { createLiveAnswer, patchItems, type RefreshPolicy } from "./live-answer.ts";
import type { Changes, LiveConnection, LiveUpdate } from "./live-connection.ts";

interface Row {
  readonly id: string;
  readonly size: number;
}
interface List {
  readonly items: readonly Row[];
}

const NOTHING: Changes = { clusters: [], reservations: [], decisions: [], more: false };

function answering(policy: RefreshPolicy<List>) {
  const timers = fakeTimers();
  const asked: string[] = [];
  const listeners = new Set<(update: LiveUpdate) => void>();
  const broker = { answer: { items: [{ id: "a", size: 1 }] } as List | ApiError };
  const api: ApiClient = {
    get: <T>(path: string) => {
      asked.push(path);
      return broker.answer instanceof ApiError
        ? Promise.reject(broker.answer)
        : Promise.resolve(structuredClone(broker.answer) as T);
    },
    post: () => Promise.reject(new Error("not asked here")),
    remove: () => Promise.resolve(),
  };
  const live: LiveConnection = {
    status: () => "live",
    onStatus: () => () => undefined,
    onUpdate: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    start: () => undefined,
    stop: () => undefined,
  };
  const answer = createLiveAnswer<List>({ api, live, timers }, policy);
  const tell = (update: LiveUpdate): void => {
    for (const listener of listeners) listener(update);
  };
  return { answer, asked, broker, timers, tell, listeners };
}

test("many changes are one more reading, not one each", async () => {
  const { answer, asked, tell, timers } = answering({ isAffectedBy: () => true, minIntervalMs: 500 });
  answer.load("/list");
  await settle();
  for (let change = 0; change < 50; change++) tell({ kind: "changes", changes: NOTHING });
  await timers.advance(500);
  expect(asked).toEqual(["/list", "/list"]);
});

test("a change long after the last reading is read at once", async () => {
  const { answer, asked, tell, timers } = answering({ isAffectedBy: () => true, minIntervalMs: 500 });
  answer.load("/list");
  await timers.advance(10_000);
  tell({ kind: "changes", changes: NOTHING });
  await timers.advance(0);
  expect(asked).toHaveLength(2);
});

test("rows that changed are put in place before the list is read again", async () => {
  const { answer, tell } = answering({
    patch: (list) => patchItems(list, [{ id: "a", size: 2 }], ({ id }) => id),
  });
  answer.load("/list");
  await settle();
  tell({ kind: "changes", changes: NOTHING });
  expect(answer.snapshot().data).toEqual({ items: [{ id: "a", size: 2 }] });
});

test("an equal answer is the same object, so that nothing is drawn again", async () => {
  const { answer } = answering({});
  answer.load("/list");
  await settle();
  const before = answer.snapshot().data;
  answer.reload();
  await settle();
  expect(answer.snapshot().data).toBe(before);
});

test("a failure stands beside what was read before", async () => {
  const { answer, broker } = answering({});
  answer.load("/list");
  await settle();
  broker.answer = new ApiError("away", 0);
  answer.reload();
  await settle();
  expect(answer.snapshot()).toMatchObject({ data: { items: [{ id: "a" }] }, failure: { message: "away" } });
});

test("a question that fails is not answered by what another one was told", async () => {
  const { answer, broker } = answering({});
  answer.load("/fleet/oslo");
  await settle();
  broker.answer = new ApiError("away", 0);
  answer.load("/fleet/paris");
  await settle();
  expect(answer.snapshot()).toMatchObject({ data: undefined, failure: { message: "away" } });
});

test("a reload is read at once, and what changes without an event is read in time", async () => {
  const { answer, asked, tell, timers } = answering({ pollMs: (data) => (data === undefined ? 100 : 2000) });
  answer.load("/list");
  await settle();
  tell({ kind: "reload" });
  await settle();
  expect(asked).toHaveLength(2);
  await timers.advance(1999);
  expect(asked).toHaveLength(2);
  await timers.advance(1);
  expect(asked).toHaveLength(3);
});

test("a question in the making is asked once, when it rests", async () => {
  const posted: string[] = [];
  const ask = (_api: ApiClient, question: string): Promise<List> => {
    posted.push(question);
    return Promise.resolve({ items: [] });
  };
  const { answer, timers } = answering({ ask, pauseMs: 100 });
  for (const question of ["4", "40", "400"]) {
    answer.load(question);
    expect(answer.snapshot().isLoading).toBe(true);
    await timers.advance(50);
  }
  answer.load(null);
  await timers.advance(200);
  expect(posted).toEqual([]);
  answer.load("400");
  await timers.advance(100);
  expect(posted).toEqual(["400"]);
  expect(answer.snapshot().isLoading).toBe(false);
});

test("after stop nobody listens and no timer runs", async () => {
  const { answer, timers, listeners } = answering({ pollMs: 1000 });
  answer.load("/list");
  await settle();
  answer.stop();
  expect(listeners.size).toBe(0);
  expect(timers.pending()).toBe(0);
});
