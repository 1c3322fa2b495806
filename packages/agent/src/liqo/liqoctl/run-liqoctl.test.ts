import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { EXIT_NOT_FOUND, liqoctl } from "./run-liqoctl.ts";

const folder = await mkdtemp(join(tmpdir(), "liqoctl-"));
afterAll(() => rm(folder, { recursive: true }));

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const env = { PATH: "/usr/bin:/bin", GREETING: "hello" };
const run = (path: string, args: readonly string[] = [], signal = new AbortController().signal) =>
  liqoctl({ path, env })(args, { timeoutMs: 20_000, signal });

describe("liqoctl", () => {
  test("gets its arguments as they are: no shell reads them", async () => {
    const echo = await program("echo", 'for a in "$@"; do echo "[$a]"; done; echo "$GREETING $NO_COLOR" >&2');
    const { code, output } = await run(echo, ["peer", "$(ls) ; rm -rf /", "a  b"]);
    expect(code).toBe(0);
    expect(output.trim().split("\n")).toEqual(["[peer]", "[$(ls) ; rm -rf /]", "[a  b]", "", "hello 1"]);
  });

  test("that fails says so with its code and what it printed", async () => {
    const failing = await program("failing", "echo broken >&2; exit 3");
    expect(await run(failing)).toEqual({ code: 3, output: "\nbroken\n" });
  });

  test("that hangs is ended by the signal", async () => {
    const hanging = await program("hanging", "echo begun; exec sleep 600");
    const ending = new AbortController();
    const running = run(hanging, [], ending.signal);
    ending.abort();
    expect(await running).toMatchObject({ code: undefined });
  });

  test("that prints without end is let go on, and its last words are kept", async () => {
    const loud = await program("loud", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last >&2; exit 4");
    const { code, output } = await run(loud);
    expect(code).toBe(4);
    expect(output.endsWith("last\n")).toBe(true);
    expect(output.length).toBeLessThan(200_000);
  });

  test("that asks something gets no answer, and ends", async () => {
    const asking = await program("asking", 'read answer; echo "[$answer]"');
    expect(await run(asking)).toMatchObject({ code: 0, output: "[]\n\n" });
  });

  test("that is not there is told with the remedy", async () => {
    expect(await run(join(folder, "nothing"))).toEqual({
      code: EXIT_NOT_FOUND,
      output: expect.stringContaining("--liqoctl"),
    });
  });
});
