import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DemoUpdate } from "../updates/update.ts";
import { brokenCommand } from "./command-rows.ts";
import { emptyModel, type Key, withKey } from "./model.ts";
import { render } from "./render.ts";
import { BROKER, BUSY, event, FOUR, LINK, modelAfter, READY, sampleCluster } from "./testing/sample-model.ts";

const PLAIN = { hasColours: false, hasBlocks: true };
const USUAL = { columns: 80, rows: 24 };

/** Rows that are empty at the end of a part do not have to be written down. */
function frame(text: string): string[] {
  return text.split("\n").slice(1, -1);
}

describe("a frame", () => {
  test("of 80×24 shows four clusters, why paris lends, why nobody lends six GPUs, and what happened", () => {
    expect(render(modelAfter(BUSY), USUAL, PLAIN)).toEqual(
      frame(`
Resource Broker  4 clusters  https://127.0.0.1:24000  sqlite  ready in 2.3 s

CLUSTER   CPU free                   MEMORY free                GPU    CPU/h
rome      █████████████░░ 1/8        █████████████░░ 4/32Gi     -      0.05 EUR
paris     ██▓▓░░░░░░░░░░░ 24/32      ██▓▓░░░░░░░░░░░ 96/128Gi   -      0.032 EUR
berlin    ██████░░░░░░░░░ 15/24      ██████░░░░░░░░░ 60/96Gi    -      0.041 EUR
tokyo     ██████░░░░░░░░░ 28/48      ██████░░░░░░░░░ 112/192Gi  4/4    0.055 EUR
█ in use  ▓ lent  ░ free

LAST DECISIONS
10:00:09  No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 considered.
          Would fit tokyo with 4 GPU instead of 6. berlin offers no GPU, paris…
10:00:03  paris lends 4 CPU / 8Gi Memory to rome.  0.1624 EUR/h
          more room left and cheaper than berlin (0.85 to 0.59); 3 of 4 fit

EVENTS, newest first (UTC)
10:00:09  rome     No cluster can lend 8 CPU / 32Gi Memory / 6 GPU to rome; 4 c…
10:00:04  paris    rsv-rome-c6luraq372l6kzso: Held by its provider.
10:00:04  rome     rsv-rome-c6luraq372l6kzso: Activated by its requester.
10:00:03  rome     paris lends 4 CPU / 8Gi Memory to rome.



c  five commands to try    q or Ctrl-C  end everything
`),
    );
  });

  test("shows the link to the dashboard whole, or says why not", () => {
    const model = modelAfter([...BUSY, LINK]);
    const [, row] = render(model, { columns: 100, rows: 24 }, PLAIN);
    expect(row).toBe("Dashboard  http://127.0.0.1:24001/#token=mYq1Zb0n3kS5wTt7vXy9AcDeFgHiJkLmNoPqRsTuVwX");
    expect(render(model, { columns: 70, rows: 24 }, PLAIN)[1]).toBe(
      "A wider terminal shows the link to the dashboard.",
    );
  });

  test("of a wide terminal has longer bars and the regions", () => {
    const rows = render(modelAfter(BUSY), { columns: 140, rows: 40 }, PLAIN);
    expect(rows).toHaveLength(40);
    expect(rows.slice(2, 8)).toEqual(
      frame(`
CLUSTER   REGION        CPU free                                  MEMORY free                               GPU    CPU/h
rome      eu-south      ██████████████████████████░░░░ 1/8        ██████████████████████████░░░░ 4/32Gi     -      0.05 EUR
paris     eu-west       ████▓▓▓▓░░░░░░░░░░░░░░░░░░░░░░ 24/32      ████▓▓▓▓░░░░░░░░░░░░░░░░░░░░░░ 96/128Gi   -      0.032 EUR
berlin    eu-central    ███████████░░░░░░░░░░░░░░░░░░░ 15/24      ███████████░░░░░░░░░░░░░░░░░░░ 60/96Gi    -      0.041 EUR
tokyo     ap-northeast  █████████████░░░░░░░░░░░░░░░░░ 28/48      █████████████░░░░░░░░░░░░░░░░░ 112/192Gi  4/4    0.055 EUR
█ in use  ▓ lent  ░ free
`),
    );
  });

  test("before anything is there says what is awaited", () => {
    expect(render(emptyModel(["rome", "paris"]), { columns: 60, rows: 12 }, PLAIN)).toEqual(
      frame(`
Resource Broker  0 of 2 clusters  the broker starts

CLUSTER   CPU free         MEMORY free      GPU    CPU/h
rome      its agent starts
█ in use  ▓ lent  ░ free    1–1 of 2: ↑ ↓ for the others

LAST DECISIONS
none yet

EVENTS, newest first (UTC)

q or Ctrl-C  end everything
`),
    );
  });

  test("too narrow for a command says so first, where also a low one shows it", () => {
    const rows = render(withKey(modelAfter(BUSY), "commands"), { columns: 60, rows: 12 }, PLAIN);
    expect(rows[2]).toBe("A command is cut here: widen the terminal before you copy.");
  });

  test("with the commands has each of them as a shell can take it", () => {
    expect(render(withKey(modelAfter(BUSY), "commands"), USUAL, PLAIN).filter((row) => row !== "")).toEqual(
      frame(String.raw`
Resource Broker  4 clusters  https://127.0.0.1:24000  sqlite  ready in 2.3 s
In another terminal, one after the other:
1. rome asks for 4 CPU and 8Gi of memory:
   kubectl --kubeconfig /tmp/resource-broker-Ab12Cd/rome/kubeconfig apply \
     -f /tmp/resource-broker-Ab12Cd/request.yaml
2. who would lend a GPU to rome, at what price, and why not the others:
   /tmp/resource-broker-Ab12Cd/brokerctl quote --context rome --cpu 2 \
     --memory 8Gi --gpu 1
Files and logs: /tmp/resource-broker-Ab12Cd (removed at the end)
c  back to the clusters    q  end everything
`),
    );
  });

  test("for a terminal without block letters is drawn in ASCII", () => {
    const rows = render(modelAfter(BUSY), { columns: 60, rows: 12 }, { ...PLAIN, hasBlocks: false });
    expect(rows.slice(3, 5)).toEqual([
      "rome      ####. 1/8        ####. 4/32Gi     -      0.05 EUR",
      "# in use  = lent  . free    1-1 of 4: ^ v for the others",
    ]);
    expect(rows.join("")).toMatch(/^[\u0020-\u007e]*$/u);
  });

  test("shows as many clusters as there is room for, and scrolls to the others", () => {
    const names = Array.from({ length: 20 }, (_, index) => `c${index + 1}`);
    const update = names.map(
      (name): DemoUpdate => ({ kind: "cluster", cluster: sampleCluster({ name, cpus: [8, 2, 1] }) }),
    );
    const seen = (keys: readonly Key[]) =>
      render(keys.reduce(withKey, modelAfter([BROKER, ...update], names)), USUAL, PLAIN)
        .filter((row) => /^c[0-9]+ /.test(row))
        .map((row) => row.split(" ")[0]);
    expect(seen([])).toEqual(names.slice(0, 10));
    expect(seen(["down", "down", "up"])).toEqual(names.slice(1, 11));
    expect(seen(Array<Key>(30).fill("down"))).toEqual(names.slice(10));
  });

  test.each([
    { name: "a cluster that lends more than it has left", cpus: [8, 7, 4] as const, bar: "███████▓▓▓▓▓▓▓▓" },
    { name: "a cluster that lends next to nothing", cpus: [1000, 0, 1] as const, bar: "▓░░░░░░░░░░░░░░" },
    {
      name: "a cluster that is full and lends next to nothing",
      cpus: [1000, 999, 1] as const,
      bar: "██████████████▓",
    },
    { name: "a cluster without any node", cpus: [0, 0, 0] as const, bar: "░░░░░░░░░░░░░░░" },
  ])("shows $name", ({ cpus, bar }) => {
    const [, , , row = ""] = render(
      modelAfter([{ kind: "cluster", cluster: sampleCluster({ name: "rome", cpus }) }], ["rome"]),
      USUAL,
      PLAIN,
    );
    expect(row.slice(10, 25)).toBe(bar);
  });

  test.each([
    { name: "small ones as they are", cpus: [8, 7, 0] as const, amounts: ["1/8", "4/32Gi"] },
    { name: "parts of a CPU to one place", cpus: [4, 1.25, 0] as const, amounts: ["2.8/4", "11/16Gi"] },
    {
      name: "large ones in the unit of the whole",
      cpus: [480, 238, 0] as const,
      amounts: ["242/480", "0.9/1.9Ti"],
    },
    { name: "next to nothing of much", cpus: [4096, 4095, 0] as const, amounts: ["1/4096", "0/16Ti"] },
    { name: "none at all", cpus: [0, 0, 0] as const, amounts: ["0/0", "0/0B"] },
  ])("writes amounts short: $name", ({ cpus, amounts }) => {
    const cluster = sampleCluster({ name: "rome", cpus });
    const row = render(modelAfter([{ kind: "cluster", cluster }], ["rome"]), USUAL, PLAIN)[3] ?? "";
    expect(row.match(/[0-9.]+\/\S+/g)).toEqual(amounts);
  });

  const clusterCases = [
    {
      name: "an agent that has ended",
      cluster: { ...sampleCluster({ name: "rome", cpus: [8, 2, 0] }), state: "down" as const },
      row: "rome      its agent has ended: see its log",
    },
    {
      name: "a cordoned cluster",
      cluster: sampleCluster({ name: "rome", cpus: [8, 2, 0], state: "cordoned" }),
      row: /cordoned$/,
    },
  ];
  test.each(clusterCases)("reports $name", ({ cluster, row }) => {
    const rows = render(
      modelAfter([{ kind: "cluster", cluster }], ["rome"]),
      { columns: 100, rows: 24 },
      PLAIN,
    );
    expect(rows[3]).toEqual(typeof row === "string" ? row : expect.stringMatching(row));
  });

  test("says at its foot that the broker does not answer, and that all of it ends", () => {
    const model = modelAfter([...BUSY, { kind: "trouble", text: "The broker does not answer: gone" }]);
    expect(render(model, USUAL, PLAIN).at(-1)).toBe("The broker does not answer: gone");
    expect(render(modelAfter([...BUSY, { kind: "ending" }]), USUAL, PLAIN).at(-1)).toBe(
      "Ending everything …",
    );
  });

  test("of a terminal that is too small says so", () => {
    expect(render(modelAfter(BUSY), { columns: 59, rows: 30 }, PLAIN)).toEqual([
      "This needs 60×12 characters; here are 59×30.",
      "Ctrl-C ends everything.",
    ]);
  });

  test("has colours where they are wanted, and words of others cannot add any", () => {
    const evil = modelAfter([...BUSY, event(10, "rome", "\u001b[2Jgone\r\n\u009b31m")]);
    const rows = render(evil, USUAL, { ...PLAIN, hasColours: true });
    expect(rows[0]).toBe(
      "\u001b[1mResource Broker\u001b[22m  4 clusters  https://127.0.0.1:24000  sqlite\u001b[90m  ready in 2.3 s\u001b[39m",
    );
    expect(rows.join("\n")).not.toContain("\u001b[2J");
    expect(render(evil, USUAL, PLAIN)[16]).toBe("10:00:10  rome      [2Jgone   31m");
  });

  test("is never higher or wider than its terminal, and fills it when there is room", () => {
    const sizes = fc.record({
      columns: fc.integer({ min: 1, max: 200 }),
      rows: fc.integer({ min: 1, max: 60 }),
    });
    const keys = fc.array(fc.constantFrom<Key>("commands", "back", "up", "down"), { maxLength: 8 });
    const many = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(sizes, keys, many, (size, pressed, count) => {
        const more = Array.from({ length: count }, (_, index) => event(index, "rome", `event ${index}`));
        const names = Array.from({ length: count }, (_, index) => `c${index}`);
        const rows = render(pressed.reduce(withKey, modelAfter([...BUSY, ...more], names)), size, PLAIN);
        expect(rows.length).toBeLessThanOrEqual(size.rows);
        expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(size.columns);
        if (size.columns >= 60 && size.rows >= 12) expect(rows).toHaveLength(size.rows);
      }),
    );
  });
});

describe("a command in rows", () => {
  test.each([
    { name: "a short one", command: "kubectl get nodes" },
    { name: "a long one", command: READY.kind === "ready" ? (READY.steps[0]?.command ?? "") : "" },
    {
      name: "one with a quoted folder",
      command: String.raw`kubectl --kubeconfig '/tmp/my  friend'\''s \ $HOME/kubeconfig' get nodes`,
    },
  ])("$name reaches the program word by word as it would in one row", ({ command }) => {
    // Only the shell's reading of it counts: printf stands in for the program.
    const words = (text: string) =>
      execFileSync("sh", ["-c", text.replace("kubectl", "printf '%s\\n'")], { encoding: "utf8" });
    const rows = brokenCommand(command, 40).map((row) => `   ${row}`);
    expect(words(rows.join("\n"))).toBe(words(command));
  });
});

test("four clusters are in the order in which they were planned, whenever they come", () => {
  const update = FOUR.map((cluster): DemoUpdate => ({ kind: "cluster", cluster })).toReversed();
  expect(modelAfter(update).clusters.map(({ name }) => name)).toEqual(["rome", "paris", "berlin", "tokyo"]);
});
