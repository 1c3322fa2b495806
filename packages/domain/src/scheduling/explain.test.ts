import { describe, expect, test } from "vitest";
import { cluster, priced, request, size } from "../testing/builders.ts";
import { openWorld, type World } from "../testing/world.ts";
import type { Decision } from "./decision.ts";
import { explain, flipOf } from "./explain.ts";

function decided(world: World, asked = request()): Decision {
  const reply = world.reserve("rome", asked);
  if (reply.kind === "granted" || reply.kind === "refused") return reply.decision;
  throw new Error(JSON.stringify(reply));
}

describe("an explanation", () => {
  test("of a grant shows every candidate, its score and what would flip it", () => {
    const world = openWorld();
    world.advertise(
      cluster("rome", { cpu: 2 }),
      cluster("paris", { cpu: 16, more: { cost: priced(0.03) } }),
      cluster("berlin", { cpu: 32, memoryGi: 64, more: { cost: priced(0.06) } }),
      cluster("tokyo", { cpu: 3 }),
    );
    expect(explain(decided(world))).toBe(
      [
        "paris lends 4 CPU / 8Gi Memory to rome.",
        "  paris   0.869 = resources 0.81 x 0.7 + cost 1.00 x 0.3  (0.1458 EUR/h)  <- chosen",
        "  berlin  0.762 = resources 0.88 x 0.7 + cost 0.50 x 0.3  (0.2915 EUR/h)",
        "  rome    is the requester itself (also: capacity)",
        "  tokyo   needs 1 more CPU",
        "berlin would win below 0.1706 EUR/h.",
      ].join("\n"),
    );
  });

  test("of a refusal shows one reason per cluster and the smallest change that would help", () => {
    const world = openWorld();
    world.advertise(cluster("paris", { gpu: 6 }), cluster("berlin", { gpu: 2 }), cluster("tokyo"));
    expect(explain(decided(world, request({ gpu: 8 })))).toBe(
      [
        "No cluster can lend 4 CPU / 8Gi Memory / 8 GPU to rome; 3 considered.",
        "  berlin  needs 6 more GPU",
        "  paris   needs 2 more GPU",
        "  tokyo   offers no GPU",
        "Would fit paris with 6 GPU instead of 8.",
      ].join("\n"),
    );
  });

  test("of a decision among nobody says so", () => {
    expect(explain(decided(openWorld()))).toBe(
      "No cluster can lend 4 CPU / 8Gi Memory to rome: none has advertised yet.",
    );
  });

  test("of a decision among many counts those it does not list", () => {
    const world = openWorld();
    for (let index = 0; index < 80; index++)
      world.advertise(cluster(`c-${index}`, { cpu: index < 10 ? 1 : 16 }));
    const lines = explain(decided(world)).split("\n");
    expect(lines.at(-2)).toBe("  and 64 more; rejected in total: 10 by capacity");
    expect(lines).toHaveLength(19);
  });
});

describe("what would flip a decision", () => {
  test.each([
    ["a cordon", "cordon", "Would fit if paris were uncordoned."],
    ["an eviction", "evict", "Would fit if paris were invited and joined again."],
  ] as const)("after %s is its end", (_, kind, flip) => {
    const world = openWorld();
    world.advertise(cluster("paris"));
    world.run({ kind, by: { clusterId: "ops", isAdmin: true }, clusterId: "paris" });
    expect(flipOf(decided(world))).toBe(flip);
  });

  const PARIS = cluster("paris");
  const elsewhere = { constraints: { regions: ["x"] } };
  test.each([
    [
      "less of two resources",
      [PARIS],
      request({ cpu: 20, memoryGi: 80 }),
      "Would fit paris with 16 CPU instead of 20 and with 64Gi Memory instead of 80Gi.",
    ],
    ["doing without", [PARIS], request({ gpu: 1 }), "Would fit paris without GPU."],
    ["a region", [PARIS], request({}, elsewhere), "Would fit if paris's region were allowed."],
    [
      "a larger node",
      [PARIS],
      request({}, { perNode: size({ cpu: 1 }) }),
      "Would fit if paris had a node that large.",
    ],
    ["nothing when two things are in the way", [PARIS], request({ cpu: 20 }, elsewhere), undefined],
    [
      "nothing when the cluster is simply full",
      [cluster("paris", { allocated: { cpu: 16, memoryGi: 64 } })],
      request(),
      undefined,
    ],
    ["nothing for the requester itself", [cluster("rome")], request(), undefined],
    [
      "no price where none is known",
      [PARIS, cluster("oslo", { cpu: 8 })],
      request(),
      "oslo is second, 0.125 lower.",
    ],
    ["nothing for a lone winner", [PARIS], request(), undefined],
  ])("is %s", (_, fleet, asked, flip) => {
    const world = openWorld();
    world.advertise(...fleet);
    expect(flipOf(decided(world, asked))).toBe(flip);
  });

  test("names an amount of memory that really fits", () => {
    const world = openWorld();
    const bytes = Math.floor(7.456 * 2 ** 30);
    world.advertise(
      cluster("paris", { more: { allocatable: { ...size({ cpu: 16 }), memoryBytes: bytes } } }),
    );
    const [, stated] = /with ([\d.]+)Gi Memory/.exec(flipOf(decided(world)) ?? "") ?? [];
    expect(stated).toBe("7.45");
    const smaller = { ...size({ cpu: 4 }), memoryBytes: Math.ceil(Number(stated) * 2 ** 30) };
    expect(decided(world, request({}, { resources: smaller })).winner).toBe("paris");
  });

  test("names no price when the winner has none: the yardstick would move with it", () => {
    const world = openWorld();
    world.advertise(cluster("unsaid"), cluster("berlin", { cpu: 12, more: { cost: priced(0.06) } }));
    expect(flipOf(decided(world))).toMatch(/^berlin is second, /);
  });

  test("comes true: at a price just below it, the runner-up wins; just above, it does not", () => {
    const winnerAt = (cpuHour: number) => {
      const world = openWorld();
      world.advertise(
        cluster("paris", { more: { cost: priced(0.03) } }),
        cluster("berlin", { cpu: 12, more: { cost: priced(cpuHour) } }),
      );
      return decided(world, request({ cpu: 10 }));
    };
    const decision = winnerAt(0.06);
    const [, stated] = /below ([\d.]+) EUR/.exec(flipOf(decision) ?? "") ?? [];
    const perCpu = Number(stated) / (10 + (8 * 2 ** 30) / 1e10);
    expect(winnerAt(perCpu * (1 - 1e-9)).winner).toBe("berlin");
    expect(winnerAt(perCpu * 1.001).winner).toBe("paris");
  });
});
