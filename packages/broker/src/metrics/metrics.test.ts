import { DEFAULT_POLICY, reservationId } from "@resource-broker/domain";
import { cluster, priced, request } from "@resource-broker/domain/testing";
import { readCertificateSet } from "@resource-broker/runtime";
import { metricsPage, samplesOf, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_OBSERVER } from "../engine/engine-observer.ts";
import { runEngine } from "../engine/testing/run-engine.ts";
import { createMetrics } from "./create-metrics.ts";

const reloads = [
  { source: "certificates", problem: undefined },
  { source: "policy-file", problem: "staleness: write 2m" },
];
let metrics: ReturnType<typeof createMetrics>;
let running: Awaited<ReturnType<typeof runEngine>>;
let isLeading: boolean;
let serial: number;

async function start(maxClusters = 500): Promise<void> {
  serial = 0;
  isLeading = true;
  metrics = createMetrics({ maxClusters, reloads: () => reloads });
  running = await runEngine({ observer: { ...NO_OBSERVER, ...metrics } });
  const { engine } = running;
  metrics.watch({
    engine,
    isLeading: () => isLeading,
    statements: () => 0,
    openStreams: () => 3,
    openConnections: () => 5,
  });
}

async function stop(): Promise<void> {
  metrics.stop();
  await running.engine.stop();
}

const reserve = async (requester: string, cpu: number, durationMs?: number) => {
  serial++;
  const id = reservationId(requester, Buffer.from(String(serial).padStart(10, "0")));
  await running.engine.submit({
    kind: "reserve",
    requester,
    request: request({ cpu, memoryGi: 1 }, durationMs === undefined ? {} : { durationMs }),
    reservationId: id,
    decisionId: `dec-${serial}`,
  });
  return id;
};
const advertise = (...args: Parameters<typeof cluster>) =>
  running.engine.submit({ kind: "advertise", advertisement: cluster(...args) });

const sample = async (name: string) => samplesOf(await metrics.scrape(), `broker_${name}`);

beforeEach(() => start());
afterEach(stop);

