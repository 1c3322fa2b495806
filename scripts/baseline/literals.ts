/**
 * What the shipped sources say: every string and template literal. Texts have at least two words; names are single words
 * that machines may read (reasons, codes, metrics, headers, paths). File names are left out, because files move.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "@swc/core";

const SOURCES = ["packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}", "test/kube-sim/src/**/*.ts"];
const NOT_SHIPPED = /\.test\.tsx?$|\/testing\//u;

/** Stands for an expression: its own words are names of the code. */
const HOLE = "{}";

export interface Literals {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

export function shippedLiterals(root: string): Literals {
  const files = globSync(SOURCES, { cwd: root }).filter((file) => !NOT_SHIPPED.test(file));
  if (files.length === 0) throw new Error(`no shipped sources found in ${SOURCES.join(" and ")}`);
  const found = files.flatMap((file) =>
    literalsIn(readFileSync(join(root, file), "utf8"), file.endsWith("x")),
  );
  return sortLiterals(found);
}

/** Every literal of a source, with `{}` where a template has an expression. */
export function literalsIn(source: string, isTsx = false): string[] {
  const found: string[] = [];
  walk(parseSync(source, { syntax: "typescript", tsx: isTsx, target: "es2024" }), found);
  return found;
}

export function sortLiterals(literals: readonly string[]): Literals {
  const tidy = [...new Set(literals.map((each) => each.replace(/\s+/gu, " ").trim()))].toSorted();
  return { texts: tidy.filter(isText), names: tidy.filter(isName) };
}

/** An expression stands for a word. */
function isText(literal: string): boolean {
  const words = literal.match(/\{\}|\ba\b|\p{L}{2,}/gu) ?? [];
  return literal.includes(" ") && words.length >= 2 && words.some((word) => word !== HOLE);
}

/** Lower-case words without a separator are mostly names of the code's own kinds and fields. */
function isName(literal: string): boolean {
  if (literal.startsWith("log:")) return true;
  return (
    /^[A-Z][A-Za-z]{2,}$|^[\w./:-]*[a-zA-Z0-9][_./:-][\w./:-]*$/u.test(literal) &&
    !/^[.@]|^node:|\.tsx?$/u.test(literal)
  );
}

type Tree = Readonly<Record<string, unknown>>;

function isTree(node: unknown): node is Tree {
  return typeof node === "object" && node !== null;
}

function treesIn(value: unknown): readonly Tree[] {
  return Array.isArray(value) ? value.filter(isTree) : [];
}

function walk(node: unknown, found: string[]): void {
  if (!isTree(node)) return;
  const { type, expression } = node;
  if (type === "ImportDeclaration") return;
  // Types are erased; `x as T` and its kin still hold an expression.
  if (typeof type === "string" && type.startsWith("Ts")) return walk(expression, found);
  const { text, holes } = textOf(node) ?? { holes: Object.values(node) };
  found.push(...[text, fieldsOf(node)].filter((each) => each !== undefined));
  if (type === "KeyValueProperty") found.push(keyOf(node));
  for (const each of holes) walk(each, found);
}

interface Text {
  readonly text: string;
  /** The expressions in it. */
  readonly holes: readonly unknown[];
}

/** A sum of literals is one text, however its source is wrapped. */
function textOf(node: unknown): Text | undefined {
  if (!isTree(node)) return undefined;
  switch (node["type"]) {
    case "StringLiteral":
    case "JSXText":
      return { text: String(node["value"]), holes: [] };
    case "TemplateLiteral":
      return {
        text: treesIn(node["quasis"])
          .map(({ cooked, raw }) => String(cooked ?? raw))
          .join(HOLE),
        holes: treesIn(node["expressions"]),
      };
    case "BinaryExpression":
      return node["operator"] === "+" ? sumOf(node["left"], node["right"]) : undefined;
    default:
      return undefined;
  }
}

function sumOf(left: unknown, right: unknown): Text | undefined {
  const parts = [left, right].map((side) => textOf(side) ?? { text: HOLE, holes: [side] });
  if (parts.every(({ text }) => text === HOLE)) return undefined;
  return { text: parts.map(({ text }) => text).join(""), holes: parts.flatMap(({ holes }) => holes) };
}

/** `log.info({ id, port }, "…")`: the names of the fields, by which people search logs. */
function fieldsOf(node: Tree): string | undefined {
  if (node["type"] !== "CallExpression") return undefined;
  const [first, second, ...more] = treesIn(node["arguments"]).map(({ expression }) => expression);
  if (!isTree(first) || first["type"] !== "ObjectExpression") return undefined;
  if (more.length > 0 || textOf(second) === undefined) return undefined;
  return `log:${treesIn(first["properties"]).map(keyOf).toSorted().join(",")}`;
}

/** A computed key has no name, nor has what is spread. */
function keyOf({ key, value }: Tree): string {
  const name = isTree(key) ? key["value"] : value;
  return typeof name === "string" ? name : HOLE;
}
