import { describe, expect, test } from "vitest";
import { RIGHT, read, settingsOf } from "../settings/testing/read-settings.ts";

describe("the mode of Liqo", () => {
  test.each([
    ["off without kubeconfigs", [], "off"],
    ["liqoctl with them", ["--kubeconfigs-dir=/x"], "liqoctl"],
    ["off when somebody says so", ["--kubeconfigs-dir=/x", "--liqo-mode=off"], "off"],
  ])("is %s", async (_, argv, expected) => {
    expect((await settingsOf(argv))["liqo-mode"]).toBe(expected);
  });
});

describe("wrong settings are one line with the remedy", () => {
  test.each([
    [
      "--liqo-mode=liqoctl",
      "--liqo-mode=liqoctl needs --kubeconfigs-dir: name the folder with the other clusters' kubeconfigs",
    ],
    ["--liqo-mode=magic", '--liqo-mode: "magic" is not one of off, liqoctl, relay'],
    [
      "--warm-peers=Paris!",
      "--warm-peers: \"Paris!\" is not a cluster ID: use lower-case letters, digits, '-' and single '.', at most 63 of them",
    ],
    [
      "--peer-fingerprints=paris",
      '--peer-fingerprints: "paris" is not a cluster and its fingerprint: write it like paris=SHA256:…',
    ],
    ["--liqo-timeout=5s", "--liqo-timeout: 5s is too short; write at least 30s"],
  ])("%s", async (flag, line) => {
    expect(await read([...RIGHT, flag])).toEqual({ ok: false, problems: [line] });
  });
});

test("relay peering says all that it needs", async () => {
  const flags = [
    "--liqo-mode=relay",
    "--broker-transport=kubernetes",
    "--broker-kubeconfig=/k",
    "--broker-url=",
  ];
  expect(await read([...RIGHT, ...flags])).toMatchObject({
    ok: false,
    problems: [
      "--liqo-mode=relay needs --identity-secret: name the Secret of this agent's identity key",
      "--liqo-mode=relay needs the http transport: set --broker-url, or --liqo-mode=liqoctl or off",
      "--liqo-mode=relay does not connect networks: set --liqo-networking=false and connect them otherwise, or set --liqo-mode=liqoctl",
    ],
  });
});
