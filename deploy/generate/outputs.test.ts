import { readlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHARTS } from "./charts.ts";
import { differences, ROOT, repository } from "./files.ts";
import { ruleFiles } from "./observability.ts";
import { generatedFiles, type Sources } from "./outputs.ts";

/** The repository with some files changed. */
function changed(files: Readonly<Record<string, string>>): Sources {
  return {
    read: (path) => files[path] ?? repository.read(path),
    list: (folder) => {
      const added = Object.keys(files).filter((path) => path.startsWith(`${folder}/`));
      return [
        ...new Set([...repository.list(folder), ...added.map((path) => path.slice(folder.length + 1))]),
      ].sort();
    },
  };
}

test("every copy is what its source says: else run `node deploy/generate/main.ts`", () => {
  expect(differences(generatedFiles(repository))).toEqual({ stale: [], stray: [] });
});

describe("a change reaches every copy", () => {
  const rows: [source: string, add: string, ...copies: string[]][] = [
    ["rbac/broker.yaml", "# more\n", "helm/broker/templates/rbac/broker.yaml", "kustomize/broker/rbac.yaml"],
    ["rbac/agent.yaml", "# more\n", "helm/agent/templates/rbac/agent.yaml", "kustomize/agent/rbac.yaml"],
    ["helm/agent/files/alerts/agent.yaml", "  # more\n", "kustomize/prometheus/agent/alerts.yaml"],
  ];
  test.each(rows)("of %s", (name, add, ...copies) => {
    const source = `deploy/${name}`;
    const files = generatedFiles(changed({ [source]: `${repository.read(source)}${add}` }));
    expect([...differences(files).stale].sort()).toEqual(copies.map((path) => `deploy/${path}`));
  });

  test("a new kind, alert file and dashboard are taken without being named anywhere", () => {
    const files = generatedFiles(
      changed({
        "deploy/helm/agent/files/crds/rear.fluidos.eu_things.yaml": "kind: CustomResourceDefinition\n",
        "deploy/helm/broker/files/alerts/new.yaml": "groups:\n  - name: new\n    rules: []\n",
        "deploy/helm/broker/files/dashboards/new.json": "{}\n",
      }),
    );
    expect(files.get("deploy/helm/agent/files/crds/kustomization.yaml")).toContain(
      "- rear.fluidos.eu_things.yaml",
    );
    expect(files.get("deploy/kustomize/prometheus/broker/alerts.yaml")).toContain("- name: new");
    expect(files.get("deploy/helm/broker/files/dashboards/kustomization.yaml")).toContain("[new.json]");
  });
});

test.each([
  ["deploy/crds", "crds"],
  ["deploy/observability/alerts", "alerts"],
  ["deploy/observability/dashboards", "dashboards"],
])("%s links to every file of the charts, and holds no copy", (folder, kind) => {
  const links = repository.list(folder).map((name) => readlinkSync(join(ROOT, folder, name)));
  const files = CHARTS.flatMap((chart) => {
    const from = `deploy/helm/${chart.folder}/files/${kind}`;
    return repository
      .list(from)
      .filter((name) => name !== "kustomization.yaml")
      .map((name) => relative(folder, `${from}/${name}`));
  });
  expect([...links].sort()).toEqual([...files].sort());
});

describe("alerts", () => {
  const BROKER = { name: "resource-broker", namespace: "resource-broker-system" };
  const FILE = "# About.\ngroups:\n  # Why.\n  - name: one\n    rules: []\n";

  test("of several files are one object, with their comments", () => {
    const text = ruleFiles(BROKER, [
      ["a.yaml", FILE],
      ["b.yaml", "groups:\n- name: two\n  rules: []\n"],
    ]);
    expect(parse(text)).toMatchObject({
      kind: "PrometheusRule",
      spec: { groups: [{ name: "one" }, { name: "two" }] },
    });
    expect(text).toContain("# Why.");
  });

  test("beside something else are refused", () => {
    expect(() => ruleFiles(BROKER, [["a.yaml", `${FILE}other: 1\n`]])).toThrow("a.yaml holds something else");
  });
});
