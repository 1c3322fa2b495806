import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { STATEMENT_TYPE, type Statement } from "@resource-broker/contract";
import {
  authorityName,
  fingerprintOf,
  generateIdentityKey,
  makeAuthorityCertificate,
  makeLeafCertificate,
  readJws,
  signJws,
} from "@resource-broker/runtime";
import { describe, expect, test } from "vitest";
import {
  judgeStatement,
  LIFETIME_MS,
  readStatement,
  type StatementContext,
  signStatement,
} from "./statement.ts";
import { aFleet, NOW, PARIS, ROME, theParts } from "./testing/relay-samples.ts";

const fleet = aFleet();
const [rome, paris] = [fleet.identityOf("rome"), fleet.identityOf("paris")];
const SHARE = { wants: true } as const;
const sent = signStatement(ROME, rome, theParts({ requester: SHARE }));

function payloadOf(jws: string): Statement {
  return readJws(jws, STATEMENT_TYPE) as Statement;
}

function contextOf(context: Partial<StatementContext> = {}): StatementContext {
  return {
    own: { ...PARIS, key: paris.key.id },
    now: NOW,
    pin: undefined,
    fingerprint: undefined,
    authorities: fleet.authorities,
    ownerOf: () => undefined,
    hasPeering: false,
    namespace: "rear-agent",
    ...context,
  };
}

const PIN = {
  name: "rear-peer-rome",
  clusterId: "rome",
  key: rome.key.id,
  liqoId: "cool-rome",
  generation: 0,
};

function verdictOf(jws: string, context: Partial<StatementContext> = {}): string {
  const statement = readStatement(jws, "rome", "paris");
  if (statement === undefined) return "unreadable";
  const verdict = judgeStatement(statement, contextOf(context));
  return verdict.kind === "refused"
    ? `${verdict.obstacle.reason}: ${verdict.obstacle.message}`
    : verdict.kind;
}

describe("a statement of another cluster", () => {
  test("says what was signed", () => {
    expect(readStatement(sent, "rome", "paris")).toMatchObject({
      from: "rome",
      to: "paris",
      fromLiqoID: "cool-rome",
      requester: SHARE,
    });
  });

  test("counts on first contact, when its certificate vouches for its key", () => {
    expect(verdictOf(sent)).toBe("accepted");
  });

  const forged = (change: object, key = rome.key): string =>
    signJws({ ...payloadOf(sent), ...change }, STATEMENT_TYPE, key);
  test.each([
    ["is signed by another key than it names", signJws(payloadOf(sent), STATEMENT_TYPE, paris.key)],
    ["is of another cluster", forged({ from: "tokyo" })],
    ["is for another cluster", forged({ to: "tokyo" })],
    ["has a Secret in it", forged({ secret: { kind: "Secret", data: {} } })],
    [
      "has a ClusterRole in its share",
      forged({ requester: { ...SHARE, clusterRole: { rules: [{ verbs: ["*"] }] } } }),
    ],
    [
      "has keys of AWS in its identity",
      forged({ provider: { state: "signed", identity: { awsConfig: {} } } }),
    ],
    ["has bytes that Liqo could not read", forged({ requester: { ...SHARE, csr: "aGVsbG8" } })],
    ["has another purpose", signJws(payloadOf(sent), "JWT", rome.key)],
    ["is changed on its way", `${sent.slice(0, -90)}A${sent.slice(-89)}`],
  ])("does not count when it %s", (_, jws) => expect(verdictOf(jws)).toBe("unreadable"));

  test.each([
    ["older than the newest", { pin: { ...PIN, generation: NOW + 1 } }],
    ["expired", { pin: PIN, now: NOW + LIFETIME_MS }],
    ["from the future", { pin: PIN, now: NOW - 3_600_000 }],
  ])("says nothing any more when it is %s", (_, context) => expect(verdictOf(sent, context)).toBe("old"));

  test("does not live longer than statements do", () => {
    expect(verdictOf(forged({ expires: NOW + 365 * 86_400_000 }), { pin: PIN })).toBe("old");
  });
});

