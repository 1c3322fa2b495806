import type { ReservationDTO } from "@resource-broker/contract";
import type { Host } from "../cli/host.ts";
import { stylerFor } from "../output/colour.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { table } from "../output/table.ts";
import { reservationColumns, wideReservationColumns } from "./reservation-columns.ts";

interface Printer {
  /** The broker's time. */
  readonly at: number;
  readonly output: OutputFormat;
  readonly host: Host;
}

/** What a command has made of a reservation: one line, as in the list. */
export function printReservation(reservation: ReservationDTO, { at, output, host }: Printer): void {
  const styled = stylerFor(host);
  print(
    {
      data: reservation,
      table: () => table(reservationColumns(at, styled), [reservation]),
      wide: () => table(wideReservationColumns(at, styled), [reservation]),
      names: () => [reservation.id],
    },
    output,
    host,
  );
}
