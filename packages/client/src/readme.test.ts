import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  advertisementBody,
  startBroker,
  testCertificates,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { clientOf } from "./testing/client-of.ts";

const PACKAGE = join(import.meta.dirname, "..");

test("the example of the README runs", async () => {
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates });
  onTestFinished(broker.dispose);
  const url = `https://127.0.0.1:${broker.port}`;
  const { client } = await clientOf({ brokerUrls: [url], credentials: certificates.cluster("paris") });
  onTestFinished(client.close);
  await client.publish(advertisementBody("paris", { cpu: 16, memoryGi: 64 }));

  const folder = await mkdtemp(join(tmpdir(), "client-example-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "certs/clusters/rome"), { recursive: true });
  await writeCertificateFolder(join(folder, "certs/clusters/rome"), certificates.cluster("rome"));
  await symlink(join(PACKAGE, "../../node_modules"), join(folder, "node_modules"));
  const [, example = ""] = /```ts\n(.*?)```/s.exec(await readFile(join(PACKAGE, "README.md"), "utf8")) ?? [];
  await writeFile(join(folder, "example.mts"), example.replace("https://broker.example:8443", url));

  const { stdout } = await promisify(execFile)(process.execPath, ["example.mts"], { cwd: folder });
  expect(stdout).toBe("paris lends 2 CPUs\n");
  expect(await client.listInstructions()).toEqual([]);
});
