/** The scripts as a person runs them, on three clusters of kind. */
import { afterAll, describe, expect, test } from "vitest";
import { expectDone, runScript, stateFolder } from "../testing/scripts.ts";

const TIMEOUT = 900_000;

describe("test-reservation.sh on kind", { timeout: TIMEOUT }, () => {
  const folder = stateFolder();
  afterAll(() => folder.dispose("kind"), TIMEOUT);

  test("from nothing, the whole way, and nothing is left of it", async () => {
    const began = performance.now();
    const image = ["--node-image", process.env["KIND_NODE_IMAGE"] ?? ""];
    const flags = ["--on", "kind", "--state", folder.path, "--cert-manager", "none", ...image];
    const end = await runScript("test-reservation.sh", flags);
    expectDone(end);
    const passed = end.stdout.match(/^PASS {2}/gm);
    expect(passed).toHaveLength(15);
    expect(folder.processes()).toEqual([]);
    expect(folder.isThere()).toBe(false);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(
      `kind: test-reservation.sh on three clusters: ${passed?.length} steps passed in ${seconds} s\n`,
    );
  });
});
