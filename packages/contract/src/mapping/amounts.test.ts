import { NO_RESOURCES, resourceVector } from "@resource-broker/base";
import { expect, test } from "vitest";
import { toQuantities, toSomeQuantities } from "./amounts.ts";

test("amounts of nothing are left out where only what matters is said", () => {
  expect(toSomeQuantities(NO_RESOURCES)).toBeUndefined();
  expect(toSomeQuantities(resourceVector({ gpus: 2 }))).toEqual({ gpu: "2" });
  expect(toQuantities(NO_RESOURCES)).toEqual({ cpu: "0", memory: "0" });
});
