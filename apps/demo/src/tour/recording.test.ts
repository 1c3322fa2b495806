import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { startRecording } from "./recording.ts";

test("a recording holds what was written and when, as a terminal gets it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "recording-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const time = fakeClock();
  const file = join(folder, "tour.cast");
  const recording = await startRecording(file, time);
  recording.write("one\ntwo\n");
  await time.advance(1234);
  recording.write("three");
  await recording.save();
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  const [header, ...events] = lines.map((text): unknown => JSON.parse(text));
  expect(header).toMatchObject({ version: 2, width: 100, height: 32, timestamp: expect.any(Number) });
  expect(events).toEqual([
    [0, "o", "one\r\ntwo\r\n"],
    [1.234, "o", "three"],
  ]);
});

test("a file that cannot be written is known before anything is recorded", async () => {
  const notThere = join(import.meta.filename, "tour.cast");
  await expect(startRecording(notThere, fakeClock())).rejects.toThrow(notThere);
});
