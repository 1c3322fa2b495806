import { expect, test } from "vitest";
import { noticeboard } from "./noticeboard.ts";

test("whoever waits is told what is seen later, and of nothing else", async () => {
  const board = noticeboard();
  const waiting = board.sightOf("request/a", 60_000);
  board.pin("request/b", { at: 1, text: "" });
  board.pin("request/a", { at: 2, text: "rsv-1" });
  await expect(waiting).resolves.toEqual({ at: 2, text: "rsv-1" });
});

test("the first sight counts, also for those who ask later", async () => {
  const board = noticeboard();
  board.pin("held/rsv-1", { at: 1, text: "" });
  board.pin("held/rsv-1", { at: 9, text: "" });
  await expect(board.sightOf("held/rsv-1", 0)).resolves.toMatchObject({ at: 1 });
});

test("what is never seen is undefined when the time is over", async () => {
  await expect(noticeboard().sightOf("held/rsv-1", 1)).resolves.toBeUndefined();
});
