import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@resource-broker/base";
import { type BrokerPolicy, brokerPolicyKind } from "@resource-broker/contract/crd";
import { MINUTE_MS } from "@resource-broker/domain/testing";
import { customResource } from "@resource-broker/kube";
import { yamlReader } from "@resource-broker/runtime";
import {
  fakeClock,
  MACHINE_CLOCK,
  postgresPrograms,
  startPostgres,
  testCertificates,
  until,
  writeCertificateFolder,
} from "@resource-broker/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createBroker } from "./app.ts";
import { type CallAs, caller } from "./interface/http/testing/call.ts";
import { advertisementOf, requestOf, WAITING_AGENT } from "./interface/http/testing/samples.ts";
import { openEnvironment, type TestEnvironment } from "./interface/kubernetes/testing/environment.ts";
import { NAMESPACE } from "./interface/kubernetes/testing/samples.ts";
import { readBrokerSettings } from "./settings/read-settings.ts";

const POLICIES = customResource(brokerPolicyKind);
const QUOTA: BrokerPolicy["spec"] = { quotas: { rome: { cpu: "4" } } };
const INVALID: BrokerPolicy["spec"] = { ...QUOTA, weights: { nonsense: 1 } };
const A_MOMENT_MS = 300;
const certificates = await testCertificates();
const [rome, paris] = [certificates.cluster("rome"), certificates.cluster("paris")];

let env: TestEnvironment;
let folder: string;
let port: number;
beforeEach(async () => {
  env = await openEnvironment();
  folder = await mkdtemp(join(tmpdir(), "policy-before-ledger-"));
  await writeFile(join(folder, "kubeconfig"), env.cluster.kubeconfig);
  await writeCertificateFolder(join(folder, "certs"), certificates.broker);
  return async () => {
    await env.stop();
    await rm(folder, { recursive: true, force: true });
  };
});

async function putPolicy(spec: BrokerPolicy["spec"]): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: "default" };
  await env.client.apply(POLICIES, { metadata, spec }, { fieldManager: "kubectl", force: true });
}

/** Writes it to the object beside an empty file, or to the file without an object. */
async function writePolicy(where: string, spec: BrokerPolicy["spec"]): Promise<readonly string[]> {
  const path = join(folder, "policy.yaml");
  await writeFile(path, JSON.stringify(where === "file" ? spec : {}));
  if (where === "object") await putPolicy(spec);
  return [`--policy=${path}`];
}

async function settingsFor(store: string, more: readonly string[]) {
  const reading = await readBrokerSettings({
    argv: [
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      `--http-namespace=${NAMESPACE}`,
      `--store=${store === "sqlite" ? `sqlite:${join(folder, "store")}` : store}`,
      `--http-cert-path=${join(folder, "certs")}`,
      "--http-host=127.0.0.1",
      "--http-port=0",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      ...more,
    ],
    env: {},
    readFile: () => Promise.reject(new Error("there is none")),
  });
  if (!reading.ok) throw new Error(reading.problems.join());
  return reading.settings;
}

interface Start {
  readonly flags?: readonly string[];
  readonly clock?: Clock;
}

/** A whole broker on the ledger of the one before. */
async function startBroker(store: string, { flags = [], clock = MACHINE_CLOCK }: Start = {}) {
  const broker = createBroker(await settingsFor(store, flags), {
    clock,
    defer: setImmediate,
    randomBytes,
    random: () => randomBytes(4).readUInt32BE() / 2 ** 32,
    env: {},
    readYaml: yamlReader(),
    openApi: "{}",
    version: "0",
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    onFatal: () => undefined,
  });
  onTestFinished(broker.stop);
  port = (await broker.start()).port ?? 0;
  const { call, close } = caller(port);
  onTestFinished(close);
  return { call, stop: broker.stop };
}

/** Replicas answer once they lead. */
function ask(call: CallAs, ...args: Parameters<CallAs>) {
  return until("the broker answers", async () => {
    const reply = await call(...args);
    return reply.status === 503 ? undefined : reply;
  });
}

