import { truncate } from "@resource-broker/base";
import { isRecord } from "../config/entry.ts";
import { type ProtobufStatus, readStatus } from "../protobuf/status.ts";

/** The Status object of a refusal. */
export type KubernetesStatus = ProtobufStatus;

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MAX_TEXT_LENGTH = 500;

export interface RefusalBody {
  /** Content-Type. */
  readonly type: string;
  readonly body: Uint8Array;
}

/** Reads the body of a refusal. Proxies and old servers send text or HTML instead: then the text is the message. */
export function statusOf({ type, body }: RefusalBody): KubernetesStatus {
  if (type.startsWith(PROTOBUF)) return protobufStatus(body);
  const text = Buffer.from(body).toString("utf8");
  return toStatus(parseJson(text)) ?? { message: type.includes("html") ? "" : oneLine(text) };
}

/** Undefined for what is no Status. */
export function toStatus(value: unknown): KubernetesStatus | undefined {
  if (!isRecord(value) || value["kind"] !== "Status") return undefined;
  const { message, reason, code, details } = value;
  return {
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof code === "number" ? { code } : {}),
    ...(isRecord(details) ? { details: toDetails(details) } : {}),
  };
}

type Details = NonNullable<KubernetesStatus["details"]>;

function toDetails({ causes }: Readonly<Record<string, unknown>>): Details {
  const list: readonly unknown[] = Array.isArray(causes) ? causes : [];
  return {
    causes: list.filter(isRecord).map(({ reason, message, field }) => ({
      ...(typeof reason === "string" ? { reason } : {}),
      ...(typeof message === "string" ? { message } : {}),
      ...(typeof field === "string" ? { field } : {}),
    })),
  };
}

function protobufStatus(body: Uint8Array): KubernetesStatus {
  try {
    return readStatus(body);
  } catch {
    return {};
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  return truncate(text.replace(/\s+/gu, " ").trim(), MAX_TEXT_LENGTH);
}
