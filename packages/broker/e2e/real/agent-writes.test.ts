import { controlPlaneAssets } from "@resource-broker/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AccessScene, accessScene } from "./testing/access-scene.ts";
import { ADVERTISEMENT_ROWS, OTHER_ROWS } from "./testing/advertisement-rows.ts";
import type { AccessRow } from "./testing/agent-acts.ts";
import { RESERVATION_ROWS } from "./testing/reservation-rows.ts";

const START_TIMEOUT_MS = 180_000;
const ALL: readonly AccessRow[] = [...ADVERTISEMENT_ROWS, ...RESERVATION_ROWS, ...OTHER_ROWS];
const allowed = ALL.filter(({ refusal }) => refusal === undefined);
const refused = ALL.filter(({ refusal }) => refusal !== undefined);

describe.skipIf(!controlPlaneAssets().isThere)("agents at a real API server", () => {
  let scene: AccessScene;

  beforeAll(async () => {
    scene = await accessScene([...new Set(ALL.map(({ by }) => by))]);
  }, START_TIMEOUT_MS);
  afterAll(() => scene?.dispose(), START_TIMEOUT_MS);
  beforeEach(() => scene.reset());

  test.each(allowed)("the agent of $by $name", async ({ by, does }) => {
    await expect(does(scene.agentOf(by))).resolves.not.toThrow();
  });

  test.each(refused)("the agent of $by never $name", async ({ by, does, refusal = "" }) => {
    const said: unknown = await does(scene.agentOf(by)).catch((error: unknown) => error);
    expect(said).toMatchObject({ code: "forbidden", message: expect.stringContaining(refusal) });
  });
});
