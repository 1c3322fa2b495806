import { expect, test } from "vitest";
import { createObservations } from "./observations.ts";

test("whoever waits is told what is seen later, and of nothing else", async () => {
  const observations = createObservations();
  const waiting = observations.waitFor("request/a", 60_000);
  observations.record("request/b", { at: 1, text: "" });
  observations.record("request/a", { at: 2, text: "rsv-1" });
  await expect(waiting).resolves.toEqual({ at: 2, text: "rsv-1" });
});

test("the first sight counts, also for those who ask later", async () => {
  const observations = createObservations();
  observations.record("held/rsv-1", { at: 1, text: "" });
  observations.record("held/rsv-1", { at: 9, text: "" });
  await expect(observations.waitFor("held/rsv-1", 0)).resolves.toMatchObject({ at: 1 });
});

test("what is never seen is undefined when the time is over", async () => {
  await expect(createObservations().waitFor("held/rsv-1", 1)).resolves.toBeUndefined();
});
