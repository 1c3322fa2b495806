import { reservationId } from "@resource-broker/domain";
import { request } from "@resource-broker/domain/testing";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Route } from "./route.ts";
import { DEFAULT_LIVE_LIMITS } from "../insight/live/live-hub.ts";
import type { RouteContext } from "./routes/context.ts";
import { allRoutes } from "./routes/routes.ts";
import type { ClientCredentials } from "./testing/call.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";
import { advertisementOf, requestOf } from "./testing/samples.ts";

const certificates = await testCertificates();

/** rome borrows from paris; tokyo has nothing to do with either; ops is an admin. */
const WHO = {
  nobody: { ca: certificates.ca.cert },
  rome: certificates.cluster("rome"),
  paris: certificates.cluster("paris"),
  tokyo: certificates.cluster("tokyo"),
  ops: certificates.admin("ops"),
} satisfies Record<string, ClientCredentials>;
type Who = keyof typeof WHO;

interface Expectation extends Readonly<Record<Who, number>> {
  /** The query, where the call needs one. */
  readonly query?: string;
  readonly body?: unknown;
  /** What stands for the name in the path; the reservation, where nothing is said. */
  readonly name?: "decision" | "paris" | "waiting";
}

/** Only those may call it who are party to what it is about; to all others it does not exist. */
const parties = { nobody: 401, rome: 200, paris: 200, tokyo: 404, ops: 200 };
const requester = { ...parties, paris: 403 };
const provider = { ...parties, rome: 403 };
const everyCluster = { nobody: 401, rome: 200, paris: 200, tokyo: 200, ops: 200 };
const admins = { nobody: 401, rome: 403, paris: 403, tokyo: 403, ops: 200 };

const KEYS = { identityKey: "A".repeat(43), publicKey: "AAAA", keySignature: "A".repeat(86) };
const ENROLLMENT = {
  ...KEYS,
  clusterID: "oslo",
  tokenID: "a".repeat(10),
  secret: "A".repeat(43),
  tokenSignature: "A".repeat(86),
};

const EXPECTED: Readonly<Record<string, Expectation>> = {
  "GET /healthz": { nobody: 200, rome: 200, paris: 200, tokyo: 200, ops: 200 },
  "HEAD /healthz": { nobody: 200, rome: 200, paris: 200, tokyo: 200, ops: 200 },
  "GET /openapi.json": everyCluster,
  "POST /api/v1/advertisements": {
    ...admins,
    paris: 200,
    ops: 403, // not even an admin speaks for another cluster
    body: advertisementOf("paris"),
  },
  "GET /api/v1/advertisements": admins,
  "GET /api/v1/advertisements/{clusterID}": { ...admins, paris: 200, name: "paris" },
  "POST /api/v1/reservations": {
    nobody: 401,
    rome: 201,
    paris: 409, // nobody else lends
    tokyo: 201,
    ops: 400, // an admin reserves for a cluster that it names
    body: requestOf("1", "1Gi"),
  },
  "DELETE /api/v1/reservations": {
    nobody: 401,
    rome: 200,
    paris: 204,
    tokyo: 204,
    ops: 400,
    query: "?key=k",
  },
  "POST /api/v1/reservations/{id}/activate": requester,
  "POST /api/v1/reservations/{id}/renew": { ...requester, body: { duration: "1h" } },
  "DELETE /api/v1/reservations/{id}": requester,
  "GET /api/v1/reservations": everyCluster,
  "GET /api/v1/reservations/{id}": parties,
  "GET /api/v1/queue": everyCluster,
  "GET /api/v1/queue/{id}/explanation": { ...parties, paris: 404, name: "waiting" },
  "GET /api/v1/decisions/{id}": { ...parties, paris: 404, name: "decision" },
  "POST /api/v1/quotes": { ...everyCluster, body: requestOf("1", "1Gi") },
  "GET /api/v1/instructions": everyCluster,
  "POST /api/v1/instructions/{id}/ack": { ...provider, body: { state: "held" } },
  "POST /api/v1/adoptions": {
    ...everyCluster,
    body: {
      reservations: [
        {
          id: "rsv-rome-unknown",
          requesterID: "rome",
          targetClusterID: "paris",
          requestedResources: { cpu: "1", memory: "1Gi" },
          phase: "Active",
          generation: 1,
          createdAt: "2026-01-01T00:00:00Z",
        },
      ],
    },
  },
  "GET /api/v1/adoptions/window": admins,
  "POST /api/v1/adoptions/window": { ...admins, body: { duration: "1h" } },
  "DELETE /api/v1/adoptions/window": admins,
  "POST /api/v1/clusters/{clusterID}/cordon": { ...admins, name: "paris" },
  "POST /api/v1/clusters/{clusterID}/uncordon": { ...admins, name: "paris" },
  "POST /api/v1/clusters/{clusterID}/drain": { ...admins, name: "paris" },
  // This broker signs nothing: whoever may call is told so.
  "GET /api/v1/trust": { nobody: 200, rome: 200, paris: 200, tokyo: 200, ops: 200 },
  "POST /api/v1/enroll": { nobody: 404, rome: 404, paris: 404, tokyo: 404, ops: 404, body: ENROLLMENT },
  "POST /api/v1/certificates": { nobody: 401, rome: 404, paris: 404, tokyo: 404, ops: 404, body: KEYS },
  "POST /api/v1/invitations": {
    ...admins,
    ops: 404,
    body: { clusterID: "oslo", tokenID: "a".repeat(10), secretHash: "0".repeat(64) },
  },
  "GET /api/v1/members": admins,
  // Nobody of that name was ever here.
  "POST /api/v1/members/{clusterID}/accept": {
    ...admins,
    ops: 404,
    body: { fingerprint: `SHA256:${"a".repeat(43)}` },
  },
  "POST /api/v1/members/{clusterID}/evict": { ...admins, ops: 404 },
  // None of them has an identity key.
  "PUT /api/v1/peers/{clusterID}/statement": {
    ...admins,
    ops: 403,
    body: { statement: `e30.e30.${"A".repeat(86)}` },
    name: "paris",
  },
  "GET /api/v1/peers": everyCluster,
  "GET /api/v1/tenants": admins,
  "GET /api/v1/audit": admins,
  "GET /api/v1/reservations/{id}/timeline": admins,
  "GET /api/v1/decisions": admins,
  "GET /api/v1/refused-requests": admins,
  "GET /api/v1/demand": admins,
  "GET /api/v1/flows": admins,
  "GET /api/v1/history/capacity": admins,
  "GET /api/v1/history/demand": admins,
  "GET /api/v1/spending": admins,
  // As where no stream is left: one would not end.
  "GET /api/v1/events": { ...admins, ops: 503 },
  "GET /api/v1/policy": admins,
  "POST /api/v1/dashboard/links": { ...admins, ops: 201 },
};

