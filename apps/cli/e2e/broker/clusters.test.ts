import { afterAll, expect, test } from "vitest";
import { cellsOf } from "../../src/testing/cli.ts";
import { startFleet } from "./testing/fleet.ts";

const fleet = await startFleet(afterAll);
const { expectDialogue } = fleet;
const LARGE = "--cpu 4 --memory 8Gi --target";

/** The cells of a table's row, by its first. */
async function row(line: string, name: string, who = "ops"): Promise<string[]> {
  return cellsOf(await fleet.ok(who, line)).find(([first]) => first === name) ?? [];
}

test("what each can still lend, at what price, where, how fresh and whether it may; to itself as well", async () => {
  const id = await fleet.reserve("rome", `${LARGE} paris`);
  const titles = "NAME CPU MEMORY GPU RESERVED PRICE REGION FRESH STATUS".split(" ");
  expect(await row("get clusters", "NAME")).toEqual(titles);
  const paris = ["paris", "12/16", "56Gi/64Gi", "-", "4, 8Gi", "0.04 EUR/CPU-h", "eu-west"];
  const times = [expect.stringMatching(/^\d+s$/u), "Ready"];
  expect(await row("get clusters", "paris")).toEqual([...paris, ...times]);
  expect((await row("get clusters", "berlin")).slice(4, 7)).toEqual(["-", "-", "-"]);
  expect((await row("get clusters rome", "rome", "rome")).slice(0, 3)).toEqual(["rome", "1/1", "4Gi/4Gi"]);
  await fleet.ok("ops", `release ${id}`);
});

test("only those with the labels asked for", async () => {
  expect(await fleet.ok("ops", "get clusters -l tier=gold -o name")).toBe("paris");
  const none = await fleet.as("ops", "get clusters -l tier=lead");
  expect(none).toMatchObject({ code: 0, out: "", err: expect.stringContaining("without -l") });
});

test("with -w, what has changed, and nothing else", async () => {
  const steps = ["cordon berlin", "uncordon berlin"].map((line) => () => fleet.ok("ops", line));
  const lines = (await fleet.watch("get clusters -w", steps)).trimEnd().split("\n");
  expect(lines.slice(5).map((line) => line.split(/ {2,}/u))).toEqual([
    expect.arrayContaining(["berlin", "Cordoned"]),
    expect.arrayContaining(["berlin", "Ready"]),
  ]);
  expect(lines[5]?.indexOf("Cordoned")).toBe(lines[0]?.indexOf("STATUS"));
});

test("on a terminal the status is coloured, and nothing else", async () => {
  const { out } = await fleet.asWith({ isTerminal: true }, "ops", "get clusters paris");
  expect(out.split("\u001B").slice(1)).toEqual(["[32mReady", "[39m\n"]);
});

test("one is described: resources, prices, labels, and what it lends and borrows", async () => {
  const id = await fleet.reserve("rome", `${LARGE} paris`);
  const memory = ["memory", "64Gi", "64Gi", "0", "8Gi", "56Gi"];
  expect(await row("describe cluster paris", "memory")).toEqual(memory);
  const prices = "Prices: 0.04 for a CPU, 0.005 for a GB of memory (EUR, for an hour)\n";
  const lends = new RegExp(`Lends:\n  NAME .*\n  ${id} +rome `, "u");
  await expectDialogue([
    "ops",
    "describe cluster paris",
    0,
    prices,
    "  tier=gold\n",
    lends,
    "Borrows:\n  nothing\n",
  ]);
  const rome = await fleet.data("rome", "describe cluster rome");
  expect(rome).toMatchObject({ advertisement: { clusterID: "rome" }, lends: [], borrows: [{ id }] });
  await fleet.ok("ops", `release ${id}`);
});

test("one that has shrunk below what it lends says by how much", async () => {
  await fleet.reserve("rome", `${LARGE} tokyo`);
  const all = { cpu: "8", memory: "32Gi" };
  const allocated = { cpu: "6", memory: "1Gi" };
  const resources = { capacity: all, allocatable: all, allocated, available: { cpu: "0", memory: "0" } };
  await fleet.advertise("tokyo", { cpu: 8, memoryGi: 32 }, { resources });
  expect((await row("get clusters", "tokyo")).at(-1)).toBe("Overcommitted");
  await expectDialogue(["ops", "describe cluster tokyo", 0, "Overcommitted by:     2 CPU\n"]);
});

test("cordon and uncordon keep a cluster from lending and let it again, with the reason for those who ask", async () => {
  await expectDialogue(
    ["ops", "cordon paris --reason maintenance", 0, "nothing new"],
    ["ops", "get clusters paris", 0, "Cordoned"],
    ["rome", `reserve ${LARGE} paris`, 3, "is cordoned: maintenance"],
  );
  expect(await fleet.data("ops", "uncordon paris")).toEqual({ clusterID: "paris", cordoned: false });
});

test.each(["get clusters pariss", "describe cluster pari", "cordon prais", "uncordon paris1"])(
  "%s: the cluster that was meant is named",
  async (line) => {
    await expectDialogue(["ops", line, 1, "did you mean paris?"]);
  },
);
