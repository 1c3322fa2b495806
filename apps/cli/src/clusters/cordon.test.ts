import { join } from "node:path";
import {
  advertisementBody,
  reply,
  startFakeBroker,
  testCertificates,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { runCli, temporaryFolder } from "../testing/cli.ts";

const certificates = await testCertificates();
const FRESH = { receivedAt: "2026-01-15T12:00:00Z", isStale: false };
const EVICTED = { type: "Cordoned", message: "Evicted: calls of this cluster are refused." };

test.each([
  ["lends again", { standing: FRESH }, /Lends: +again/u],
  [
    "was evicted still lends nothing",
    { standing: { ...FRESH, conditions: [EVICTED] } },
    /Lends: +nothing new\. Evicted: .* brokerctl invite paris/u,
  ],
])("uncordon says that a cluster that %s", async (_, more, says) => {
  const { url } = await startFakeBroker({
    credentials: certificates.broker,
    whenDone: onTestFinished,
    script: (response, call) => {
      const body =
        call.method === "GET"
          ? { ...advertisementBody("paris", { cpu: 8, memoryGi: 32 }), ...more }
          : { clusterID: "paris", cordoned: false };
      reply(200, body)(response, call);
    },
  });
  const folder = join(await temporaryFolder(onTestFinished), "ops");
  await writeCertificateFolder(folder, certificates.admin("ops"));
  const { code, out } = await runCli(["uncordon", "paris", "--broker", url, "--certs", folder]);
  expect(code).toBe(0);
  expect(out).toMatch(says);
});
