import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fakeClock, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { agentCertificates } from "./agent-certificates.ts";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agent-certificates-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test("a folder without certificates is a fault that names folder and remedy", async () => {
  const folder = await emptyFolder();
  const source = agentCertificates(folder, { clock: fakeClock(), log });
  await expect(source.start()).rejects.toMatchObject({
    code: "no-certificate",
    message: expect.stringMatching(
      new RegExp(
        `^--broker-cert-path: certificate folder ${folder}: ENOENT.*brokerctl certs issue <cluster-id>`,
      ),
    ),
  });
});

test("another cluster's certificate is not taken over, and somebody is told until its own is back", async () => {
  const folder = await emptyFolder();
  const certificates = await testCertificates();
  await writeCertificateFolder(folder, certificates.cluster("rome"));
  const [clock, reported, used] = [fakeClock(), [] as (string | undefined)[], [] as string[]];
  const report = (problem: string | undefined) => void reported.push(problem);
  const source = agentCertificates(folder, { clock, log, report });
  onTestFinished(source.stop);
  await source.start();
  source.onChange(({ own }) => void used.push(own.subject));
  const eventually = (check: () => void) =>
    vi.waitFor(
      async () => {
        await clock.advance(1000);
        check();
      },
      { timeout: 60_000, interval: 5 },
    );
  await writeCertificateFolder(folder, certificates.cluster("berlin"));
  await eventually(() => expect(reported.at(-1)).toContain('belongs to "berlin", and this agent is "rome"'));
  expect(used).toEqual([]);
  await writeCertificateFolder(folder, certificates.cluster("rome"));
  await eventually(() => expect(used).toEqual(["CN=rome"]));
  expect(reported.at(-1)).toBeUndefined();
});
