import { describe, expect, test } from "vitest";
import { createReporter } from "./report.ts";
import { type ClusterState, type DemoUpdate, startingCluster } from "./updates/update.ts";

const FOLDER = "/tmp/resource-broker-Ab12Cd";
const URL = "http://127.0.0.1:24001/#token=mYq1Zb0n3kS5wTt7vXy9AcDeFgHiJkLmNoPqRsTuVwX";
const AT = "2026-07-01T10:00:03.5Z";

const cluster = (name: string, state: ClusterState["state"] = "ready"): DemoUpdate => ({
  kind: "cluster",
  cluster: {
    ...startingCluster(name),
    state,
    cpuMillis: { all: 8000, inUse: 2000, lent: 4000, free: 2000 },
  },
});
const LINK: DemoUpdate = {
  kind: "dashboard",
  dashboard: { url: URL, expiresAt: "2026-07-01T10:02:00Z", command: `${FOLDER}/brokerctl dashboard` },
};
const STORY: readonly DemoUpdate[] = [
  {
    kind: "broker",
    broker: { url: "https://127.0.0.1:24000", store: "sqlite", folder: FOLDER, isKept: false },
  },
  cluster("rome"),
  cluster("rome"),
  cluster("paris"),
  LINK,
  LINK,
  {
    kind: "ready",
    afterMs: 2345,
    notes: ["kubectl is missing."],
    steps: [{ says: "rome asks", command: "kubectl apply" }],
  },
  {
    kind: "decision",
    decision: {
      id: "dec-1",
      at: AT,
      requester: "rome",
      winner: "paris",
      headline: "paris lends 4 CPU to rome.",
      why: "the only one of 2 that fits",
      price: "0.1624 EUR/h",
    },
  },
  { kind: "event", event: { at: AT, source: "admin", level: "info", text: "paris: Cordoned." } },
  cluster("paris", "cordoned"),
  cluster("rome", "down"),
  { kind: "trouble", text: "The broker does not answer: gone" },
  { kind: "trouble", text: "" },
  { kind: "ending" },
  { kind: "ended" },
];
const LINES = [
  "Resource Broker: a broker and 2 clusters, all on this machine.",
  "The broker is at https://127.0.0.1:24000, its ledger in sqlite.",
  `Files, logs included, are in ${FOLDER} and are removed at the end.`,
  "  the agent of rome is ready",
  "  the agent of paris is ready",
  `The dashboard: ${URL}`,
  `  (the link works once, for two minutes; for another one: ${FOLDER}/brokerctl dashboard)`,
  "Ready after 2.3 s: 2 clusters.",
  "",
  "kubectl is missing.",
  "",
  "Follow one reservation from request to release. In another terminal, run one after the other:",
  "",
  "  1. rome asks:",
  "     kubectl apply",
  "",
  "Ctrl-C ends everything.",
  "",
  "10:00:03  paris lends 4 CPU to rome. Why: the only one of 2 that fits",
  "10:00:03  admin: paris: Cordoned.",
  "  paris is cordoned",
  "  the agent of rome has ended: see its log",
  "The broker does not answer: gone",
  "The broker answers again.",
  "Ending everything …",
  "Everything has ended.",
];

function reporter({ json = false, isTTY = false, TERM = "xterm", columns = 140 } = {}) {
  let written = "";
  const write = (text: string): boolean => {
    written += text;
    return true;
  };
  const report = createReporter({ json, output: { write, isTTY, columns }, env: { TERM } });
  report.start(["rome", "paris"]);
  return { report, written: () => written, lines: () => written.split("\n").slice(0, -1) };
}

/** What a terminal shows: a cleared line is gone. */
const shown = (written: string): string[] =>
  written.split("\n").map((line) => line.split("\r\u001b[2K").at(-1) ?? "");

describe("the reporter", () => {
  test.each([
    { name: "a pipe", isTTY: false },
    { name: "a terminal that can only write lines", isTTY: true, TERM: "dumb" },
  ])("$name gets lines: parts as they come, the commands, then what happens", ({ isTTY, TERM = "xterm" }) => {
    const { report, lines } = reporter({ isTTY, TERM });
    STORY.forEach(report.update);
    expect(lines()).toEqual(LINES);
  });

  test("a terminal gets the same lines, and nothing is left of the status line at the end", () => {
    const { report, written } = reporter({ isTTY: true });
    STORY.forEach(report.update);
    expect(shown(written())).toEqual([...LINES, ""]);
  });

  const SUMS = "1 of 2 clusters: 2 of 8 CPU free, 4 lent";
  const BOTH = `2 clusters: 4 of 16 CPU free, 8 lent  ${URL}`;
  const TROUBLE: DemoUpdate = { kind: "trouble", text: "The broker does\nnot answer" };
  const [rome, paris] = [cluster("rome"), cluster("paris")];
  test.each([
    { name: "clusters that start", columns: 140, updates: [rome], says: SUMS },
    { name: "the sums and the link", columns: 140, updates: [rome, paris, LINK], says: BOTH },
    { name: "the whole link alone where only that fits", columns: 80, updates: [rome, LINK], says: URL },
    { name: "no half link", columns: 60, updates: [rome, LINK], says: SUMS },
    { name: "a problem", columns: 20, updates: [TROUBLE], says: "The broker does no…" },
  ])("the status line shows $name", ({ columns, updates, says }) => {
    const { report, written } = reporter({ isTTY: true, columns });
    updates.forEach(report.update);
    expect(shown(written()).at(-1)).toBe(says);
    report.stop();
    expect(shown(written()).at(-1)).toBe("");
  });

  test.each([false, true])("words of others move no cursor and add no lines (json: %s)", (json) => {
    const { report, lines } = reporter({ json });
    report.update({ kind: "trouble", text: "\u001b[2Jgone\r\n\u009b31m\u202e" });
    expect(lines()).toHaveLength(json ? 1 : 2);
    expect(lines().join("")).toMatch(/^[ -~]*$/u);
  });

  test("with --json every line is one update and nothing else", () => {
    const { report, lines } = reporter({ json: true, isTTY: true });
    STORY.forEach(report.update);
    expect(lines().map((line): unknown => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(STORY)));
  });
});
