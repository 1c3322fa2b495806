import { reservationSchema, validateExactly } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

  test("continues with -w until the end of what was there", async () => {
    const passing = await fleet.reserve("rome", ...SMALL, "--target", "paris");
    let out = "";
    let looks = 0;
    const pause = async (): Promise<void> => {
      looks++;
      if (looks === 2) await fleet.as("rome", "release", passing);
      if (looks === 4) throw new Error("enough");
    };
    const watching = fleet.asWith(
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