describe("what the ledger went through", () => {
  test("counts reservations by phase and requester, and ends by reason", async () => {
    await advertise("paris");
    const first = await reserve("rome", 1);
    await reserve("rome", 1, 60_000);
    await reserve("tokyo", 1);
    const by = { clusterId: "rome", isAdmin: false };
    await running.engine.submit({ kind: "activate", by, id: first });
    await running.engine.submit({ kind: "release", by, id: first });
    await running.clock.advance(61_000);
    expect(await sample("reservations_total")).toEqual({
      '{phase="Reserved",requester="rome"}': 2,
      '{phase="Reserved",requester="tokyo"}': 1,
      '{phase="Active",requester="rome"}': 1,
      '{phase="Released",requester="rome"}': 2,
    });
    expect(await sample("reservation_ends_total")).toEqual({
      '{reason="ReleasedByRequester"}': 1,
      '{reason="Expired"}': 1,
    });
    expect(await sample("live_reservations")).toEqual({ "": 1 });
  });

  test("unmet demand is what was refused in the last five minutes, each request once, by what stopped it last", async () => {
    await reserve("rome", 1);
    await advertise("paris");
    for (const cpu of [100, 100, 100, 101]) await reserve("rome", cpu);
    metrics.demandUnmet("quota", { requester: "rome", request: request({ cpu: 7 }) });
    const none = { '{reason="stale"}': 0 };
    const unmet = { '{reason="capacity"}': 2, '{reason="no-clusters"}': 1, '{reason="quota"}': 1 };
    expect(await sample("unmet_demand")).toMatchObject({ ...unmet, ...none });
    const refused = { '{reason="capacity"}': 4, '{reason="no-clusters"}': 1, '{reason="quota"}': 1 };
    expect(await sample("refusals_total")).toMatchObject({ ...refused, ...none });
    await running.clock.advance(3 * 60_000);
    expect(await sample("unmet_demand")).toMatchObject(unmet);
    await running.clock.advance(3 * 60_000);
    expect(await sample("refusals_total")).toMatchObject(refused);
    expect(Object.values(await sample("unmet_demand")).every((count) => count === 0)).toBe(true);
  });

  test("a request that was refused and is granted, or waits, is no unmet demand any more", async () => {
    await reserve("rome", 1);
    await reserve("rome", 2);
    expect(await sample("unmet_demand")).toMatchObject({ '{reason="no-clusters"}': 2 });
    await advertise("paris");
    await reserve("rome", 1);
    expect(await sample("unmet_demand")).toMatchObject({ '{reason="no-clusters"}': 1 });
    await reserve("rome", 15);
    await running.engine.submit({
      kind: "reserve",
      requester: "rome",
      key: "waits",
      request: request({ cpu: 2, memoryGi: 1 }),
      wait: {},
      reservationId: "rsv-rome-waits",
      decisionId: "dec-waits",
    });
    expect(await sample("unmet_demand")).toMatchObject({ '{reason="no-clusters"}': 0 });
  });

  test("notices are counted by cause, with what became of them", async () => {
    const by = { clusterId: "ops", isAdmin: true };
    const drain = { kind: "drain", by, clusterId: "paris", graceMs: 60_000 } as const;
    const of = (cause: string, noticed: number, preempted: number, reprieved: number) => ({
      [`{cause="${cause}",outcome="noticed"}`]: noticed,
      [`{cause="${cause}",outcome="preempted"}`]: preempted,
      [`{cause="${cause}",outcome="reprieved"}`]: reprieved,
    });
    expect(await sample("preemptions_total")).toEqual({ ...of("drain", 0, 0, 0), ...of("request", 0, 0, 0) });
    await advertise("paris");
    await advertise("rome", { cpu: 0, memoryGi: 0, more: { protocol: 3 } });
    await reserve("rome", 1);
    await reserve("rome", 1);
    await running.engine.submit(drain);
    await running.engine.submit({ kind: "uncordon", by, clusterId: "paris" });
    await running.engine.submit(drain);
    await running.clock.advance(60_000);
    expect(await sample("preemptions_total")).toEqual({ ...of("drain", 4, 2, 2), ...of("request", 0, 0, 0) });
  });

  test("savings are counted against the mean price, for the time asked or one hour", async () => {
    await advertise("paris", { more: { cost: priced(1) } });
    await advertise("berlin", { more: { cost: priced(3) } });
    const hour = 3_600_000;
    const mean = (price: number) => price * (1 + (0.1 * 2 ** 30) / 1e9);
    await reserve("rome", 1, 2 * hour);
    expect((await sample("cost_savings_total"))['{currency="EUR"}']).toBeCloseTo(mean(1) * 2);
    await reserve("rome", 1);
    expect((await sample("cost_savings_total"))['{currency="EUR"}']).toBeCloseTo(mean(1) * 3);
  });
});

