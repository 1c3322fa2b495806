import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Cause } from "../api/definition.ts";
import { admitDefinition } from "./definition/admit-definition.ts";
import { definitionsOf } from "./definitions-of.ts";
import { definitionWith } from "./testing/definition-with.ts";
import type { OracleCase, OracleProblem, OracleVerdict } from "./testing/oracle-case.ts";
import { ORACLE_CASES } from "./testing/oracle-cases.ts";

interface Answers {
  readonly asked: string;
  readonly answered: { readonly oracle: string; readonly cases: readonly OracleVerdict[] };
}

const file = new URL("testing/oracle-answers.json", import.meta.url);
const { asked, answered } = JSON.parse(readFileSync(file, "utf8")) as Answers;
const verdicts = new Map(answered.cases.map((verdict) => [verdict.name, verdict]));

/** Kubernetes goes on after a syntax error and tells the next ones too. */
const FIRST_PROBLEM_ONLY: ReadonlySet<string> = new Set([`rule "self.a == 'x" on {"a":""}`]);

describe(`kube-sim answers as ${answered.oracle} does`, () => {
  it("is compared with answers to the questions of today: else run npm run oracle:kube-sim", () => {
    expect(createHash("sha256").update(JSON.stringify(ORACLE_CASES)).digest("hex")).toBe(asked);
  });

  it.each(ORACLE_CASES.map((row) => [row.name, row] as const))("%s", (name, row) => {
    const verdict = ourVerdict(row);
    const wanted = verdicts.get(name);
    if (FIRST_PROBLEM_ONLY.has(name)) {
      expect(wanted?.definition?.[0]?.message).toContain(verdict.definition?.[0]?.message);
      return;
    }
    expect(verdict).toEqual(wanted);
  });
});

function ourVerdict(row: OracleCase): OracleVerdict {
  const { name, object, old, isStatus = false } = row;
  const installed = admitDefinition({
    object: definitionWith(row.schema),
    isStatus: false,
    fieldValidation: "Strict",
  });
  if (!installed.ok) return { name, definition: sorted(installed.causes) };
  const [definition] = definitionsOf(installed.object);
  if (definition === undefined) throw new Error("the definition serves no version");
  const write = { object, isStatus, ...(old === undefined ? {} : { old }) };
  const strict = definition.admit({ ...write, fieldValidation: "Strict" });
  const unknown = !strict.ok && strict.code === 400 ? strict.causes.map(({ field }) => field) : [];
  const admission = definition.admit({ ...write, fieldValidation: "Ignore" });
  const dropped = unknown.length === 0 ? {} : { unknown };
  if (!admission.ok) return { name, ...dropped, causes: sorted(admission.causes) };
  const warnings = admission.warnings.toSorted();
  return { name, ...dropped, object: admission.object, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** Kubernetes walks maps, so its order says nothing. */
function sorted(causes: readonly Cause[]): OracleProblem[] {
  const key = ({ field, message }: OracleProblem): string => field + message;
  return causes
    .map(({ reason, field, message }) => ({ reason, field, message }))
    .toSorted((a, b) => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b))));
}
