import { describe, expect, test } from "vitest";
import { shownOutput } from "./run-liqoctl.ts";

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
    [
      "without the ways that secrets are written elsewhere",
      [
        "Authorization: Bearer abcdef0123456789abcdef",
        "dial https://admin:hunter2hunter2@paris:6443: refused",
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1ygWyF8PbnGy0AHB7MmC2b6aJ1pQ0bKcX",
        "q1o=",
        "-----END RSA PRIVATE KEY-----",
        "ERRO unable to sign in",
      ].join("\n"),
      "Authorization: Bearer (left out)\ndial https://(left out)@paris:6443: refused\n(left out)\nERRO unable to sign in",
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