describe("the queue", () => {
  const QUEUE_OF = (tenant: string) => `{tenant="${tenant}"}`;
  const wait = (requester: string, key: string) =>
    running.engine.submit({
      kind: "reserve",
      requester,
      key,
      request: request({ cpu: 16, memoryGi: 1 }),
      wait: { forMs: 3_600_000 },
      reservationId: `rsv-${requester}-${key}`,
      decisionId: `dec-${key}`,
    });
  const release = (requester: string, id: string) =>
    running.engine.submit({ kind: "release", by: { clusterId: requester, isAdmin: false }, id });
  const tenants = { ml: { members: [{ cluster: "rome" }], weight: 1, quota: {} } };

  test("its length and oldest request are shown for each tenant of the policy, all other clusters together", async () => {
    running.engine.setPolicy({ ...DEFAULT_POLICY, tenants });
    const nobody = { [QUEUE_OF("ml")]: 0, [QUEUE_OF("other")]: 0 };
    expect(await sample("queue_length")).toEqual(nobody);
    expect(await sample("queue_oldest_seconds")).toEqual(nobody);
    await wait("oslo", "1");
    await running.clock.advance(5000);
    await wait("bern", "2");
    await wait("rome", "3");
    await running.clock.advance(2000);
    expect(await sample("queue_length")).toEqual({ [QUEUE_OF("ml")]: 1, [QUEUE_OF("other")]: 2 });
    expect(await sample("queue_oldest_seconds")).toEqual({ [QUEUE_OF("ml")]: 2, [QUEUE_OF("other")]: 7 });
  });

  test("grants are counted by tenant, and how long they waited; those that never waited are not", async () => {
    running.engine.setPolicy({ ...DEFAULT_POLICY, tenants });
    await advertise("paris");
    const holder = await reserve("tokyo", 16);
    await wait("rome", "1");
    await running.clock.advance(30_000);
    expect(await sample("queue_grants_total")).toEqual({ [QUEUE_OF("ml")]: 0, [QUEUE_OF("other")]: 0 });
    await release("tokyo", holder);
    await running.clock.advance(0);
    expect(await sample("queue_grants_total")).toEqual({ [QUEUE_OF("ml")]: 1, [QUEUE_OF("other")]: 0 });
    expect(await sample("queue_wait_seconds_sum")).toEqual({ "": 30 });
    expect(await sample("queue_wait_seconds_count")).toEqual({ "": 1 });
    expect(await sample("queue_length")).toEqual({ [QUEUE_OF("ml")]: 0, [QUEUE_OF("other")]: 0 });
  });

  test("a grant is compared with the start that was computed first for it; one that was never planned is not", async () => {
    const buckets = async () => await sample("queue_start_error_seconds_bucket");
    await advertise("paris");
    const holder = await reserve("tokyo", 16, 600_000);
    await running.clock.advance(130_000);
    await advertise("paris");
    await wait("rome", "1");
    await running.clock.advance(30_000);
    expect(running.engine.ledger.plans.size).toBe(1);
    await release("tokyo", holder);
    await running.clock.advance(0);
    expect(await sample("queue_start_error_seconds_count")).toEqual({ "": 1 });
    // Planned for ten minutes after its holder began, and the turnaround of five; granted after 160 s.
    expect(await sample("queue_start_error_seconds_sum")).toEqual({ "": 160 - 900 });
    expect(await buckets()).toMatchObject({ '{le="-3600"}': 0, '{le="-600"}': 1, '{le="+Inf"}': 1 });
    await wait("rome", "2");
    await release("rome", "rsv-rome-1");
    await running.clock.advance(0);
    expect(await sample("queue_grants_total")).toMatchObject({ [QUEUE_OF("other")]: 2 });
    expect(await sample("queue_start_error_seconds_count")).toEqual({ "": 1 });
  });

  test("notices for a waiting request count as such, spared or ended", async () => {
    const { preemption } = DEFAULT_POLICY;
    running.engine.setPolicy({
      ...DEFAULT_POLICY,
      preemption: { ...preemption, victims: "spot", minRunMs: 0, graceMs: 60_000 },
    });
    const heard = async () => {
      await advertise("paris");
      for (const name of ["rome", "oslo"])
        await advertise(name, { cpu: 0, memoryGi: 0, more: { protocol: 3 } });
    };
    await heard();
    await running.engine.submit({
      kind: "reserve",
      requester: "rome",
      request: request({ cpu: 16, memoryGi: 1 }, { tier: "spot" }),
      reservationId: "rsv-rome-spot",
      decisionId: "dec-spot",
    });
    const of = async (outcome: string) =>
      (await sample("preemptions_total"))[`{cause="request",outcome="${outcome}"}`];
    await running.clock.advance(130_000);
    await heard();
    await wait("oslo", "1");
    await running.clock.advance(31_000);
    expect(await of("noticed")).toBe(1);
    await release("oslo", "rsv-oslo-1");
    expect(await of("reprieved")).toBe(1);
    await wait("oslo", "2");
    await running.clock.advance(31_000);
    await heard();
    await running.clock.advance(61_000);
    expect([await of("noticed"), await of("reprieved"), await of("preempted")]).toEqual([2, 1, 1]);
    expect(await sample("preemptions_total")).toMatchObject({ '{cause="drain",outcome="noticed"}': 0 });
  });

  test("the share of each tenant of the policy is shown, and of the others the largest", async () => {
    running.engine.setPolicy({
      ...DEFAULT_POLICY,
      tenants: { ...tenants, idle: { members: [{ cluster: "kiel" }], weight: 1, quota: {} } },
    });
    await advertise("paris");
    for (const [requester, cpu] of [
      ["rome", 8],
      ["oslo", 2],
      ["bern", 4],
    ] as const)
      await reserve(requester, cpu);
    expect(await sample("tenant_share")).toEqual({
      [QUEUE_OF("ml")]: 0.5,
      [QUEUE_OF("idle")]: 0,
      [QUEUE_OF("other")]: 0.25,
    });
  });

  test("those that leave it without a grant are counted by reason; they are no unmet demand", async () => {
    const none = {
      '{reason="ReleasedByRequester"}': 0,
      '{reason="ReleasedByAdmin"}': 0,
      '{reason="RequesterLost"}': 0,
      '{reason="WaitTimeout"}': 0,
    };
    expect(await sample("queue_left_total")).toEqual(none);
    await wait("rome", "1");
    await release("rome", "rsv-rome-1");
    await wait("rome", "2");
    await running.clock.advance(3_601_000);
    expect(await sample("queue_left_total")).toEqual({
      ...none,
      '{reason="ReleasedByRequester"}': 1,
      '{reason="WaitTimeout"}': 1,
    });
    expect(Object.values(await sample("refusals_total")).every((count) => count === 0)).toBe(true);
  });
});

