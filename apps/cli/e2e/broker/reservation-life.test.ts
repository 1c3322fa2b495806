import { PATH } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEST_START } from "../../src/testing/cli.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
const SMALL = ["--cpu", "1", "--memory", "1Gi"];

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("reserve", () => {
  test("reserves, and the same key again reserves nothing new", async () => {
    const args = ["reserve", ...SMALL, "--key", "job-42", "-o", "name"];
    const first = await fleet.as("rome", ...args);
    const again = await fleet.as("rome", ...args);
    expect(first).toEqual({ code: 0, out: expect.stringMatching(/^rsv-rome-/u), err: "" });
    expect(again).toEqual({
      code: 0,
      out: first.out,
      err: "A reservation with this key exists already; nothing new was reserved\n",
    });
    const other = await fleet.as("rome", "reserve", "--cpu", "2", "--memory", "1Gi", "--key", "job-42");
    expect(other).toMatchObject({ code: 6, err: expect.stringContaining("job-42 already made") });
    expect(await fleet.as("rome", "release", "--key", "job-42")).toMatchObject({ code: 0 });
    // A key that was released is spent: a late copy of the first request must not book again.
    expect(await fleet.as("rome", ...args)).toMatchObject({ code: 6, out: "" });
  });

  test("asks for everything that a request can say", async () => {
    const where = ["--region", "eu-west,asia", "-l", "tier=gold", "--exclude", "tokyo"];
    const how = ["--tier", "spot", "--duration", "90s", "--storage", "0", "-o", "json"];
    const { code, out } = await fleet.as("rome", "reserve", ...SMALL, ...where, ...how);
    expect(code).toBe(0);
    const made = JSON.parse(out) as { id: string };
    expect(made).toMatchObject({ targetClusterID: "paris", tier: "spot", status: { phase: "Reserved" } });
    await fleet.as("rome", "release", made.id);
  });

  test("says why each cluster cannot, and where to read more, with status 3", async () => {
    const tooMuch = ["--cpu", "40", "--memory", "1Gi", "--gpu", "1"];
    const { code, out, err } = await fleet.as("rome", "reserve", ...tooMuch);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toContain("berlin: offers no GPU; needs 38 more CPU");
    const [, decision = ""] = /brokerctl explain (dec-\S+)/u.exec(err) ?? [];
    expect((await fleet.as("rome", "explain", decision)).code).toBe(0);
  });

  test("is for the cluster that an admin names, and for no admin", async () => {
    const nobody = await fleet.as("ops", "reserve", ...SMALL);
    expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining("--for rome") });
    expect(await fleet.as("ops", "release", "--key", "job-43")).toMatchObject({ code: 2 });
    const args = ["reserve", ...SMALL, "--key", "job-43", "--for", "paris", "-o", "json"];
    const made = await fleet.as("ops", ...args);
    expect(JSON.parse(made.out)).toMatchObject({ requesterID: "paris" });
    expect(await fleet.as("ops", ...args)).toMatchObject({ code: 0, out: made.out });
    const lines = (await fleet.as("ops", "audit")).out
      .split("\n")
      .filter((line) => line.includes("to paris"));
    expect(lines).toEqual([expect.stringMatching(/ ops +reserve /u)]);
    const released = await fleet.as("ops", "release", "--key", "job-43", "--for", "paris");
    expect(released).toMatchObject({ code: 0, out: expect.stringContaining("Released") });
  });

  test("is refused for another cluster, and for one that nobody knows", async () => {
    const other = await fleet.as("rome", "reserve", ...SMALL, "--for", "paris");
    expect(other).toMatchObject({ code: 5, err: expect.stringContaining("may not ask for paris") });
    const unknown = await fleet.as("ops", "reserve", ...SMALL, "--for", "atlantis");
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('no cluster "atlantis"') });
    expect(await fleet.as("ops", "quote", ...SMALL, "--for", "paris")).toMatchObject({ code: 0 });
  });
});

describe("renew and release", () => {
  test("move the end, and end it", async () => {
    const id = await fleet.reserve("rome", ...SMALL, "--duration", "1m");
    const renewed = await fleet.as("rome", "renew", `reservation/${id}`, "--duration", "5h");
    expect(renewed).toMatchObject({ err: "", out: expect.stringMatching(/ in [45]h /u) });
    const released = await fleet.as("rome", "release", id, "-o", "json");
    expect(JSON.parse(released.out)).toMatchObject({ id, reason: "ReleasedByRequester" });
    expect(await fleet.as("rome", "renew", id)).toMatchObject({ code: 6 });
  });

  test("say so when there is no end to move", async () => {
    const id = await fleet.reserve("rome", ...SMALL);
    const renewed = await fleet.as("rome", "renew", id, "--duration", "5h");
    expect(renewed).toMatchObject({ code: 0, err: expect.stringContaining("there was nothing to renew") });
    expect(renewed.out).toContain(" never ");
    await fleet.as("rome", "release", id);
  });

  test("close a key that nothing was made with", async () => {
    const closed = await fleet.as("rome", "release", "--key", "never-used");
    expect(closed).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringContaining("The key is now released"),
    });
    const late = await fleet.as("rome", "reserve", ...SMALL, "--key", "never-used");
    expect(late).toMatchObject({ code: 6 });
  });
});

describe("wait", () => {
  /** A world whose time passes only while the command waits. */
  function passing(meanwhile: (waits: number) => Promise<unknown> = async () => undefined) {
    let now = TEST_START;
    let waits = 0;
    return {
      now: () => now,
      pause: async (ms: number): Promise<void> => {
        now += ms;
        waits++;
        await meanwhile(waits);
      },
    };
  }
  const activate = (id: string) => fleet.broker.clientFor("rome").request("POST", PATH.activate(id));

  test("ends when the phase has come", async () => {
    const id = await fleet.reserve("rome", ...SMALL);
    const world = passing(async (waits) => waits === 2 && activate(id));
    const { code, out } = await fleet.asWith(
      world,
      "rome",
      "wait",
      `reservation/${id}`,
      "--for=phase=Active",
    );
    expect({ code, phase: /Active/u.exec(out)?.[0] }).toEqual({ code: 0, phase: "Active" });
    const release = passing(async (waits) => waits === 1 && fleet.as("rome", "release", id));
    expect(await fleet.asWith(release, "rome", "wait", id, "--for", "released")).toMatchObject({ code: 0 });
    expect(await fleet.as("rome", "wait", id, "--for=ended", "-o", "name")).toMatchObject({ out: `${id}\n` });
  });

  test("gives up after the time given, with status 4", async () => {
    const live = await fleet.reserve("rome", ...SMALL);
    const args = ["wait", live, "--for=ended", "--timeout", "1200ms"];
    const { code, err } = await fleet.asWith(passing(), "ops", ...args);
    expect({ code, err }).toEqual({
      code: 4,
      err: `brokerctl: ${live} is Reserved after 1.2 s, not ended; --timeout waits longer\n`,
    });
  });

  test("ends at once when it can never come, with status 6", async () => {
    const ended = await fleet.reserve("rome", ...SMALL);
    await fleet.as("rome", "release", ended);
    const { code, err } = await fleet.as("ops", "wait", ended, "--for=phase=Active");
    expect({ code, err }).toEqual({
      code: 6,
      err: `brokerctl: ${ended} is Released (ReleasedByRequester) and will never be Active\n`,
    });
  });
});
