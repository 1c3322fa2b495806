import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { readContract } from "./contract.ts";
import { draw } from "./schema-values.ts";

const document = fileURLToPath(import.meta.resolve("@resource-broker/contract/openapi.json"));
const { operations, schemas } = readContract(readFileSync(document, "utf8"));

describe("the published document", () => {
  const withBody = operations.flatMap(({ body, ...rest }) => (body === undefined ? [] : [{ body, ...rest }]));

  test("is read whole", () => {
    expect(operations.length).toBeGreaterThan(20);
    expect(withBody.length).toBeGreaterThan(6);
  });

  test.each(withBody)(
    "gives bodies for $method $path that fit it, and bodies that do not",
    ({ body, isSurelyWrong }) => {
      const bodies = (mutationRate: number): boolean[] =>
        Array.from({ length: 200 }, (_, seed) =>
          isSurelyWrong(draw(body, { random: seededRandom(seed), schemas, mutationRate })),
        );
      expect(bodies(0)).toContain(false);
      expect(bodies(0.5)).toContain(true);
    },
  );
});
