import { controlPlaneAssets } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Right, rightsIn, roleWithout, shippedObjects } from "./testing/rights.ts";
import { type RightsSetup, rightsSetup } from "./testing/rights-setup.ts";

const START_TIMEOUT_MS = 600_000;
/** Above all that one agent's life waits for in turn: a busy machine is no failure. */
const ROW_TIMEOUT_MS = 180_000;
const SHIPPED = await shippedObjects();
const rows = rightsIn(SHIPPED).map((right) => [nameOf(right), right] as const);

describe.skipIf(!controlPlaneAssets().isThere)(
  "the rights in deploy/rbac, on a real API server",
  { timeout: ROW_TIMEOUT_MS },
  () => {
    let setup: RightsSetup;

    beforeAll(async () => {
      setup = await rightsSetup(SHIPPED);
    }, START_TIMEOUT_MS);
    afterAll(() => setup?.dispose(), START_TIMEOUT_MS);

    /** Without Liqo's own rights (agent-liqo.yaml) an agent says once that it does not look for Liqo: that is as it should be. */
    const isAboutLiqo = (line: string): boolean => line.startsWith("Liqo is not detected");
    const runLifecycle = async (isEnough: (line: string) => boolean): Promise<string[]> => {
      const shown = await setup.runLifecycle((line) => !isAboutLiqo(line) && isEnough(line));
      return shown.filter((line) => !isAboutLiqo(line));
    };

    test("are enough for an agent that borrows, lends, elects and reads prices", async () => {
      const shown = await runLifecycle(() => false);
      expect(shown.filter((line) => /may not|forbidden|fails/.test(line))).toEqual([]);
      expect(shown).toContainEqual(expect.stringContaining("metrics.k8s.io is not served"));
      expect(shown.at(-1)).toContain("the agent has stopped");
    });

    const others = [
      { verb: "list", group: "", resource: "secrets", namespace: "default" },
      { verb: "create", group: "", resource: "pods", namespace: "default" },
      { verb: "patch", group: "", resource: "nodes" },
      { verb: "delete", group: "rear.fluidos.eu", resource: "resourcerequests", namespace: "default" },
      { verb: "list", group: "rear.fluidos.eu", resource: "providerinstructions", namespace: "kube-system" },
      { verb: "list", group: "", resource: "configmaps", namespace: "rear-agent" },
    ];

    test.each(others)("do not include to $verb $resource", async ({ namespace, ...right }) => {
      expect(await setup.may({ ...right, objectName: undefined }, namespace)).toBe(false);
    });

    test.each(rows)("an agent that may not %s says so", async (name, right) => {
      await setup.give([roleWithout(right)], right, false);
      try {
        const isNamed = (line: string): boolean => line.includes(`may not ${name}`);
        const shown = await runLifecycle(isNamed);
        expect(shown).toContainEqual(expect.stringContaining(`may not ${name}`));
        expect(shown.filter((line) => line.includes("may not") && !isNamed(line))).toEqual([]);
      } finally {
        await setup.give([right.role], right, true);
      }
    });
  },
);

/** As faults name it. */
function nameOf({ verb, group, resource }: Right): string {
  return `${verb} ${resource} (${group === "" ? "core group" : group})`;
}
