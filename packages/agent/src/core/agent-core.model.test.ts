import { DEFAULT_POLICY } from "@resource-broker/domain";
import { runs } from "@resource-broker/domain/testing";
import { seededRandom } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultInjector } from "../testing/fault-injector.ts";
import { fakeDataPlane } from "../testing/fake-data-plane.ts";
import { checkInvariants, inconsistencies, wrongNotices } from "../testing/invariants.ts";
import { type Environment, randomScenario, recover, type ScenarioStep } from "../testing/random-scenario.ts";
import { testFleet } from "../testing/test-fleet.ts";

/** The longest pause of a hopeless retry, then a resync that confirms, and some. */
const CALM_MS = 12 * 60_000;

/** Spot reservations give way, soon and often. */
const PREEMPTION = {
  ...DEFAULT_POLICY.preemption,
  victims: "spot",
  graceMs: 40_000,
  minRunMs: 1,
  maxUnderNotice: 1,
} as const;

const EVERYDAY = 25;

async function live(seed: number, day: readonly ScenarioStep[]): Promise<string[]> {
  const random = seededRandom(seed);
  const plane = fakeDataPlane();
  const world = testFleet({ cpu: "12", random: () => random.below(1_000_000) / 1_000_000, dataPlane: plane });
  world.broker.setPolicy({ preemption: PREEMPTION });
  const environment: Environment = { ...world, faults: faultInjector(world) };
  const wrongs = checkInvariants(environment);
  const clusters = [environment.rome, environment.paris, environment.berlin];
  await environment.begin(...clusters);
  for (const { run } of day) {
    await run(environment);
    await environment.time.advance(1);
  }
  await recover(environment, CALM_MS);
  for (const cluster of clusters) cluster.kill();
  return [...wrongs, ...inconsistencies(environment), ...wrongNotices(environment, plane)];
}

describe("whatever happens", () => {
  test.each([
    ["to people, agents, API servers, networks and the broker", { isForgetful: false }],
    ["also when the broker loses its memory", { isForgetful: true }],
  ])("%s, in the end everybody says the same and it is true", async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1 }), randomScenario(options), async (seed, day) => {
        expect(await live(seed, day)).toEqual([]);
      }),
      runs(EVERYDAY, 3000),
    );
  });
});
