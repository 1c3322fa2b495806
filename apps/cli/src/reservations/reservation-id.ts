import { CommandError } from "../cli/exit-code.ts";

/** `reservation/<id>` or just the id. */
export function reservationIdIn(word: string): string {
  const [, kind, id] = /^([a-z]+)\/(.+)$/u.exec(word) ?? [];
  if (kind === undefined || id === undefined) return word;
  if (["reservation", "reservations", "rsv"].includes(kind)) return id;
  throw new CommandError("usage", `${JSON.stringify(word)} is no reservation; write reservation/<id>`);
}
