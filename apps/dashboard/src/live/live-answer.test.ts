import { expect, test } from "vitest";
import { type Ask, AskFailure } from "../net/ask.ts";
import { fakeTimers, settled } from "../testing/fake-timers.ts";
import { createLiveAnswer, type Freshness, patchRows } from "./live-answer.ts";
import type { Changes, LiveConnection, News } from "./live-connection.ts";

interface Row {
  readonly id: string;
  readonly size: number;
}
interface List {
  readonly rows: readonly Row[];
}

const NOTHING: Changes = { commit: 1, clusters: [], reservations: [], decisions: [], more: false };

function answering(freshness: Freshness<List>) {
  const timers = fakeTimers();
  const asked: string[] = [];
  const listeners = new Set<(news: News) => void>();
  const broker = { answer: { rows: [{ id: "a", size: 1 }] } as List | AskFailure };
  const ask: Ask = {
    get: <T>(path: string) => {
      asked.push(path);
      return broker.answer instanceof AskFailure
        ? Promise.reject(broker.answer)
        : Promise.resolve(structuredClone(broker.answer) as T);
    },
    post: () => Promise.reject(new Error("not asked here")),
    remove: () => Promise.resolve(),
  };
  const live: LiveConnection = {
    status: () => "live",
    onStatus: () => () => undefined,
    onNews: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    start: () => undefined,
    stop: () => undefined,
  };
  const answer = createLiveAnswer<List>({ ask, live, timers }, freshness);
  const tell = (news: News): void => {
    for (const listener of listeners) listener(news);
  };
  return { answer, asked, broker, timers, tell, listeners };
}

test("many changes are one more reading, not one each", async () => {
  const { answer, asked, tell, timers } = answering({ concerns: () => true, restMs: 500 });
  answer.ask("/list");
  await settled();
  for (let change = 0; change < 50; change++) tell({ kind: "changes", changes: NOTHING });
  await timers.pass(500);
  expect(asked).toEqual(["/list", "/list"]);
});

test("a change long after the last reading is read at once", async () => {
  const { answer, asked, tell, timers } = answering({ concerns: () => true, restMs: 500 });
  answer.ask("/list");
  await timers.pass(10_000);
  tell({ kind: "changes", changes: NOTHING });
  await timers.pass(0);
  expect(asked).toHaveLength(2);
});

test("rows that changed are put in place before the list is read again", async () => {
  const { answer, tell } = answering({
    patch: (list) => patchRows(list, [{ id: "a", size: 2 }]),
  });
  answer.ask("/list");
  await settled();
  tell({ kind: "changes", changes: NOTHING });
  expect(answer.snapshot().data).toEqual({ rows: [{ id: "a", size: 2 }] });
});

test("an equal answer is the same object, so that nothing is drawn again", async () => {
  const { answer } = answering({});
  answer.ask("/list");
  await settled();
  const before = answer.snapshot().data;
  answer.reload();
  await settled();
  expect(answer.snapshot().data).toBe(before);
});

test("a failure stands beside what was read before", async () => {
  const { answer, broker } = answering({});
  answer.ask("/list");
  await settled();
  broker.answer = new AskFailure("away", { status: 0, code: "unreachable" });
  answer.reload();
  await settled();
  expect(answer.snapshot()).toMatchObject({ data: { rows: [{ id: "a" }] }, failure: { message: "away" } });
});

test("a question that fails is not answered by what another one was told", async () => {
  const { answer, broker } = answering({});
  answer.ask("/fleet/oslo");
  await settled();
  broker.answer = new AskFailure("away", { status: 0, code: "unreachable" });
  answer.ask("/fleet/paris");
  await settled();
  expect(answer.snapshot()).toMatchObject({ data: undefined, failure: { message: "away" } });
});

test("a reload is read at once, and what changes without an event is read in time", async () => {
  const { answer, asked, tell, timers } = answering({ everyMs: (data) => (data === undefined ? 100 : 2000) });
  answer.ask("/list");
  await settled();
  tell({ kind: "reload" });
  await settled();
  expect(asked).toHaveLength(2);
  await timers.pass(1999);
  expect(asked).toHaveLength(2);
  await timers.pass(1);
  expect(asked).toHaveLength(3);
});

test("after stop nobody listens and no timer runs", async () => {
  const { answer, timers, listeners } = answering({ everyMs: 1000 });
  answer.ask("/list");
  await settled();
  answer.stop();
  expect(listeners.size).toBe(0);
  expect(timers.waiting()).toBe(0);
});
