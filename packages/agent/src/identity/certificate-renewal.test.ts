import { randomBytes } from "node:crypto";
import { Fault, type FaultCode } from "@resource-broker/base";
import type { ResponseMetadata } from "@resource-broker/client";
import {
  authorityName,
  type CertificateSet,
  generateIdentityKey,
  generateKeys,
  makeAuthorityCertificate,
  makeLeafCertificate,
  readCertificateSet,
  toKeyPem,
} from "@resource-broker/runtime";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { refusalOf } from "../readiness.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { certificateRenewal } from "./certificate-renewal.ts";
import type { Refusal } from "./refusal.ts";

const HOUR = 3_600_000;
/** By the broker's clock. */
const START = Date.UTC(2026, 6, 1);

const tls = await generateKeys();
const issuer = { name: authorityName("CA"), randomBytes, ...(await generateKeys()) };
const authority = makeAuthorityCertificate(issuer, {
  notBefore: START - HOUR,
  notAfter: START + 10_000 * HOUR,
});

function certificate(notBefore: number): CertificateSet {
  const validity = { notBefore, notAfter: notBefore + 30 * HOUR };
  const order = {
    commonName: "rome",
    usages: ["clientAuth"],
    publicKey: tls.publicKey,
    ...validity,
  } as const;
  const cert = makeLeafCertificate(order, issuer).toString();
  return readCertificateSet({
    cert,
    key: toKeyPem(tls.privateKey),
    ca: authority.toString(),
    crl: undefined,
  });
}

interface Setup {
  /** How far the agent's clock is ahead of the broker's. */
  readonly skewMs?: number;
  readonly refusal?: () => Refusal | undefined;
  readonly enroll?: () => "issued" | number;
  readonly joining?: () => string | undefined;
}

async function setUp({
  skewMs = 0,
  refusal = () => undefined,
  enroll,
  joining = () => undefined,
}: Setup = {}) {
  const clock = fakeClock(START + skewMs);
  const started = clock.monotonicMs();
  const brokerNow = (): number => START + clock.monotonicMs() - started;
  const results: string[] = [];
  const renewedAt: number[] = [];
  const log = recordedLog();
  let set = certificate(START);
  let answer: () => void = () => undefined;
  let listener: (response: ResponseMetadata) => void = () => undefined;
  const tell = (): void =>
    listener({ ledgerId: "led-1", brokerTimeMs: brokerNow(), isCurrent: true, canQueue: true });
  const renewal = certificateRenewal({
    broker: {
      identity: () => "rome",
      onResponse: (next) => {
        listener = next;
        return () => undefined;
      },
      renewCertificate: async () => {
        renewedAt.push(brokerNow());
        answer();
        return { state: "issued" };
      },
    },
    certificates: {
      current: () => set,
      refresh: async () => true,
      store: async () => {
        set = certificate(brokerNow());
      },
    },
    keys: { identity: generateIdentityKey(), tls },
    enrollment: enroll && { attempt: async () => enroll(), problem: joining },
    refusal,
    onRenewal: (result) => results.push(result),
    clock,
    random: () => 0.5,
    log,
  });
  renewal.start();
  onTestFinished(renewal.stop);
  await clock.advance(0);
  return {
    /** The broker answers every hour. */
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += HOUR) {
        tell();
        await clock.advance(Math.min(HOUR, ms - passed));
      }
    },
    clock,
    renewal,
    renewedAt,
    results,
    log,
    setAnswer: (next: () => void) => {
      answer = next;
    },
    replace: (next: CertificateSet) => {
      set = next;
    },
  };
}

describe("a certificate of 30 hours is renewed after 20 of them by the broker's clock", () => {
  test.each([
    ["equal", 0],
    ["an hour ahead", HOUR],
    ["an hour behind", -HOUR],
    ["a year ahead", 8760 * HOUR],
  ])("when the agent's own is %s", async (_, skewMs) => {
    const { pass, renewedAt, results, renewal } = await setUp({ skewMs });
    await pass(20 * HOUR);
    expect(renewedAt).toEqual([]);
    expect(renewal.problem()).toBeUndefined();
    await pass(2 * HOUR);
    expect(renewedAt).toHaveLength(1);
    expect(results).toEqual(["renewed"]);
    await pass(22 * HOUR);
    expect(renewedAt).toHaveLength(2);
  });
});

test("a renewal that fails is counted and tried again, at most once an hour", async () => {
  const { pass, renewedAt, results, setAnswer, log } = await setUp();
  setAnswer(() => {
    throw new Fault("unreachable", "no route");
  });
  await pass(21 * HOUR);
  const first = renewedAt.length;
  await pass(8 * HOUR);
  expect(renewedAt.length - first).toBeLessThanOrEqual(8);
  expect(renewedAt.length - first).toBeGreaterThan(6);
  expect(new Set(results)).toEqual(new Set(["failed"]));
  expect(log.lines.filter((line) => line.includes("renewing the certificate fails"))).toHaveLength(1);
  setAnswer(() => undefined);
  await pass(HOUR);
  expect(results.at(-1)).toBe("renewed");
});

