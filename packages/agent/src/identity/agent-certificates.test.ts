import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeTime, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { agentCertificates } from "./agent-certificates.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agent-certificates-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("the folder's certificates are handed over", async () => {
  const folder = await emptyFolder();
  await writeCertificateFolder(folder, (await testCertificates()).cluster("rome"));
  const source = agentCertificates(folder, { machine: fakeTime(), log });
  onTestFinished(source.stop);
  const { own } = await source.start();
  expect(own.subject).toContain("CN=rome");
});

test("a folder without certificates is a fault that names folder and remedy", async () => {
  const folder = await emptyFolder();
  const source = agentCertificates(folder, { machine: fakeTime(), log });
  await expect(source.start()).rejects.toMatchObject({
    code: "no-certificate",
    message: expect.stringMatching(
      new RegExp(
        `^--broker-cert-path: certificate folder ${folder}: ENOENT.*brokerctl certs issue <cluster-id>`,
      ),
    ),
  });
});
