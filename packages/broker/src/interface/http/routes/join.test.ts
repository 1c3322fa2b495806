import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import { fingerprintOf, generateIdentityKey, makeCsr, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import {
  fakeClock,
  MACHINE_CLOCK,
  memoryDisk,
  memoryStore,
  testCertificates,
} from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_HTTP_LIMITS } from "../ports.ts";
import { caller, type TestReply } from "../testing/call.ts";
import {
  type EnrollmentSetup,
  enrollmentSetup,
  newAgent,
  newToken,
  type TestToken,
} from "../testing/joining.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf } from "../testing/samples.ts";

const certificates = await testCertificates();
const ops = certificates.admin("ops");
const ca = certificates.ca.cert;
const nobody = { ca };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let time = fakeClock();
let disk = memoryDisk();
let setup: EnrollmentSetup;
let broker: RunningBroker;
let counts: string[] = [];

/** TLS itself goes by the machine's time: the broker's begins there. */
beforeEach(async () => {
  time = fakeClock(MACHINE_CLOCK.wallMs());
  disk = memoryDisk();
  counts = [];
  setup = await enrollmentSetup(certificates, time);
  broker = await start();
});
afterEach(async () => {
  await broker.stop();
  await setup.remove();
});

function start(): Promise<RunningBroker> {
  const metrics = {
    answered: () => undefined,
    demandUnmet: () => undefined,
    enrolled: (result: string) => void counts.push(result),
    certificateIssued: (cause: string) => void counts.push(cause),
  };
  const { enrollment } = setup;
  return runBroker({
    store: memoryStore(disk),
    clock: time,
    certificates: certificates.broker,
    enrollment,
    metrics,
  });
}

async function invite(clusterID: string, more: object = {}): Promise<TestToken> {
  const token = newToken();
  const { tokenID, secretHash } = token;
  const body = { clusterID, tokenID, secretHash, ...more };
  const reply = await broker.call(ops, "POST /api/v1/invitations", { body });
  expect(reply).toMatchObject({ status: 201, json: { clusterID, tokenID, invitedBy: "ops" } });
  return token;
}

const enroll = (body: unknown): Promise<TestReply> => broker.call(nobody, "POST /api/v1/enroll", { body });
const faultOf = ({ status, json }: TestReply): unknown => ({ status, ...(json as object) });

function issuedIn(reply: TestReply): X509Certificate {
  expect(reply).toMatchObject({ status: 200, json: { state: "issued" } });
  return new X509Certificate((reply.json as { certificate: string }).certificate);
}

async function join(clusterID: string, more: object = {}) {
  const agent = newAgent(clusterID);
  const reply = await enroll(agent.enrollment(await invite(clusterID, more), ca));
  const { certificate } = reply.json as { certificate: string };
  return { agent, reply, credentials: agent.credentials(certificate, ca) };
}

