import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replaceHidden, safeJson, safeLine, safeText, truncate } from "./safe-text.ts";

/** What must never reach a terminal, a log or a status as it is. */
const NAMED = [
  ["ESC", "\u001b"],
  ["NUL", "\u0000"],
  ["backspace", "\b"],
  ["DEL", "\u007f"],
  ["CSI in one character", "\u009b"],
  ["RIGHT-TO-LEFT OVERRIDE", "\u202e"],
  ["LEFT-TO-RIGHT EMBEDDING", "\u202a"],
  ["RIGHT-TO-LEFT ISOLATE", "\u2067"],
  ["POP DIRECTIONAL ISOLATE", "\u2069"],
  ["LEFT-TO-RIGHT MARK", "\u200e"],
  ["RIGHT-TO-LEFT MARK", "\u200f"],
  ["ARABIC LETTER MARK", "\u061c"],
  ["ZERO WIDTH SPACE", "\u200b"],
  ["ZERO WIDTH JOINER", "\u200d"],
  ["WORD JOINER", "\u2060"],
  ["BYTE ORDER MARK", "\ufeff"],
  ["a tag character", "\u{e0041}"],
  ["half a character", "\ud800"],
] as const;

describe.each(NAMED)("%s", (_, character) => {
  const text = `ro${character}me`;
  const code = character.codePointAt(0)?.toString(16);

  test("is spelled out in a line and in a text", () => {
    expect(safeLine(text)).toBe(`ro\\u{${code}}me`);
    expect(safeText(`a\n${text}`)).toBe(`a\nro\\u{${code}}me`);
  });

  test("is escaped in JSON, which says the same", () => {
    const json = safeJson(JSON.stringify({ text }, null, 2));
    expect(json).toMatch(/^[\n -~]*$/u);
    expect(JSON.parse(json)).toEqual({ text });
  });
});

test.each([
  { name: "a line break", text: "one\r\ntwo", line: "one two", lines: "one\\u{d}\ntwo" },
  { name: "a tab", text: "one\ttwo", line: "one two", lines: "one\ttwo" },
  { name: "a line separator", text: "one\u2028two", line: "one two", lines: "one\\u{2028}two" },
  { name: "other people's letters", text: "Zürich 東京 🚀", line: "Zürich 東京 🚀", lines: "Zürich 東京 🚀" },
])("$name", ({ text, line, lines }) => {
  expect({ line: safeLine(text), lines: safeText(text) }).toEqual({ line, lines });
});

test("a mark stands for each hidden character, and takes no more room", () => {
  expect(replaceHidden("ro\u202eme\u{e0041}")).toBe("ro\ufffdme\ufffd");
});

describe("whatever the text", () => {
  const anyText = fc.string({ unit: "binary" });

  test("what is safe stays as it is", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const safe of [safeLine, safeText, replaceHidden]) expect(safe(safe(text))).toBe(safe(text));
      }),
    );
  });

  test("a cut keeps to its bound and to whole characters", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, maxLength) => {
        const shown = truncate(text, maxLength);
        expect(shown.length).toBeLessThanOrEqual(maxLength);
        if (!/\p{Surrogate}/u.test(text)) expect(shown).not.toMatch(/\p{Surrogate}/u);
        if (text.length <= maxLength) expect(shown).toBe(text);
      }),
    );
  });
});
