import { describe, expect, it } from "vitest";
import { reasonToInstall } from "./install-state.mjs";

const rows = [
  { name: "nothing was installed yet", stamped: undefined, missing: undefined, reason: "first run" },
  {
    name: "an install was cut off half way",
    stamped: undefined,
    missing: "node_modules/a",
    reason: "first run",
  },
  {
    name: "the lockfile differs from the stamp",
    stamped: "old",
    missing: undefined,
    reason: "package-lock.json changed",
  },
  {
    name: "a package was deleted since",
    stamped: "new",
    missing: "node_modules/a",
    reason: "node_modules/a is missing",
  },
  { name: "all is in place", stamped: "new", missing: undefined, reason: undefined },
];

describe("the reason to install", () => {
  it.each(rows)("is $reason when $name", ({ stamped, missing, reason }) => {
    expect(reasonToInstall({ wanted: "new", stamped, missing })).toBe(reason);
  });
});