describe("an invited agent", () => {
  test("reads the authority, enrolls without a certificate, and calls with the one it got", async () => {
    const trust = await broker.call(nobody, "GET /api/v1/trust");
    expect(trust.json).toEqual({ authorities: ca, signer: "embedded" });
    const { agent, reply, credentials } = await join("rome");
    expect(reply.json).toMatchObject({ state: "issued", authorities: ca });
    const body = advertisementOf("rome");
    const { headers } = agent;
    const advertised = await broker.call(credentials, "POST /api/v1/advertisements", { body, headers });
    expect(advertised.status).toBe(200);
    expect((await broker.call(ops, "GET /api/v1/members")).json).toMatchObject([
      { clusterID: "rome", state: "joined", fingerprint: fingerprintOf(agent.identity.id) },
    ]);
    expect(counts).toEqual(["enrollment", "issued"]);
  });

  test("gets a certificate that is built from the invitation: its cluster, its key, 30 days, nothing else", async () => {
    const { agent, reply } = await join("rome");
    const issued = issuedIn(reply);
    expect(issued).toMatchObject({ subject: "CN=rome", issuer: "CN=Enrollment CA", ca: false });
    expect(issued).toMatchObject({ subjectAltName: undefined, keyUsage: ["1.3.6.1.5.5.7.3.2"] });
    expect(issued.publicKey.equals(agent.publicKey)).toBe(true);
    const now = time.wallMs();
    expect(Math.abs(issued.validFromDate.getTime() - (now - 300_000))).toBeLessThan(1000);
    expect(Math.abs(issued.validToDate.getTime() - (now + 30 * DAY_MS))).toBeLessThan(1000);
  });

  test("makes no admin of itself with a CSR that says OU=broker-admin: the embedded signer reads none", async () => {
    const agent = newAgent("rome");
    const csr = makeCsr(
      [
        [SUBJECT_ATTRIBUTE.commonName, "ops"],
        ["2.5.4.11", "broker-admin"],
      ],
      agent,
    );
    const issued = issuedIn(await enroll(agent.enrollment(await invite("rome"), ca, { csr })));
    expect(issued.subject).toBe("CN=rome");
  });

  test("may repeat the call with the same key: lost answers, and a broker that restarted in between", async () => {
    const agent = newAgent("rome");
    const body = agent.enrollment(await invite("rome"), ca);
    issuedIn(await enroll(body));
    issuedIn(await enroll(body));
    await broker.stop();
    await setup.remove();
    setup = await enrollmentSetup(certificates, time);
    broker = await start();
    expect(issuedIn(await enroll(body)).subject).toBe("CN=rome");
  });

  test("waits until an admin accepts its fingerprint, where the invitation says so", async () => {
    const agent = newAgent("rome");
    const fingerprint = fingerprintOf(agent.identity.id);
    const body = agent.enrollment(await invite("rome", { confirm: true }), ca);
    const waiting = await enroll(body);
    expect(waiting).toMatchObject({ status: 202, json: { state: "waiting" } });
    expect(waiting.text).toContain(`brokerctl accept rome --fingerprint ${fingerprint}`);
    const accept = (given: string) =>
      broker.call(ops, "POST /api/v1/members/rome/accept", { body: { fingerprint: given } });
    const other = fingerprintOf(generateIdentityKey().id);
    expect(faultOf(await accept(other))).toMatchObject({ status: 403, code: "wrong-instance" });
    expect(await enroll(body)).toMatchObject({ status: 202 });
    expect((await accept(fingerprint)).json).toMatchObject({ state: "joined", fingerprint });
    issuedIn(await enroll(body));
  });

  test("renews with a new key that its identity key vouches for", async () => {
    const { agent, credentials } = await join("rome");
    const next = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { headers } = agent;
    const renew = (body: unknown) => broker.call(credentials, "POST /api/v1/certificates", { body, headers });
    const issued = issuedIn(await renew(agent.keyFields(next.publicKey)));
    expect(issued.subject).toBe("CN=rome");
    expect(issued.publicKey.equals(next.publicKey)).toBe(true);
    const stranger = generateIdentityKey();
    expect(faultOf(await renew(agent.keyFields(next.publicKey, stranger)))).toMatchObject({
      status: 403,
      code: "wrong-instance",
    });
    const { keySignature } = agent.keyFields(next.publicKey, stranger);
    expect(faultOf(await renew({ ...agent.keyFields(next.publicKey), keySignature }))).toMatchObject({
      status: 400,
      error: expect.stringContaining("keySignature") as string,
    });
    expect(counts.filter((count) => count === "renewal")).toHaveLength(1);
  });

  test("renews no more often than the limit", async () => {
    const { agent, credentials } = await join("rome");
    const { headers } = agent;
    const renew = () =>
      broker.call(credentials, "POST /api/v1/certificates", { body: agent.keyFields(), headers });
    for (let count = 0; count < DEFAULT_HTTP_LIMITS.renewalBurst; count++) issuedIn(await renew());
    expect(faultOf(await renew())).toMatchObject({ status: 429, code: "rate-limited" });
  });
});

