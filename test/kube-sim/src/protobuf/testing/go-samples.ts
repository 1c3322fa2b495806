import { readFileSync } from "node:fs";
import type { JsonObject } from "../../json.ts";
import type { ListMeta, ProtobufKind } from "../encode.ts";

interface Sample<T> {
  readonly json: T;
  readonly protobuf: Uint8Array;
}

interface ObjectSample extends Sample<JsonObject> {
  readonly name: string;
  readonly kind: ProtobufKind;
}

/** Objects in both of the encodings of Kubernetes' Go code, written down by tools/protobuf-tables. */
export interface GoSamples {
  /** Bare messages. */
  readonly objects: readonly ObjectSample[];
  /** The rest as it travels. */
  readonly podList: Sample<{ readonly metadata: ListMeta; readonly items: readonly JsonObject[] }>;
  readonly status: Sample<JsonObject>;
  readonly watch: {
    readonly events: readonly {
      readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
      readonly object: JsonObject;
    }[];
    readonly protobuf: Uint8Array;
  };
}

export function goSamples(): GoSamples {
  const text = readFileSync(new URL("./go-samples.json", import.meta.url), "utf8");
  const fromBase64 = (name: string, value: unknown): unknown =>
    name === "protobuf" && typeof value === "string" ? Buffer.from(value, "base64") : value;
  return JSON.parse(text, fromBase64) as GoSamples;
}
