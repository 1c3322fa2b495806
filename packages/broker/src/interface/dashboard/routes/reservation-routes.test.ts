import type { UiCluster, UiReservationDetail, UiReservations } from "@resource-broker/contract/dashboard";
import { memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { requestOf } from "../../http/testing/samples.ts";
import { clustersOn, HOSTILE } from "../testing/clusters.ts";
import { certificates, runningDashboards } from "../testing/running-dashboard.ts";

const start = runningDashboards();
const world = clustersOn(start);
const MINUTE_MS = 60_000;

describe("a reservation", () => {
  test("shows how far it is, what it costs so far, both parties, its object and its commands", async () => {
    const { read, reserve, broker, time } = await world({ objectsNamespace: "lending" });
    const { id, decisionID } = await reserve();
    await time.advance(MINUTE_MS);
    const paris = certificates.cluster("paris");
    await broker.call(paris, `POST /api/v1/instructions/${id}/ack`, { body: { state: "held" } });
    await time.advance(MINUTE_MS);
    await broker.call(certificates.cluster("rome"), `POST /api/v1/reservations/${id}/activate`);
    await time.advance(28 * MINUTE_MS);
    const detail = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    const perHour = 4 * 0.03 + 8.589934592 * 0.004;
    expect(detail).toMatchObject({
      id,
      requester: "rome",
      provider: "paris",
      phase: "Active",
      decisionID,
      message: "paris lends 4 CPU / 8Gi Memory to rome",
      expiresAt: "2026-01-05T13:00:00.000Z",
      used: null,
      parties: { requester: { state: "uses it" }, provider: { state: "holds the capacity", isStale: true } },
    });
    expect(detail.costSoFar?.amount).toBeCloseTo(perHour / 2, 9);
    expect(detail.timeline.map(({ step, at }) => `${step} ${at?.slice(11, 19) ?? "-"}`)).toEqual([
      "requested 12:00:00",
      "reserved 12:00:00",
      "told 12:01:00",
      "enforced 12:01:00",
      "active 12:02:00",
      "end -",
    ]);
    expect(detail.timeline.at(-1)?.text).toBe("expires 2026-01-05T13:00:00.000Z");
    expect(detail.yaml).toContain(`kind: Reservation\nmetadata:\n  name: ${id}\n  namespace: lending\n`);
    expect(detail.yaml).toContain("  phase: Active\n");
    expect(detail.commands.map(({ line }) => line)).toEqual([
      `brokerctl describe reservation ${id} --broker https://127.0.0.1:8443`,
      `kubectl --namespace lending get reservations.broker.fluidos.eu ${id} --output yaml`,
      `brokerctl explain ${id} --broker https://127.0.0.1:8443`,
      `brokerctl release ${id} --broker https://127.0.0.1:8443`,
    ]);
  });

  test("says what is waited for", async () => {
    const { read, reserve } = await world();
    const { id } = await reserve("rome", requestOf());
    const { timeline, parties } = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    expect(timeline.slice(2).map(({ at, text }) => ({ at, text }))).toEqual([
      { at: null, text: "paris receives it with its next advertisement" },
      { at: null, text: "waits for the acknowledgement of paris" },
      { at: null, text: "waits for rome to use it" },
      { at: null, text: "lasts until it is released" },
    ]);
    expect(parties).toMatchObject({
      requester: { state: "has not activated it yet" },
      provider: { state: "has not confirmed yet" },
    });
  });

  test("knows when its provider confirmed also after a restart: the audit log knows", async () => {
    const disk = memoryDisk();
    const { reserve, broker, time, stop } = await world({ disk });
    const { id } = await reserve();
    await time.advance(1000);
    const paris = certificates.cluster("paris");
    await broker.call(paris, `POST /api/v1/instructions/${id}/ack`, { body: { state: "held" } });
    await stop();
    const again = await start({ time, disk });
    const browser = await again.signIn();
    const detail = (await browser.get(`/ui/reservations/${id}`)).json as UiReservationDetail;
    expect(detail.timeline[3]).toMatchObject({ step: "enforced", at: "2026-01-05T12:00:01.000Z" });
  });

  test("is released by an admin, who is named in the log", async () => {
    const { admin, reserve, broker, read } = await world();
    const { id } = await reserve();
    const done = await admin.send(`POST /ui/reservations/${id}/release`);
    expect(done).toMatchObject({
      status: 200,
      json: {
        message: `${id} is released: paris gets 4 CPU / 8Gi Memory back when the pods of the reservation have ended.`,
      },
    });
    expect(broker.engine.ledger.reservations.get(id)).toMatchObject({
      phase: "Released",
      reason: "ReleasedByAdmin",
    });
    expect((await read<{ rows: unknown[] }>("/ui/audit")).rows[0]).toMatchObject({
      actor: "ops",
      action: "release",
      subject: id,
    });
    const detail = await read<UiReservationDetail>(`/ui/reservations/${id}`);
    expect(detail.commands.map(({ title }) => title)).not.toContain("End it");
    expect(await admin.send("POST /ui/reservations/rsv-none/release")).toMatchObject({ status: 404 });
  });

  test("lists are filtered by phase and party", async () => {
    const { admin, read, reserve } = await world();
    const first = await reserve("rome", requestOf("1", "1Gi", { targetClusterID: "tokyo" }));
    const second = await reserve("tokyo", requestOf("1", "1Gi", { targetClusterID: "paris" }));
    await admin.send(`POST /ui/reservations/${first.id}/release`);
    const ids = async (query: string) =>
      (await read<UiReservations>(`/ui/reservations?${query}`)).rows.map(({ id }) => id).sort();
    expect(await ids("phase=live")).toEqual([second.id]);
    expect(await ids("phase=Released")).toEqual([first.id]);
    expect(await ids("phase=Released&phase=live")).toEqual([first.id, second.id].sort());
    expect(await ids("provider=tokyo")).toEqual([first.id]);
    expect(await ids("cluster=tokyo")).toEqual([first.id, second.id].sort());
    expect(await ids(`q=${second.id.slice(4, 14).toUpperCase()}`)).toEqual([second.id]);
    expect(await admin.get("/ui/reservations?phase=Asleep")).toMatchObject({ status: 400 });
  });
});

describe("a cluster", () => {
  test("is cordoned with a reason and uncordoned, by the admin who made the link", async () => {
    const { admin, broker, read } = await world();
    const cordoned = await admin.send("POST /ui/clusters/paris/cordon", { reason: HOSTILE });
    expect(cordoned.json).toEqual({
      message: "paris is cordoned: it gets no new reservations; existing ones stay.",
    });
    expect(broker.engine.ledger.accounts.get("paris")?.cordon).toMatchObject({ by: "ops", why: HOSTILE });
    const [condition] = (await read<UiCluster>("/ui/clusters/paris")).conditions;
    expect(condition).toMatchObject({ type: "Cordoned", message: expect.stringContaining(HOSTILE) });
    expect((await admin.send("POST /ui/clusters/paris/uncordon")).json).toEqual({
      message: "paris is uncordoned.",
    });
    expect(await admin.send("POST /ui/clusters/oslo/cordon")).toMatchObject({ status: 404 });
    expect(await admin.send("POST /ui/clusters/paris/cordon", { reason: 7 })).toMatchObject({ status: 400 });
  });
});
