import { runs } from "@resource-broker/domain/testing";
import { seededRandom } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { disturbances } from "../testing/disturbances.ts";
import { smallWorld } from "../testing/small-world.ts";
import { untruths, witness } from "../testing/truth.ts";
import { calmDown, type Happening, type Stage, wildDay } from "../testing/wild-day.ts";

/** The longest pause of a hopeless retry, then a census that confirms, and some. */
const CALM_MS = 12 * 60_000;

const EVERYDAY = 25;

async function live(seed: number, day: readonly Happening[]): Promise<string[]> {
  const random = seededRandom(seed);
  const world = smallWorld({ cpu: "12", random: () => random.below(1_000_000) / 1_000_000 });
  const stage: Stage = { ...world, disturb: disturbances(world) };
  const wrongs = witness(stage);
  const clusters = [stage.rome, stage.paris, stage.berlin];
  await stage.begin(...clusters);
  for (const { happen } of day) {
    await happen(stage);
    await stage.time.advance(1);
  }
  await calmDown(stage, CALM_MS);
  for (const cluster of clusters) cluster.kill();
  return [...wrongs, ...untruths(stage)];
}

describe("whatever happens", () => {
  test.each([
    ["to people, agents, API servers, networks and the broker", { isForgetful: false }],
    ["also when the broker loses its memory", { isForgetful: true }],
  ])("%s, in the end everybody says the same and it is true", async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1 }), wildDay(options), async (seed, day) => {
        expect(await live(seed, day)).toEqual([]);
      }),
      runs(EVERYDAY, 3000),
    );
  });
});
