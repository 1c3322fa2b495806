import { describe, expect, test } from "vitest";
import { shownOutput } from "./output.ts";

describe("what liqoctl printed", () => {
  test.each([
    [
      "without colours",
      "\u001b[31m ERRO \u001b[0m unable to ensure networking",
      "ERRO  unable to ensure networking",
    ],
    ["with a spinner's last form only", "⠋ Waiting (0s)\r⠙ Waiting (1s)\rINFO Done\r\n", "INFO Done"],
    ["without empty lines", "\n\na\n  \nb\n", "a\nb"],
    [
      "without secrets",
      "token: abcdefghijklmnop\nclient-key-data: QUJDREVGR0g=\nBearer eyJhbGciOiJSUzI1NiJ9.abc.def",
      "(left out)\nclient-key(left out)\nBearer (left out)",
    ],
  ])("is shown %s", (_, output, expected) => {
    expect(shownOutput(output)).toBe(expected);
  });

  test("is cut from the front: its end says why it failed", () => {
    const output = Array.from({ length: 1000 }, (_, index) => `line ${index} ${"x".repeat(200)}`).join("\n");
    const shown = shownOutput(`${output}\nERRO timed out`);
    expect(shown.endsWith("ERRO timed out")).toBe(true);
    expect(shown.length).toBeLessThan(1300);
  });
});
