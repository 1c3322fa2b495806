import { PATH, reservationSchema, validateExactly } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NOON } from "../../src/testing/cli.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
/** One that lives, and one that was released. */
let live: string;
let ended: string;
const SMALL = ["--cpu", "1", "--memory", "1Gi"];

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
  live = await fleet.reserve("rome", ...SMALL, "--duration", "1h", "--target", "paris");
  ended = await fleet.reserve("rome", ...SMALL, "--target", "tokyo");
  await fleet.as("rome", "release", ended);
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("get reservations", () => {
  test("shows who lends what to whom, at what price and until when", async () => {
    const { code, out } = await fleet.as("ops", "get", "reservations");
    expect(code).toBe(0);
    const [titles = "", ...rows] = out.trimEnd().split("\n");
    expect(titles.split(/ {2,}/u)).toEqual([
      "NAME",
      "REQUESTER",
      "PROVIDER",
      "CPU",
      "MEMORY",
      "GPU",
      "PRICE",
      "PHASE",
      "EXPIRES",
      "AGE",
    ]);
    expect(rows.map((row) => row.split(/ {2,}/u))).toEqual([
      [
        live,
        "rome",
        "paris",
        "1",
        "1Gi",
        "-",
        "0.04537 EUR/h",
        "Reserved",
        expect.stringMatching(/^in (59|60)m$/u),
        expect.stringMatching(/^\d+s$/u),
      ],
    ]);
  });

  test.each([
    { name: "what lives", args: [], shows: () => [live] },
    { name: "also what has ended", args: ["--all"], shows: () => [live, ended].toSorted() },
    { name: "a phase", args: ["--phase", "Released"], shows: () => [ended] },
    { name: "a lender", args: ["--provider", "tokyo", "--all"], shows: () => [ended] },
    { name: "a borrower", args: ["--requester", "tokyo", "--all"], shows: () => [] },
    { name: "one by its name, ended or not", args: () => [`reservation/${ended}`], shows: () => [ended] },
  ])("keeps to $name", async ({ args, shows }) => {
    const words = typeof args === "function" ? args() : args;
    const { code, out } = await fleet.as("ops", "get", "reservations", ...words, "-o", "name");
    expect({ code, names: out.split("\n").filter((line) => line !== "") }).toEqual({
      code: 0,
      names: shows(),
    });
  });

  test("shows a cluster only what it is party to, and says when that is nothing", async () => {
    expect((await fleet.as("paris", "get", "reservations", "--all", "-o", "name")).out).toBe(`${live}\n`);
    expect(await fleet.as("berlin", "get", "reservations")).toEqual({
      code: 0,
      out: "",
      err: "There is no reservation.\n",
    });
    expect((await fleet.as("tokyo", "get", "reservations")).err).toContain("--all shows what has ended (1)");
  });

  test("prints the reservations as the broker sends them", async () => {
    const { out } = await fleet.as("ops", "get", "reservations", "--all", "-o", "json");
    const items = JSON.parse(out) as unknown[];
    expect(items).toHaveLength(2);
    for (const item of items) expect(validateExactly(reservationSchema, item)).toMatchObject({ ok: true });
  });

  test("goes on with -w until the end of what was there", async () => {
    const passing = await fleet.reserve("rome", ...SMALL, "--target", "paris");
    let out = "";
    let looks = 0;
    const pause = async (): Promise<void> => {
      looks++;
      if (looks === 2) await fleet.as("rome", "release", passing);
      if (looks === 4) throw new Error("enough");
    };
    const watching = fleet.asIn(
      { pause, onOut: (text) => (out += text) },
      "ops",
      "get",
      "reservations",
      "-w",
    );
    await expect(watching).rejects.toThrow("enough");
    const later = out.trimEnd().split("\n").slice(3);
    expect(later.map((line) => line.split(/ {2,}/u))).toEqual([
      expect.arrayContaining([passing, "Released"]),
    ]);
  });
});

