import { readFile } from "node:fs/promises";
import { policySchema } from "@resource-broker/contract/testing";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readPolicy } from "./loaded-policy.ts";

const PAGE = new URL("../../../../docs/policy.md", import.meta.url);

/** Fields that hold others are described by what they hold. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  prices: ["prices.currency", "prices.rates", "prices.clusters"],
  lending: ["lending.default", "lending.clusters"],
  sliceDefaults: ["sliceDefaults.pods", "sliceDefaults.ephemeralStorage"],
};

describe("docs/policy.md", () => {
  test("has an example that is a good policy and uses what it describes", async () => {
    const page = await readFile(PAGE, "utf8");
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const { spec } = parse(example) as { spec: unknown };
    expect(readPolicy(spec)).toMatchObject({ ok: true, loaded: { policy: { version: "2026-07" } } });
  });

  test("describes every field there is, and no other", async () => {
    const page = await readFile(PAGE, "utf8");
    const table = page.slice(page.indexOf("## Every field"), page.indexOf("A price has"));
    const described = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = ""]) => name);
    const { properties = {} } = policySchema;
    expect(new Set(described)).toEqual(
      new Set(Object.keys(properties).flatMap((name) => GROUPS[name] ?? [name])),
    );
  });
});
