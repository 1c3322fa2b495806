import { expect, test } from "vitest";
import { ADMISSION_CASES } from "../testing/index.ts";
import { customResourceDefinition, KINDS } from "./definition.ts";
import type { StructuralSchema } from "./structural.ts";

interface FoundRule {
  readonly kind: string;
  /** Where Kubernetes shows the error. */
  readonly field: string;
  readonly message: string;
}

// The cases run on a real API server (test/testkit/src/control-plane/crds.test.ts) and on kube-sim.
const refusals = ADMISSION_CASES.flatMap(({ kind, refusal }) => (refusal ? [{ kind, ...refusal }] : []));

test("every case has a name of its own", () => {
  expect(new Set(ADMISSION_CASES.map(({ name }) => name)).size).toBe(ADMISSION_CASES.length);
});

test("every rule refuses some case: a new rule needs a row in src/testing/admission-cases.ts", () => {
  const isRefused = (rule: FoundRule) =>
    refusals.some(
      ({ kind, field, message, isRule }) =>
        isRule && kind === rule.kind && field === rule.field && rule.message.startsWith(message),
    );
  expect(KINDS.flatMap(rulesOf).filter((rule) => !isRefused(rule))).toEqual([]);
});

function rulesOf(kind: (typeof KINDS)[number]): FoundRule[] {
  const found = customResourceDefinition(kind).spec.versions.flatMap(({ schema }) =>
    rulesBelow(schema.openAPIV3Schema, ""),
  );
  return found.map((rule) => ({ kind: kind.kind, ...rule }));
}

function rulesBelow(schema: StructuralSchema, path: string): Omit<FoundRule, "kind">[] {
  const own = (schema["x-kubernetes-validations"] ?? []).map(({ message, fieldPath = "" }) => ({
    field: `${path}${fieldPath}`.replace(/^\./, ""),
    message,
  }));
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    rulesBelow(child, `${path}.${name}`),
  );
  return [...own, ...inner];
}
