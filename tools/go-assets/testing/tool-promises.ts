import { readdirSync } from "node:fs";
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

  test("an unknown option is refused", async () => {
    expect(await bench.run({ args: ["--force"] })).toMatchObject({
      code: 2,
      stderr: `${tool.tool}: unknown option --force. Usage: npm run ${tool.script}\n`,
    });
  });

  return () => bench;
}
