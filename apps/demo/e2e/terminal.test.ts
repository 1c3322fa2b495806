import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { processesIn } from "./testing/demo-process.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const run = promisify(execFile);
/** Only a guard: processes start from their sources, beside other tests. */
const TIMEOUT = { timeout: 180_000 };
const WITHIN_MS = 60_000;
const PROMPT = "ready>";

const hasTmux = await run("tmux", ["-V"]).then(
  () => true,
  () => false,
);

/** A shell on a terminal of 80×24, with the demo in it. */
async function demoOnTerminal() {
  const server = `demo-test-${randomUUID()}`;
  const tmux = async (...words: readonly string[]): Promise<string> =>
    (await run("tmux", ["-L", server, "-f", "/dev/null", ...words])).stdout;
  onTestFinished(() => tmux("kill-server").then(() => undefined));
  await tmux("new-session", "-d", "-x", "80", "-y", "24", "-e", "LANG=C.UTF-8", "sh");
  const type = (...keys: readonly string[]) => tmux("send-keys", ...keys);
  const screen = () => tmux("capture-pane", "-p");
  const shows = (what: string | RegExp) =>
    until(
      `the screen shows ${what}`,
      async () => {
        const text = await screen();
        expect(text).toMatch(what);
        return text;
      },
      WITHIN_MS,
    );
  // Some shells take no prompt from the environment.
  await type(`PS1='${PROMPT} '`, "Enter");
  // At the end of a line: the first prompt may have been late, and stand before it.
  await shows(/ready> *$/m);
  await type(`'${process.execPath}' '${MAIN}' --clusters=2 --no-dashboard`, "Enter");
  await shows(/^c {2}five commands to try/m);
  await type("c");
  const folder = /\/tmp\/resource-broker-\w+/.exec(await shows("1. rome asks"))?.[0] ?? "";
  await type("c");
  return { tmux, type, screen, shows, folder };
}

describe.skipIf(!hasTmux)("on a terminal (needs tmux)", () => {
  test(
    "shows live clusters, follows the terminal's size, and q leaves the shell as it was",
    TIMEOUT,
    async () => {
      const { tmux, type, shows, folder } = await demoOnTerminal();
      const small = await shows("LAST DECISIONS");
      expect(small).toMatch(
        /^Resource Broker {2}2 clusters {2}https:\/\/127\.0\.0\.1:[0-9]+ {2}sqlite {2}ready in/,
      );
      expect(small).toMatch(/^paris +█+░+ 28\/32 +█+░+ 112\/128Gi +- +0\.032 EUR$/m);
      await tmux("resize-window", "-x", "140", "-y", "40");
      await shows(/^paris +eu-west +█+░+ 28\/32 /m);
      await type("q");
      const after = await shows(new RegExp(`Everything has ended\\.\\n${PROMPT}`));
      expect(after).not.toContain("LAST DECISIONS");
      expect((await tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")).trim()).toBe("0 1");
      // What is typed is seen again, and goes to the shell.
      await type("echo $((6*7))", "Enter");
      await shows(/^42$/m);
      expect(processesIn(folder)).toEqual([]);
    },
  );

  test("killed, it still gives the terminal back and leaves nothing behind", TIMEOUT, async () => {
    const { tmux, type, shows, folder } = await demoOnTerminal();
    const pane = (await tmux("display-message", "-p", "#{pane_pid}")).trim();
    const { stdout } = await run("pgrep", ["-P", pane]);
    process.kill(Number(stdout.trim()), "SIGKILL");
    await shows(PROMPT);
    await until("the terminal is as it was", async () => {
      expect((await tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}")).trim()).toBe("0 1");
      return true;
    });
    await type("echo $((6*7))", "Enter");
    await shows(/^42$/m);
    await until("nothing runs any more", async () => processesIn(folder).length === 0 || undefined);
  });
});