describe("what stands in the ledger", () => {
  test("reserved, available and overcommitted are read off it when asked", async () => {
    await advertise("paris", { cpu: 16, memoryGi: 64, gpu: 2 });
    await reserve("rome", 4);
    const amounts = (cpu: number, memoryGi: number) => ({
      '{cluster="paris",resource="cpu"}': cpu,
      '{cluster="paris",resource="memory"}': memoryGi * 2 ** 30,
    });
    expect(await sample("reserved")).toEqual(amounts(4, 1));
    expect(await sample("available")).toEqual({ ...amounts(12, 63), '{cluster="paris",resource="gpu"}': 2 });
    expect(await sample("overcommitted")).toMatchObject(amounts(0, 0));
    await advertise("paris", { cpu: 1, memoryGi: 64 });
    expect(await sample("overcommitted")).toMatchObject(amounts(3, 0));
  });

  test("the age from which an advertisement is stale is the policy's", async () => {
    running.engine.setPolicy({ ...DEFAULT_POLICY, stalenessMs: 45_000 });
    expect(await sample("advertisement_stale_after_seconds")).toEqual({ "": 45 });
  });

  test("advertisements grow old", async () => {
    await advertise("paris");
    await running.clock.advance(90_000);
    await advertise("tokyo");
    expect(await sample("advertisement_age_seconds")).toEqual({
      '{cluster="paris"}': 90,
      '{cluster="tokyo"}': 0,
    });
  });

  test("beyond so many clusters the rest is `other`: summed up, or the oldest", async () => {
    await stop();
    await start(2);
    for (const id of ["a", "b", "c", "d"]) {
      await advertise(id, { cpu: 10 });
      await running.clock.advance(1000);
    }
    expect(await sample("available")).toMatchObject({
      '{cluster="a",resource="cpu"}': 10,
      '{cluster="b",resource="cpu"}': 10,
      '{cluster="other",resource="cpu"}': 20,
    });
    expect(await sample("advertisement_age_seconds")).toEqual({
      '{cluster="a"}': 4,
      '{cluster="b"}': 3,
      '{cluster="other"}': 2,
    });
    await reserve("z", 1);
    expect(await sample("reservations_total")).toEqual({ '{phase="Reserved",requester="other"}': 1 });
  });
});

