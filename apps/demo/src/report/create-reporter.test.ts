import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { DemoUpdate } from "../updates/update.ts";
import { BUSY, FOUR, LINK } from "../view/testing/sample-model.ts";
import { createReporter, terminalFeatures } from "./create-reporter.ts";

const NAMES = FOUR.map(({ name }) => name);

function linesOf(
  update: readonly DemoUpdate[],
  { json = false, env = {}, isTerminal = false } = {},
): string[] {
  const written: string[] = [];
  const report = createReporter(
    { json },
    // oxlint-disable-next-line typescript/no-unsafe-argument -- only what lines need of a terminal
    {
      isTerminal,
      env,
      clock: fakeClock(),
      output: { write: (text: string) => written.push(text) },
    } as never,
  );
  report.start(NAMES);
  update.forEach(report.update);
  report.stop();
  return written.join("").split("\n").slice(0, -1);
}

describe("without a terminal", () => {
  test("there are plain lines: parts as they come, the commands, then whatever happens", () => {
    expect(linesOf([...BUSY, { kind: "ending" }, { kind: "ended" }])).toEqual([
      "Resource Broker: a broker and 4 clusters, all on this machine.",
      "The broker is at https://127.0.0.1:24000, its ledger in sqlite.",
      "Files, logs included, are in /tmp/resource-broker-Ab12Cd and are removed at the end.",
      "  the agent of rome is ready",
      "  the agent of paris is ready",
      "  the agent of berlin is ready",
      "  the agent of tokyo is ready",
      "Ready after 2.3 s: 4 clusters.",
      "",
      "Follow one reservation from request to release. In another terminal, run one after the other:",
      "",
      "  1. rome asks for 4 CPU and 8Gi of memory:",
      "     kubectl --kubeconfig /tmp/resource-broker-Ab12Cd/rome/kubeconfig apply -f /tmp/resource-broker-Ab12Cd/request.yaml",
      "",
      "  2. who would lend a GPU to rome, at what price, and why not the others:",
      "     /tmp/resource-broker-Ab12Cd/brokerctl quote --context rome --cpu 2 --memory 8Gi --gpu 1",
      "",
      "Ctrl-C ends everything.",
      "",
      "10:00:03  rome: paris lends 4 CPU / 8Gi Memory to rome.",
      "10:00:03  paris lends 4 CPU / 8Gi Memory to rome. Why: more room left and cheaper than berlin (0.85 to 0.59); 3 of 4 fit",
      "10:00:04  rome: rsv-rome-c6luraq372l6kzso: Activated by its requester.",
      "10:00:04  paris: rsv-rome-c6luraq372l6kzso: Held by its provider.",
      "10:00:09  No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 considered. Why: Would fit tokyo with 4 GPU instead of 6. berlin offers no GPU, paris offers no GPU, tokyo needs 2 more GPU",
      "10:00:09  rome: No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 considered.",
      "Ending everything …",
      "Everything has ended.",
    ]);
  });

  test.each([false, true])("words of others move no cursor and add no lines (json: %s)", (json) => {
    const text = "\u001b[2Jgone\r\n\u009b31m\u202e";
    const lines = linesOf([{ kind: "trouble", text }], { json });
    expect(lines).toHaveLength(json ? 1 : 2);
    expect(lines.join("")).toMatch(/^[ -~]*$/u);
  });

  test("a cluster is reported when its state changes, not when its figures do", () => {
    const [rome] = FOUR;
    if (rome === undefined) throw new Error("no rome");
    const states = (["ready", "ready", "cordoned", "down"] as const).map(
      (state): DemoUpdate => ({ kind: "cluster", cluster: { ...rome, state } }),
    );
    expect(linesOf(states).slice(1)).toEqual([
      "  the agent of rome is ready",
      "  rome is cordoned",
      "  the agent of rome has ended: see its log",
    ]);
  });

  test("the first link to the dashboard is told, and how to get the next", () => {
    expect(linesOf([LINK, LINK]).slice(1)).toEqual([
      "The dashboard: http://127.0.0.1:24001/#token=mYq1Zb0n3kS5wTt7vXy9AcDeFgHiJkLmNoPqRsTuVwX",
      "  (the link works once, for two minutes; for another one: /tmp/resource-broker-Ab12Cd/brokerctl dashboard)",
    ]);
  });

  test("trouble is told, and that it is over", () => {
    expect(
      linesOf([
        { kind: "trouble", text: "The broker does not answer: gone" },
        { kind: "trouble", text: "" },
      ]).slice(1),
    ).toEqual(["The broker does not answer: gone", "The broker answers again."]);
  });

  test("with --json every line is one piece of news and nothing else", () => {
    expect(linesOf(BUSY, { json: true }).map((line): unknown => JSON.parse(line))).toEqual(
      JSON.parse(JSON.stringify(BUSY)),
    );
  });
});

test("a terminal that can only write lines gets lines", () => {
  const lines = linesOf([], { isTerminal: true, env: { TERM: "dumb" } });
  expect(lines).toEqual(["Resource Broker: a broker and 4 clusters, all on this machine."]);
});

test.each([
  { env: { LANG: "en_GB.UTF-8" }, looks: { hasColours: true, hasBlocks: true } },
  { env: { LANG: "en_GB.UTF-8", NO_COLOR: "1" }, looks: { hasColours: false, hasBlocks: true } },
  { env: { LANG: "en_GB.UTF-8", LC_ALL: "C" }, looks: { hasColours: true, hasBlocks: false } },
  { env: { LC_CTYPE: "C.utf8", LC_ALL: "", NO_COLOR: "" }, looks: { hasColours: true, hasBlocks: true } },
  { env: {}, looks: { hasColours: true, hasBlocks: false } },
])("the terminal of $env looks like $looks", ({ env, looks: features }) => {
  expect(terminalFeatures(env)).toEqual(features);
});