describe("reserve", () => {
  test("books, and the same key again books nothing new", async () => {
    const args = ["reserve", ...SMALL, "--key", "job-42", "-o", "name"];
    const first = await fleet.as("rome", ...args);
    const again = await fleet.as("rome", ...args);
    expect(first).toEqual({ code: 0, out: expect.stringMatching(/^rsv-rome-/u), err: "" });
    expect(again).toEqual({
      code: 0,
      out: first.out,
      err: "This key has made it before; nothing new was booked\n",
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
    const { code, out, err } = await fleet.as(
      "rome",
      "reserve",
      "--cpu",
      "40",
      "--memory",
      "1Gi",
      "--gpu",
      "1",
    );
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toContain("berlin: offers no GPU; needs 38 more CPU");
    const [, decision = ""] = /brokerctl explain (dec-\S+)/u.exec(err) ?? [];
    expect((await fleet.as("rome", "explain", decision)).code).toBe(0);
  });

  test("tells an admin that no agent will act on it", async () => {
    const { code, err } = await fleet.as("ops", "reserve", ...SMALL, "--key", "admin");
    expect(code).toBe(0);
    expect(err).toContain("the requester is ops, an admin");
    await fleet.as("ops", "release", "--key", "admin");
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
    expect(closed).toMatchObject({ code: 0, out: "", err: expect.stringContaining("it is closed") });
    const late = await fleet.as("rome", "reserve", ...SMALL, "--key", "never-used");
    expect(late).toMatchObject({ code: 6 });
  });
});

describe("wait", () => {
  /** A world whose time passes only while the command waits. */
  function passing(meanwhile: (waits: number) => Promise<unknown> = async () => undefined) {
    let now = NOON;
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
    const { code, out } = await fleet.asIn(world, "rome", "wait", `reservation/${id}`, "--for=phase=Active");
    expect({ code, phase: /Active/u.exec(out)?.[0] }).toEqual({ code: 0, phase: "Active" });
    const release = passing(async (waits) => waits === 1 && fleet.as("rome", "release", id));
    expect(await fleet.asIn(release, "rome", "wait", id, "--for", "released")).toMatchObject({ code: 0 });
    expect(await fleet.as("rome", "wait", id, "--for=ended", "-o", "name")).toMatchObject({ out: `${id}\n` });
  });

  test("gives up after the time given, with status 4", async () => {
    const { code, err } = await fleet.asIn(
      passing(),
      "ops",
      "wait",
      live,
      "--for=ended",
      "--timeout",
      "1200ms",
    );
    expect({ code, err }).toEqual({
      code: 4,
      err: `brokerctl: ${live} is Reserved after 1.2 s, not ended; --timeout waits longer\n`,
    });
  });

  test("ends at once when it can never come, with status 6", async () => {
    const { code, err } = await fleet.as("ops", "wait", ended, "--for=phase=Active");
    expect({ code, err }).toEqual({
      code: 6,
      err: `brokerctl: ${ended} is Released (ReleasedByRequester) and will never be Active\n`,
    });
  });
});

describe("one reservation, described,", () => {
  test("shows all of it, and why it went there", async () => {
    const { code, out } = await fleet.as("rome", "describe", "reservation", live);
    expect(code).toBe(0);
    expect(out).toMatch(/^Name: +rsv-rome-/u);
    expect(out).toMatch(/\nResources: +1 CPU \/ 1Gi Memory\n/u);
    expect(out).toMatch(/\nPrice: +0.04537 EUR\/h, 0.04537 EUR in all\n/u);
    expect(out).toContain("paris lends 1 CPU / 1Gi Memory to rome.");
    const data = JSON.parse(
      (await fleet.as("rome", "describe", "reservation", live, "-o", "json")).out,
    ) as object;
    expect(data).toMatchObject({ reservation: { id: live }, decision: { winner: "paris" } });
  });

  test("shows its provider all but the decision, which is not its business", async () => {
    const { code, out } = await fleet.as("paris", "describe", "reservation", live, "-o", "json");
    expect({ code, fields: Object.keys(JSON.parse(out) as object) }).toEqual({
      code: 0,
      fields: ["reservation"],
    });
  });
});

describe("a reservation that is not there", () => {
  test.each(["get reservations", "describe reservation", "renew", "release", "wait", "explain", "replay"])(
    "%s: the one that was meant is named",
    async (command) => {
      const misspelt = `${live.slice(0, -1)}${live.endsWith("a") ? "b" : "a"}`;
      const { code, out, err } = await fleet.as("rome", ...command.split(" "), misspelt);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain(
        `there is no reservation "${misspelt}" that rome is party to; did you mean ${live}?`,
      );
    },
  );

  test("and is like no other: where to look is said", async () => {
    const { err } = await fleet.as("ops", "describe", "reservation", "x");
    expect(err).toContain("brokerctl get reservations --all lists them");
  });
});

describe("a wrong command line ends with status 2 before anybody is asked", () => {
  test.each([
    { args: ["reserve"], says: "say how much: --cpu and --memory" },
    { args: ["quote", "--cpu", "2"], says: "say how much: --memory, for example" },
    { args: ["quote", "--cpu", "two", "--memory", "1Gi"], says: '--cpu: "two" is not a quantity' },
    { args: ["reserve", ...SMALL, "--gpu", "-1"], says: "--gpu needs a value" },
    { args: ["reserve", ...SMALL, "--target", "Paris"], says: '--target: "Paris" is not a cluster ID' },
    { args: ["reserve", ...SMALL, "--duration", "1 hour"], says: '--duration: "1 hour" is not a duration' },
    { args: ["reserve", ...SMALL, "--node-memory", "lots"], says: '--node-memory: "lots" is not a quantity' },
    { args: ["reserve", ...SMALL, "-l", "gold"], says: '--selector "gold": write it like key=value' },
    {
      args: ["reserve", ...SMALL, "--resource", "amd.com/gpu=x"],
      says: '--resource["amd.com/gpu"]: "x" is not',
    },
    { args: ["release"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "rsv-a", "--key", "k"], says: "say which to release: one reservation, or --key" },
    { args: ["release", "cluster/paris"], says: '"cluster/paris" is no reservation' },
    { args: ["renew", "rsv-a", "--duration", "soon"], says: '--duration: "soon" is not a duration' },
    {
      args: ["wait", "rsv-a", "--for=Active"],
      says: '--for "Active": write phase=<phase>, released or ended; did you mean phase=Active?',
    },
    { args: ["wait", "rsv-a", "--for=phase=Actve"], says: "did you mean phase=Active?" },
    { args: ["explain", "paris"], says: '"paris" is neither a reservation (rsv-…) nor a decision (dec-…)' },
    { args: ["get", "reservatons"], says: "did you mean reservations?" },
    { args: ["get", "reservations", "--phase", "active"], says: "did you mean Active?" },
  ])("$args", async ({ args, says }) => {
    const { code, out, err } = await fleet.as("rome", ...args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(says);
  });
});
