import { AGENT_SETTINGS } from "@resource-broker/agent/testing";
import { BROKER_SETTINGS } from "@resource-broker/broker/testing";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { CHARTS } from "../generate/charts.ts";
import { membersOf, type Schema } from "../generate/values/schema.ts";
import { filesBelow, read } from "./testing/tree.ts";
import { VARIANTS } from "./testing/variants.ts";

type Values = Readonly<Record<string, unknown>>;

const FLAGS = { broker: Object.keys(BROKER_SETTINGS), agent: Object.keys(AGENT_SETTINGS) };
/** What helm itself passes to every chart. */
const NOT_OURS = ["global"];

describe.each(CHARTS)("the chart $folder", ({ folder, values: schema }) => {
  const texts = filesBelow(`deploy/helm/${folder}/templates`).map((path) => ({ path, text: read(path) }));
  const templates = texts.map(({ text }) => text).join("\n");
  const defaults = parse(read(`deploy/helm/${folder}/values.yaml`)) as Values;
  const accepts = new Ajv({ strict: false }).compile(
    JSON.parse(read(`deploy/helm/${folder}/values.schema.json`)) as object,
  );
  const variants = VARIANTS.filter(({ chart }) => chart === folder);

  test("is named and numbered as the project is", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string };
    const name = folder === "broker" ? "resource-broker" : "resource-broker-agent";
    expect(parse(read(`deploy/helm/${folder}/Chart.yaml`))).toMatchObject({
      name,
      version,
      appVersion: version,
    });
    expect(defaults["image"]).toMatchObject({ repository: `resource-broker/${folder}`, tag: "" });
  });

  test.each(variants)("takes the values of $name", ({ values }) => {
    expect([accepts(merged(defaults, values)), accepts.errors]).toEqual([true, null]);
  });

  test("refuses a name that it does not know, wherever it is", () => {
    const [{ values } = { values: {} }] = variants;
    const groups = groupsOf(schema, []);
    expect(groups.length).toBeGreaterThan(10);
    const taken = groups.filter((path) =>
      accepts(merged(merged(defaults, values), nested(path, { unheardOf: 1 }))),
    );
    expect(taken).toEqual([]);
  });

  test("lets nobody scrape the metrics but whom its values name: a labelled namespace, unless changed", () => {
    expect(defaults["networkPolicy"]).toMatchObject({
      metricsFrom: [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
    });
    expect(templates).not.toContain("namespaceSelector: {}");
  });

  test("says of every value what it is", () => {
    const silent = leavesOf(schema, []).filter(({ value }) => (value.description ?? "").length < 5);
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test("uses no value that there is not, and has none that it does not use", () => {
    const used = new Set(
      [...templates.matchAll(/\.Values\.([A-Za-z][\w.]*\w)/g)].map(([, path = ""]) => path),
    );
    const known = leavesOf(schema, []).map(({ path }) => path.join("."));
    const groups = groupsOf(schema, []).map((path) => path.join("."));
    expect([...used].filter((path) => !known.includes(path) && !groups.includes(path))).toEqual([]);
    // Values of a group are also reached through `with` and `index`, or handed on as a whole.
    const isReached = (path: string): boolean => {
      const [group, last] = [path.slice(0, path.lastIndexOf(".")), path.slice(path.lastIndexOf(".") + 1)];
      if (!groups.some((each) => used.has(each) && path.startsWith(`${each}.`))) return used.has(path);
      return [`.${last}`, `"${last}"`, `toYaml .Values.${group} `].some((use) => templates.includes(use));
    };
    expect(known.filter((path) => !NOT_OURS.includes(path) && !isReached(path))).toEqual([]);
  });

  test.each(texts)("passes only flags that the program has: $path", ({ text }) => {
    const own = text.replaceAll(/kubectl.*|brokerctl.*|helm .*|^\s*#.*$|\{\{- \/\*.*\*\/\}\}/gm, "");
    const flags = [...own.matchAll(/(?:^|[\s"])--([a-z][a-z-]*[a-z])(?![a-z-])/gm)].map(
      ([, name = ""]) => name,
    );
    expect(flags.filter((name) => !FLAGS[folder].includes(name))).toEqual([]);
  });

  test("describes every value in its README", () => {
    const readme = read(`deploy/helm/${folder}/README.md`);
    const missing = leavesOf(schema, []).filter(
      ({ path }) => !NOT_OURS.includes(path.join(".")) && !readme.includes(`| \`${path.join(".")}\` |`),
    );
    expect(missing).toEqual([]);
  });
});

interface Leaf {
  readonly path: readonly string[];
  readonly value: Schema;
}

function leavesOf(schema: Schema, path: readonly string[]): Leaf[] {
  const members = membersOf(schema);
  if (members === undefined) return [{ path, value: schema }];
  return Object.entries(members).flatMap(([name, each]) => leavesOf(each, [...path, name]));
}

function groupsOf(schema: Schema, path: readonly string[]): (readonly string[])[] {
  const members = membersOf(schema);
  if (members === undefined) return [];
  return [path, ...Object.entries(members).flatMap(([name, each]) => groupsOf(each, [...path, name]))];
}

function nested(path: readonly string[], value: Values): Values {
  return path.reduceRight<Values>((inner, name) => ({ [name]: inner }), value);
}

/** As helm puts values together. */
function merged(below: Values, above: Values): Values {
  const isGroup = (value: unknown): value is Values =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const parts = Object.entries(above).map(([name, value]) => {
    const old = below[name];
    return [name, isGroup(old) && isGroup(value) ? merged(old, value) : value] as const;
  });
  return { ...below, ...Object.fromEntries(parts) };
}
