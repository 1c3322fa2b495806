import type { KubeClient } from "@resource-broker/kube";

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
export async function listingOf({ read }: Pick<KubeClient, "read">): Promise<string[]> {
  const { groups } = (await read("/apis")) as { groups: { preferredVersion: { groupVersion: string } }[] };
  const roots = [
    "/api/v1",
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const linesBelow = async (root: string): Promise<string[]> => {
    const { resources } = (await read(root)) as { resources: Discovered[] };
    const kinds = resources.filter(({ kind, verbs }) => verbs.includes("list") && !(kind in NOISE));
    const group = root.split("/")[3] === undefined ? "" : `.${root.split("/")[2]}`;
    const lists = kinds.map(async ({ name, kind }) => {
      const { items } = (await read(`${root}/${name}`)) as { items: Listed[] };
      return items.map((item) => `${kind}${group} ${lineOf(item)}`);
    });
    return (await Promise.all(lists)).flat();
  };
  return (await Promise.all(roots.map(linesBelow))).flat().sort();
}

function lineOf({ metadata }: Listed): string {
  const { namespace, name, labels = {}, finalizers = [], deletionTimestamp } = metadata;
  const place = namespace === undefined ? name : `${namespace}/${name}`;
  const labelTexts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parts = [place, ...labelTexts.sort(), ...finalizers.map((finalizer) => `[${finalizer}]`)];
  return [...parts, ...(deletionTimestamp === undefined ? [] : ["(leaving)"])].join(" ");
}