describe("a token", () => {
  test("that was used by one agent is refused to another, who is told what to do", async () => {
    const token = await invite("rome");
    issuedIn(await enroll(newAgent("rome").enrollment(token, ca)));
    expect(faultOf(await enroll(newAgent("rome").enrollment(token, ca)))).toMatchObject({
      status: 403,
      code: "wrong-instance",
      error: expect.stringContaining("brokerctl invite rome --replace") as string,
    });
    expect(counts.at(-1)).toBe("refused");
  });

  test("that has expired is refused, also to a key that used it in time", async () => {
    const agent = newAgent("rome");
    const used = agent.enrollment(await invite("rome", { lifetime: "10m" }), ca);
    issuedIn(await enroll(used));
    const unused = newAgent("oslo").enrollment(await invite("oslo", { lifetime: "10m" }), ca);
    await time.advance(600_000);
    for (const body of [used, unused])
      expect(faultOf(await enroll(body))).toMatchObject({
        status: 401,
        error: expect.stringContaining("brokerctl invite") as string,
      });
  });

  test("for one cluster joins no other", async () => {
    const token = await invite("rome");
    expect(faultOf(await enroll(newAgent("paris").enrollment(token, ca)))).toMatchObject({
      status: 401,
      code: "no-certificate",
      error: expect.stringContaining("invites rome, not paris") as string,
    });
    issuedIn(await enroll(newAgent("rome").enrollment(token, ca)));
  });

  test("with a wrong secret is answered as one that never was: guessing teaches nothing", async () => {
    const token = await invite("rome");
    const agent = newAgent("rome");
    const wrong = await enroll(agent.enrollment({ ...newToken(), tokenID: token.tokenID }, ca));
    const unknown = await enroll(agent.enrollment(newToken(), ca));
    expect(wrong.text).toBe(unknown.text);
    expect(wrong.status).toBe(401);
  });

  test("is not used up by a call whose keys or signatures are wrong", async () => {
    const token = await invite("rome");
    const agent = newAgent("rome");
    const good = agent.enrollment(token, ca);
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const other = certificates.authority().cert;
    const bad: readonly (readonly [string, object])[] = [
      ["publicKey: its key cannot be read", { ...good, publicKey: "AAAA" }],
      ["publicKey: its key is weak", newAgent("rome", weak).enrollment(token, ca)],
      ["keySignature", { ...good, keySignature: good.tokenSignature }],
      ["tokenSignature", agent.enrollment(token, other)], // a broker in the middle, with an authority of its own
      ["tokenSignature", { ...good, tokenSignature: good.keySignature }],
    ];
    for (const [problem, body] of bad)
      expect(faultOf(await enroll(body))).toMatchObject({
        status: 400,
        error: expect.stringContaining(problem) as string,
      });
    issuedIn(await enroll(newAgent("rome").enrollment(token, ca)));
  });

  test("is looked up before any DER is read", async () => {
    const body = newAgent("rome").enrollment(newToken(), ca, { publicKey: "AAAA" });
    expect(await enroll(body)).toMatchObject({ status: 401 });
  });

  test("guessed in bulk is limited and logged once a minute; agents are served, and whoever knows it joins meanwhile", async () => {
    const token = await invite("rome");
    const { agent: paris, credentials } = await join("paris");
    const guesser = newAgent("rome");
    const statuses: number[] = [];
    for (let count = 0; count < 60; count++) {
      const guess = { ...newToken(), tokenID: token.tokenID };
      statuses.push((await enroll(guesser.enrollment(guess, ca))).status);
    }
    const burst = DEFAULT_HTTP_LIMITS.enrollmentBurst;
    expect(statuses.filter((status) => status === 401)).toHaveLength(burst);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60 - burst);
    expect(counts.filter((result) => result === "refused")).toHaveLength(60);
    const { headers } = paris;
    expect(await broker.call(credentials, "GET /api/v1/instructions", { headers })).toMatchObject({
      status: 200,
    });
    expect(await broker.call(nobody, "GET /api/v1/trust")).toMatchObject({ status: 200 });
    issuedIn(await enroll(newAgent("rome").enrollment(token, ca)));
    expect(refusalsIn(broker)).toHaveLength(1);
    await time.advance(60_000);
    expect(refusalsIn(broker)).toHaveLength(2);
    expect(refusalsIn(broker)[1]).toContain(`"count":${burst - 1}`);
  });

  test("is in no log line, whatever becomes of it: only its ID is", async () => {
    const token = await invite("rome");
    const agent = newAgent("rome");
    await enroll(agent.enrollment(token, ca, { publicKey: "AAAA" }));
    await enroll(agent.enrollment(token, ca));
    await enroll(newAgent("rome").enrollment(token, ca));
    await time.advance(60_000);
    const audit = (await broker.call(ops, "GET /api/v1/audit")).text;
    const text = broker.logged.join("\n") + audit;
    expect(text).toContain(token.tokenID);
    expect(text).not.toContain(token.secret);
    expect(text).not.toContain(token.secretHash);
  });
});

