import { describe, expect, test } from "vitest";
import { DASHBOARDS, type Panel } from "./testing/sources.ts";

const COLUMNS = 24;
/** That of Grafana 11.0; later ones read it. */
const SCHEMA = 39;
const DATA_SOURCE = { type: "prometheus", uid: "${datasource}" };

describe.each([...DASHBOARDS])("dashboard %s", (_, dashboard) => {
  const { panels, templating, id, schemaVersion } = dashboard;
  const shown = panels.filter(({ type }) => type !== "row");

  test("asks for its data source, and every panel and variable uses it", () => {
    const [first, ...variables] = templating.list;
    expect(first).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
    const users = [...shown, ...shown.flatMap(({ targets = [] }) => targets), ...variables];
    for (const user of users) expect(user).toMatchObject({ datasource: DATA_SOURCE });
  });

  test("is of the schema of Grafana 11 and has no id of somebody's database", () => {
    expect({ id, schemaVersion }).toEqual({ id: null, schemaVersion: SCHEMA });
  });

  test("lays its panels out in 24 columns, and none covers another", () => {
    const cells = panels.flatMap(({ gridPos }) => cellsOf(gridPos));
    expect(cells.filter(([column]) => column < 0 || column >= COLUMNS)).toEqual([]);
    expect(new Set(cells.map(String)).size).toBe(cells.length);
  });

  test("explains every panel, with a unit and something to show, and numbers them apart", () => {
    for (const panel of shown) {
      expect(panel).toMatchObject({
        title: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/\.$/),
        fieldConfig: { defaults: { unit: expect.any(String) } },
        targets: expect.arrayContaining([expect.objectContaining({ refId: "A" })]),
      });
      const refs = panel.targets?.map(({ refId }) => refId) ?? [];
      expect(new Set(refs).size).toBe(refs.length);
    }
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
  });

  test("uses only variables that it has, and all that it has", () => {
    const text = JSON.stringify([dashboard.panels, templating.list.map(({ definition }) => definition)]);
    const used = [...text.matchAll(/\$\{?([A-Za-z]\w*)/g)].map(([, name]) => name);
    expect(new Set(used)).toEqual(new Set(templating.list.map(({ name }) => name)));
  });
});

test("dashboards have uids and titles of their own", () => {
  const all = [...DASHBOARDS.values()];
  expect(new Set(all.map(({ uid }) => uid))).toEqual(
    new Set(["resource-broker-broker", "resource-broker-fleet", "resource-broker-agent"]),
  );
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
});

function cellsOf({ x, y, w, h }: Panel["gridPos"]): (readonly [column: number, line: number])[] {
  return Array.from({ length: w * h }, (_, index) => [x + (index % w), y + Math.floor(index / w)] as const);
}
