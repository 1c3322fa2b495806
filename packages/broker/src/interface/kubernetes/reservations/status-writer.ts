import type { Reservation } from "@resource-broker/contract/crd";
import { objectKey } from "@resource-broker/kube";
import { reservationEvents } from "../builders/events.ts";
import {
  answerStatus,
  foreignFields,
  isStatusCurrent,
  type Refusal,
  type ReservationStatus,
  refusedStatus,
  type StatusContext,
} from "../builders/reservation-status.ts";
import { decisionText } from "../builders/texts.ts";
import type { AssumeCache } from "../objects/assume-cache.ts";
import type { KubernetesDeps } from "../ports.ts";
import type { ReservationWriter } from "./reservation-writer.ts";

/** Writes statuses. Each call returns whether anything was written. */
export interface StatusWriter {
  readonly context: () => StatusContext;
  readonly write: (object: Reservation, status: ReservationStatus) => Promise<boolean>;
  readonly refuse: (object: Reservation, refused: Refusal) => Promise<boolean>;
  /** Writes the status of an object with another intent than Reserve. */
  readonly answer: (object: Reservation, status: ReservationStatus) => Promise<boolean>;
  readonly forget: (key: string) => void;
}

export interface StatusWriterDeps
  extends Pick<KubernetesDeps, "engine" | "store" | "recorder" | "metrics" | "sliceDefaults"> {
  readonly writer: ReservationWriter;
  readonly cache: AssumeCache<Reservation>;
}

export function statusWriter(deps: StatusWriterDeps): StatusWriter {
  const { engine, store, recorder, metrics, writer, cache } = deps;
  /** The last written status per object: a server that drops fields must not cause endless writes. */
  const lastWritten = new Map<string, { readonly version: string | undefined; readonly text: string }>();

  const context = (): StatusContext => ({
    ledger: engine.ledger,
    sliceDefaults: deps.sliceDefaults(),
    ledgerId: engine.ledgerId,
    now: engine.now(),
  });

  const withDecision = async (status: ReservationStatus): Promise<ReservationStatus> => {
    if (status.decisionID === undefined) return status;
    const decision = await store.findDecision(status.decisionID);
    if (decision === undefined) return status;
    return { ...status, ...decisionText(decision, engine.policy.disclosure) };
  };

  const writeBy = async (
    write: ReservationWriter["writeStatus"],
    object: Reservation,
    status: ReservationStatus,
  ): Promise<boolean> => {
    const key = objectKey(object);
    const text = withoutTimes(status);
    const last = lastWritten.get(key);
    if (last?.text === text && last.version === object.metadata.resourceVersion) return false;
    const applied = await write(object, await withDecision(status));
    const surplus = foreignFields(applied, status);
    const written = surplus.length === 0 ? applied : await writer.dropFields(applied, surplus);
    cache.assume(written);
    lastWritten.set(key, { text, version: written.metadata.resourceVersion });
    for (const event of reservationEvents(object, status)) recorder.record(event);
    return true;
  };

  const write: StatusWriter["write"] = (object, status) => writeBy(writer.writeStatus, object, status);

  return {
    context,
    write,
    refuse: (object, refused) => {
      if (refused.code === "quota-exceeded") metrics?.demandUnmet("quota");
      return writeBy(writer.writeRefusal, object, refusedStatus(refused, context(), object));
    },
    answer: async (object, status) => {
      const whole = answerStatus(status, context(), object);
      return !isStatusCurrent(whole, object) && write(object, whole);
    },
    forget: (key) => void lastWritten.delete(key),
  };
}

function withoutTimes(status: ReservationStatus): string {
  return JSON.stringify(status, (name, value: unknown) =>
    name === "lastUpdateTime" || name === "lastTransitionTime" ? undefined : value,
  );
}
