import fc from "fast-check";
import { expect, test } from "vitest";
import type { Broker } from "../connection/broker.ts";
import { lastSequence } from "./audit.ts";

test("the last line of a log of any length, trimmed or not, is found in few looks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 5000 }), fc.nat({ max: 5000 }), async (trimmed, length) => {
      let looks = 0;
      const request = async ({ path }: { readonly path: string }) => {
        looks++;
        const after = Number(new URL(path, "https://x").searchParams.get("after"));
        const next = Math.max(after, trimmed) + 1;
        return { value: { items: next <= trimmed + length ? [{ sequence: next }] : [] } };
      };
      expect(await lastSequence({ request } as unknown as Broker)).toBe(length === 0 ? 0 : trimmed + length);
      expect(looks).toBeLessThan(30);
    }),
  );
});
