import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type BenchOptions, type ToolBench, toolBench } from "./tool-bench.ts";

export interface PromisedTool extends BenchOptions {
  /** The npm script that runs it. */
  readonly script: string;
  /** What is said where there is neither Go nor what it makes. */
  readonly noGo: RegExp;
  /** How many programs it builds. */
  readonly programs: number;
  /** How the fake Go can be made to fail, and what is said then. */
  readonly failures: readonly [name: string, env: Readonly<Record<string, string>>, says: string][];
}

/** What every tool keeps to that brings assets; returns the bench that each test of the file has anew. */
export function testAssetsTool(tool: PromisedTool): () => ToolBench {
  let bench: ToolBench;
  beforeEach(() => {
    bench = toolBench(tool);
    return bench.dispose;
  });

  test("without Go and without assets it says what to do, exits with 3 and writes nothing", async () => {
    const { code, stdout, stderr } = await bench.run({ hasGo: false });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(tool.noGo);
    expect(readdirSync(bench.path())).toEqual([]);
  });

  test("two runs at once build once", async () => {
    const ends = await Promise.all([bench.run(), bench.run()]);
    expect(ends).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect(bench.built()).toHaveLength(tool.programs);
    expect(readdirSync(bench.path("cache"))).toHaveLength(1);
  });

  test.each(tool.failures)("%s, and nothing counts as whole", async (_, env, says) => {
    expect(await bench.run({ env })).toMatchObject({ code: 1, stderr: expect.stringContaining(says) });
    expect(bench.isWhole()).toBe(false);
  });

  test.each([
    ["unknown option --force", ["--force"]],
    ["--within lacks its number of minutes", ["--within"]],
    ["--within soon is no number of minutes", ["--within", "soon"]],
  ])("%s is refused, with the usage", async (problem, args) => {
    expect(await bench.run({ args })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `${tool.tool}: ${problem}. Usage: npm run ${tool.script} [-- --within MINUTES`,
      ),
    });
  });

  test("out of time, it stops Go, exits with 4 and says what is missing; the next run goes on", async () => {
    const late = await bench.run({ args: ["--within", "0.01"], env: { HANGS: "1" } });
    expect(late.code).toBe(4);
    expect(late.stderr).toMatch(
      /: not done within 1 s: \S+ lacks \S.+\. The next run goes on from here\.\n$/,
    );
    expect(await bench.run()).toMatchObject({ code: 0, stderr: "" });
  });

  test("it says where the folder is, once that is whole", async () => {
    expect(await bench.run({ args: ["--where"] })).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining(`Run npm run ${tool.script}.`),
    });
    await bench.run();
    expect(await bench.run({ args: ["--where"], hasGo: false })).toEqual({
      code: 0,
      stdout: `${bench.kept()}\n`,
      stderr: "",
    });
  });

  test("a folder from which a part was removed is not whole; the next run brings it back", async () => {
    await bench.run();
    const whole = readdirSync(bench.kept());
    const part = whole.findLast((name) => name !== "complete") ?? "";
    rmSync(join(bench.kept(), part), { recursive: true });
    expect(await bench.run({ args: ["--where"] })).toMatchObject({
      code: 3,
      stderr: `${tool.tool}: ${bench.kept()} lacks ${part}. Run npm run ${tool.script}.\n`,
    });
    expect(await bench.run()).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(bench.kept())).toEqual(whole);
  });

  return () => bench;
}
