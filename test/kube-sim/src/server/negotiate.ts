import { notAcceptable } from "../api/statuses.ts";

/** How an answer is written. */
export interface Format {
  readonly encoding: "json" | "yaml" | "protobuf";
  readonly shape: "whole" | "table" | "metadata";
}

const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

export const CONTENT_TYPES = { json: JSON_TYPE, yaml: YAML_TYPE, protobuf: PROTOBUF_TYPE } as const;

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly weight: number;
}

export interface Offer {
  /** True for the kinds that have a protobuf encoding here. */
  readonly hasProtobuf: boolean;
}

/** The first of the caller's wishes that can be met; a wish for everything is met with JSON. */
export function negotiate(accept: string | undefined, offer: Offer): Format {
  if (accept === undefined || accept === "") return { encoding: "json", shape: "whole" };
  for (const clause of clausesOf(accept)) {
    const format = formatOf(clause, offer);
    if (format !== undefined) return format;
  }
  throw notAcceptable(offer.hasProtobuf ? [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE] : [JSON_TYPE, YAML_TYPE]);
}

function clausesOf(accept: string): readonly Clause[] {
  const clauses = accept.split(",").map((text): Clause => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map(
      rest.map((part): [string, string] => {
        const [name = "", value = ""] = part.split("=");
        return [name.trim(), value.trim()];
      }),
    );
    return { type: type.toLowerCase(), parameters, weight: Number(parameters.get("q") ?? 1) };
  });
  return clauses.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
}

function formatOf({ type, parameters }: Clause, { hasProtobuf }: Offer): Format | undefined {
  const encoding = encodingOf(type, hasProtobuf);
  const shape = shapeOf(parameters);
  if (encoding === undefined || shape === undefined) return undefined;
  return encoding === "protobuf" && shape !== "whole" ? undefined : { encoding, shape };
}

function encodingOf(type: string, hasProtobuf: boolean): Format["encoding"] | undefined {
  switch (type) {
    case JSON_TYPE:
    case "application/*":
    case "*/*":
      return "json";
    case YAML_TYPE:
      return "yaml";
    case PROTOBUF_TYPE:
      return hasProtobuf ? "protobuf" : undefined;
    default:
      return undefined;
  }
}

function shapeOf(parameters: ReadonlyMap<string, string>): Format["shape"] | undefined {
  const as = parameters.get("as");
  if (as === undefined) return "whole";
  if (parameters.get("g") !== "meta.k8s.io" || parameters.get("v") !== "v1") return undefined;
  if (as === "Table") return "table";
  return as === "PartialObjectMetadata" || as === "PartialObjectMetadataList" ? "metadata" : undefined;
}
