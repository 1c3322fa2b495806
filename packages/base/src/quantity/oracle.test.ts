import { describe, expect, it } from "vitest";
import { parseAmount } from "./amount.ts";
import report from "./oracle-cases.json" with { type: "json" };
import { formatQuantity, parseQuantity } from "./quantity.ts";
import { ORACLE_DIFFERENCES, type OracleCase, type OracleField } from "./testing/oracle-differences.ts";

const cases: readonly OracleCase[] = report.cases;

type Reading = Readonly<Record<OracleField, string>>;

/** Kubernetes' answers and ours in the same words, so that they can be compared field by field. */
function theirReading(oracle: OracleCase): Reading {
  return {
    accepted: String(oracle.ok),
    exact: normalized(oracle.unscaled ?? "", oracle.scale ?? 0),
    format: oracle.format ?? "",
    canonical: oracle.canonical ?? "",
    value: oracle.value ?? "",
    milliValue: oracle.milliValue ?? "",
  };
}

function ourReading(input: string): Reading {
  const parsed = parseQuantity(input);
  if (!parsed.ok) {
    return { accepted: "false", exact: "", format: "", canonical: "", value: "", milliValue: "" };
  }
  const { digits, scale, format } = parsed.quantity;
  return {
    accepted: "true",
    exact: `${digits} / 10^${scale}`,
    format,
    canonical: formatQuantity(parsed.quantity),
    value: amountText(input, "one"),
    milliValue: amountText(input, "milli"),
  };
}

function amountText(input: string, unit: "one" | "milli"): string {
  const result = parseAmount(input, { unit, rounding: "up" });
  return result.ok ? String(result.amount) : "refused";
}

function normalized(unscaled: string, scale: number): string {
  if (unscaled === "") return "";
  if (unscaled === "0") return "0 / 10^0";
  const digits = unscaled.replace(/0+$/, "");
  return `${digits} / 10^${scale - (unscaled.length - digits.length)}`;
}

/** The fields in which we differ. Once one side refuses the text there is nothing else to compare. */
function differingFields(oracle: OracleCase): OracleField[] {
  const theirs = theirReading(oracle);
  const ours = ourReading(oracle.input);
  if (ours.accepted !== theirs.accepted) return ["accepted"];
  const fields: OracleField[] = ["exact", "format", "canonical", "value", "milliValue"];
  return fields.filter((field) => ours[field] !== theirs[field]);
}

function listedFields(oracle: OracleCase): OracleField[] {
  const listed = ORACLE_DIFFERENCES.filter(({ covers }) => covers(oracle)).map(({ field }) => field);
  return listed.includes("accepted") ? ["accepted"] : listed;
}

describe("quantities are read and printed as Kubernetes does", () => {
  const alike = cases.filter((oracle) => listedFields(oracle).length === 0);
  const different = cases.filter((oracle) => listedFields(oracle).length > 0);

  it.each(alike)("$group: $input", (oracle) => {
    expect(ourReading(oracle.input)).toEqual(theirReading(oracle));
  });

  it.each(different)("$group: $input differs exactly as listed", (oracle) => {
    expect(differingFields(oracle).sort()).toEqual(listedFields(oracle).sort());
  });

  it("compares at least 300 cases", () => {
    expect(new Set(cases.map(({ input }) => input)).size).toBeGreaterThanOrEqual(300);
  });

  it.each(ORACLE_DIFFERENCES)("still has a case for the deliberate difference: $name", ({ covers }) => {
    expect(cases.some(covers)).toBe(true);
  });

  it("prints the canonical form also where Kubernetes repeats what it was given", () => {
    for (const { input, printed, canonical } of cases) expect([canonical, input]).toContain(printed);
  });
});
