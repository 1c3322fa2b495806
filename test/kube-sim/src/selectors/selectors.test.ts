import { describe, expect, test } from "vitest";
import { CONFIG_MAPS } from "../core/config-maps.ts";
import { SERVICE_ACCOUNTS } from "../core/kinds.ts";
import { selectorOf } from "./selectors.ts";

const OBJECT = { metadata: { name: "a", namespace: "n", labels: { tier: "gold", size: "7", none: "" } } };

describe("a label selector", () => {
  test.each<readonly [selector: string, isSelected: boolean]>([
    ["", true],
    [" tier = gold , size ", true],
    ["tier==gold,!zone", true],
    ["!tier", false],
    ["zone!=a,zone notin (a, b)", true],
    ["tier in (silver, gold)", true],
    ["tier notin(gold)", false],
    ["none=,none in ()", true],
    ["toString", false],
  ])("%j: %s", (labelSelector, isSelected) => {
    expect(selectorOf(CONFIG_MAPS, { labelSelector }).matches(OBJECT)).toBe(isSelected);
  });

  test.each([
    "tier in gold",
    "tier=(gold)",
    "a=b,",
    "!a=b",
    "a b",
    "a in (b",
    "a>x",
    "-a",
    "a=b_",
    "x/y/z",
    "/a",
  ])("%j is refused", (labelSelector) => {
    expect(() => selectorOf(CONFIG_MAPS, { labelSelector })).toThrow(/unable to parse requirement/u);
  });
});

describe("a field selector", () => {
  test.each<readonly [selector: string, isSelected: boolean]>([
    ["metadata.name=a", true],
    ["metadata.name!=a", false],
    ["metadata.namespace==n,", true],
  ])("%j: %s", (fieldSelector, isSelected) => {
    expect(selectorOf(SERVICE_ACCOUNTS, { fieldSelector }).matches(OBJECT)).toBe(isSelected);
  });

  test.each<readonly [selector: string, says: RegExp]>([
    ["metadata.name", /can't understand 'metadata\.name'/u],
    ["spec.nodeName=a", /field label not supported: spec\.nodeName/u],
  ])("%j is refused", (fieldSelector, says) => {
    expect(() => selectorOf(CONFIG_MAPS, { fieldSelector })).toThrow(says);
  });
});
