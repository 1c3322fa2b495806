import { resourceVector } from "@resource-broker/base";
import type { Phase } from "@resource-broker/domain";
import { type CertificateSet, readCertificateSet } from "@resource-broker/runtime";
import { metricsPage, samplesOf, testCertificates } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import type { Reservation, WaitingRequest } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import type { Role } from "../transport/broker-communicator.ts";
import { type AgentMetrics, createAgentMetrics } from "./agent-metrics.ts";

const reloads = [
  { source: "certificates", problem: "tls.crt is cut short" },
  { source: "prices", problem: undefined },
];
let metrics: AgentMetrics;
beforeEach(() => {
  metrics = createAgentMetrics(() => reloads);
});

const figure = async (name: string) => samplesOf(await metrics.scrape(), name);

const certificates = async (): Promise<CertificateSet> =>
  readCertificateSet({ ...(await testCertificates()).cluster("rome"), crl: undefined });

function entry(
  role: Role,
  phase: Phase,
  syncState: CachedReservation["syncState"] = "confirmed",
): CachedReservation {
  const reservation = { id: "rsv-a", phase, message: "" } as Reservation;
  return { role, reservation, syncState, endedAt: undefined };
}

const waits = { id: "rsv-w", phase: "Pending" } as WaitingRequest;

function watch(entries: readonly CachedReservation[], isStreaming = true): void {
  const cache = { live: (role: Role) => entries.filter((each) => each.role === role) };
  metrics.setSources({ cache, waiting: { pending: () => [waits, waits] }, isStreaming: () => isStreaming });
}

describe("the agent's figures", () => {
  test("count advertisements by what came of them, and time them", async () => {
    expect(await figure("agent_publish_total")).toEqual({ '{result="accepted"}': 0 });
    metrics.published("accepted", 12);
    metrics.published("accepted", 8);
    metrics.published("unreachable", 5000);
    expect(await figure("agent_publish_total")).toEqual({
      '{result="accepted"}': 2,
      '{result="unreachable"}': 1,
    });
    expect(await figure("agent_publish_seconds_count")).toEqual({ "": 3 });
    expect(await figure("agent_publish_seconds_sum")).toEqual({ "": 5.02 });
  });

  test("show what is lent and left, as last advertised", async () => {
    expect(await figure("agent_reserved")).toEqual({});
    metrics.advertised({
      reserved: resourceVector({ cpuMillis: 1500, memoryBytes: 2 ** 30, gpus: 1 }),
      available: resourceVector({ cpuMillis: 500, extended: { "a.b/c": 2 } }),
    });
    expect(await figure("agent_reserved")).toEqual({
      '{resource="cpu"}': 1.5,
      '{resource="memory"}': 2 ** 30,
      '{resource="gpu"}': 1,
    });
    expect(await figure("agent_available")).toEqual({
      '{resource="cpu"}': 0.5,
      '{resource="memory"}': 0,
      '{resource="a.b/c"}': 2,
    });
    metrics.advertised({ reserved: resourceVector({}), available: resourceVector({}) });
    expect(await figure("agent_reserved")).toEqual({ '{resource="cpu"}': 0, '{resource="memory"}': 0 });
  });

  test("count live reservations by role and phase, and those the broker does not know", async () => {
    watch([
      entry("requester", "Reserved"),
      entry("requester", "Active"),
      entry("requester", "Active", "unknown"),
      entry("provider", "Reserved", "unknown"),
    ]);
    const counts = {
      '{role="requester",phase="Pending"}': 2,
      '{role="requester",phase="Reserved"}': 1,
      '{role="requester",phase="Active"}': 2,
      '{role="provider",phase="Pending"}': 0,
      '{role="provider",phase="Reserved"}': 1,
      '{role="provider",phase="Active"}': 0,
    };
    expect(await figure("agent_reservations")).toEqual(counts);
    expect(await figure("agent_reservations")).toEqual(counts);
    expect(await figure("agent_unknown_reservations")).toEqual({ "": 2 });
  });

  test("show when certificates end, once there are any", async () => {
    expect(await figure("agent_certificate_expiry_timestamp_seconds")).toEqual({});
    const set = await certificates();
    metrics.certificatesInForce(set);
    expect(await figure("agent_certificate_expiry_timestamp_seconds")).toEqual({
      '{file="tls.crt"}': set.own.validToDate.getTime() / 1000,
      '{file="ca.crt"}': (set.authorities[0]?.validToDate.getTime() ?? 0) / 1000,
    });
  });
});

test("the documented table says of every figure in a scrape what it is, and of no other", async () => {
  metrics.published("accepted", 1);
  metrics.watchRestarted("pods");
  metrics.reconcileFailed("holds");
  metrics.certificateRenewal("none");
  metrics.advertised({ reserved: resourceVector({}), available: resourceVector({}) });
  metrics.certificatesInForce(await certificates());
  watch([entry("provider", "Active")]);
  const introduction = [
    "# Metrics of the agent",
    "",
    "What an agent tells Prometheus at `/metrics` (`--metrics-bind-address`). A test compares this table with a real scrape.",
  ];
  // Written anew with `vitest run packages/agent/src/metrics -u`.
  await expect(metricsPage(await metrics.scrape(), introduction)).toMatchFileSnapshot(
    "../../../../docs/reference/agent-metrics.md",
  );
});
