import { type CostReading, readCost } from "./cost-reading.ts";

const WHOLE = ["cost.yaml", "cost.json"];

/** Reads the data of a ConfigMap: one key for each price, or one key with a whole CostDTO. */
export async function readConfigMapCost(
  data: Readonly<Record<string, string>>,
  currency: string,
): Promise<CostReading> {
  const keys = Object.keys(data);
  const whole = keys.filter((key) => WHOLE.includes(key));
  const [key] = whole;
  if (key === undefined) return readCost(withCurrency(data, currency));
  if (keys.length > 1) return wrong(`${key} must be the only key: it holds all prices`);
  const parsed = await parse(data[key] ?? "");
  if (!parsed.ok) return wrong(`${key}: ${parsed.problem}`);
  if (!isRecord(parsed.content)) return wrong(`${key} must hold prices by name, such as cpuCost: "0.04"`);
  const reading = readCost(withCurrency(parsed.content, currency));
  return reading.ok ? reading : wrong(`${key}: ${reading.problem}`);
}

function withCurrency(fields: Readonly<Record<string, unknown>>, currency: string) {
  return currency === "" ? fields : { currency, ...fields };
}

type Parsed =
  | { readonly ok: true; readonly content: unknown }
  | { readonly ok: false; readonly problem: string };

/** JSON needs no YAML parser, which takes 7 MB. */
async function parse(text: string): Promise<Parsed> {
  try {
    return { ok: true, content: JSON.parse(text) };
  } catch {
    return parseYaml(text);
  }
}

async function parseYaml(text: string): Promise<Parsed> {
  const yaml = await import("yaml");
  try {
    // Aliases can expand to a huge document, and are not needed here.
    const content: unknown = yaml.parse(text, { maxAliasCount: 0 });
    return { ok: true, content };
  } catch (error) {
    const [problem = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    return { ok: false, problem: `it is not YAML: ${problem}` };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(problem: string): CostReading {
  return { ok: false, problem };
}