describe("first contact", () => {
  const other = aFleet();
  const signedBy = (identity: typeof rome): string => signStatement(ROME, identity, theParts());
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  test.each([
    ["another authority's certificate", other.identityOf("rome")],
    ["another cluster's certificate", fleet.identityOf("tokyo")],
    ["an admin's certificate", fleet.identityOf("rome", { organizationalUnits: ["broker-admin"] })],
    ["a server's certificate", fleet.identityOf("rome", { isClient: false, isServer: true })],
    ["an expired certificate", fleet.identityOf("rome", { validForMs: -1000 })],
    [
      "a certificate whose key it does not have",
      { ...rome, certificate: () => ({ pem: rome.certificate().pem, privateKey }) },
    ],
    ["a proof for another identity key", { ...rome, key: generateIdentityKey() }],
  ])("is refused with %s", (name, identity) => {
    const proof = payloadOf(sent).keyProof;
    const jws =
      name === "a proof for another identity key"
        ? signJws({ ...payloadOf(signedBy(identity)), keyProof: proof }, STATEMENT_TYPE, identity.key)
        : signedBy(identity);
    expect(verdictOf(jws)).toMatch(/^PeerUnproven: rome does not prove its name/);
  });

  test("is judged by the broker's time, not by the clock of this machine", () => {
    expect(
      verdictOf(signStatement(ROME, rome, theParts({ now: NOW + 2 * 86_400_000 })), {
        now: NOW + 2 * 86_400_000,
      }),
    ).toMatch(/^PeerUnproven/);
  });

  describe("with a certificate of an authority", () => {
    const issuer = {
      name: authorityName("fleet"),
      randomBytes,
      ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
    };
    const validity = { notBefore: NOW - 7_200_000, notAfter: NOW + 7_200_000 };
    const { publicKey: ownKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const vouchedFor = (publicKey: KeyObject): string => {
      const order = { commonName: "rome", usages: ["clientAuth"], publicKey, ...validity } as const;
      const pem = makeLeafCertificate(order, issuer).toString();
      return signStatement(ROME, { ...rome, certificate: () => ({ pem, privateKey }) }, theParts());
    };
    const until = (notAfter: number) => [makeAuthorityCertificate(issuer, { ...validity, notAfter })];

    test("that has expired is not vouched for, though the certificate has not", () => {
      const jws = vouchedFor(ownKey);
      expect(verdictOf(jws, { authorities: until(NOW + 3_600_000) })).toBe("accepted");
      expect(verdictOf(jws, { authorities: until(NOW - 3_600_000) })).toMatch(/^PeerUnproven/);
    });

    test("whose key cannot sign is not vouched for", () => {
      const jws = vouchedFor(generateKeyPairSync("x25519").publicKey);
      expect(verdictOf(jws, { authorities: until(NOW + 3_600_000) })).toMatch(/^PeerUnproven/);
    });
  });

  test("is decided by the fingerprint alone where one is set", () => {
    const stranger = other.identityOf("rome");
    const jws = signedBy(stranger);
    expect(verdictOf(jws, { fingerprint: fingerprintOf(stranger.key.id) })).toBe("accepted");
    expect(verdictOf(sent, { fingerprint: fingerprintOf(stranger.key.id) })).toMatch(/^PeerKeyChanged/);
  });

  test("asks a person when the pin is lost beside a live peering", () => {
    const command = `kubectl create configmap rear-peer-rome -n rear-agent --from-literal=accepted=${fingerprintOf(rome.key.id)}`;
    expect(verdictOf(sent, { hasPeering: true })).toMatch(/^PeerPinLost/);
    expect(verdictOf(sent, { hasPeering: true })).toContain(command);
    const pin = { ...PIN, key: undefined, liqoId: undefined, accepted: fingerprintOf(rome.key.id) };
    expect(verdictOf(sent, { hasPeering: true, pin })).toBe("accepted");
  });
});

describe("a known peer", () => {
  test("that signs with another key stops, until a person accepts the fingerprint", () => {
    const next = { ...rome, key: generateIdentityKey() };
    const jws = signStatement(ROME, next, theParts());
    const verdict = verdictOf(jws, { pin: PIN });
    expect(verdict).toMatch(/^PeerKeyChanged/);
    expect(verdict).toContain(
      `kubectl patch configmap rear-peer-rome -n rear-agent --type merge -p '{"data":{"accepted":"${fingerprintOf(next.key.id)}"}}'`,
    );
    expect(verdictOf(jws, { pin: { ...PIN, accepted: fingerprintOf(next.key.id) } })).toBe("accepted");
  });

  test("that has another key for this cluster says so", () => {
    const jws = signStatement(ROME, rome, theParts({ toKey: rome.key.id }));
    expect(verdictOf(jws, { pin: PIN })).toMatch(/^PeerHasOtherKey/);
  });

  test("cannot claim the Liqo ID of another cluster, or of this one", () => {
    const claims = (liqoId: string): string => signStatement({ ...ROME, liqoId }, rome, theParts());
    const pin = { ...PIN, liqoId: undefined };
    expect(verdictOf(claims("warm-tokyo"), { pin, ownerOf: () => "tokyo" })).toMatch(/^LiqoIDTaken/);
    expect(verdictOf(claims("calm-paris"), { pin })).toMatch(/^LiqoIDTaken/);
  });

  test("cannot change its Liqo ID without a person", () => {
    const jws = signStatement({ ...ROME, liqoId: "new-rome" }, rome, theParts());
    expect(verdictOf(jws, { pin: PIN })).toMatch(/^PeerLiqoIDChanged/);
    expect(verdictOf(jws, { pin: PIN })).toContain(`-p '{"data":{"liqoID":"new-rome"}}'`);
  });

  test("that takes this cluster for another one in Liqo is not followed", () => {
    const jws = signStatement(ROME, rome, theParts({ to: { ...PARIS, liqoId: "old-paris" } }));
    expect(verdictOf(jws, { pin: PIN })).toMatch(/^IdentityMismatch/);
  });
});
