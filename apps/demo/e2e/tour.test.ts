import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { TOUR_STEPS } from "../src/tour/run-tour.ts";
import { emptyFolder, MAIN, processesIn, run, startDemo, TIMEOUT } from "./testing/demo-process.ts";

const CAST = join(import.meta.dirname, "../../../docs/media/tour.cast");

/** What a person who watches the recording sees, without colours. */
async function shownIn(file: string): Promise<string> {
  const [header = "", ...events] = (await readFile(file, "utf8")).trimEnd().split("\n");
  expect(JSON.parse(header)).toMatchObject({ version: 2, width: 100, height: 32 });
  const times: number[] = [];
  let shown = "";
  for (const text of events) {
    const [seconds, kind, written] = JSON.parse(text) as [number, string, string];
    expect(kind).toBe("o");
    times.push(seconds);
    shown += written;
  }
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  // oxlint-disable-next-line no-control-regex -- colours begin with one
  const plain = shown.replaceAll(/\u001b\[[0-9;]*m/g, "").replaceAll("\r\n", "\n");
  return plain.replaceAll(/ +$/gm, "");
}

const headings = TOUR_STEPS.map(({ title }, index) => `${index + 1}/${TOUR_STEPS.length}  ${title}`);

describe("npm start -- --tour", () => {
  test("runs to its end, checks every claim, and records what it told", TIMEOUT, async () => {
    const folder = await emptyFolder();
    const file = join(folder, "tour.cast");
    const { stdout } = await run(process.execPath, [MAIN, "--tour", "--fast", "--record", file], {
      env: { ...process.env, LANG: "C.UTF-8", TMPDIR: folder },
    });
    expect(stdout.split("\n").filter((text) => /^[0-9]+\/[0-9]+ /.test(text))).toEqual(headings);
    expect(stdout).toContain("paris lends 4 CPU / 8Gi Memory to rome.");
    expect(stdout).toContain("Would fit tokyo with 4 GPU instead of 6.");
    expect(stdout).toContain("Adopted: tokyo lends 8 CPU / 32Gi Memory / 4 GPU to rome, Active.");
    expect(await shownIn(file)).toBe(stdout);
    expect(processesIn(folder)).toEqual([]);
  });

  test("interrupted, it ends everything it started", TIMEOUT, async () => {
    const folder = await emptyFolder();
    const command = [process.execPath, MAIN, "--tour", "--fast"];
    const tour = startDemo({ command, cwd: folder, env: { ...process.env, TMPDIR: folder } });
    await until(
      "the story begins",
      async () => tour.output().includes(headings[0] ?? "") || undefined,
      90_000,
    );
    expect(processesIn(folder)).not.toEqual([]);
    tour.interrupt();
    expect(await tour.ended).toEqual({ code: 130 });
    expect(processesIn(folder)).toEqual([]);
  });

  test("the recording in the docs tells the story as it is told today", async () => {
    const shown = await shownIn(CAST);
    expect(shown.split("\n").filter((text) => /^[0-9]+\/[0-9]+ /.test(text))).toEqual(headings);
    expect(shown).toContain("each checked while it ran.");
    const output = shown.replaceAll(/\s+/g, " ");
    for (const { narration } of TOUR_STEPS) expect(output).toContain(narration);
  });

  test("a wrong flag ends with code 2 and what was meant", async () => {
    const ended = run(process.execPath, [MAIN, "--tour", "--fats"]);
    const stderr = 'npm start: unknown argument "fats": did you mean --fast?';
    await expect(ended).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(stderr) });
  });
});
