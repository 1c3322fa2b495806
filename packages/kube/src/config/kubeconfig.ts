import { type Entry, type Fields, isRecord, listOf, nameOf, textOf, wrong } from "./entry.ts";

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