/** rome has 4 CPUs, which is its quota, and waits for 4 more. */
async function waitForQuota(call: CallAs, waitFor = "1h"): Promise<string> {
  const reserve = (key: string, more = {}) =>
    ask(call, rome, "POST /api/v1/reservations", {
      body: requestOf("4", "1Gi", more),
      headers: { ...WAITING_AGENT, "Idempotency-Key": key },
    });
  await ask(call, paris, "POST /api/v1/advertisements", {
    body: advertisementOf("paris"),
    headers: WAITING_AGENT,
  });
  expect((await reserve("held")).status).toBe(201);
  const waiting = await reserve("waits", { wait: { for: waitFor } });
  expect(waiting.status).toBe(202);
  return (waiting.json as { id: string }).id;
}

async function phaseOf(call: CallAs, id: string): Promise<unknown> {
  const { json } = await ask(call, rome, `GET /api/v1/reservations/${id}`, { headers: WAITING_AGENT });
  return (json as { status: { phase: string } }).status.phase;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const STORES = [
  { name: "SQLite", isThere: true, storeFor: () => Promise.resolve("sqlite") },
  { name: "Kubernetes objects", isThere: true, storeFor: () => Promise.resolve("kubernetes") },
  { name: "PostgreSQL", isThere: postgresPrograms().isThere, storeFor: postgresUrl },
];
test.each(STORES.filter(({ isThere }) => isThere))(
  "after a start on $name, what waits is judged by the BrokerPolicy alone",
  async ({ storeFor }) => {
    const store = await storeFor();
    await putPolicy(QUOTA);
    const before = await startBroker(store);
    const id = await waitForQuota(before.call);
    await before.stop();
    const { call } = await startBroker(store);
    expect(await phaseOf(call, id)).toBe("Pending");
    await pause(A_MOMENT_MS);
    expect(await phaseOf(call, id)).toBe("Pending");
  },
);

async function postgresUrl(): Promise<string> {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  return server.url();
}

test("an API server that takes its time holds the ledger up, not only those who call", async () => {
  await putPolicy(QUOTA);
  const before = await startBroker("sqlite");
  const id = await waitForQuota(before.call);
  await before.stop();
  env.cluster.faults.pause();
  const starting = startBroker("sqlite");
  await pause(A_MOMENT_MS);
  env.cluster.faults.resume();
  const { call } = await starting;
  expect(await phaseOf(call, id)).toBe("Pending");
});

test.each([
  {
    name: "none",
    change: async () => env.client.delete(POLICIES, { namespace: NAMESPACE, name: "default" }),
  },
  { name: "an invalid one", change: () => putPolicy(INVALID) },
])("where there is $name any more, the built-in policy judges", async ({ change }) => {
  await putPolicy(QUOTA);
  const before = await startBroker("sqlite");
  const id = await waitForQuota(before.call);
  await before.stop();
  await change();
  const { call } = await startBroker("sqlite");
  await expect.poll(() => phaseOf(call, id)).toBe("Reserved");
});

describe("for twice the staleness after a start, nothing that waits fails", () => {
  test.each([
    { where: "file", store: "sqlite", staleness: "10m", forMs: 20 * MINUTE_MS },
    { where: "file", store: "sqlite", staleness: "4s", forMs: 8000 },
    { where: "object", store: "sqlite", staleness: "10m", forMs: 20 * MINUTE_MS },
    { where: "object", store: "sqlite", staleness: "4s", forMs: 8000 },
  ])("$staleness by the $where", async ({ where, store, staleness, forMs }) => {
    const flags = await writePolicy(where, { ...QUOTA, staleness });
    const before = await startBroker(store, { flags });
    const id = await waitForQuota(before.call, "20s");
    await before.stop();
    const clock = fakeClock(MACHINE_CLOCK.wallMs() + MINUTE_MS);
    const { call } = await startBroker(store, { flags, clock });
    await clock.advance(forMs - 2000);
    expect(await phaseOf(call, id)).toBe("Pending");
    await clock.advance(4000);
    await expect.poll(() => phaseOf(call, id)).toBe("Failed");
  });
});
