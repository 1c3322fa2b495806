import { decisionSchema, quoteSchema, validateExactly } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
let reservation: string;
const ASKED = ["--cpu", "4", "--memory", "8Gi"];

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp), {
    policy: "version: strict-1\ndisclosure: reasons\nquotas: { berlin: { cpu: 1 } }\n",
  });
  reservation = await fleet.reserve("rome", ...ASKED);
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("explain", () => {
  test("ranks who fitted with the parts of the score, then tells who did not, why and what was missing", async () => {
    const { code, out, err } = await fleet.as("ops", "explain", reservation);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        "paris lends 4 CPU / 8Gi Memory to rome.",
        "",
        "CLUSTER   SCORE   RESOURCES   COST    PRICE          VERDICT",
        "paris     0.797   0.813       0.761   0.2029 EUR/h   Chosen",
        "tokyo     0.738   0.625       1.000   0.1544 EUR/h   Fitted",
        "",
        "score = 0.7 x resources + 0.3 x cost (policy strict-1)",
        "",
        "CLUSTER   PASSED OVER FOR   MISSING   WHY",
        "berlin    capacity          2 CPU     needs 2 more CPU",
        "rome      self              -         is the requester itself (also: capacity)",
        "",
        "Flip: tokyo would win below 0.1141 EUR/h.",
        "",
      ].join("\n"),
    );
  });

  test("shows what each had to lend with -o wide", async () => {
    const { out } = await fleet.as("ops", "explain", reservation, "-o", "wide");
    const [, , titles = "", paris = ""] = out.split("\n");
    expect(titles.split(/ {2,}/u)).toContain("AVAILABLE");
    expect(paris).toMatch(/ {2}16 CPU \/ 64Gi Memory {3}16 CPU \/ 64Gi Memory {3}\d+s {3}/u);
  });

  test("prints the decision as the broker sends it", async () => {
    const { out } = await fleet.as("ops", "explain", `reservation/${reservation}`, "-o", "json");
    expect(validateExactly(decisionSchema, JSON.parse(out))).toMatchObject({ ok: true });
  });

  test("finds a refusal by its decision, and says what would make it fit", async () => {
    const { err } = await fleet.as("rome", "reserve", "--cpu", "17", "--memory", "8Gi");
    const [, decision = ""] = /explain (dec-\S+)/u.exec(err) ?? [];
    const { code, out } = await fleet.as("ops", "explain", `decision/${decision}`);
    expect(code).toBe(0);
    expect(out).toContain("No cluster can lend 17 CPU / 8Gi Memory to rome; 4 considered.\n");
    expect(out).toMatch(/\nparis +capacity +5 CPU +needs 5 more CPU\n/u);
    expect(out).toMatch(/\nFlip: Would fit paris with 12 CPU instead of 17\.\n$/u);
  });

  test("shows reasons without figures to those who may not see figures", async () => {
    const { code, out } = await fleet.as("rome", "explain", reservation);
    expect(code).toBe(0);
    expect(out).toContain("CLUSTER   VERDICT\nparis     Chosen\ntokyo     Fitted\n");
    expect(out).toMatch(/\nberlin +capacity +- +does not have enough CPU\n/u);
    expect(out).not.toContain("0.7");
  });

  test("of a decision that is not there, or is somebody else's, says so", async () => {
    expect(await fleet.as("ops", "explain", "dec-none")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining('there is no decision "dec-none" here'),
    });
    const decision = (await fleet.as("ops", "explain", reservation, "-o", "name")).out.trim();
    expect(await fleet.as("tokyo", "explain", decision)).toMatchObject({ code: 1, out: "" });
  });
});

describe("quote", () => {
  test("tells who would lend and at what price, and holds nothing", async () => {
    const before = (await fleet.as("ops", "get", "reservations", "-o", "json")).out;
    const { code, out } = await fleet.as("ops", "quote", ...ASKED, "--duration", "2h");
    expect(code).toBe(0);
    expect(out).toContain("\nPrice: 0.1544 EUR/h, 0.3087 EUR in all. Nothing is reserved.\n");
    expect((await fleet.as("ops", "get", "reservations", "-o", "json")).out).toBe(before);
  });

  test("that fits nowhere is printed all the same, and ends with status 3", async () => {
    const { code, out, err } = await fleet.as("ops", "quote", ...ASKED, "--gpu", "1", "-o", "json");
    expect({ code, err }).toEqual({ code: 3, err: "brokerctl: no cluster can lend that now\n" });
    const quote = validateExactly(quoteSchema, JSON.parse(out));
    expect(quote).toMatchObject({ ok: true, value: { fits: false, decision: { fitted: 0 } } });
  });

  test("beyond the quota ends with status 3 as well", async () => {
    expect(await fleet.as("berlin", "quote", ...ASKED)).toMatchObject({
      code: 3,
      err: expect.stringContaining("berlin may hold 1 CPU"),
    });
  });

  test("names the cluster that would lend, for scripts", async () => {
    expect((await fleet.as("rome", "quote", ...ASKED, "-o", "name")).out).toBe("tokyo\n");
  });
});

describe("replay", () => {
  test("computes the winner again from the record", async () => {
    const { code, out } = await fleet.as("ops", "replay", reservation, "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ recorded: "paris", computed: "paris", same: true, tie: false });
  });

  test("needs the figures: without them it says whose certificate shows them", async () => {
    const { code, err } = await fleet.as("rome", "replay", reservation);
    expect({ code, err }).toEqual({
      code: 5,
      err: expect.stringContaining("use an admin's certificate"),
    });
  });

  test("of a refusal says that there is no winner", async () => {
    const refused = await fleet.as("rome", "reserve", "--cpu", "99", "--memory", "8Gi");
    const [, decision = ""] = /explain (dec-\S+)/u.exec(refused.err) ?? [];
    expect(await fleet.as("ops", "replay", decision)).toMatchObject({
      code: 1,
      err: expect.stringContaining("has no winner"),
    });
  });
});
