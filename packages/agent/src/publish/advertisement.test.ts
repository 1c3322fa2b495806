import { sum } from "@resource-broker/base";
import { advertisementSchema, LIMIT, toAdvertisement, validate } from "@resource-broker/contract";
import { CURRENT_PROTOCOL, MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { anAdvertisementInput, OVERSIZED_INPUTS, reservationsOf } from "../testing/oversized-inputs.ts";
import { advertisementOf } from "./advertisement.ts";

describe("an advertisement can be read by the broker when its cluster has", () => {
  test.each(OVERSIZED_INPUTS)("$what", ({ input, omitted }) => {
    const stated = advertisementOf(input);
    expect(validate(advertisementSchema, stated.advertisement)).toMatchObject({ ok: true });
    expect(toAdvertisement(stated.advertisement, CURRENT_PROTOCOL)).toMatchObject({ ok: true });
    const text = JSON.stringify(stated.advertisement);
    expect(text.length).toBeLessThanOrEqual(LIMIT.advertisementBodyBytes);
    expect(text.split(":").length).toBeLessThanOrEqual(LIMIT.jsonKeys);
    expect(stated.omitted.join("; ")).toMatch(omitted ?? /^$/);
  });
});

describe("reservations that do not fit into an advertisement", () => {
  const { advertisement } = advertisementOf(
    anAdvertisementInput({ reservations: reservationsOf(MAX_RESERVATIONS_PER_PROVIDER + 2) }),
  );

  test("are the smallest ones", () => {
    expect(advertisement.usage).toHaveLength(MAX_RESERVATIONS_PER_PROVIDER);
    expect(advertisement.usage?.at(-1)?.granted.cpu).toBe("3m");
  });

  test("count as allocated, so that nothing is lent twice", () => {
    expect(advertisement.resources.allocated).toMatchObject({ cpu: "1003m", memory: "2Mi" });
  });

  test("count as much as their pods request, where that is more", () => {
    const reservations = reservationsOf(MAX_RESERVATIONS_PER_PROVIDER + 1);
    const [smallest] = reservations;
    const offer = anAdvertisementInput({ reservations });
    const used = sum([offer.observation.totals.allocated]);
    const usage = [{ reservationId: smallest?.id ?? "", used }];
    const observation = { ...offer.observation, totals: { ...offer.observation.totals, usage } };
    const stated = advertisementOf({ ...offer, observation });
    expect(stated.advertisement.resources.allocated).toMatchObject({ cpu: "2", memory: "1Mi" });
  });
});
