import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { OUTPUT_SCHEMAS } from "../../reference/output-schemas.ts";
import { OUTPUT } from "../../src/output/output-option.ts";
import { type BrokerCluster, startBrokerCluster } from "../../src/testing/broker-cluster.ts";
import { type Outcome, runCli } from "../../src/testing/cli.ts";
import { type OneCluster, startOneCluster } from "../../src/testing/one-cluster.ts";
import { startFakeServer } from "./testing/fake-server.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const REQUEST = ["--cpu", "1", "--memory", "1Gi"];
const FINALIZED = {
  ...GOOD_OBJECTS["Reservation"],
  metadata: { name: "left", namespace: "default", finalizers: ["reservation.broker.fluidos.eu/finalizer"] },
};

/** What each command works on; made once. */
interface Setup {
  readonly fleet: Fleet;
  readonly cluster: OneCluster;
  readonly brokerCluster: BrokerCluster;
  readonly reservation: string;
  readonly decision: string;
}

interface Row {
  /** As in the table of commands. */
  readonly command: string;
  readonly name?: string;
  readonly args?: (setup: Setup) => readonly string[] | Promise<readonly string[]>;
  /** Which names `-o name` prints. */
  readonly names?: RegExp;
  /** True: `-o wide` shows more than the table. */
  readonly isWider?: boolean;
}

