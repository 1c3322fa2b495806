import { advertisementSchema, validateExactly } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

/** The cells of a table's row, by its first. */
function row(out: string, name: string): string[] {
  const line = out.split("\n").find((each) => each.startsWith(`${name} `)) ?? "";
  return line.split(/ {2,}/u);
}

describe("get clusters", () => {
  test("shows what each can still lend, at what price, where, how fresh and whether it may", async () => {
    const id = await fleet.reserve("rome", "--cpu", "4", "--memory", "8Gi", "--target", "paris");
    const { code, out, err } = await fleet.as("ops", "get", "clusters");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n")[0]?.split(/ {2,}/u)).toEqual([
      "NAME",
      "CPU",
      "MEMORY",
      "GPU",
      "RESERVED",
      "PRICE",
      "REGION",
      "FRESH",
      "STATUS",
    ]);
    expect(row(out, "paris")).toEqual([
      "paris",
      "12/16",
      "56Gi/64Gi",
      "-",
      "4, 8Gi",
      "0.04 EUR/CPU-h",
      "eu-west",
      expect.stringMatching(/^\d+s$/u),
      "Ready",
    ]);
    expect(row(out, "berlin").slice(4, 7)).toEqual(["-", "-", "-"]);
    await fleet.as("ops", "release", id);
  });

  test("keeps only those with the labels asked for", async () => {
    const { out } = await fleet.as("ops", "get", "clusters", "-l", "tier=gold", "-o", "name");
    expect(out).toBe("paris\n");
    const none = await fleet.as("ops", "get", "clusters", "-l", "tier=lead");
    expect(none).toMatchObject({ code: 0, out: "", err: expect.stringContaining("without -l") });
  });

  test("prints the advertisements as the broker sends them", async () => {
    const { out } = await fleet.as("ops", "get", "clusters", "-o", "json");
    const items = JSON.parse(out) as unknown[];
    expect(items).toHaveLength(4);
    for (const item of items) expect(validateExactly(advertisementSchema, item)).toMatchObject({ ok: true });
  });

  test("prints on, with -w, what has changed, and nothing else", async () => {
    let looks = 0;
    const pause = async (): Promise<void> => {
      looks++;
      if (looks === 1) await fleet.as("ops", "cordon", "berlin");
      if (looks === 2) await fleet.as("ops", "uncordon", "berlin");
      if (looks === 3) throw new Error("enough");
    };
    let out = "";
    await expect(
      fleet.asWith({ pause, onOut: (text) => (out += text) }, "ops", "get", "clusters", "-w"),
    ).rejects.toThrow("enough");
    const lines = out.trimEnd().split("\n");
    expect(lines.slice(5).map((line) => line.split(/ {2,}/u))).toEqual([
      expect.arrayContaining(["berlin", "Cordoned"]),
      expect.arrayContaining(["berlin", "Ready"]),
    ]);
    expect(lines[5]?.indexOf("Cordoned")).toBe(lines[0]?.indexOf("STATUS"));
  });

  test("shows a cluster to itself", async () => {
    const { code, out } = await fleet.as("rome", "get", "clusters", "rome");
    expect(code).toBe(0);
    expect(row(out, "rome").slice(0, 3)).toEqual(["rome", "1/1", "4Gi/4Gi"]);
  });

  test("colours the status, and nothing else, on a terminal only", async () => {
    const plain = await fleet.as("ops", "get", "clusters", "paris");
    expect(plain.out).not.toContain("\u001B");
    const colourful = await fleet.asWith({ isTerminal: true }, "ops", "get", "clusters", "paris");
    expect(colourful.out.split("\u001B").slice(1)).toEqual(["[32mReady", "[39m\n"]);
    const unwanted = { isTerminal: true, env: { NO_COLOR: "1" } };
    expect((await fleet.asWith(unwanted, "ops", "get", "clusters", "paris")).out).not.toContain("\u001B");
  });
});

describe("the status of a cluster", () => {
  const all = { cpu: "8", memory: "32Gi" };
  const none = { cpu: "0", memory: "0" };

  test("is Full when nothing is left", async () => {
    const resources = { capacity: all, allocatable: all, allocated: all, available: none };
    await fleet.advertise("berlin", { cpu: 8, memoryGi: 32 }, { resources });
    expect(row((await fleet.as("ops", "get", "clusters")).out, "berlin").at(-1)).toBe("Full");
  });

  test("is Overcommitted when the cluster has shrunk below what it lends, and says by how much", async () => {
    const id = await fleet.reserve("rome", "--cpu", "4", "--memory", "8Gi", "--target", "tokyo");
    const allocated = { cpu: "6", memory: "1Gi" };
    const resources = { capacity: all, allocatable: all, allocated, available: none };
    await fleet.advertise("tokyo", { cpu: 8, memoryGi: 32 }, { resources });
    expect(row((await fleet.as("ops", "get", "clusters")).out, "tokyo").at(-1)).toBe("Overcommitted");
    const { out } = await fleet.as("ops", "describe", "cluster", "tokyo");
    expect(out).toContain("Overcommitted by:     2 CPU\n");
    await fleet.as("ops", "release", id);
  });
});

describe("one cluster, described,", () => {
  test("shows its resources, its prices and labels, and what it lends and borrows", async () => {
    const id = await fleet.reserve("rome", "--cpu", "4", "--memory", "8Gi", "--target", "paris");
    const { code, out } = await fleet.as("ops", "describe", "cluster", "paris");
    expect(code).toBe(0);
    expect(row(out, "memory")).toEqual(["memory", "64Gi", "64Gi", "0", "8Gi", "56Gi"]);
    expect(out).toContain("Prices: 0.04 for a CPU, 0.005 for a GB of memory (EUR, for an hour)\n");
    expect(out).toContain("  tier=gold\n");
    expect(out).toMatch(new RegExp(`Lends:\n  NAME .*\n  ${id} +rome `, "u"));
    expect(out).toContain("Borrows:\n  nothing\n");
    const rome = JSON.parse(
      (await fleet.as("rome", "describe", "cluster", "rome", "-o", "json")).out,
    ) as object;
    expect(rome).toMatchObject({ advertisement: { clusterID: "rome" }, lends: [], borrows: [{ id }] });
    await fleet.as("ops", "release", id);
  });
});

describe("cordon and uncordon", () => {
  test("keep a cluster from lending and let it again, with the reason for those who ask", async () => {
    expect((await fleet.as("ops", "cordon", "paris", "--reason", "maintenance")).out).toContain(
      "nothing new",
    );
    const cordoned = await fleet.as("ops", "get", "clusters");
    expect(row(cordoned.out, "paris").at(-1)).toBe("Cordoned");
    const refused = await fleet.as("rome", "reserve", "--cpu", "4", "--memory", "8Gi", "--target", "paris");
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("is cordoned: maintenance") });
    const again = await fleet.as("ops", "uncordon", "paris", "-o", "json");
    expect(JSON.parse(again.out)).toEqual({ clusterID: "paris", cordoned: false });
  });
});

describe("a cluster that is not there", () => {
  test.each([
    { args: ["get", "clusters", "pariss"] },
    { args: ["describe", "cluster", "pari"] },
    { args: ["cordon", "prais"] },
    { args: ["uncordon", "paris1"] },
  ])("$args: the one that was meant is named", async ({ args }) => {
    const { code, out, err } = await fleet.as("ops", ...args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("did you mean paris?");
  });
});
