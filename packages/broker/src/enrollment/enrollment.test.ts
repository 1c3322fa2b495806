import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReloads } from "@resource-broker/runtime";
import { fakeClock } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { createEnrollment } from "./enrollment.ts";

test.each([
  ["there is no authority of admins", {}, [], ["every authority"]],
  ["there is none, and nobody calls over HTTP", { "broker-interface": ["kubernetes"] }, [], []],
  ["--admin-ca names one", { "admin-ca": "/etc/admins.crt" }, [], []],
  ["one lies beside the broker's certificate", {}, ["admin-ca.crt"], []],
])("at the start the log says who may make admins when %s", async (_, settings, files, expected) => {
  const folder = await mkdtemp(join(tmpdir(), "broker-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of files) await writeFile(join(folder, file), "");
  const lines: string[] = [];
  const note = (_fields: object, message: string) => void lines.push(message);
  const enrollment = createEnrollment(
    {
      "admin-ca": "",
      "broker-interface": ["http"],
      "http-cert-path": folder,
      "enrollment-cert-path": "",
      "enrollment-issuer": "",
      "enrollment-lifetime": 1,
      ...settings,
    },
    {
      clock: fakeClock(),
      log: { info: note, warn: note, error: note },
      randomBytes,
      reloads: createReloads(),
      open: () => Promise.reject(new Error("there is no cluster")),
    },
  );
  await enrollment.start();
  expect(lines).toEqual(expected.map((text) => expect.stringContaining(text) as string));
});
