import { beforeAll, beforeEach, describe, expect, onTestFailed, test } from "vitest";
import { expectNothingForced, expectSurvival, FAILURES, FEW_RELAY_FAILURES } from "./testing/failures.ts";
import { expectForced } from "./testing/forced-end.ts";
import {
  expectBothDirections,
  expectPersonsSliceStays,
  expectUpAfterPersonsPeering,
  type Standing,
  standingReservation,
} from "./testing/other-peerings.ts";
import {
  directionOf,
  type RealLiqoWorld,
  startRealLiqoWorld,
  TWO_CLUSTERS,
} from "./testing/real-liqo-world.ts";
import { newScenario, type Scenario, STEPS } from "./testing/scenario.ts";
import {
  expectRightWithWrongClock,
  expectTwinRefused,
  expectUpAfterRestore,
  WRONG_CLOCKS,
} from "./testing/relay-agents.ts";
import { expectNoKubeconfigs, expectUpAfterReinstall } from "./testing/relay-peerings.ts";
import { expectRightsNamed } from "./testing/relay-rights.ts";
import { expectNothingForGreed } from "./testing/unreserved-slices.ts";

/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT_MS = 3_600_000;
const isFull = process.env["LIQO_FULL"] === "1";
const ROUNDS = Number(process.env["LIQO_ROUNDS"] ?? (isFull ? 10 : 2));

describe("reservations through the real Liqo, peered by relay", { timeout: TIMEOUT_MS }, () => {
  let world: RealLiqoWorld;

  beforeAll(async () => {
    world = await startRealLiqoWorld(TWO_CLUSTERS, "relay");
    return world.dispose;
  }, TIMEOUT_MS);
  beforeEach(() => onTestFailed(world.printLastLines));

  describe.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))("two of one pair, time %i", () => {
    let scenario: Scenario;
    beforeAll(() => {
      scenario = newScenario(directionOf(world, "rome", "paris"));
    });
    test.each(STEPS)("$name", ({ expectIt }) => expectIt(scenario));
  });

  test("one in each direction: the end of one leaves the other alone", () => expectBothDirections(world));
  test("no kubeconfig exists but Liqo's own, and no agent has rights in another cluster", () =>
    expectNoKubeconfigs(world));
  test("one comes up after a person has peered and unpeered", () => expectUpAfterPersonsPeering(world));
  test("one ends beside a person's slice, which stays", () => expectPersonsSliceStays(world));

  const named = (failures: typeof FAILURES) =>
    failures.map((failure) => ({ ...failure, when: failure.moment.name }));
  test.runIf(isFull).each(named(FAILURES))("one survives: $fault.name while $when", (failure) =>
    expectSurvival(world, failure),
  );
  describe("while paris borrows from rome, too", () => {
    let standing: Standing;
    beforeAll(async () => {
      standing = await standingReservation(directionOf(world, "paris", "rome"));
      return standing.end;
    }, TIMEOUT_MS);
    test.each(named(FEW_RELAY_FAILURES))(
      "one survives, and the other stays: $fault.name while $when",
      async (failure) => {
        await expectSurvival(world, failure);
        await standing.expectSame();
      },
    );
  });

  test("agents that come back from a backup go on; a lost pin asks for a person", () =>
    expectUpAfterRestore(world));
  test("a second agent with the same ID is refused, and the first goes on", () => expectTwinRefused(world));
  // The first row has both: a fast one and a slow one.
  test.each(isFull ? WRONG_CLOCKS : WRONG_CLOCKS.slice(0, 1))("clocks do not matter: $name", (clocks) =>
    expectRightWithWrongClock(world, clocks),
  );

  test("each right of agent-relay.yaml is named when it is missing", () => expectRightsNamed(world));
  test("slices that are raised by hand, or nobody's, get nothing", () => expectNothingForGreed(world));
  test("Liqo at the requester gets new keys: a person lets it in again", () => expectUpAfterReinstall(world));
  test.runIf(isFull)("the provider has been gone for an hour: its peering is ended by force", () =>
    expectForced(world),
  );
  test("nothing was ever started by liqoctl", async () => {
    const lines = await world.agent("rome").logLines();
    expect(lines.filter((line) => line.includes("liqoctl has"))).toEqual([]);
  });
  test.runIf(isFull)("the provider is gone for good: what it borrows here stays", () =>
    expectNothingForced(world),
  );
});
