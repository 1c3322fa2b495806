import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { listeningAgent } from "./testing/agent-on-hub.ts";

describe("a stream that was interrupted", () => {
  test("continues where it was cut, with what ended meanwhile, and without what was heard", async () => {
    const { clock, hub, put, read } = await listeningAgent();
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const before = read();
    await before.received();
    hub.cluster.cutWatches();
    hub.writeReservation("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    put("rsv-c");
    await clock.advance(0);
    expect(before.ended()).toContain("broke");
    const after = read();
    await clock.advance(1000);
    expect(await after.received()).toEqual(["instruction rsv-a Released", "instruction rsv-c Reserved"]);
  });

  test("hears again what it was told when it stopped", async () => {
    const { clock, paris, put, read } = await listeningAgent();
    put("rsv-a");
    await clock.advance(0);
    const stopping = new AbortController();
    for await (const event of paris.communicator.watchInstructions(stopping.signal)) {
      if (event.kind === "instruction") break;
    }
    expect(await read().received()).toEqual(["instruction rsv-a Reserved"]);
  });

  test("begins again where the API server has forgotten what happened, ends included", async () => {
    const { clock, hub, put, read } = await listeningAgent();
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const reader = read();
    await reader.received();
    let forgotten = 2;
    hub.cluster.setCallFaults(({ verb, plural }) =>
      verb === "watch" && plural === "reservations" && forgotten-- > 0
        ? { fault: new Fault("gone", "too old resource version") }
        : undefined,
    );
    hub.cluster.cutWatches();
    hub.writeReservation("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    put("rsv-c");
    await clock.advance(0);
    const next = read();
    await clock.advance(5000);
    const received = await next.received();
    expect(received[0]).toMatch(/^reset: the watch history of the API server is gone/);
    // Each role has a watch of its own, and each may have to begin anew.
    const last = new Map(
      received.filter((line) => !line.startsWith("reset")).map((line) => [line.split(" ")[1], line]),
    );
    expect([...last.values()].toSorted()).toEqual([
      "instruction rsv-a Released",
      "instruction rsv-b Reserved",
      "instruction rsv-c Reserved",
    ]);
  });

  test("ends when the broker has lost its memory, and begins again with what the new one knows", async () => {
    const { clock, hub, stopRenewing, put, read } = await listeningAgent();
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const before = read();
    await before.received();
    stopRenewing();
    hub.renewLease("led-2");
    await clock.advance(0);
    expect(before.ended()).toBe("");
    hub.writeReservation("rsv-b", { ledgerID: "led-2" });
    await clock.advance(0);
    const after = read();
    expect(await after.received()).toEqual([
      "reset: the broker has another ledger than before",
      "instruction rsv-b Reserved",
    ]);
  });

  test("begins again where more happened than is kept for it, and still hears of ends", async () => {
    const { clock, put, read } = await listeningAgent();
    const before = read();
    await before.received();
    before.stop();
    await clock.advance(0);
    put("rsv-z", { phase: "Released", reason: "Expired" });
    for (let index = 0; index < 1000; index++) put(`rsv-${index}`);
    await clock.advance(0);
    const received = await read().received();
    expect(received[0]).toContain("reset: more than 1000 changes");
    expect(received).toHaveLength(1002);
    expect(received).toContain("instruction rsv-z Released");
    expect(received).toContain("instruction rsv-999 Reserved");
  });
});
