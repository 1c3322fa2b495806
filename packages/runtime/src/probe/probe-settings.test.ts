import { parseSettings } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { isLoopback, parseAddress, probeSettings, probeSettingsProblems } from "./probe-settings.ts";

const TABLE = probeSettings({
  healthPages: "/healthz and /readyz",
  healthAddress: ":9001",
  metricsAddress: "0",
});

function settingsFrom(argv: readonly string[]) {
  const result = parseSettings(TABLE, { argv, env: {}, envPrefix: "TEST_" });
  if (!result.ok) throw new Error(result.problems.join());
  return result.values;
}

describe("the flags of the probe ports", () => {
  test("have the program's own defaults and pages", () => {
    expect(settingsFrom([])).toMatchObject({
      "health-probe-bind-address": ":9001",
      "metrics-bind-address": "0",
      "metrics-secure": false,
    });
    expect(TABLE["health-probe-bind-address"].description).toContain("/healthz and /readyz");
  });

  test.each([
    { argv: [], problems: [] },
    { argv: ["--metrics-secure", "--metrics-cert-path=/x"], problems: [] },
    { argv: ["--metrics-secure"], problems: ["--metrics-secure needs --metrics-cert-path"] },
    {
      argv: ["--metrics-bind-address=8080", "--health-probe-bind-address=:99999"],
      problems: [
        "--metrics-bind-address: write host:port, :port, or 0 for none",
        "--health-probe-bind-address: write host:port, :port, or 0 for none",
      ],
    },
  ])("$argv have the problems $problems", ({ argv, problems }) => {
    expect(probeSettingsProblems(settingsFrom(argv))).toEqual(problems);
  });
});

test.each([
  [":8080", { host: undefined, port: 8080 }],
  ["127.0.0.1:80", { host: "127.0.0.1", port: 80 }],
  ["[::1]:80", { host: "::1", port: 80 }],
  ["0", "off"],
  ["", "off"],
  ["x", undefined],
  ["::1:80", undefined],
])("the address %j means %j", (text, expected) => {
  expect(parseAddress(text)).toEqual(expected);
});

test.each([
  { host: "127.0.0.1", is: true },
  { host: "127.8.9.10", is: true },
  { host: "::1", is: true },
  { host: "localhost", is: true },
  { host: "0.0.0.0", is: false },
  { host: "::", is: false },
  { host: "127.0.0.1.evil.example", is: false },
  { host: "10.0.0.1", is: false },
  { host: undefined, is: false },
])("$host is only this machine: $is", ({ host, is }) => {
  expect(isLoopback(host)).toBe(is);
});