describe("what this replica can do", () => {
  test("it leads or stands by; before it watches a ledger it stands by", async () => {
    expect(await sample("leading")).toEqual({ "": 1 });
    isLeading = false;
    expect(await sample("leading")).toEqual({ "": 0 });
    const fresh = createMetrics({ maxClusters: 1 });
    const scrape = await fresh.scrape();
    fresh.stop();
    expect(samplesOf(scrape, "broker_leading")).toEqual({ "": 0 });
    expect(samplesOf(scrape, "broker_store_available")).toEqual({ "": 0 });
  });

  test("the store is available until a commit fails, and again when one is through", async () => {
    expect(await sample("store_available")).toEqual({ "": 1 });
    await advertise("paris");
    const empty = running.store.fill();
    await expect(reserve("rome", 1)).rejects.toThrow("cannot be written");
    expect(await sample("store_available")).toEqual({ "": 0 });
    expect(await sample("commit_failures_total")).toEqual({ '{kind="not-committed"}': 1 });
    empty();
    await reserve("rome", 1);
    expect(await sample("store_available")).toEqual({ "": 1 });
  });

  test("certificates are shown with their end and how many are revoked; so is what cannot be read again", async () => {
    expect(await sample("certificate_expiry_timestamp_seconds")).toEqual({});
    expect(await sample("revoked_certificates")).toEqual({});
    const certificates = await testCertificates();
    const crl = certificates.crl([certificates.cluster("rome"), certificates.cluster("paris")]);
    const set = readCertificateSet({ ...certificates.broker, crl });
    metrics.certificatesInForce(set);
    expect(await sample("certificate_expiry_timestamp_seconds")).toEqual({
      '{file="tls.crt"}': set.own.validToDate.getTime() / 1000,
      '{file="ca.crt"}': (set.authorities[0]?.validToDate.getTime() ?? 0) / 1000,
    });
    expect(await sample("revoked_certificates")).toEqual({ "": 2 });
    expect(await sample("last_reload_successful")).toEqual({
      '{source="certificates"}': 1,
      '{source="policy-file"}': 0,
    });
  });

  test("the audit log is broken until nothing is known to be wrong with it", async () => {
    expect(await sample("audit_chain_broken")).toEqual({ "": 0 });
    metrics.auditChecked(200);
    metrics.auditFound("line 7 is missing");
    expect(await sample("audit_chain_broken")).toEqual({ "": 1 });
    expect(await sample("audit_lines_checked_total")).toEqual({ "": 200 });
    metrics.auditFound(undefined);
    expect(await sample("audit_chain_broken")).toEqual({ "": 0 });
  });
});

describe("how the work goes", () => {
  test("the time to a grant counts what it waited for its commit; refusals are not timed", async () => {
    await advertise("paris");
    const release = running.store.blockCommits();
    const waiting = reserve("rome", 1);
    await running.store.untilBlocked();
    await running.clock.advance(3000);
    release();
    await waiting;
    await reserve("rome", 100);
    expect(await sample("time_to_reserve_seconds_count")).toEqual({ "": 1 });
    expect(await sample("time_to_reserve_seconds_sum")).toEqual({ "": 3 });
  });

  test("decisions and commits are timed, failures and conflicts counted", async () => {
    await advertise("paris");
    await reserve("rome", 1);
    metrics.commitFailed("not-committed", new Error("disk full"));
    expect(await sample("decision_seconds_count")).toEqual({ "": 1 });
    expect(await sample("commit_seconds_count")).toEqual({ "": 1 });
    expect(await sample("commands_committed_total")).toEqual({ "": 1 });
    expect(await sample("commit_failures_total")).toEqual({ '{kind="not-committed"}': 1 });
    expect(await sample("lock_conflicts_total")).toEqual({ "": 0 });
  });

  test("answers are counted by route and status, connections and streams as they are", async () => {
    metrics.answered("GET /healthz", 200);
    metrics.answered("GET /healthz", 200);
    metrics.answered("unknown", 404);
    expect(await sample("http_requests_total")).toEqual({
      '{route="GET /healthz",status="200"}': 2,
      '{route="unknown",status="404"}': 1,
    });
    expect(await sample("event_streams")).toEqual({ "": 3 });
    expect(await sample("http_connections")).toEqual({ "": 5 });
  });
});

describe("the documented table", () => {
  test("says of every figure in a scrape what it is, and of no other", async () => {
    await advertise("paris");
    await reserve("rome", 1, 1000);
    await reserve("rome", 100);
    await running.clock.advance(2000);
    metrics.answered("GET /healthz", 200);
    metrics.commitFailed("unknown", new Error("connection lost"));
    metrics.certificatesInForce(readCertificateSet({ ...(await testCertificates()).broker, crl: undefined }));
    const introduction = [
      "# Metrics",
      "",
      "What the broker tells Prometheus at `/metrics`. Labels are bounded: clusters beyond the first 500 share the label",
      "`other`. A test compares this table with a real scrape.",
    ];
    // Written anew with `vitest run packages/broker/src/metrics -u`.
    await expect(metricsPage(await metrics.scrape(), introduction)).toMatchFileSnapshot(
      "../../../../docs/reference/metrics.md",
    );
  });
});
