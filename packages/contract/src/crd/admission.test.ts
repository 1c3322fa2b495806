import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ADMISSION_CASES } from "../testing/index.ts";
import { customResourceDefinition, KINDS } from "./definition.ts";
import type { StructuralSchema } from "./structural.ts";

interface Problem {
  readonly type: string;
  readonly field: string;
  readonly detail: string;
}

interface OracleAnswers {
  readonly asked: { readonly definitions: Readonly<Record<string, string>>; readonly cases: string };
  readonly answered: {
    readonly definitions: readonly { readonly kind: string; readonly problems: readonly Problem[] }[];
    readonly cases: readonly { readonly name: string; readonly problems: readonly Problem[] }[];
  };
}

interface FoundRule {
  readonly kind: string;
  /** Where Kubernetes shows the error. */
  readonly field: string;
  readonly message: string;
}

const repository = new URL("../../../../", import.meta.url);
const oracle = JSON.parse(read("packages/contract/golden/crd-oracle.json")) as OracleAnswers;
const verdicts = new Map(oracle.answered.cases.map(({ name, problems }) => [name, problems]));
const rules = KINDS.flatMap(rulesOf);

describe("the committed answers of Kubernetes' own code (npm run generate && npm run oracle:crd)", () => {
  test.each(Object.entries(oracle.asked.definitions))("are about %s as it is now", (file, hash) => {
    expect(sha256(read(`deploy/crds/${file}`))).toBe(hash);
  });

  test("are about every definition and these very cases", () => {
    const files = KINDS.map(({ group, plural }) => `${group}_${plural}.yaml`).sort();
    expect(Object.keys(oracle.asked.definitions)).toEqual(files);
    expect(sha256(JSON.stringify(ADMISSION_CASES))).toBe(oracle.asked.cases);
  });

  test.each(oracle.answered.definitions.map(({ kind, problems }) => [kind, problems] as const))(
    "accept the definition of %s",
    (_, problems) => {
      expect(problems).toEqual([]);
    },
  );
});

test("every case has a name of its own", () => {
  expect(new Set(ADMISSION_CASES.map(({ name }) => name)).size).toBe(ADMISSION_CASES.length);
});

const accepted = ADMISSION_CASES.filter(({ refusal }) => refusal === undefined).map(({ name }) => name);

test.each(accepted)("%s", (name) => {
  expect(verdicts.get(name)).toEqual([]);
});

const refused = ADMISSION_CASES.flatMap(({ name, kind, refusal }) =>
  refusal ? [[name, { kind, ...refusal }] as const] : [],
);

test.each(refused)("%s", (name, { kind, field, message, isRule }) => {
  // The rule must be there now, and Kubernetes must have refused this object because of it.
  const matches = (actual: string, where: string) => where === field && actual.startsWith(message);
  if (isRule)
    expect(rules.some((rule) => rule.kind === kind && matches(rule.message, rule.field))).toBe(true);
  const problems = verdicts.get(name) ?? [];
  expect(problems.some((problem) => matches(problem.detail, problem.field))).toBe(true);
});

test.each(rules.map((rule) => [`${rule.kind} ${rule.field}: ${rule.message}`, rule] as const))(
  "some case is refused by: %s",
  (_, rule) => {
    // A new rule needs a row in src/testing/admission-cases.ts.
    const isCovered = refused.some(
      ([, { kind, field, message, isRule }]) =>
        isRule && kind === rule.kind && field === rule.field && rule.message.startsWith(message),
    );
    expect(isCovered).toBe(true);
  },
);

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

function read(path: string): string {
  return readFileSync(new URL(path, repository), "utf8");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
