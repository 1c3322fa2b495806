import type { Cause } from "../../api/definition.ts";
import { duplicate, forbidden, invalid } from "../../crd/causes.ts";
import { sameJson } from "../../crd/same-json.ts";
import type { JsonObject } from "../../json.ts";
import { isList, objectAt, objectsAt, textAt, valueAt } from "../look.ts";
import { judgeContainer } from "./judge-container.ts";

const UPDATES =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
  "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export function judgePod(object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  return [...judgeNew(object), ...(old === undefined ? [] : judgeChange(object, old))];
}

/** The one write that may name the node: `pods/<name>/binding`, and whoever acts for it. */
export function judgeBinding(object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  const unbound = old === undefined ? undefined : withNode(old, textAt(object, "spec.nodeName"));
  return judgePod(object, unbound);
}

function withNode(pod: JsonObject, nodeName: string): JsonObject {
  return { ...pod, spec: { ...objectAt(pod, "spec"), nodeName } };
}

function judgeNew(object: JsonObject): readonly Cause[] {
  const spec = objectAt(object, "spec");
  const volumes = objectsAt(spec, "volumes").map((volume) => textAt(volume, "name"));
  const known = new Set(volumes);
  const names = new Set<string>();
  const containers = ["initContainers", "containers"].flatMap((list) =>
    objectsAt(spec, list).flatMap((container, index) =>
      judgeContainer(container, `spec.${list}[${index}]`, { names, volumes: known }),
    ),
  );
  return [...containers, ...repeated(volumes, "spec.volumes"), ...judgeTolerations(spec)];
}

function repeated(names: readonly string[], list: string): readonly Cause[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [duplicate(`${list}[${index}].name`, name)] : [],
  );
}

function judgeTolerations(spec: JsonObject): readonly Cause[] {
  return objectsAt(spec, "tolerations").flatMap((toleration, index) => {
    const field = `spec.tolerations[${index}]`;
    const operator = textAt(toleration, "operator");
    if (textAt(toleration, "key") === "" && operator !== "Exists")
      return [
        invalid(
          `${field}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      ];
    if (operator === "Exists" && textAt(toleration, "value") !== "")
      return [invalid(`${field}.operator`, operator, "value must be empty when `operator` is 'Exists'")];
    return [];
  });
}

function judgeChange(object: JsonObject, old: JsonObject): readonly Cause[] {
  const kept = fixedPart(object, old);
  if (!sameJson(kept, fixedPart(old, old))) return [forbidden("spec", UPDATES)];
  const before = valueAt(old, "spec.tolerations");
  const after = valueAt(object, "spec.tolerations");
  const isKept =
    !isList(before) || (isList(after) && before.every((one) => after.some((other) => sameJson(one, other))));
  return isKept
    ? []
    : [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

/** The spec without what may change. */
function fixedPart(pod: JsonObject, old: JsonObject): JsonObject {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    ephemeralContainers: _ephemeral,
    schedulingGates,
    terminationGracePeriodSeconds,
    ...spec
  } = objectAt(pod, "spec");
  const isRescued =
    terminationGracePeriodSeconds === 1 && Number(valueAt(old, "spec.terminationGracePeriodSeconds")) < 0;
  return {
    ...spec,
    containers: withoutImages(spec, "containers"),
    initContainers: withoutImages(spec, "initContainers"),
    terminationGracePeriodSeconds: isRescued
      ? valueAt(old, "spec.terminationGracePeriodSeconds")
      : terminationGracePeriodSeconds,
    newGates: newGates(schedulingGates, old),
  };
}

/** Gates can be taken away, never added. */
function newGates(gates: JsonObject[string], old: JsonObject): readonly string[] {
  const before = new Set(objectsAt(old, "spec.schedulingGates").map((gate) => textAt(gate, "name")));
  const names = objectsAt({ gates }, "gates").map((gate) => textAt(gate, "name"));
  return names.filter((name) => !before.has(name));
}

function withoutImages(spec: JsonObject, list: string): readonly JsonObject[] {
  return objectsAt(spec, list).map(({ image: _image, imagePullPolicy: _policy, ...rest }) => rest);
}
