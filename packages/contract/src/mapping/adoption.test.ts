import { resourceVector } from "@resource-broker/base";
import { expect, test } from "vitest";
import { validate } from "../schema/validate.ts";
import { adoptionRequestSchema } from "../wire/adoption.ts";
import { toAdoptionOffers } from "./reservation.ts";

const GI = 1024 ** 3;

test("offers for adoption are read with their amounts", () => {
  const offer = {
    id: "rsv-rome-a",
    requesterID: "rome",
    targetClusterID: "paris",
    requestedResources: { cpu: "4", memory: "8Gi" },
    phase: "Active",
    generation: 2,
    createdAt: "1970-01-01T00:00:01Z",
    expiresAt: "1970-01-01T00:00:02Z",
    key: "k",
  };
  const validated = validate(adoptionRequestSchema, { reservations: [offer] });
  expect(validated.ok && toAdoptionOffers(validated.value)).toEqual({
    ok: true,
    value: [
      {
        id: "rsv-rome-a",
        requester: "rome",
        provider: "paris",
        granted: resourceVector({ cpuMillis: 4000, memoryBytes: 8 * GI }),
        phase: "Active",
        generation: 2,
        createdAt: 1000,
        expiresAt: 2000,
        key: "k",
      },
    ],
  });
});
