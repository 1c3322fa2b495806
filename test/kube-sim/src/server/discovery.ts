import type { ResourceDefinition } from "../api/definition.ts";
import { apiVersionOf } from "../api/registry.ts";
import type { JsonObject } from "../json.ts";
import { REVIEWS } from "./reviews.ts";

/** Which kinds there are, in the old unaggregated form that every client falls back to. */

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];

export function coreVersions(address: string): JsonObject {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
  };
}

export function groupList(definitions: readonly ResourceDefinition[]): JsonObject {
  const names = [...definitions, ...REVIEWS].map(({ group }) => group).filter((group) => group !== "");
  const groups = [...new Set(names)].sort().map((group) => groupBody(definitions, group));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

export function groupOf(definitions: readonly ResourceDefinition[], group: string): JsonObject | undefined {
  const body = groupBody(definitions, group);
  return versionsOf(definitions, group).length === 0
    ? undefined
    : { kind: "APIGroup", apiVersion: "v1", ...body };
}

function groupBody(definitions: readonly ResourceDefinition[], name: string): JsonObject {
  const versions = versionsOf(definitions, name).map((version) => ({
    groupVersion: apiVersionOf({ group: name, version }),
    version,
  }));
  return { name, versions, ...(versions[0] === undefined ? {} : { preferredVersion: versions[0] }) };
}

function versionsOf(definitions: readonly ResourceDefinition[], group: string): readonly string[] {
  const versions = [...definitions, ...REVIEWS]
    .filter((one) => one.group === group)
    .map((one) => one.version);
  return [...new Set(versions)].sort(compareVersions);
}

const KUBERNETES_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/u;

/** Released before beta before alpha, newer before older, anything else last. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

function rank(version: string): readonly number[] {
  const [whole, major = "0", stage, minor = "0"] = KUBERNETES_VERSION.exec(version) ?? [];
  if (whole === undefined) return [0, 0, 0];
  const maturity = stage === undefined ? 3 : stage === "beta" ? 2 : 1;
  return [maturity, Number(major), Number(minor)];
}

export function resourceList(
  definitions: readonly ResourceDefinition[],
  groupVersion: { readonly group: string; readonly version: string },
): JsonObject | undefined {
  const isHere = (one: { readonly group: string; readonly version: string }): boolean =>
    one.group === groupVersion.group && one.version === groupVersion.version;
  const reviews = REVIEWS.filter(isHere).map(({ plural, kind }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced: false,
    kind,
    verbs: ["create"],
  }));
  const resources = [...definitions.filter(isHere).flatMap(entriesOf), ...reviews];
  if (resources.length === 0) return undefined;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(groupVersion), resources };
}

function entriesOf(definition: ResourceDefinition): readonly JsonObject[] {
  const { plural, singular, isNamespaced, kind, shortNames, categories, hasStatus } = definition;
  const common = { singularName: "", namespaced: isNamespaced, kind };
  return [
    {
      name: plural,
      ...common,
      singularName: singular,
      verbs: VERBS,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...(hasStatus ? [{ name: `${plural}/status`, ...common, verbs: SUBRESOURCE_VERBS }] : []),
    ...(definition.group === "" ? (CORE_SUBRESOURCES[plural] ?? []) : []),
  ];
}

const CORE_SUBRESOURCES: Readonly<Record<string, readonly JsonObject[]>> = {
  namespaces: [
    {
      name: "namespaces/finalize",
      singularName: "",
      namespaced: false,
      kind: "Namespace",
      verbs: ["update"],
    },
  ],
  serviceaccounts: [
    {
      name: "serviceaccounts/token",
      singularName: "",
      namespaced: true,
      group: "authentication.k8s.io",
      version: "v1",
      kind: "TokenRequest",
      verbs: ["create"],
    },
  ],
  pods: [
    { name: "pods/binding", singularName: "", namespaced: true, kind: "Binding", verbs: ["create"] },
    {
      name: "pods/eviction",
      singularName: "",
      namespaced: true,
      group: "policy",
      version: "v1",
      kind: "Eviction",
      verbs: ["create"],
    },
  ],
};
