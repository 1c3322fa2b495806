import { dirname, isAbsolute, join } from "node:path";
import { Fault, isRecord } from "@resource-broker/base";
import type { Material } from "./kube-config.ts";

/** One or more kubeconfig files: their entries by name, not yet read. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly currentContext?: string;
}

type Section = "clusters" | "users" | "contexts";
const SINGULAR = { clusters: "cluster", users: "user", contexts: "context" } as const;

/** Parses a kubeconfig file. Entries are validated only when they are selected, so that an invalid one does not affect others. */
export function parseKubeconfig(content: unknown, file: string): Kubeconfig {
  const root = rootOf(content ?? {}, file);
  const currentContext = textOf(root, "current-context");
  return {
    files: [file],
    clusters: sectionOf(root, "clusters"),
    users: sectionOf(root, "users"),
    contexts: sectionOf(root, "contexts"),
    ...(currentContext === undefined ? {} : { currentContext }),
  };
}

/** The first file that has an entry of a name, or a current context, decides it as a whole. */
export function mergeKubeconfigs(parts: readonly Kubeconfig[]): Kubeconfig {
  const currentContext = parts.find((part) => part.currentContext !== undefined)?.currentContext;
  return {
    files: parts.flatMap(({ files }) => files),
    clusters: firstOfEach(parts, "clusters"),
    users: firstOfEach(parts, "users"),
    contexts: firstOfEach(parts, "contexts"),
    ...(currentContext === undefined ? {} : { currentContext }),
  };
}

function firstOfEach(parts: readonly Kubeconfig[], section: Section): ReadonlyMap<string, Entry> {
  return new Map(parts.toReversed().flatMap((part) => [...part[section]]));
}

function rootOf(content: unknown, file: string): Entry {
  if (!isRecord(content)) {
    throw wrong({ place: file }, `this is not a kubeconfig file but ${nameOf(content)}: name another file`);
  }
  const root = { place: file, file, fields: content };
  const kind = textOf(root, "kind") ?? "Config";
  const version = textOf(root, "apiVersion") ?? "v1";
  if (kind !== "Config" || version !== "v1") {
    throw wrong(root, `this is a ${kind} of ${version}, not a kubeconfig (Config of v1): name another file`);
  }
  return root;
}

function sectionOf(root: Entry, section: Section): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [index, item] of listOf(root, section).entries()) {
    const named = {
      ...root,
      place: `${root.place}: ${section}[${index}]`,
      fields: itemFields(root, item, section),
    };
    const name = textOf(named, "name");
    if (name === undefined) throw wrong(named, "name is missing: give it one");
    const place = `${root.place}: ${SINGULAR[section]} ${JSON.stringify(name)}`;
    if (entries.has(name)) throw wrong({ place }, "it is defined twice: remove one");
    entries.set(name, { ...root, place, fields: innerFields(named, SINGULAR[section]) });
  }
  return entries;
}

function itemFields(root: Entry, item: unknown, section: Section): Fields {
  if (isRecord(item)) return item;
  throw wrong(root, `${section} must list entries with a name, not ${nameOf(item)}`);
}

function innerFields(named: Entry, singular: string): Fields {
  const inner = named.fields[singular] ?? {};
  if (isRecord(inner)) return inner;
  throw wrong(named, `${singular} must hold fields, not ${nameOf(inner)}`);
}

type Fields = Readonly<Record<string, unknown>>;

/** A part of a kubeconfig file that is read field by field; whatever is wrong names file and field. */
export interface Entry {
  /** `/home/ada/.kube/config: user "ada"`. */
  readonly place: string;
  readonly file: string;
  readonly fields: Fields;
}

/** Empty text counts as absent, as in kubectl. */
export function textOf(entry: Entry, name: string): string | undefined {
  const value = entry.fields[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw wrong(entry, `${name} must be text, not ${nameOf(value)}: put it in quotes`);
}

export function requiredTextOf(entry: Entry, name: string, remedy: string): string {
  const value = textOf(entry, name);
  if (value === undefined) throw wrong(entry, `${name} is missing: ${remedy}`);
  return value;
}

export function flagOf(entry: Entry, name: string): boolean {
  const value = entry.fields[name];
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw wrong(entry, `${name} must be true or false, not ${nameOf(value)}`);
}

export function listOf(entry: Entry, name: string): readonly unknown[] {
  const value = entry.fields[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(entry, `${name} must be a list, not ${nameOf(value)}`);
}

export function recordOf(entry: Entry, name: string): Entry | undefined {
  const value = entry.fields[name];
  if (value === undefined || value === null) return undefined;
  if (isRecord(value)) return { ...entry, place: `${entry.place}, ${name}`, fields: value };
  throw wrong(entry, `${name} must hold fields, not ${nameOf(value)}`);
}

/** The path of a file, relative ones as seen from the kubeconfig file that names them. */
export function pathOf(entry: Entry, name: string): string | undefined {
  const path = textOf(entry, name);
  return path === undefined ? undefined : besideFile(entry, path);
}

export function besideFile({ file }: Entry, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** One line that says where, what, and what to do. */
export function wrong({ place }: Pick<Entry, "place">, problem: string): Fault {
  return new Fault("invalid", `${place}: ${problem}`);
}

/** What kind of value it is; never the value, which may be a secret. */
export function nameOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "fields" : `a ${typeof value}`;
}

/** PEM text from `<name>-data`, else the file that `<name>` names. */
export function pemOf(entry: Entry, name: string): Material | undefined {
  const data = textOf(entry, `${name}-data`);
  if (data !== undefined) return { kind: "text", text: decodePem(entry, `${name}-data`, data) };
  const path = pathOf(entry, name);
  return path === undefined ? undefined : { kind: "file", path };
}

function decodePem(entry: Entry, name: string, data: string): string {
  const packed = data.replace(/\s+/gu, "");
  const text = Buffer.from(packed, "base64").toString("utf8");
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(packed) || !text.includes("-----BEGIN ")) {
    throw wrong(
      entry,
      `${name} is not PEM in base64: encode the file with base64 -w0, or name it with ${withoutData(name)}`,
    );
  }
  return text;
}

function withoutData(name: string): string {
  return name.slice(0, -"-data".length);
}
