import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { differences, repository } from "./files.ts";
import { ruleFiles } from "./observability.ts";
import { GENERATED_FOLDERS, generatedFiles, type Sources } from "./outputs.ts";

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
  const rows: [source: string, add: string, copies: readonly string[]][] = [
    [
      "deploy/rbac/broker.yaml",
      "# more\n",
      ["deploy/helm/broker/templates/rbac/broker.yaml", "deploy/kustomize/broker/rbac.yaml"],
    ],
    [
      "deploy/rbac/agent.yaml",
      "# more\n",
      ["deploy/helm/agent/templates/rbac/agent.yaml", "deploy/kustomize/agent/rbac.yaml"],
    ],
    [
      "deploy/admission/agent-writes.yaml",
      "# more\n",
      ["deploy/helm/broker/templates/rbac/agent-writes.yaml", "deploy/kustomize/rbac/agent-writes.yaml"],
    ],
    [
      "deploy/crds/broker.fluidos.eu_reservations.yaml",
      "# more\n",
      [
        "deploy/helm/broker/templates/crds/broker.fluidos.eu_reservations.yaml",
        "deploy/kustomize/crds/broker/broker.fluidos.eu_reservations.yaml",
      ],
    ],
    [
      "deploy/observability/alerts/agent.yaml",
      "  # more\n",
      ["deploy/helm/agent/files/alerts/agent.yaml", "deploy/kustomize/prometheus/agent/alerts.yaml"],
    ],
    [
      "deploy/observability/dashboards/fleet.json",
      "\n",
      [
        "deploy/helm/broker/files/dashboards/fleet.json",
        "deploy/kustomize/prometheus/broker/dashboards/fleet.json",
      ],
    ],
  ];
  test.each(rows)("of %s", (source, add, copies) => {
    const files = generatedFiles(changed({ [source]: `${repository.read(source)}${add}` }));
    expect([...differences(files).stale].sort()).toEqual([...copies].sort());
  });

  test("a new kind, alert file and dashboard are taken without being named anywhere", () => {
    const files = generatedFiles(
      changed({
        "deploy/crds/rear.fluidos.eu_things.yaml":
          "kind: CustomResourceDefinition\nmetadata:\n  name: things\n",
        "deploy/observability/alerts/new.yaml": "groups:\n  - name: new\n    rules: []\n",
        "deploy/observability/dashboards/new.json": "{}\n",
      }),
    );
    expect(files.get("deploy/kustomize/crds/agent/kustomization.yaml")).toContain(
      "- rear.fluidos.eu_things.yaml",
    );
    expect(files.get("deploy/kustomize/prometheus/broker/alerts.yaml")).toContain("- name: new");
    expect(files.get("deploy/kustomize/prometheus/broker/dashboards/kustomization.yaml")).toContain(
      "[new.json]",
    );
    expect(files.has("deploy/helm/broker/files/dashboards/new.json")).toBe(true);
  });
});

test("definitions stay when a release goes, and braces of their texts are no templates", () => {
  const source = "kind: CustomResourceDefinition\nmetadata:\n  name: things\nspec: '{{ x }}'\n";
  const text = generatedFiles(changed({ "deploy/crds/rear.fluidos.eu_things.yaml": source })).get(
    "deploy/helm/agent/templates/crds/rear.fluidos.eu_things.yaml",
  );
  expect(text).toContain("  name: things\n  annotations:\n    helm.sh/resource-policy: keep\n");
  expect(text).toContain(`spec: '{{ "{{" }} x }}'`);
});

test("folders of generated files hold nothing else", () => {
  expect(GENERATED_FOLDERS.filter((folder) => repository.list(folder).length === 0)).toEqual([]);
});

describe("alerts", () => {
  const FILE = "# About.\ngroups:\n  # Why.\n  - name: one\n    rules: []\n";

  test("of several files are one object, with their comments", () => {
    const text = ruleFiles({ folder: "broker" }, [
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
    expect(() => ruleFiles({ folder: "broker" }, [["a.yaml", `${FILE}other: 1\n`]])).toThrow(
      "a.yaml holds something else",
    );
  });
});
