import { fits, isZero, type ResourceVector, resourceVector } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countedShapes } from "./node-shapes.ts";

const GI = 1024 ** 3;
const size = (cpu: number, gi: number, gpus = 0) =>
  resourceVector({ cpuMillis: cpu * 1000, memoryBytes: gi * GI, gpus });

function nodeShapes(nodes: readonly ResourceVector[], max?: number) {
  const shapes = countedShapes(max);
  for (const node of nodes) shapes.add(node);
  return shapes.advertised();
}

const anySize: fc.Arbitrary<ResourceVector> = fc
  .record({
    cpuMillis: fc.nat(6),
    memoryBytes: fc.nat(6),
    storageBytes: fc.nat(2),
    gpus: fc.nat(2),
    fpga: fc.nat(1),
  })
  .map(({ fpga, ...rest }) => resourceVector({ ...rest, extended: { "example.com/fpga": fpga } }));

describe("node shapes", () => {
  it("do not depend on the order of the nodes", () => {
    fc.assert(
      fc.property(fc.array(anySize, { maxLength: 60 }), fc.nat(), (nodes, seed) => {
        const turned = [...nodes.slice(seed % 60), ...nodes.slice(0, seed % 60)];
        expect(nodeShapes(turned, 4)).toEqual(nodeShapes(nodes, 4));
      }),
    );
  });

  it("promise nothing that the nodes together do not have: each shape's nodes are nodes of their own", () => {
    fc.assert(
      fc.property(fc.array(anySize, { maxLength: 40 }), fc.integer({ min: 1, max: 6 }), (nodes, max) => {
        const shapes = nodeShapes(nodes, max);
        expect(shapes.length).toBeLessThanOrEqual(max);
        expect(new Set(shapes.map(({ resources }) => JSON.stringify(resources))).size).toBe(shapes.length);
        for (const { count, resources } of shapes) {
          expect(nodes.filter((node) => fits(resources, node)).length).toBeGreaterThanOrEqual(count);
        }
        expect(
          canPlaceAll(
            shapes.flatMap(({ count, resources }) => Array<ResourceVector>(count).fill(resources)),
            nodes,
          ),
        ).toBe(true);
      }),
    );
  });

  it("lose no shape while there is room for all", () => {
    fc.assert(
      fc.property(fc.array(anySize, { maxLength: 12 }), (nodes) => {
        const advertised = nodeShapes(nodes).reduce((sum, { count }) => sum + count, 0);
        expect(advertised).toBe(nodes.filter((node) => !isZero(node)).length);
      }),
    );
  });

  it("of thousands of slightly different nodes lose little", () => {
    const nodes = Array.from({ length: 3000 }, (_, i) =>
      resourceVector({
        cpuMillis: i % 2 === 0 ? 8000 : 32_000,
        memoryBytes: 32 * GI + i * 4096,
        gpus: i % 2,
      }),
    );
    const shapes = nodeShapes(nodes);
    expect(shapes.reduce((sum, { count }) => sum + count, 0)).toBe(3000);
    for (const { resources } of shapes) {
      expect(resources.memoryBytes).toBeGreaterThanOrEqual(32 * GI);
      expect(resources.cpuMillis).toBe(resources.gpus === 1 ? 32_000 : 8000);
    }
  });

  it("never spend a GPU to keep small differences apart", () => {
    const shapes = nodeShapes([size(8, 30, 1), size(8, 31, 1), size(8, 30), size(8, 31)], 2);
    expect(shapes).toEqual([
      { count: 2, resources: size(8, 30, 1) },
      { count: 2, resources: size(8, 30) },
    ]);
  });

  it("keep an extended resource that the most similar node does not have", () => {
    const special = resourceVector({ ...size(8, 31), extended: { "example.com/fpga": 1 } });
    expect(nodeShapes([size(8, 32), special, size(8, 16)], 2)).toEqual([
      { count: 2, resources: size(8, 16) },
      { count: 1, resources: special },
    ]);
  });
});

/** Whether every wanted node can be given a real one of its own: a search for augmenting paths. */
function canPlaceAll(wanted: readonly ResourceVector[], nodes: readonly ResourceVector[]): boolean {
  const takenBy = new Map<number, number>();
  const place = (want: number, seen: Set<number>): boolean =>
    nodes.some((node, at) => {
      const resources = wanted[want];
      if (resources === undefined || seen.has(at) || !fits(resources, node)) return false;
      seen.add(at);
      const holder = takenBy.get(at);
      if (holder !== undefined && !place(holder, seen)) return false;
      takenBy.set(at, want);
      return true;
    });
  return wanted.every((_, want) => place(want, new Set()));
}
