import type { Reservation } from "@resource-broker/contract";
import { objectKey } from "@resource-broker/kube";
import { reservationHappenings } from "../forge/happenings.ts";
import {
  answerStatus,
  isTold,
  refusedStatus,
  type Refused,
  type ReservationStatus,
  surplusIn,
  type Telling,
} from "../forge/reservation-status.ts";
import { decisionText } from "../forge/texts.ts";
import type { NewestObjects } from "../objects/newest-objects.ts";
import type { KubernetesDeps } from "../ports.ts";
import type { ReservationWriter } from "./reservation-writer.ts";

/** Writes statuses. Each call returns whether anything was written. */
export interface Teller {
  readonly telling: () => Telling;
  readonly tell: (object: Reservation, status: ReservationStatus) => Promise<boolean>;
  readonly refuse: (object: Reservation, refused: Refused) => Promise<boolean>;
  /** Writes the status of an object with another intent than Reserve. */
  readonly answer: (object: Reservation, status: ReservationStatus) => Promise<boolean>;
  readonly forget: (key: string) => void;
}

export interface TellerDeps
  extends Pick<KubernetesDeps, "engine" | "store" | "recorder" | "metrics" | "sliceDefaults"> {
  readonly writer: ReservationWriter;
  readonly newest: NewestObjects<Reservation>;
}

export function teller(deps: TellerDeps): Teller {
  const { engine, store, recorder, metrics, writer, newest } = deps;
  /** The last written status per object: a server that drops fields must not cause endless writes. */
  const told = new Map<string, { readonly version: string | undefined; readonly text: string }>();

  const telling = (): Telling => ({
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

  const tellBy = async (
    write: ReservationWriter["tell"],
    object: Reservation,
    status: ReservationStatus,
  ): Promise<boolean> => {
    const key = objectKey(object);
    const text = withoutTimes(status);
    const last = told.get(key);
    if (last?.text === text && last.version === object.metadata.resourceVersion) return false;
    const applied = await write(object, await withDecision(status));
    const surplus = surplusIn(applied, status);
    const written = surplus.length === 0 ? applied : await writer.dropFields(applied, surplus);
    newest.wrote(written);
    told.set(key, { text, version: written.metadata.resourceVersion });
    for (const happening of reservationHappenings(object, status)) recorder.record(happening);
    return true;
  };

  const tell: Teller["tell"] = (object, status) => tellBy(writer.tell, object, status);

  return {
    telling,
    tell,
    refuse: (object, refused) => {
      if (refused.code === "quota-exceeded") metrics?.demandUnmet("quota");
      return tellBy(writer.tellRefusal, object, refusedStatus(refused, telling(), object));
    },
    answer: async (object, status) => {
      const whole = answerStatus(status, telling(), object);
      return !isTold(whole, object) && tell(object, whole);
    },
    forget: (key) => void told.delete(key),
  };
}

function withoutTimes(status: ReservationStatus): string {
  return JSON.stringify(status, (name, value: unknown) =>
    name === "lastUpdateTime" || name === "lastTransitionTime" ? undefined : value,
  );
}
