const MAX_PREFIX_LENGTH = 253;
const MAX_NAME_LENGTH = 63;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
/** The one family of resources without a domain that nodes offer beside CPU, memory and storage. */
const HUGE_PAGES = /^hugepages-[0-9]+[KMGTPE]i$/;
const FIELD_BY_NAME: ReadonlyMap<string, string> = new Map([
  ["cpu", "cpu"],
  ["memory", "memory"],
  ["gpu", "gpu"],
  ["storage", "storage"],
  ["ephemeral-storage", "storage"],
]);

/** What is wrong with a key of `extended`, or undefined when it is a Kubernetes name such as `amd.com/gpu`. */
export function extendedNameProblem(key: string): string | undefined {
  const field = FIELD_BY_NAME.get(key);
  if (field !== undefined) return `has a field of its own: write it as "${field}".`;
  // Lengths first: the patterns then only ever see short texts.
  if (key.length > MAX_PREFIX_LENGTH + 1 + MAX_NAME_LENGTH) return "the name of the resource is too long.";
  if (isQualifiedName(key) || HUGE_PAGES.test(key)) return undefined;
  return 'is not the name of an extended resource: write a domain and a name, for example "amd.com/gpu".';
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(0, slash));
  const name = key.slice(slash + 1);
  if (prefix.length > MAX_PREFIX_LENGTH || name.length > MAX_NAME_LENGTH) return false;
  return DNS_SUBDOMAIN.test(prefix) && NAME.test(name);
}
