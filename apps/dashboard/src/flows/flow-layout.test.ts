import { expect, test } from "vitest";
import { type Flow, layOutFlows } from "./flow-layout.ts";

const OPTIONS = { width: 900, margin: 150, most: 20 };

function flows(edges: readonly (readonly [provider: string, requester: string, value: number])[]): Flow[] {
  return edges.map(([provider, requester, value]) => ({ provider, requester, value, reservations: 1 }));
}

const CROWD = flows(
  Array.from({ length: 200 }, (_, index) => [`lender-${index}`, `borrower-${index % 90}`, 200 - index]),
);

test("the biggest stand on top, and bands are as wide as what is lent", () => {
  const { providers, links } = layOutFlows(
    flows([
      ["small", "rome", 1],
      ["big", "rome", 9],
    ]),
    OPTIONS,
  );
  expect(providers.map(({ id }) => id)).toEqual(["big", "small"]);
  const [big, small] = links;
  expect((big?.width ?? 0) / (small?.width ?? 1)).toBeCloseTo(9);
});

test("of 200 clusters the biggest are shown one by one, the rest as one", () => {
  const { providers, requesters, links } = layOutFlows(CROWD, OPTIONS);
  expect(providers).toHaveLength(21);
  expect(providers.at(-1)).toMatchObject({ id: "", clusters: 180 });
  expect(requesters.at(-1)).toMatchObject({ id: "", clusters: 70 });
  const lent = links.reduce((sum, { value }) => sum + value, 0);
  expect(lent).toBe(CROWD.reduce((sum, { value }) => sum + value, 0));
});

test.each([20, Number.POSITIVE_INFINITY])("names never overlap, with %d on each side", (most) => {
  const layout = layOutFlows(CROWD, { ...OPTIONS, most });
  for (const side of [layout.providers, layout.requesters]) {
    for (const [index, node] of side.entries()) {
      expect(node.height).toBeGreaterThanOrEqual(20);
      const below = side[index + 1];
      if (below !== undefined) expect(below.y).toBeGreaterThanOrEqual(node.y + node.height);
      expect(node.y + node.height).toBeLessThanOrEqual(layout.height + 1);
    }
  }
});
