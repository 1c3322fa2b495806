import { Fault } from "@resource-broker/base";
import { customResourceDefinition, KINDS, type Kind } from "@resource-broker/contract/crd";
import type { KubeClient } from "@resource-broker/kube";
import type { OpenCluster } from "../objects/open-cluster.ts";
import { type Found, failed, ok } from "./finding.ts";
import { fieldOf } from "./json.ts";

type AnyKind = Kind<unknown, unknown>;

const APPLY = "kubectl apply --server-side -f deploy/crds";
const SHOWN = 3;

/** Every cluster needs the kinds of agents; those of the broker are needed in its own only, but then all of them. */
export async function checkDefinitions({ client }: OpenCluster): Promise<Found> {
  const served = new Set([
    ...(await pluralsOf(client, "rear.fluidos.eu")),
    ...(await pluralsOf(client, "broker.fluidos.eu")),
  ]);
  const isBrokers = KINDS.some((kind) => kind.group === "broker.fluidos.eu" && served.has(nameOf(kind)));
  const needed = KINDS.filter(({ group }) => group === "rear.fluidos.eu" || isBrokers);
  const missing = needed.filter((kind) => !served.has(nameOf(kind)));
  if (missing.length > 0) return failed(`${missing.map(({ kind }) => kind).join(", ")} not installed`, APPLY);
  const states = await Promise.all(needed.map((kind) => missingFields(client, kind)));
  const old = states.filter((fields) => fields !== undefined).flat();
  if (old.length > 0) return failed(`older than this brokerctl: ${few(old)} not known there`, APPLY);
  const whose = isBrokers ? "the agent's and the broker's" : "the agent's";
  const isSeen = states.every((fields) => fields !== undefined);
  return ok(
    `${needed.length} kinds installed (${whose})${isSeen ? "" : "; you may not see of which release"}`,
  );
}

/** Asked of the server's own list of kinds, which everybody may read. */
async function pluralsOf(client: KubeClient, group: AnyKind["group"]): Promise<readonly string[]> {
  const list = await client.read(`/apis/${group}/v1alpha1`).catch(unlessMissing);
  const resources = fieldOf(list, "resources");
  return (Array.isArray(resources) ? resources : []).map(
    (each: unknown) => `${String(fieldOf(each, "name"))}.${group}`,
  );
}

function nameOf({ plural, group }: AnyKind): string {
  return `${plural}.${group}`;
}

/** `Kind.spec.field` for each of ours that the server's schema lacks; undefined when one may not look. */
async function missingFields(client: KubeClient, kind: AnyKind): Promise<readonly string[] | undefined> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${nameOf(kind)}`;
  const theirs = await client.read(path).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "forbidden") return undefined;
    throw error;
  });
  if (theirs === undefined) return undefined;
  const known = new Set(fieldsOf(schemaIn(theirs, kind.version), kind.kind));
  return fieldsOf(schemaIn(customResourceDefinition(kind), kind.version), kind.kind).filter(
    (field) => !known.has(field),
  );
}

function schemaIn(definition: unknown, version: string): unknown {
  const versions = fieldOf(definition, "spec", "versions");
  const all: readonly unknown[] = Array.isArray(versions) ? versions : [];
  const found = all.find((each) => fieldOf(each, "name") === version);
  return fieldOf(found, "schema", "openAPIV3Schema");
}

function fieldsOf(schema: unknown, path: string): string[] {
  const properties = fieldOf(schema, "properties");
  const below =
    typeof properties === "object" && properties !== null
      ? Object.entries(properties).flatMap(([name, inner]) => [
          `${path}.${name}`,
          ...fieldsOf(inner, `${path}.${name}`),
        ])
      : [];
  const items = fieldOf(schema, "items");
  return items === undefined ? below : [...below, ...fieldsOf(items, `${path}[]`)];
}

function few(fields: readonly string[]): string {
  const more = fields.length - SHOWN;
  return `${fields.slice(0, SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Fault && error.code === "not-found") return undefined;
  throw error;
}
