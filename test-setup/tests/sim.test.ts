import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findControlPlane } from "../../tools/kube-assets/assets.ts";
import { expectDone, interruptScript, runScript, stateFolder } from "./testing/scripts.ts";

const STEPS = 15;
/** Nine servers and as many agents start at once: a guard for a machine under load. */
const START_TIMEOUT_MS = 600_000;

describe.skipIf(!hasKubectl())("on simulated clusters", () => {
  const kept = stateFolder();
  const other = stateFolder();
  const third = stateFolder();
  const onKept = ["--on", "sim", "--state", kept.path];
  afterAll(async () => {
    await Promise.all([kept, other, third].map((folder) => folder.dispose("sim")));
  });
  const pidOf = (name: string): number =>
    Number(readFileSync(join(kept.path, "sim/run", `${name}.pid`), "utf8").split(" ")[0]);

  test(
    "from nothing, three at once: one passes, one asks for too much, one is interrupted; only the first, told to, leaves anything",
    async () => {
      const [good, bad, stopped] = await Promise.all([
        runScript("test-reservation.sh", [...onKept, "--keep"]),
        runScript("test-reservation.sh", ["--on", "sim", "--state", other.path, "--cpu", "100"]),
        interruptScript("test-reservation.sh", ["--on", "sim", "--state", third.path], /broker: ready/),
      ]);
      expectDone(good);
      expect(good.stdout.match(/^PASS {2}/gm)).toHaveLength(STEPS);
      expect(good.stdout).not.toContain("FAIL");
      expect(good.stdout.trimEnd()).toMatch(/\n15 steps passed$/);

      expect(bad.code).toBe(1);
      expect(bad.stdout).toMatch(
        /^FAIL {2}a ResourceRequest in agent-cluster-1 is granted by agent-cluster-2\n/m,
      );
      expect(bad.stdout).toContain("No cluster can lend 100 CPU / 256Mi Memory");
      expect(bad.stderr).toContain("the last lines of");

      expect(stopped.code).toBe(130);
      expect(stopped.stdout).toContain("stopped after 0 steps that passed");
      for (const folder of [other, third]) {
        expect(folder.processes()).toEqual([]);
        expect(folder.isThere()).toBe(false);
      }
    },
    START_TIMEOUT_MS,
  );

  test("what was kept is shown, and used again without being ended", async () => {
    const before = pidOf("broker");
    const again = await runScript("test-reservation.sh", onKept);
    expectDone(again);
    expect(pidOf("broker")).toBe(before);
    const status = await runScript("status.sh", onKept);
    expectDone(status);
    for (const name of ["broker", "agent-cluster-1", "agent-cluster-2"])
      expect(status.stdout).toMatch(new RegExp(`^${name} +ready `, "m"));
    expect(status.stdout).toMatch(/agent-cluster-2-adv +agent-cluster-2 +16 +64Gi +Active/);
  });

  test("every script can be run again", async () => {
    const { stdout: broker } = await runScript("run-broker.sh", onKept);
    expect(broker).toContain(`broker: runs already (process ${pidOf("broker")})`);
    for (const name of ["setup-clusters.sh", "setup-certmanager.sh", "extract-certs.sh", "run-agent-1.sh"]) {
      const end = await runScript(name, onKept);
      expectDone(end);
    }
  });

  test("a killed broker is noticed, started for one test on the port that agents know, and ended with it", async () => {
    process.kill(pidOf("broker"), "SIGKILL");
    const status = await runScript("status.sh", onKept);
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(/^broker +not running .*run-broker.sh --on sim$/m);
    const again = await runScript("test-reservation.sh", onKept);
    expectDone(again);
    expect(again.stdout).toContain("broker: stopped");
    expect(again.stdout).not.toContain("agent-cluster-1: stopped");
  });

  test("a process that only has the number of one of ours is not ended", async () => {
    const stranger = `${process.pid} 1`;
    writeFileSync(join(kept.path, "sim/run/broker.pid"), `${stranger}\n`);
    const end = await runScript("cleanup.sh", onKept);
    expectDone(end);
    expect(end.stdout).not.toContain("broker: stopped");
    expect(kept.processes()).toEqual([]);
    expect(kept.isThere()).toBe(false);
    const again = await runScript("cleanup.sh", onKept);
    expect(again).toMatchObject({ code: 0, stdout: `nothing to clean up in ${kept.path}/sim\n` });
  });
});

/** Whether the scripts find a kubectl: skipping is said aloud, and with `KUBECTL_REQUIRED=1` there must be one. */
function hasKubectl(): boolean {
  const { isThere, folder } = findControlPlane(process.env);
  const isBuilt = isThere && existsSync(join(folder, "kubectl"));
  if (isBuilt || spawnSync("kubectl", ["version", "--client"]).status === 0) return true;
  const why = "there is no kubectl: install it, or run npm run kube:assets";
  if (process.env["KUBECTL_REQUIRED"] === "1") throw new Error(`KUBECTL_REQUIRED is set, but ${why}`);
  process.stderr.write(`Tests of test-setup on simulated clusters are SKIPPED: ${why}\n`);
  return false;
}
