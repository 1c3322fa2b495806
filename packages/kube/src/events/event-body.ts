import { safeText } from "@resource-broker/base";
import type { ClusterEvent, ObjectReference } from "../resource/resources.ts";

export interface EventInput {
  readonly regarding: ObjectReference & { readonly name: string };
  readonly type: "Normal" | "Warning";
  /** One word, in UpperCamelCase: why. */
  readonly reason: string;
  readonly message: string;
}

export interface EventBodyOptions {
  readonly input: EventInput;
  readonly name: string;
  readonly component: string;
  readonly instance: string;
  readonly wallMs: number;
  readonly count: number;
}

/** What the API server takes of a message, in bytes. */
const MAX_MESSAGE_BYTES = 1024;
const MAX_NAME_LENGTH = 253;
const HEX_LENGTH = 16;

export function eventBody({
  input,
  name,
  component,
  instance,
  wallMs,
  count,
}: EventBodyOptions): ClusterEvent {
  const { regarding, type, reason, message } = input;
  const time = eventTime(wallMs);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: eventNamespace(regarding) },
    involvedObject: regarding,
    type,
    reason,
    message: truncateMessage(safeText(message)),
    count,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
  };
}

/** Events about objects of no namespace are kept in `default`: Kubernetes allows no other place. */
export function eventNamespace({ namespace }: ObjectReference): string {
  return namespace === undefined || namespace === "" ? "default" : namespace;
}

/** Whole seconds: the server's Time knows no fractions. */
export function eventTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z");
}

/** `<object>.<hex>`; not every object's name is one that an event may have. */
export function eventName(objectName: string, random: () => number): string {
  const base = objectName
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, "-")
    .slice(0, MAX_NAME_LENGTH - HEX_LENGTH - 1)
    .replace(/[.-]+$/, "");
  return `${base}.${hex(random)}${hex(random)}`;
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(HEX_LENGTH / 2, "0");
}

function truncateMessage(message: string): string {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const room = new Uint8Array(MAX_MESSAGE_BYTES - Buffer.byteLength("…"));
  // Whole characters only: half a character would be refused, and the event with it.
  const { read } = new TextEncoder().encodeInto(message, room);
  return `${message.slice(0, read)}…`;
}
