import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RESERVATIONS } from "./objects/resources.ts";
import { publish, wish } from "./testing/samples.ts";
import { NAMESPACE, openScene, type Scene, type SceneBroker } from "./testing/scene.ts";

let scene: Scene;
let broker: SceneBroker;
beforeAll(async () => {
  scene = await openScene();
  broker = await scene.startBroker();
  await publish(scene.client, "paris");
  await scene.advertisement("paris", ({ status }) => status?.active === true);
});
afterAll(() => scene.stop());

describe("a person's Reservation", () => {
  test("gets the best cluster, shows there as reserved, and is released by deleting it", async () => {
    await scene.client.create(RESERVATIONS, wish("mine"));
    const granted = await scene.reservation("mine", ({ status }) => status?.phase === "Reserved");
    console.log(JSON.stringify(granted, undefined, 1));
    expect(granted.spec.targetClusterID).toBe("paris");
    console.log(
      JSON.stringify(
        await scene.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "500m"),
        undefined,
        1,
      ),
    );
    await scene.client.delete(RESERVATIONS, { name: "mine", namespace: NAMESPACE });
    await scene.gone("mine");
    expect([...broker.engine.ledger.reservations.values()].map(({ phase }) => phase)).toEqual(["Released"]);
    console.log(await scene.eventsOf("mine"), scene.logged);
  });
});