describe("enrolling", () => {
  test("takes a body up to its limit and not one byte more", async () => {
    const body = newAgent("rome").enrollment(newToken(), ca);
    const padded = (size: number) => {
      const text = JSON.stringify(body);
      return `${text.slice(0, -1)}${" ".repeat(size - text.length)}}`;
    };
    expect(await enroll(padded(LIMIT.enrollmentBodyBytes))).toMatchObject({ status: 401 });
    expect(await enroll(padded(LIMIT.enrollmentBodyBytes + 1))).toMatchObject({ status: 413 });
  });

  test("works with a client certificate that is refused: an expired one must not keep its owner out", async () => {
    const expired = certificates.leaf({
      subject: [{ type: "CN", value: "rome" }],
      notAfter: new Date("2021-01-01T00:00:00Z"),
    });
    expect(await broker.call(expired, "GET /api/v1/trust")).toMatchObject({ status: 200 });
  });

  test("at a replica that does not lead is answered with where to go, not with the lack of a certificate", async () => {
    const notLeading = () => new Fault("not-leader", "replica-2 leads");
    const certs = certificates.broker;
    const standby = await runBroker({ store: memoryStore(), clock: time, certificates: certs, notLeading });
    for (const what of ["GET /api/v1/trust", "POST /api/v1/enroll"] as const)
      expect(await standby.call(nobody, what)).toMatchObject({ status: 503, json: { code: "not-leader" } });
    await standby.stop();
  });

  test("slow senders of bodies do not keep others out", async () => {
    const token = await invite("rome");
    const slow = Array.from({ length: DEFAULT_HTTP_LIMITS.maxEnrollmentsInFlight }, () =>
      caller(broker.port),
    );
    const hanging = slow.map(({ call }) =>
      call(nobody, "POST /api/v1/enroll", { body: "{", headers: { "Content-Length": "100" } }).catch(
        () => undefined,
      ),
    );
    expect(issuedIn(await enroll(newAgent("rome").enrollment(token, ca))).subject).toBe("CN=rome");
    for (const { close } of slow) close();
    await Promise.all(hanging);
  });
});

describe("an invitation", () => {
  test.each(["broker", "nobody", "ops"])(
    "for %s, which is reserved or the admin's own name, is refused",
    async (clusterID) => {
      const { tokenID, secretHash } = newToken();
      const body = { clusterID, tokenID, secretHash };
      expect(await broker.call(ops, "POST /api/v1/invitations", { body })).toMatchObject({ status: 400 });
    },
  );

  test("for a cluster that has joined needs replace, which ends the old agent at once", async () => {
    const { agent, credentials } = await join("rome");
    const { tokenID, secretHash } = newToken();
    const body = { clusterID: "rome", tokenID, secretHash };
    expect(faultOf(await broker.call(ops, "POST /api/v1/invitations", { body }))).toMatchObject({
      status: 409,
      error: expect.stringContaining("--replace") as string,
    });
    const token = await invite("rome", { replace: true });
    const old = () => broker.call(credentials, "GET /api/v1/instructions", { headers: agent.headers });
    expect(faultOf(await old())).toMatchObject({ status: 403, code: "wrong-instance" });
    const next = newAgent("rome");
    issuedIn(await enroll(next.enrollment(token, ca)));
    expect(faultOf(await old())).toMatchObject({ status: 403, code: "wrong-instance" });
  });

  test("that lasts too long is refused", async () => {
    const { tokenID, secretHash } = newToken();
    const body = { clusterID: "rome", tokenID, secretHash, lifetime: "169h" };
    expect(await broker.call(ops, "POST /api/v1/invitations", { body })).toMatchObject({ status: 400 });
  });
});

function refusalsIn({ logged }: RunningBroker): string[] {
  return logged.filter((line) => line.includes("enrollments were refused"));
}