test("what another replica renewed is not renewed again", async () => {
  const { pass, replace, renewedAt } = await setUp();
  await pass(19 * HOUR);
  replace(certificate(START + 19 * HOUR));
  await pass(10 * HOUR);
  expect(renewedAt).toEqual([]);
});

test("an expired certificate is named with the command that helps, and a new invitation is used", async () => {
  const attempts: number[] = [];
  let invited = false;
  const { pass, clock, renewal, setAnswer, log, replace } = await setUp({
    enroll: () => {
      attempts.push(clock.monotonicMs());
      if (!invited) return 15_000;
      replace(certificate(START + 31 * HOUR));
      return "issued";
    },
  });
  setAnswer(() => {
    throw new Fault("unreachable", "it refuses our certificate");
  });
  await pass(29 * HOUR);
  expect(attempts).toEqual([]);
  await pass(2 * HOUR);
  const text = /the certificate of rome expired at .*brokerctl invite rome --replace \| kubectl apply -f -/;
  expect(renewal.problem()).toMatch(text);
  expect(log.lines.filter((line) => text.test(line))).toHaveLength(1);
  expect(attempts.length).toBeGreaterThan(0);
  invited = true;
  await pass(HOUR);
  expect(renewal.problem()).toBeUndefined();
});

/** As it is in the agent whose newest advertisement the broker has refused so. */
const refusedWith = (code: FaultCode, cause?: unknown) => (): Refusal | undefined => {
  const last = { ok: false, fault: new Fault(code, "refused", { cause }) };
  return refusalOf({ kind: "working", core: { provider: { lastPublication: () => last } } as never });
};

test("a refused Liqo ID does not stop renewal, and a new invitation is no remedy", async () => {
  const { pass, results, renewal } = await setUp({
    refusal: refusedWith("liqo-id-taken"),
    enroll: () => 1000,
  });
  await pass(22 * HOUR);
  expect(renewal.problem()).toBeUndefined();
  expect(results).toEqual(["renewed"]);
  const other = await setUp({ refusal: refusedWith("wrong-instance"), enroll: () => 1000 });
  await other.pass(22 * HOUR);
  expect(other.results).toEqual([]);
});

const tlsError = (code: string) => Object.assign(new Error("tls"), { code });
const FIX = "brokerctl invite rome --replace \\| kubectl apply -f -$";
const refusals: readonly (readonly [string, () => Refusal | undefined, RegExp])[] = [
  [
    "another agent has its ID",
    refusedWith("wrong-instance"),
    new RegExp(
      `refuses this agent \\(refused\\); an admin compares brokerctl get members with its fingerprint SHA256:.*${FIX}`,
    ),
  ],
  [
    "the broker refuses its certificate",
    refusedWith("no-certificate"),
    new RegExp(`refuses the certificate of rome \\(refused\\); an admin runs: ${FIX}`),
  ],
  [
    "TLS at the broker refuses its certificate",
    refusedWith("unreachable", tlsError("ERR_SSL_TLSV1_ALERT_UNKNOWN_CA")),
    new RegExp(`refuses the certificate of rome .*${FIX}`),
  ],
  [
    "the broker has a new authority",
    refusedWith("unreachable", tlsError("SELF_SIGNED_CERT_IN_CHAIN")),
    new RegExp(
      `the server is none that rome trusts \\(refused\\); if the broker has a new authority, an admin runs: ${FIX}`,
    ),
  ],
];
test.each(refusals)("where %s, a new invitation is tried, and an admin reads what to run", async (...row) => {
  const [, refusal, text] = row;
  let attempts = 0;
  let joining: string | undefined;
  const { pass, renewal } = await setUp({ refusal, enroll: () => ++attempts, joining: () => joining });
  await pass(HOUR);
  expect(renewal.problem()).toMatch(text);
  expect(attempts).toBeGreaterThan(0);
  joining = "joining fails: the token has expired";
  expect(renewal.problem()).toMatch(/; the invitation in its Secret: joining fails: the token has expired$/);
});

test.each([
  ["nothing listens at", "ECONNREFUSED"],
  ["the certificate of the server has expired at", "CERT_HAS_EXPIRED"],
  ["another name is in the certificate at", "ERR_TLS_CERT_ALTNAME_INVALID"],
])("where %s the broker's address, no invitation is tried", async (_, code) => {
  let attempts = 0;
  const refusal = refusedWith("unreachable", tlsError(code));
  const { pass, renewal } = await setUp({ refusal, enroll: () => ++attempts });
  await pass(HOUR);
  expect(renewal.problem()).toBeUndefined();
  expect(attempts).toBe(0);
});
