import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createSignOuts } from "./sign-outs.ts";

const HOUR_MS = 3_600_000;

function world(name = "sign-outs.json") {
  const folder = mkdtempSync(join(tmpdir(), "sign-outs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [time, warnings, file] = [fakeClock(), [] as string[], join(folder, name)];
  const log = { warn: (_: object, message: string) => void warnings.push(message) };
  const loaded = async () => {
    const signOuts = createSignOuts({ file, sessionMs: 12 * HOUR_MS, clock: time, log });
    await signOuts.load();
    return signOuts;
  };
  return { folder, file, time, warnings, loaded };
}

test("nobody comes back when a clock that ran ahead is put right, and only those before are taken along", async () => {
  const { time, loaded } = world();
  const signOuts = await loaded();
  const ended = { id: "a", beganAt: time.wallMs() };
  await signOuts.add(ended);
  time.jumpWall(24 * HOUR_MS);
  await signOuts.add({ id: "b", beganAt: time.wallMs() });
  time.jumpWall(-24 * HOUR_MS);
  for (const kept of [signOuts, await loaded()]) {
    expect(kept.has(ended)).toBe(true);
    expect(kept.has({ id: "later", beganAt: ended.beganAt + 1 })).toBe(false);
  }
});

test("beyond a thousand the oldest take along what began before them: nobody comes back", async () => {
  const { time } = world();
  const log = { warn: () => undefined };
  const signOuts = createSignOuts({ sessionMs: 12 * HOUR_MS, clock: time, log });
  const at = (count: number) => ({ id: `s-${count}`, beganAt: time.wallMs() + count });
  for (let count = 1001; count >= 1; count--) await signOuts.add(at(count));
  expect([1, 2, 1001].map((count) => signOuts.has(at(count)))).toEqual([true, true, true]);
  expect(signOuts.has({ id: "bystander", beganAt: time.wallMs() + 1 })).toBe(true);
  expect(signOuts.has({ id: "bystander", beganAt: time.wallMs() + 2 })).toBe(false);
});

test.each([
  { name: "is not JSON", text: '{"overUpTo":0,"sess' },
  { name: "has another form", text: '{"overUpTo":0,"sessions":[["a"]]}' },
  { name: "says nothing of the rest", text: '{"sessions":[]}' },
  { name: "is empty", text: "" },
])("a file that $name signs everybody out who came before", async ({ text }) => {
  const { file, time, warnings, loaded } = world();
  writeFileSync(file, text);
  const signOuts = await loaded();
  expect(signOuts.has({ id: "a", beganAt: time.wallMs() })).toBe(true);
  expect(signOuts.has({ id: "a", beganAt: time.wallMs() + 1 })).toBe(false);
  expect(warnings).toEqual(["the list of sign-outs cannot be read: all users have to sign in again"]);
});

test("a file that cannot be written ends the session all the same, and the log says what is missing", async () => {
  const { time, warnings, loaded } = world("no-such-folder/sign-outs.json");
  const signOuts = await loaded();
  await signOuts.add({ id: "a", beganAt: time.wallMs() });
  expect(signOuts.has({ id: "a", beganAt: time.wallMs() })).toBe(true);
  expect(warnings).toEqual(["a sign-out is kept in memory only: its file cannot be written"]);
});
