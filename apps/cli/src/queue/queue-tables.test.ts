import { join } from "node:path";
import type { TenantDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { reply, startFakeBroker, testCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { runCli, temporaryFolder } from "../testing/cli.ts";

const certificates = await testCertificates();
const DATE = { Date: "Thu, 15 Jan 2026 12:00:00 GMT" };

const FIRST: WaitingRequestDTO = {
  id: "rsv-rome-a",
  requesterID: "rome",
  namespace: "ml-training",
  tenant: "ml",
  requestedResources: { cpu: "8", memory: "32Gi", gpu: "4" },
  status: { phase: "Pending", message: "Waits for 4 GPU at position 1 of 2" },
  createdAt: "2026-01-15T11:00:00Z",
  until: "2026-01-15T15:00:00Z",
  generation: 1,
  tier: "on-demand",
  priority: 10,
  queue: { position: 1, of: 2, reason: "Capacity", expectedStart: "2026-01-15T12:24:00Z", share: 0.125 },
};
const SECOND: WaitingRequestDTO = {
  ...FIRST,
  id: "rsv-oslo-b",
  requesterID: "oslo",
  tenant: "oslo",
  requestedResources: { cpu: "1", memory: "1Gi" },
  status: { phase: "Pending", message: "Waits for 1 CPU at position 2 of 2" },
  priority: 0,
  queue: { position: 2, of: 2, reason: "Nomination", nominatedTo: "tokyo", share: 0.5 },
};
const ML: TenantDTO = {
  name: "ml",
  inPolicy: true,
  weight: 3,
  share: 0.125,
  holds: { cpu: "24", memory: "96Gi", gpu: "6" },
  reservations: 3,
  quota: { gpu: "8", reservations: 5 },
  maxPriority: 100,
  committedToday: "12.5",
  budgetPerDay: "50",
  currency: "EUR",
  waiting: 1,
  waitingSince: "2026-01-15T11:00:00Z",
};
const OSLO: TenantDTO = {
  name: "oslo",
  inPolicy: false,
  weight: 1,
  share: 0.5,
  holds: { cpu: "0", memory: "0" },
  reservations: 0,
  committedToday: "0",
  currency: "EUR",
  waiting: 1,
};

/** Each list comes in pages of one. */
async function printed(line: string, items: readonly object[]): Promise<string> {
  const { url } = await startFakeBroker({
    credentials: certificates.broker,
    whenDone: onTestFinished,
    script: (response, call) => {
      const offset = Number(new URL(call.url, "https://broker").searchParams.get("offset"));
      const next = offset + 1 < items.length ? { next: String(offset + 1) } : {};
      const page = { items: items.slice(offset, offset + 1), total: items.length, ...next };
      reply(200, page, DATE)(response, call);
    },
  });
  const folder = join(await temporaryFolder(onTestFinished), "ops");
  await writeCertificateFolder(folder, certificates.admin("ops"));
  const { code, out, err } = await runCli([...line.split(" "), "--broker", url, "--certs", folder]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return `\n${out}`;
}

test("the queue is a table", async () => {
  expect(await printed("get queue", [FIRST, SECOND])).toBe(`
POSITION   NAME         CLUSTER   TENANT   CPU   MEMORY   GPU   PRIORITY   REASON       NOT BEFORE   AGE
1          rsv-rome-a   rome      ml       8     32Gi     4     10         Capacity     in 24m       60m
2          rsv-oslo-b   oslo      oslo     1     1Gi      -     0          Nomination   -            60m
`);
  const wide = (await printed("get queue -o wide", [SECOND]))
    .split("\n")
    .map((row) => row.split(/ {2,}/u).slice(10));
  expect(wide.slice(1, 3)).toEqual([
    ["AGE", "STORAGE", "HUGEPAGES-2MI", "NAMESPACE", "SHARE", "UNTIL", "KEPT AT", "MESSAGE"],
    ["60m", "-", "-", "ml-training", "0.5", "in 3h", "tokyo", "Waits for 1 CPU at position 2 of 2"],
  ]);
});

test("tenants are a table", async () => {
  expect(await printed("get tenants", [ML, OSLO])).toBe(`
NAME   IN POLICY   WEIGHT   SHARE   CPU   MEMORY   GPU   QUOTA                   SPENT TODAY      WAITING   OLDEST
ml     yes         3        0.125   24    96Gi     6     8 GPU, 5 reservations   12.5 of 50 EUR   1         60m
oslo   no          1        0.5     -     -        -     -                       -                1         -
`);
});