// The table needs none of its context before a call comes in.
const ROUTES: readonly Route[] = allRoutes({} as RouteContext);
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const CELLS = ROUTES.flatMap((route) =>
  (Object.keys(WHO) as Who[]).map((who) => ({
    route,
    who,
    call: nameOf(route),
    status: EXPECTED[nameOf(route)]?.[who],
  })),
);

let broker: RunningBroker;
beforeAll(async () => {
  broker = await runBroker({
    store: memoryStore(),
    clock: fakeClock(),
    certificates: certificates.broker,
    liveLimits: { ...DEFAULT_LIVE_LIMITS, maxStreams: 0 },
    dashboard: () => ({
      makeLink: ({ role }) => ({
        url: "http://127.0.0.1:1/#token=a",
        role,
        expiresAt: "2026-01-05T12:02:00Z",
      }),
    }),
  });
});
afterAll(() => broker.stop());

let serial = 0;
const waiting = "rsv-rome-waits";
/** A new reservation of rome's at paris, and a request of rome's that waits for more than there is. */
async function reserved(): Promise<{ readonly id: string; readonly decision: string }> {
  const { engine, call } = broker;
  await call(WHO.paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") });
  const id = reservationId("rome", Buffer.from(String(++serial).padStart(10, "0")));
  const decision = `dec-${serial}`;
  for (const existing of engine.ledger.reservations.values()) {
    await engine.submit({ kind: "release", by: { clusterId: "ops", isAdmin: true }, id: existing.id });
  }
  await engine.submit({ kind: "uncordon", by: { clusterId: "ops", isAdmin: true }, clusterId: "paris" });
  const command = { kind: "reserve", requester: "rome", request: request({ cpu: 1, memoryGi: 1 }) } as const;
  const large = { ...command, request: request({ cpu: 1000 }), key: "waits", wait: { forMs: 3_600_000 } };
  await engine.submit({ ...large, reservationId: waiting, decisionId: "dec-waits" });
  await engine.submit({ ...command, reservationId: id, decisionId: decision });
  return { id, decision };
}

describe("every call for every identity", () => {
  test("the table of expectations knows every route, and nothing else", () => {
    expect(Object.keys(EXPECTED).sort()).toEqual(ROUTES.map(nameOf).sort());
  });

  test.each(CELLS)("$call answers $status to $who", async ({ route, who, call, status }) => {
    const { id, decision } = await reserved();
    const expected = EXPECTED[call];
    const names = { decision, paris: "paris", waiting };
    const path = route.path.replace(/\{[^}]+\}/, expected?.name === undefined ? id : names[expected.name]);
    if (call === "DELETE /api/v1/reservations") await useKey();
    const body = expected?.body === undefined ? {} : { body: expected.body };
    const before = broker.engine.commitNumber;
    const reply = await broker.call(
      WHO[who],
      `${route.method} ${path as `/${string}`}${expected?.query ?? ""}`,
      body,
    );
    expect(reply.status).toBe(status);
    if ([401, 403, 404].includes(reply.status)) expect(broker.engine.commitNumber).toBe(before);
  });

  /** A key that rome has used. */
  async function useKey(): Promise<void> {
    const headers = { "Idempotency-Key": "k" };
    await broker.call(WHO.rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi"), headers });
  }
});

describe("what a cluster is not party to", () => {
  test("is answered like what does not exist, byte for byte", async () => {
    const { id } = await reserved();
    const real = await broker.call(WHO.tokyo, `GET /api/v1/reservations/${id}`);
    const unreal = await broker.call(WHO.tokyo, "GET /api/v1/reservations/rsv-rome-nothing");
    expect(real.text).toBe(unreal.text);
  });

  test("the key of a reservation is told to its requester only", async () => {
    const headers = { "Idempotency-Key": "secret" };
    await reserved();
    const made = await broker.call(WHO.rome, "POST /api/v1/reservations", {
      body: requestOf("1", "1Gi"),
      headers,
    });
    const { id } = made.json as { id: string };
    expect(made.json).toMatchObject({ key: "secret" });
    for (const who of [WHO.paris, WHO.ops]) {
      expect((await broker.call(who, `GET /api/v1/reservations/${id}`)).text).not.toContain("secret");
    }
  });
});
