import { cp, rm, writeFile } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Cli, startCli } from "../testing/cli.ts";

let cli: Cli;
beforeEach(async () => {
  cli = await startCli(onTestFinished);
});

describe("a damaged authority stops every command that signs", () => {
  test.each([
    {
      name: "a register that is missing",
      damage: () => rm(cli.path("ca", "issued.json")),
      says: "issued.json is missing",
    },
    {
      name: "a register that is no JSON",
      damage: () => writeFile(cli.path("ca", "issued.json"), "{"),
      says: "issued.json cannot be read",
    },
    {
      name: "a register of another shape",
      damage: () => writeFile(cli.path("ca", "issued.json"), '{"version":1,"crlNumber":1,"issued":[{}]}'),
      says: "issued.json cannot be read",
    },
    {
      name: "a register of a later version",
      damage: () => writeFile(cli.path("ca", "issued.json"), '{"version":2,"crlNumber":1,"issued":[]}'),
      says: "issued.json cannot be read",
    },
    {
      name: "a key that is missing",
      damage: () => rm(cli.path("ca", "ca.key")),
      says: "ca.key is missing: signing needs it",
    },
    {
      name: "a key that is none",
      damage: () => writeFile(cli.path("ca", "ca.key"), "x"),
      says: "ca.key is not a private key in PEM",
    },
    {
      name: "a key of another",
      damage: () => cp(cli.path("broker", "tls.key"), cli.path("ca", "ca.key")),
      says: "ca.key is not the key of",
    },
    {
      name: "a certificate that is none",
      damage: () => writeFile(cli.path("ca", "ca.crt"), "x"),
      says: "ca.crt is not a certificate in PEM",
    },
  ])("$name", async ({ damage, says }) => {
    await cli.ok("init");
    await cli.ok("issue", "rome");
    await damage();
    const before = await cli.snapshot();
    for (const args of [["init"], ["issue", "paris"], ["renew", "rome"], ["revoke", "rome"]]) {
      const { code, err } = await cli.certs(...args);
      expect(code).toBe(1);
      expect(err).toContain(says);
    }
    expect(await cli.snapshot()).toEqual(before);
  });
});

test("a folder that cannot be written is reported in one line, and no half file stays behind", async () => {
  await writeFile(cli.dir, "a file, not a folder");
  const { code, err } = await cli.certs("init");
  expect(code).toBe(1);
  expect(err).toMatch(/^brokerctl: E[A-Z]+: .+\n$/u);
});
