import { expect } from "vitest";
import type { KubectlCommand } from "../../src/testing/kubectl-command.ts";
import { type KubectlPlace, runKubectl, type Seen, watchKubectl } from "./run-kubectl.ts";

/** Runs a row of the table and compares what a user sees. */
export async function expectSeen(place: KubectlPlace, command: KubectlCommand): Promise<void> {
  const run = command.meanwhile === undefined ? runKubectl : watchKubectl;
  compare(command, await run(place, command));
}

function compare({ shows, complains = [], hides = [], exitCode }: KubectlCommand, seen: Seen): void {
  const { stdout, stderr } = seen;
  for (const pattern of shows) expect(stdout || stderr).toMatch(pattern);
  for (const pattern of complains) expect(stderr || stdout).toMatch(pattern);
  for (const pattern of hides) expect(stdout + stderr).not.toMatch(pattern);
  if (seen.exitCode !== undefined) expect({ exitCode: seen.exitCode, stderr }).toMatchObject({ exitCode });
}
