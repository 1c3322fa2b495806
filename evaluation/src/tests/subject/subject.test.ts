import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { readBaselineCertificates } from "./baseline-certificates.ts";
import { answerFrom } from "./calls.ts";

async function folderWith(...clusters: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "baseline-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const certificates = await testCertificates();
  for (const [index, id] of clusters.entries())
    await writeCertificateFolder(join(folder, `folder-${index}`), certificates.cluster(id));
  return folder;
}

test("a cluster of the baseline is called what its certificate says, not what its folder is called", async () => {
  const identities = await readBaselineCertificates(await folderWith("rome", "paris"));
  expect(identities.map(({ clusterId }) => clusterId)).toEqual(["rome", "paris"]);
});

test("one cluster is not enough to ask and to lend, and that is said", async () => {
  await expect(readBaselineCertificates(await folderWith("rome"))).rejects.toThrow(
    /at least 2 clusters; found 1/,
  );
});

test("a folder that is not there is named", async () => {
  await expect(readBaselineCertificates("/nowhere/certs")).rejects.toThrow(
    "/nowhere/certs: there is no such folder",
  );
});

const bodyOf = (content: unknown): Buffer =>
  Buffer.from(typeof content === "string" ? content : JSON.stringify(content));

test.each([
  {
    name: "a grant names reservation and provider",
    reply: { status: 201, body: bodyOf({ id: "rsv-1", targetClusterID: "paris" }) },
    answer: { status: 201, id: "rsv-1", provider: "paris" },
  },
  {
    name: "a refusal of ours says why",
    reply: {
      status: 409,
      body: bodyOf({ error: "no", reasons: [{ clusterID: "paris", reason: "capacity" }] }),
    },
    answer: { status: 409, reasons: [{ clusterID: "paris", reason: "capacity" }] },
  },
  {
    name: "a refusal in plain text is one all the same",
    reply: { status: 409, body: bodyOf("nothing fits\n") },
    answer: { status: 409 },
  },
  { name: "no reply is an answer, too", reply: undefined, answer: { status: 0 } },
])("$name", ({ reply, answer }) => {
  expect(answerFrom(reply)).toEqual(answer);
});
