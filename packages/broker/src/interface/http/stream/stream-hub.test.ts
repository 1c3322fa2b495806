import { MAX_EXTENDED_RESOURCES } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import { cluster, openWorld, request } from "@resource-broker/domain/testing";
import { expect, test } from "vitest";
import { riskEvents } from "./stream-hub.ts";

test("a warning of capacity at risk is never longer than agents read, however many resources are short", () => {
  const names = Array.from({ length: MAX_EXTENDED_RESOURCES }, (_, index) => [
    `${"a".repeat(63)}.example/${"c".repeat(60)}${index}`,
    1,
  ]);
  const extended: Record<string, number> = Object.fromEntries(names);
  const world = openWorld();
  world.advertise(cluster("paris", { extended }));
  world.grant("rome", request({ extended }));
  world.advertise(cluster("paris"));
  const [, data = ""] = /^data: (.*)$/m.exec(riskEvents(world.ledger, "paris").get("rome") ?? "") ?? [];
  const { message } = JSON.parse(data) as { message: string };
  expect(message).toHaveLength(LIMIT.reasonLength);
});
