import { expect, test } from "vitest";
import { manifestsIn } from "./testing/objects.ts";
import { read } from "./testing/tree.ts";

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const SHIPPED = manifestsIn(read("deploy/rbac/agent-relay.yaml"));

test("every Secret that it reads, changes or deletes is named, and it lists none", () => {
  const rules = SHIPPED.flatMap(({ rules: each = [] }) => each as readonly Rule[]);
  const open = rules.filter(
    ({ resources, resourceNames }) => resources.includes("secrets") && resourceNames === undefined,
  );
  expect(open.flatMap(({ verbs }) => verbs)).toEqual(["create", "create"]);
});

test("it binds no role and writes no object of Liqo that gives others rights", () => {
  const text = read("deploy/rbac/agent-relay.yaml");
  const rules = SHIPPED.flatMap(({ rules: each = [] }) => each as readonly Rule[]);
  expect(
    rules.flatMap(({ resources }) => resources).filter((name) => /role|quota|config$/.test(name)),
  ).toEqual([]);
  expect(text).toMatch(/"create" is a right to have certificates signed/);
});
