import { Fault } from "@resource-broker/contract";

/** An object with as much of its metadata as names it. */
export interface Named {
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

/** `namespace/name`, or `name` for objects of no namespace. */
export function objectKey({ metadata }: Named): string {
  if (metadata?.name === undefined) throw new Fault("malformed", "an object came without metadata.name");
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
