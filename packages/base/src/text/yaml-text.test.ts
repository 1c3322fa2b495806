import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { yamlText } from "./yaml-text.ts";

describe("YAML", () => {
  test("is laid out as kubectl does it", () => {
    const data = [
      { name: "rome", hosts: ["a", "b"], none: [], empty: {}, at: { days: 3, ok: true, left: null } },
    ];
    expect(yamlText(data)).toBe(
      [
        "- name: rome",
        "  hosts:",
        "  - a",
        "  - b",
        "  none: []",
        "  empty: {}",
        "  at:",
        "    days: 3",
        "    ok: true",
        "    left: null",
        "",
      ].join("\n"),
    );
  });

  test("quotes what YAML would misread", () => {
    const words = [
      "yes",
      "no",
      "true",
      "null",
      "1",
      "0x1",
      "1e3",
      "2026-01-01",
      "",
      " a",
      "a: b",
      "- a",
      "#",
    ];
    const texts = [...words, "~", "<<", "NaN", ".inf", "=", "a #b", "a\n- c \"d\" 'e' <g> \u0000"];
    expect(parse(yamlText({ texts }), { version: "1.1" })).toEqual({ texts });
  });

  test("means the same as the JSON", () => {
    // YAML 1.1 gives `<<` and `__proto__` a meaning of their own as keys; no data of ours has such keys.
    const json = fc
      .jsonValue({ noUnicodeString: false })
      .filter((value) => typeof value === "object" && value !== null);
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('"__proto__":') && !text.includes('"<<":'));
        expect(parse(yamlText(JSON.parse(text) as object))).toEqual(JSON.parse(text));
      }),
    );
  });
});
