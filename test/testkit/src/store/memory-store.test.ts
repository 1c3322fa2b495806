import { describe, expect, it } from "vitest";
import { memoryDisk, memoryStore } from "./memory-store.ts";
import { STORE_PROMISES } from "./store-conformance.ts";

describe("the memory store passes the conformance suite of a store", () => {
  const makeStore = () => {
    const disk = memoryDisk();
    return Promise.resolve({ connect: () => memoryStore(disk), remove: () => Promise.resolve() });
  };
  it.each(STORE_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeStore)).resolves.toBeUndefined();
  });
});
