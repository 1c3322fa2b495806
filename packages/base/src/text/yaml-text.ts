import { safeJson } from "./safe-text.ts";

/**
 * JSON-like data as YAML, laid out as `kubectl get -o yaml` does. Texts that YAML could take for something else are quoted
 * as JSON, which YAML reads the same way.
 */
export function yamlText(data: object): string {
  const lines = block(data) ?? [flow(data)];
  return `${lines.join("\n")}\n`;
}

/** The lines of a list or map that has something in it; others fit on the line they start on. */
function block(value: unknown): string[] | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.flatMap((item) => listItem(item));
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? undefined : entries.flatMap(([key, inner]) => mapEntry(key, inner));
}

function listItem(item: unknown): string[] {
  const [first, ...rest] = block(item) ?? [flow(item)];
  return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
}

function mapEntry(key: string, value: unknown): string[] {
  const lines = block(value);
  if (lines === undefined) return [`${scalar(key)}: ${flow(value)}`];
  const indent = Array.isArray(value) ? "" : "  ";
  return [`${scalar(key)}:`, ...lines.map((line) => `${indent}${line}`)];
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return "[]";
  if (typeof value === "object" && value !== null) return "{}";
  return typeof value === "string" ? scalar(value) : String(value);
}

/** Letters at the start, so that no number, date or sign is met; and none of the words that YAML takes for others. */
const PLAIN = /^[A-Za-z][A-Za-z0-9_./=-]*( [A-Za-z0-9_./=-]+)*$/u;
const NOT_A_TEXT = /^(?:true|false|yes|no|on|off|null|y|n)$/iu;

function scalar(text: string): string {
  return PLAIN.test(text) && !NOT_A_TEXT.test(text) ? text : safeJson(JSON.stringify(text));
}
