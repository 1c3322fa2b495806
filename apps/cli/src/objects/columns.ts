import { parseTime } from "@resource-broker/base";
import type { SomeQuantitiesDTO } from "@resource-broker/contract";
import { age } from "../output/age.ts";
import { one } from "../output/amounts.ts";
import type { Column } from "../output/table.ts";
import type { AnyObject } from "./kinds.ts";
import type { ObjectState } from "./print-objects.ts";

/** What is asked for or held, as the flat kinds state it. */
interface Requested {
  readonly requestedCPU: string;
  readonly requestedMemory: string;
  readonly requestedGPU?: string | undefined;
  readonly requestedStorage?: string | undefined;
}

export function nameColumn<T extends AnyObject>(): Column<ObjectState<T>> {
  return { title: "NAME", value: ({ object }) => object.metadata.name };
}

export function ageColumn<T extends AnyObject>(now: number): Column<ObjectState<T>> {
  return { title: "AGE", value: ({ object: { metadata } }) => agoOf(metadata.creationTimestamp, now) };
}

export function requestedColumns<T extends AnyObject & { readonly spec: Requested }>(): Column<
  ObjectState<T>
>[] {
  return [
    { title: "CPU", value: ({ object }) => one("cpu", quantitiesOf(object.spec)) },
    { title: "MEMORY", value: ({ object }) => one("memory", quantitiesOf(object.spec)) },
    { title: "GPU", value: ({ object }) => one("gpu", quantitiesOf(object.spec)) },
  ];
}

/** A person may have written a number where a quantity stands: the API server takes both. */
export function quantitiesOf(
  spec: Requested & { readonly extended?: SomeQuantitiesDTO["extended"] },
): SomeQuantitiesDTO {
  const { requestedCPU, requestedMemory, requestedGPU = "0", requestedStorage = "0", extended = {} } = spec;
  return {
    cpu: String(requestedCPU),
    memory: String(requestedMemory),
    gpu: String(requestedGPU),
    storage: String(requestedStorage),
    extended: Object.fromEntries(Object.entries(extended).map(([name, count]) => [name, String(count)])),
  };
}

/** `4m`, or a dash for an unknown time. */
export function agoOf(time: string | undefined, now: number): string {
  const at = time === undefined ? undefined : parseTime(time);
  return at === undefined ? "-" : age(now - at);
}

/** `in 29m`, `over`, or `never`. */
export function expiryOf(time: string | undefined, now: number): string {
  const at = time === undefined ? undefined : parseTime(time);
  if (at === undefined) return "never";
  return at <= now ? "over" : `in ${age(at - now)}`;
}
