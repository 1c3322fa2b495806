import { defineConfig } from "vitest/config";

/** `npm run test:long` runs the property and model tests with their full number of runs. */
const long = process.env["LONG"] === "1";

export default defineConfig({
  test: {
    include: ["{packages,apps,evaluation,scripts,tools}/**/*.test.ts"],
    // Only a guard against tests that hang: no test asserts a time, and a busy machine is no failure.
    testTimeout: long ? 3_600_000 : 30_000,
    hookTimeout: 30_000,
  },
});
