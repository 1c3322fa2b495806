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

  test.each([
    "yes",
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
    "~",
    "<<",
    "NaN",
    ".inf",
    "=",
    "a #b",
  ])("quotes the text %j", (text) => {
    expect(parse(yamlText({ text }), { version: "1.1" })).toEqual({ text });
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

  test.each([
    { name: "plain words", value: { kind: "Reservation", apiVersion: "broker.fluidos.eu/v1alpha1" } },
    {
      name: "what YAML would misread",
      value: { a: "true", b: "1e3", c: "0x1f", d: "2026-01-05", e: "~", f: "", g: "no" },
    },
    { name: "hostile texts", value: { text: "a: b\n- c \"d\" 'e' #f <g> \u0000", "odd: key": 1 } },
    {
      name: "lists of maps, nothing, and empty ones",
      value: { a: [{ b: 1, c: [2, [3]] }, []], d: {}, e: null, f: [] },
    },
    { name: "deep maps", value: { a: { b: { c: { d: [{ e: { f: true } }] } } } } },
  ])("of $name reads as what was written", ({ value }) => {
    expect(parse(yamlText(value))).toEqual(value);
  });
});
