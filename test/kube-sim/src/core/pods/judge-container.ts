import { compareQuantities, parseQuantity } from "@resource-broker/base";
import type { Cause } from "../../api/definition.ts";
import { duplicate, invalid, required } from "../../crd/causes.ts";
import type { JsonObject } from "../../json.ts";
import { objectAt, objectsAt, scalarText, textAt } from "../look.ts";
import { labelProblem } from "../names.ts";

export interface Pod {
  /** Of the containers judged so far. */
  readonly names: Set<string>;
  readonly volumes: ReadonlySet<string>;
}

export function judgeContainer(container: JsonObject, field: string, pod: Pod): readonly Cause[] {
  return [
    ...judgeName(textAt(container, "name"), `${field}.name`, pod.names),
    ...(textAt(container, "image") === "" ? [required(`${field}.image`)] : []),
    ...judgePorts(container, field),
    ...judgeMounts(container, field, pod.volumes),
    ...judgeResources(objectAt(container, "resources"), `${field}.resources`),
  ];
}

function judgeName(name: string, field: string, names: Set<string>): readonly Cause[] {
  if (name === "") return [];
  const problem = labelProblem(name);
  if (problem !== undefined) return [invalid(field, name, problem)];
  if (names.has(name)) return [duplicate(field, name)];
  names.add(name);
  return [];
}

function judgePorts(container: JsonObject, field: string): readonly Cause[] {
  return objectsAt(container, "ports").flatMap((port, index) => {
    const { containerPort } = port;
    const isGood = typeof containerPort !== "number" || (containerPort >= 0 && containerPort <= 65_535);
    const place = `${field}.ports[${index}].containerPort`;
    return isGood ? [] : [invalid(place, containerPort, "must be between 1 and 65535, inclusive")];
  });
}

function judgeMounts(container: JsonObject, field: string, volumes: ReadonlySet<string>): readonly Cause[] {
  return objectsAt(container, "volumeMounts").flatMap((mount, index): readonly Cause[] => {
    const name = textAt(mount, "name");
    if (name === "" || volumes.has(name)) return [];
    const place = `${field}.volumeMounts[${index}].name`;
    return [{ reason: "FieldValueInvalid", field: place, message: `Not found: ${JSON.stringify(name)}` }];
  });
}

function judgeResources(resources: JsonObject, field: string): readonly Cause[] {
  const limits = objectAt(resources, "limits");
  const requests = objectAt(resources, "requests");
  return [
    ...negative(limits, `${field}.limits`),
    ...negative(requests, `${field}.requests`),
    ...Object.keys(requests).flatMap((name) => overLimit({ requests, limits, name }, field)),
  ];
}

function negative(list: JsonObject, field: string): readonly Cause[] {
  return Object.entries(list).flatMap(([name, value]) => {
    const parsed = parseQuantity(scalarText(value));
    if (!parsed.ok || parsed.quantity.digits >= 0n) return [];
    return [invalid(`${field}[${name}]`, scalarText(value), "must be greater than or equal to 0")];
  });
}

interface Comparison {
  readonly requests: JsonObject;
  readonly limits: JsonObject;
  readonly name: string;
}

function overLimit({ requests, limits, name }: Comparison, field: string): readonly Cause[] {
  if (limits[name] === undefined) return [];
  const request = parseQuantity(scalarText(requests[name]));
  const limit = parseQuantity(scalarText(limits[name]));
  if (!request.ok || !limit.ok || compareQuantities(request.quantity, limit.quantity) <= 0) return [];
  const detail = `must be less than or equal to ${name} limit of ${scalarText(limits[name])}`;
  return [invalid(`${field}.requests`, scalarText(requests[name]), detail)];
}