const READS: readonly Row[] = [
  { command: "get clusters", names: /^[a-z]+$/u, isWider: true },
  { command: "get reservations", args: () => ["--all"], names: /^rsv-/u, isWider: true },
  { command: "get requests", names: /^resourcerequest\.rear\.fluidos\.eu\//u, isWider: true },
  { command: "get advertisements", names: /^advertisement\.rear\.fluidos\.eu\//u, isWider: true },
  {
    command: "get instructions",
    names: /^(reservation|provider)instruction\.rear\.fluidos\.eu\//u,
    isWider: true,
  },
  { command: "describe cluster", args: () => ["paris"], names: /^paris$/u },
  {
    command: "describe reservation",
    args: ({ reservation }) => [reservation],
    names: /^rsv-/u,
    isWider: true,
  },
  { command: "describe request", args: () => ["more"], names: /^more$/u },
  { command: "explain", args: ({ reservation }) => [reservation], names: /^dec-/u, isWider: true },
  {
    command: "explain",
    name: "explain a request",
    args: () => ["request/more"],
    names: /^dec-/u,
    isWider: true,
  },
  { command: "quote", args: () => REQUEST, names: /^(paris|tokyo|berlin)$/u, isWider: true },
  { command: "replay", args: ({ decision }) => [decision], names: /^(paris|tokyo|berlin)$/u },
  {
    command: "wait",
    args: ({ reservation }) => [reservation, "--for=phase=Reserved"],
    names: /^rsv-/u,
    isWider: true,
  },
  { command: "audit", names: /^\d+$/u, isWider: true },
  { command: "audit", name: "audit --verify", args: () => ["--verify"], names: /^[0-9a-f]{64}$/u },
  { command: "audit", name: "audit verify", args: (setup) => ["verify", ...store(setup)], names: /ledger/u },
  { command: "certs show", names: /^(ca|broker|rome)$/u, isWider: true },
  { command: "certs show", name: "certs show of one", args: () => ["rome"], names: /^rome$/u },
  { command: "check", names: /^agent$/u },
  { command: "finalizers clear", names: /^default\/left$/u },
  { command: "version", names: /^\d+\.\d+\.\d+$/u },
];

/** Commands that change something print what they made of it. */
const WRITES: readonly Row[] = [
  { command: "reserve", args: () => REQUEST },
  { command: "renew", args: ({ reservation }) => [reservation] },
  { command: "release", args: async ({ fleet }) => [await fleet.reserve("rome", ...REQUEST)] },
  { command: "cordon", args: () => ["berlin", "--reason", "maintenance"] },
  { command: "uncordon", args: () => ["berlin"] },
  { command: "adoption show" },
  { command: "adoption open" },
  { command: "adoption close" },
  { command: "certs init" },
  { command: "certs issue", args: () => ["tokyo"] },
  { command: "certs renew", args: () => ["rome"] },
  { command: "certs revoke", args: () => ["tokyo"] },
  { command: "backup", args: (setup) => [...store(setup), join(setup.fleet.folder, "copy.db")] },
  {
    command: "restore",
    args: ({ fleet }) => [
      "--store",
      `sqlite:${join(fleet.folder, "restored")}`,
      join(fleet.folder, "copy.db"),
    ],
  },
];

const cleanUps: (() => Promise<void>)[] = [];
let scene: Setup;

beforeAll(async () => {
  const later = (cleanUp: () => Promise<void>): void => void cleanUps.push(cleanUp);
  const fleet = await startFleet(later);
  const reservation = await fleet.reserve("rome", ...REQUEST, "--duration", "1h");
  const decision = (await fleet.as("ops", "explain", reservation, "-o", "name")).out.trim();
  const request = GOOD_OBJECTS["ResourceRequest"] ?? {};
  const cluster = await startOneCluster(later, {
    objects: [
      { ...request, status: { phase: "Reserved", reservationName: reservation, decisionID: decision } },
      ...["Advertisement", "ReservationInstruction", "ProviderInstruction"].map(
        (kind) => GOOD_OBJECTS[kind] ?? {},
      ),
      FINALIZED,
    ],
  });
  const brokerCluster = await startBrokerCluster(later);
  scene = { fleet, cluster, brokerCluster, reservation, decision };
  for (const words of ["init", "issue rome"]) await run(["certs", ...words.split(" ")]);
});

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

describe.each(READS)("$command $name", (row) => {
  test.each(OUTPUT.choices)("prints %s", async (format) => {
    const { code, out, err } = await run([
      ...row.command.split(" "),
      ...((await row.args?.(scene)) ?? []),
      "-o",
      format,
    ]);
    // The simulated cluster's agent is long gone, which check must say.
    expect({ code, err }).toMatchObject({ code: row.command === "check" ? 1 : 0 });
    expect(out).toBe(stripVTControlCharacters(out));
    expect(out).toMatch(/\n$/u);
    switch (format) {
      case "json":
        return expectShape(row.command, JSON.parse(out));
      case "yaml":
        return expectShape(row.command, parse(out));
      case "name":
        return expectNames(out, row.names ?? /^$/u);
      case "wide":
        return expectWide(out, row);
      case "table":
        expect(out).not.toMatch(/^[[{]/u);
        return undefined;
    }
  });
});

describe("a command that changes something prints what it says it prints", () => {
  test.each(WRITES)("$command", async ({ command, args }) => {
    const { code, out, err } = await run([
      ...command.split(" "),
      ...((await args?.(scene)) ?? []),
      "-o",
      "json",
    ]);
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape(command, JSON.parse(out));
  });

  test.each([["rome"], ["rome", "--revoke"]])("kubeconfig issue %s %s", async (...args) => {
    const { code, out, err } = await scene.brokerCluster.issue(...args, "-o", "json");
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape("kubeconfig issue", JSON.parse(out));
  });

  test("dashboard, of a broker that serves one", async () => {
    const link = {
      url: "http://127.0.0.1:8090/#token=abc",
      role: "admin",
      expiresAt: "2030-01-01T00:00:00Z",
    };
    const url = await startFakeServer(
      scene.fleet.certificates.broker,
      (_, response) => {
        response.writeHead(200, { "Content-Type": "application/json", "Broker-Protocol": "2" });
        response.end(JSON.stringify(link));
      },
      onTestFinished,
    );
    const { code, out, err } = await run(["dashboard", "--broker", url, "-o", "json"]);
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape("dashboard", JSON.parse(out));
  });
});

test("every command that prints data is tried here", () => {
  const tried = [...READS, ...WRITES].map(({ command }) => command);
  expect([...new Set([...tried, "kubeconfig issue", "dashboard"])].toSorted()).toEqual(
    Object.keys(OUTPUT_SCHEMAS).toSorted(),
  );
});

function run(args: readonly string[]): Promise<Outcome> {
  const { fleet, cluster } = scene;
  const who = args[0] === "reserve" ? "rome" : "ops";
  return runCli(args, {
    now: cluster.now,
    env: {
      BROKERCTL_BROKER: fleet.url,
      BROKERCTL_CERTS: join(fleet.folder, who),
      BROKERCTL_CERTS_DIR: join(fleet.folder, "own"),
      KUBECONFIG: cluster.kubeconfig,
    },
  });
}

function store({ fleet }: Setup): readonly string[] {
  return ["--store", `sqlite:${fleet.broker.storeDirectory}`];
}

function expectShape(command: string, data: unknown): void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile(OUTPUT_SCHEMAS[command] ?? false);
  expect(validate(data) ? [] : validate.errors).toEqual([]);
  if (Array.isArray(data)) expect(data).not.toEqual([]);
}

function expectNames(out: string, form: RegExp): void {
  const names = out.trimEnd().split("\n");
  for (const name of names) expect(name).toMatch(form);
  expect(new Set(names).size).toBe(names.length);
}

async function expectWide(out: string, { command, args, isWider = false }: Row): Promise<void> {
  const plain = await run([...command.split(" "), ...((await args?.(scene)) ?? [])]);
  const width = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));
  if (isWider) expect(width(out)).toBeGreaterThan(width(plain.out));
  else expect(out.split("\n")).toHaveLength(plain.out.split("\n").length);
}
