import { beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { expectNothingForced, expectSurvival, FAILURES, FEW_FAILURES } from "./testing/failures.ts";
import {
  expectBothDirections,
  expectPersonsSliceStays,
  expectUpAfterPersonsPeering,
} from "./testing/other-peerings.ts";
import {
  directionOf,
  type RealLiqoWorld,
  startRealLiqoWorld,
  TWO_CLUSTERS,
} from "./testing/real-liqo-world.ts";
import { newScenario, type Scenario, STEPS } from "./testing/scenario.ts";
import { expectNothingForGreed } from "./testing/unreserved-slices.ts";

/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT_MS = 3_600_000;
/** `LIQO_FULL=1 npm run test:liqo`: every failure at every step, and ten rounds. */
const isFull = process.env["LIQO_FULL"] === "1";
const ROUNDS = Number(process.env["LIQO_ROUNDS"] ?? (isFull ? 10 : 2));

describe("reservations through the real Liqo", { timeout: TIMEOUT_MS }, () => {
  let world: RealLiqoWorld;

  beforeAll(async () => {
    world = await startRealLiqoWorld(TWO_CLUSTERS);
    return world.dispose;
  }, TIMEOUT_MS);
  beforeEach(() => onTestFailed(world.printLastLines));

  test.each(["rome", "paris"])("Liqo runs in %s", async (name) => {
    const { liqoctl, kubelet } = world.liqo.cluster(name);
    expect(await liqoctl(["info"])).toMatch(/Liqo is healthy/);
    const running = kubelet.processes().filter(({ pid }) => pid !== undefined);
    const programs = running.map(({ program }) => program);
    expect(programs.sort()).toEqual(["crd-replicator", "liqo-controller-manager", "webhook"]);
  });

  describe.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))("two of one pair, time %i", () => {
    let scenario: Scenario;
    beforeAll(() => {
      scenario = newScenario(directionOf(world, "rome", "paris"));
    });
    test.each(STEPS)("$name", ({ expectIt }) => expectIt(scenario));
  });

  test("one in each direction: the end of one leaves the other alone", () => expectBothDirections(world));
  test("one comes up after a person has peered and unpeered", () => expectUpAfterPersonsPeering(world));
  test("one ends beside a person's slice, which stays", () => expectPersonsSliceStays(world));

  test.each((isFull ? FAILURES : FEW_FAILURES).map((failure) => ({ ...failure, when: failure.moment.name })))(
    "one survives: $fault.name while $when",
    (failure) => expectSurvival(world, failure),
  );

  test("slices that are raised by hand, or nobody's, get nothing", () => expectNothingForGreed(world));
  test.runIf(isFull)("the provider is gone for good: what it borrows here stays", () =>
    expectNothingForced(world),
  );
});
