import { chmodSync } from "node:fs";
import { LEASES } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { expect, onTestFinished, test } from "vitest";
import { readBrokerSettings } from "../settings/read-settings.ts";
import { chooseStore, readStoreChoice } from "./choose-store.ts";
import { temporaryDirectory } from "./common/testing/temporary-directory.ts";
import { LEDGER } from "./kubernetes/segments.ts";
import { memoryKube } from "./kubernetes/testing/memory-kube.ts";

async function settingsOf(...argv: string[]) {
  const reading = await readBrokerSettings({ argv, env: {}, readFile: () => Promise.resolve({}) });
  if (!reading.ok) throw new Error(reading.problems.join("; "));
  return reading.settings;
}

async function warningsFor(mode: string) {
  const directory = temporaryDirectory();
  chmodSync(directory, Number.parseInt(mode, 8));
  const settings = await settingsOf(`--store=sqlite:${directory}`);
  const warnings: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: (fields: object, message: string) => void warnings.push({ ...fields, message }),
    error: () => undefined,
  };
  const { store } = chooseStore(settings, { clock: systemClock(() => 0), log });
  await store.open();
  onTestFinished(() => store.close());
  return { directory, warnings };
}

test.each([
  ...["777", "1777", "703"].map((mode) => ({ mode, isOpen: true })),
  ...["700", "2770", "755"].map((mode) => ({ mode, isOpen: false })),
])("a ledger's folder of mode 0$mode is used, with a warning if anybody can write it", async (row) => {
  const { directory, warnings } = await warningsFor(row.mode);
  const message = `everybody on this machine can write the ledger's folder, and could put another ledger there: chmod 700 ${directory}`;
  expect(warnings).toEqual(row.isOpen ? [{ store: directory, message }] : []);
});

test("--lease-duration reaches the lease of the Kubernetes store", async () => {
  const { client } = memoryKube();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const { leadership, store } = chooseStore(await settingsOf("--store=kubernetes", "--lease-duration=90s"), {
    clock: systemClock(() => 0),
    log,
    kube: () => Promise.resolve({ client, namespace: "broker" }),
  });
  onTestFinished(() => store.close());
  expect(await leadership?.acquire()).toBe(true);
  const lease = await client.find(LEASES, { name: LEDGER, namespace: "broker" });
  expect(lease?.spec?.leaseDurationSeconds).toBe(90);
});

test.each(["sqlite:/var/lib/ledger", "kubernetes", "postgres://broker@db.example/ledger"])(
  "what is kept, and for how long, reaches --store=%s",
  async (store) => {
    const kept = ["--decision-retention=2h", "--audit-retention=3h", "--audit-max-lines=5000"];
    const { options } = readStoreChoice(await settingsOf(`--store=${store}`, ...kept));
    expect(options.retention).toEqual({
      decisions: { atMost: 100_000, forMs: 7_200_000 },
      audit: { atMost: 5000, forMs: 10_800_000 },
    });
  },
);
