import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { PATH } from "@resource-broker/contract";
import { GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { generateKeys, makeCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { reply, startFakeBroker } from "@resource-broker/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { OUTPUT_SCHEMAS } from "../../reference/output-schemas.ts";
import { OUTPUT } from "../../src/cli/command.ts";
import type { Outcome } from "../../src/testing/cli.ts";
import { startBrokerCluster, startOneCluster } from "../../src/testing/one-cluster.ts";
import { startFleet } from "./testing/fleet.ts";

const REQUEST = "--cpu 1 --memory 1Gi";
const FINALIZED = {
  ...GOOD_OBJECTS["Reservation"],
  metadata: { name: "left", namespace: "default", finalizers: ["reservation.broker.fluidos.eu/finalizer"] },
};

const fleet = await startFleet(afterAll);
const reservation = await fleet.reserve("rome", `${REQUEST} --duration 1h`);
const decision = await fleet.ok("ops", `explain ${reservation} -o name`);
const TOO_LARGE = "--cpu 64 --memory 1Gi --wait 1h --no-follow";
const waiting = await fleet.ok("rome", `reserve ${TOO_LARGE} -o name`);
const left = await fleet.ok("rome", `reserve ${TOO_LARGE} -o name`);
await fleet.ok("rome", `release ${left}`);
const request = GOOD_OBJECTS["ResourceRequest"] ?? {};
const cluster = await startOneCluster(afterAll, {
  objects: [
    { ...request, status: { phase: "Reserved", reservationName: reservation, decisionID: decision } },
    ...["Advertisement", "ReservationInstruction", "ProviderInstruction"].map(
      (kind) => GOOD_OBJECTS[kind] ?? {},
    ),
    FINALIZED,
  ],
});
const STORE = `--store sqlite:${fleet.broker.storeDirectory}`;
const COPY = join(fleet.folder, "copy.db");
const CSR = join(fleet.folder, "oslo.csr");
await writeFile(CSR, makeCsr([[SUBJECT_ATTRIBUTE.commonName, "oslo"]], await generateKeys()));
const brokerCluster = await startBrokerCluster(afterAll);
for (const line of ["certs init", "certs issue rome"]) await run(line);

/** A command as in the table of commands, its arguments, and which names `-o name` prints; `wider`: `-o wide` shows more. */
type Row = [command: string, args: string, names?: RegExp, wider?: "wider"];

const READS: readonly Row[] = [
  ["get clusters", "", /^[a-z]+$/u, "wider"],
  ["get reservations", "--all", /^rsv-/u, "wider"],
  ["get reservations", waiting, /^rsv-/u, "wider"],
  ["get queue", "", /^rsv-/u, "wider"],
  ["get tenants", "", /^rome$/u, "wider"],
  ["get requests", "--all-clusters", /^rsv-/u, "wider"],
  ["get requests", "", /^resourcerequest\.rear\.fluidos\.eu\//u, "wider"],
  ["get advertisements", "", /^advertisement\.rear\.fluidos\.eu\//u, "wider"],
  ["get instructions", "", /^(reservation|provider)instruction\.rear\.fluidos\.eu\//u, "wider"],
  ["describe cluster", "paris", /^paris$/u],
  ["describe reservation", reservation, /^rsv-/u, "wider"],
  ["describe reservation", waiting, /^rsv-/u, "wider"],
  ["describe reservation", left, /^rsv-/u],
  ["describe request", "more", /^more$/u],
  ["explain", reservation, /^dec-/u, "wider"],
  ["explain", waiting, /^dec-/u, "wider"],
  ["explain", left, /^rsv-/u],
  ["explain", "request/more", /^dec-/u, "wider"],
  ["quote", REQUEST, /^(paris|tokyo|berlin)$/u, "wider"],
  ["replay", decision, /^(paris|tokyo|berlin)$/u],
  ["wait", `${reservation} --for=phase=Reserved`, /^rsv-/u, "wider"],
  ["wait", `${waiting} --for=phase=Pending`, /^rsv-/u, "wider"],
  ["drain", "berlin", /^berlin$/u],
  ["audit", "", /^\d+$/u, "wider"],
  ["audit", "--verify", /^[0-9a-f]{64}$/u],
  ["audit", `verify ${STORE}`, /ledger/u],
  ["certs show", "", /^(ca|admin-ca|enrollment|broker|rome)$/u, "wider"],
  ["certs show", "rome", /^rome$/u],
  ["check", "", /^agent$/u],
  ["finalizers clear", "", /^default\/left$/u],
  ["version", "", /^\d+\.\d+\.\d+$/u],
];

const FINGERPRINT = `SHA256:${"A".repeat(43)}`;
const MEMBER = {
  clusterID: "rome",
  state: "unconfirmed",
  fingerprint: FINGERPRINT,
  tokenID: "k3u7dq2hvm",
  invitedBy: "ops",
  expiresAt: "2030-01-01T00:00:00Z",
  since: "2026-01-01T00:00:00Z",
};
/** Of a broker that enrolls agents, and what it answers. */
const OF_MEMBERS: readonly [command: string, args: string, answer: unknown][] = [
  ["get members", "", [MEMBER]],
  ["get invitations", "", [MEMBER]],
  ["invite", "rome", MEMBER],
  ["accept", `rome --fingerprint ${FINGERPRINT}`, MEMBER],
  ["evict", "rome --yes", MEMBER],
];

/** Commands that change something print what they made of it. */
const WRITES: readonly Row[] = [
  ["reserve", REQUEST],
  ["reserve", TOO_LARGE],
  ["renew", reservation],
  ["release", await fleet.reserve("rome", REQUEST)],
  ["release", await fleet.ok("rome", `reserve ${TOO_LARGE} -o name`)],
  ["cordon", "berlin --reason maintenance"],
  ["uncordon", "berlin"],
  ["adoption show", ""],
  ["adoption open", ""],
  ["adoption close", ""],
  ["certs init", ""],
  ["certs issue", "tokyo"],
  ["certs sign", `oslo --csr ${CSR}`],
  ["certs renew", "rome"],
  ["certs revoke", "tokyo"],
  ["backup", `${STORE} ${COPY}`],
  ["restore", `--store sqlite:${join(fleet.folder, "restored")} ${COPY}`],
];

describe.each(READS)("%s %s", (command, args, names = /^$/u, wider) => {
  const line = `${command} ${args}`.trimEnd();

  test.each(OUTPUT.choices)("prints %s", async (format) => {
    const { code, out, err } = await run(`${line} -o ${format}`);
    // The simulated cluster's agent is long gone, which check must say.
    expect({ code, err }).toMatchObject({ code: command === "check" ? 1 : 0 });
    expect(out).toBe(stripVTControlCharacters(out));
    expect(out).toMatch(/\n$/u);
    switch (format) {
      case "json":
        return expectShape(command, JSON.parse(out));
      case "yaml":
        return expectShape(command, parse(out));
      case "name":
        return expectNames(out, names);
      case "wide":
        return expectWide(out, (await run(line)).out, wider === "wider");
      case "table":
        expect(out).not.toMatch(/^[[{]/u);
        return undefined;
    }
  });
});

describe("a command that changes something prints what it says it prints", () => {
  test.each(WRITES)("%s", async (command, args) => {
    const { code, out, err } = await run(`${command} ${args}`.trimEnd().concat(" -o json"));
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape(command, JSON.parse(out));
  });

  test.each([["rome"], ["rome", "--revoke"]])("kubeconfig issue %s %s", async (...args) => {
    const { code, out, err } = await brokerCluster.issue(...args, "-o", "json");
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape("kubeconfig issue", JSON.parse(out));
  });

  test.each(OF_MEMBERS)("%s, of a broker that enrolls agents", async (command, args, answer) => {
    const { ca, broker } = fleet.certificates;
    const trust = reply(200, { authorities: ca.cert, signer: "embedded" });
    const { url } = await startFakeBroker({
      credentials: broker,
      whenDone: onTestFinished,
      script: (response, call) => {
        const body = call.url === PATH.members ? [answer].flat() : answer;
        (call.url === PATH.trust ? trust : reply(200, body))(response, call);
      },
    });
    const { code, out, err } = await run(`${command} ${args}`.trimEnd().concat(` --broker ${url} -o json`));
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape(command, JSON.parse(out));
  });

  test("dashboard, of a broker that serves one", async () => {
    const link = {
      url: "http://127.0.0.1:8090/#token=abc",
      role: "admin",
      expiresAt: "2030-01-01T00:00:00Z",
    };
    const { url } = await startFakeBroker({
      credentials: fleet.certificates.broker,
      whenDone: onTestFinished,
      script: reply(200, link),
    });
    const { code, out, err } = await run(`dashboard --broker ${url} -o json`);
    expect({ code, err }).toMatchObject({ code: 0 });
    expectShape("dashboard", JSON.parse(out));
  });
});

test("every command that prints data is tried here", () => {
  const tried = [...READS, ...WRITES, ...OF_MEMBERS].map(([command]) => command);
  expect([...new Set([...tried, "kubeconfig issue", "dashboard"])].toSorted()).toEqual(
    Object.keys(OUTPUT_SCHEMAS).toSorted(),
  );
});

function run(line: string): Promise<Outcome> {
  const env = { BROKERCTL_CERTS_DIR: join(fleet.folder, "own"), KUBECONFIG: cluster.kubeconfig };
  return fleet.asWith({ now: cluster.now, env }, line.startsWith("reserve") ? "rome" : "ops", line);
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

function expectWide(out: string, plain: string, isWider: boolean): void {
  const width = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));
  if (isWider) expect(width(out)).toBeGreaterThan(width(plain));
  else expect(out.split("\n")).toHaveLength(plain.split("\n").length);
}
