import { readFileSync } from "node:fs";

interface Sample {
  readonly json: object;
  readonly protobuf: Buffer;
}

/** Objects in both of the encodings of Kubernetes' Go code, written down by tools/protobuf-tables. */
export interface GoSamples {
  /** Bare messages. */
  readonly objects: readonly (Sample & { readonly name: string; readonly kind: "Pod" | "Node" })[];
  /** The rest as it travels. */
  readonly podList: Sample & { readonly json: { readonly items: readonly object[] } };
  readonly status: Sample;
  readonly watch: {
    readonly events: readonly { readonly type: string; readonly object: object }[];
    readonly protobuf: Buffer;
  };
}

export function goSamples(): GoSamples {
  const text = readFileSync(new URL("./go-samples.json", import.meta.url), "utf8");
  const fromBase64 = (name: string, value: unknown): unknown =>
    name === "protobuf" && typeof value === "string" ? Buffer.from(value, "base64") : value;
  return JSON.parse(text, fromBase64) as GoSamples;
}
