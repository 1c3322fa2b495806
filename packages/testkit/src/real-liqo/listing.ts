import type { RealControlPlane } from "../control-plane/control-plane.ts";

/** What comes and goes by itself, and says nothing about what somebody left behind. */
const NOISE: Readonly<Record<string, string>> = {
  Event: "tells of what happened, and expires",
  Lease: "is renewed by whoever is alive",
  ComponentStatus: "is computed on each read",
};

interface Discovered {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
}

/**
 * Every object of every kind in every namespace, sorted, a line each: `Kind.group namespace/name`, its labels, its
 * finalizers, and whether it is leaving. Two listings that are equal have the same objects, whatever is in them.
 */
export async function listingOf({ ask }: Pick<RealControlPlane, "ask">): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => {
    const { status, body } = await ask("GET", path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body as T;
  };
  const { groups } = await read<{ groups: { preferredVersion: { groupVersion: string } }[] }>("/apis");
  const roots = [
    "/api/v1",
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const lines: string[] = [];
  for (const root of roots) {
    const { resources } = await read<{ resources: Discovered[] }>(root);
    const kinds = resources.filter(({ kind, verbs }) => verbs.includes("list") && !(kind in NOISE));
    for (const { name, kind } of kinds) {
      const { items } = await read<{ items: Listed[] }>(`${root}/${name}`);
      const group = root.split("/")[3] === undefined ? "" : `.${root.split("/")[2]}`;
      lines.push(...items.map((item) => `${kind}${group} ${lineOf(item)}`));
    }
  }
  return lines.sort();
}

function lineOf({ metadata }: Listed): string {
  const { namespace, name, labels = {}, finalizers = [], deletionTimestamp } = metadata;
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  const marks = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parts = [place, ...marks.sort(), ...finalizers.map((finalizer) => `[${finalizer}]`)];
  return [...parts, ...(deletionTimestamp === undefined ? [] : ["(leaving)"])].join(" ");
}
