import { Fault } from "@resource-broker/base";
import { nextPage } from "@resource-broker/client";
import {
  LIMIT,
  PATH,
  type ReservationDTO,
  reservationListSchema,
  reservationSchema,
} from "@resource-broker/contract";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Answer, Broker } from "../connection/broker.ts";
import { checkEnds } from "../connection/check-ends.ts";

export interface Reservations {
  readonly items: readonly ReservationDTO[];
  /** The broker's time. */
  readonly at: number;
}

/** An admin's: all of them; a cluster's: those it is party to. */
export async function listReservations(broker: Broker): Promise<Reservations> {
  const items: ReservationDTO[] = [];
  let path: string | undefined = `${PATH.reservations}?limit=${LIMIT.pageMax}`;
  let at = 0;
  while (path !== undefined) {
    const page: Answer<readonly ReservationDTO[]> = await broker.request(
      { method: "GET", path },
      reservationListSchema,
    );
    items.push(...page.value);
    ({ at } = page);
    const next = nextPage(page.headers, PATH.reservations);
    checkEnds(items.length, next !== path);
    path = next;
  }
  return { items, at };
}

export async function readReservation(broker: Broker, id: string): Promise<Answer<ReservationDTO>> {
  return withHint(broker, id, () =>
    broker.request({ method: "GET", path: PATH.reservation(id) }, reservationSchema),
  );
}

/** A reservation that is not there may be one that was misspelt. */
export async function withHint<T>(broker: Broker, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found")
      throw await unknownReservation(broker, id, error);
    throw error;
  }
}

async function unknownReservation(broker: Broker, id: string, cause: Fault): Promise<CommandError> {
  const { items } = await listReservations(broker).catch(() => ({ items: [] }));
  const hint = await didYouMean(
    id,
    items.map((item) => item.id),
  );
  const { name, isAdmin } = broker.credentials;
  const whose = isAdmin ? "here" : `that ${name} is party to`;
  const more =
    hint === "" ? ". Ended ones are kept for a day; brokerctl get reservations --all lists them" : hint;
  return new CommandError("error", `there is no reservation ${JSON.stringify(id)} ${whose}${more}`, {
    cause,
  });
}
