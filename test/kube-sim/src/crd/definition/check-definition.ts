import type { Cause } from "../../api/definition.ts";
import { objectAt } from "../../core/look.ts";
import type { JsonObject } from "../../json.ts";
import { forbidden, invalid, notSupported, required } from "../causes.ts";
import { objects, text, texts } from "../schema.ts";
import { versionsCauses } from "./check-version.ts";

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const MAX_LABEL = 63;

/** What is wrong with a CustomResourceDefinition; with `old`, also with how it changed. */
export function definitionCauses(crd: JsonObject, old: JsonObject | undefined): Cause[] {
  const spec = objectAt(crd, "spec");
  return [
    ...nameCauses(crd, spec),
    ...groupCauses(text(spec["group"])),
    ...scopeCauses(text(spec["scope"])),
    ...versionListCauses(objects(spec["versions"])),
    ...namesCauses(objectAt(spec, "names")),
    ...conversionCauses(objectAt(spec, "conversion")),
    ...(spec["preserveUnknownFields"] === true
      ? [invalid("spec.preserveUnknownFields", true, KEEP_NOTHING)]
      : []),
    ...(old === undefined ? [] : changeCauses(spec, objectAt(old, "spec"))),
  ];
}

const KEEP_NOTHING =
  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";

function nameCauses(crd: JsonObject, spec: JsonObject): Cause[] {
  const name = text(objectAt(crd, "metadata")["name"]);
  const wanted = `${text(objectAt(spec, "names")["plural"])}.${text(spec["group"])}`;
  return name === wanted ? [] : [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function groupCauses(group: string): Cause[] {
  if (group === "") return [required("spec.group")];
  if (!SUBDOMAIN.test(group)) return [invalid("spec.group", group, SUBDOMAIN_WORDS)];
  return group.includes(".")
    ? []
    : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeCauses(scope: string): Cause[] {
  if (scope === "") return [required("spec.scope")];
  const allowed = ["Cluster", "Namespaced"];
  return allowed.includes(scope) ? [] : [notSupported("spec.scope", scope, allowed)];
}

function versionListCauses(versions: readonly JsonObject[]): Cause[] {
  const misnamed = versions.flatMap((version, index) =>
    labelCauses(text(version["name"]), `spec.versions[${index}].name`),
  );
  const names = versions.map((version) => text(version["name"]));
  const stored = versions.filter((version) => version["storage"] === true);
  return [
    ...misnamed,
    ...versionsCauses(versions),
    ...(new Set(names).size === names.length
      ? []
      : [invalid("spec.versions", undefined, "must contain unique version names")]),
    ...(stored.length === 1
      ? []
      : [invalid("spec.versions", undefined, "must have exactly one version marked as storage version")]),
  ];
}

function namesCauses(names: JsonObject): Cause[] {
  const causes: Cause[] = [];
  for (const word of ["plural", "singular", "kind", "listKind"]) {
    const name = text(names[word]);
    const path = `spec.names.${word}`;
    const isKind = word === "kind" || word === "listKind";
    if (name === "") causes.push(required(path));
    else causes.push(...labelCauses(isKind ? name.toLowerCase() : name, path, isKind ? name : undefined));
  }
  for (const word of ["shortNames", "categories"]) {
    for (const [index, name] of texts(names[word]).entries()) {
      causes.push(...labelCauses(name, `spec.names.${word}[${index}]`));
    }
  }
  const kind = text(names["kind"]);
  if (kind !== "" && kind === names["listKind"]) {
    causes.push(invalid("spec.names.listKind", kind, "kind and listKind may not be the same"));
  }
  return causes;
}

/** `shown`: the name as it was written, when capitals are allowed in it. */
function labelCauses(name: string, path: string, shown?: string): Cause[] {
  const problems = [
    ...(name.length > MAX_LABEL ? [`must be no more than ${MAX_LABEL} bytes`] : []),
    ...(LABEL.test(name) ? [] : [LABEL_WORDS]),
  ];
  if (problems.length === 0) return [];
  const says = problems.join(",");
  const words = shown === undefined ? says : `may have mixed case, but should otherwise match: ${says}`;
  return [invalid(path, shown ?? name, words)];
}

function conversionCauses(conversion: JsonObject): Cause[] {
  const strategy = text(conversion["strategy"]);
  if (strategy === "") return [required("spec.conversion.strategy")];
  if (strategy === "Webhook") {
    return [forbidden("spec.conversion.strategy", "kube-sim does not call conversion webhooks: use None")];
  }
  return strategy === "None" ? [] : [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
}

function changeCauses(spec: JsonObject, old: JsonObject): Cause[] {
  const fixed: readonly (readonly [path: string, now: string, before: string])[] = [
    ["spec.scope", text(spec["scope"]), text(old["scope"])],
    ["spec.names.kind", nameIn(spec, "kind"), nameIn(old, "kind")],
    ["spec.group", text(spec["group"]), text(old["group"])],
    ["spec.names.plural", nameIn(spec, "plural"), nameIn(old, "plural")],
  ];
  return fixed
    .filter(([, now, before]) => now !== before)
    .map(([path, now]) => invalid(path, now, "field is immutable"));
}

function nameIn(spec: JsonObject, word: string): string {
  return text(objectAt(spec, "names")[word]);
}
