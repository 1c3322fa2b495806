import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, test } from "vitest";
import { expectDone, runScript, stateFolder } from "../testing/scripts.ts";

const TIMEOUT_MS = 900_000;

describe("on clusters with the real Liqo", () => {
  const folder = stateFolder();
  const flags = ["--on", "liqo", "--state", folder.path];
  afterAll(() => folder.dispose("liqo"));

  test(
    "from nothing, the whole way: the reservation is a node, and a pod on it runs in the other cluster",
    async () => {
      const end = await runScript("test-reservation.sh", [...flags, "--keep", "--timeout", "300"]);
      expectDone(end);
      expect(end.stdout.match(/^PASS {2}/gm)).toHaveLength(22);
    },
    TIMEOUT_MS,
  );

  test("what was kept is shown, with the way into its network", async () => {
    const end = await runScript("status.sh", flags);
    expectDone(end);
    const [, enter = ""] = /^network +there +(nsenter .*?) {3}#/m.exec(end.stdout) ?? [];
    const [program = "", ...args] = enter.split(" ");
    const { stdout } = spawnSync(program, [...args, "ip", "route", "show", "table", "local"], {
      encoding: "utf8",
    });
    expect(stdout).toContain("local 10.0.0.0/8 dev lo");
  });

  test("nothing is left of it", async () => {
    expectDone(await runScript("cleanup.sh", flags));
    expect(folder.processes()).toEqual([]);
    expect(folder.isThere()).toBe(false);
  });
});
