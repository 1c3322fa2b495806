import { StoreFailure } from "../store.ts";
import type { Session } from "./session.ts";

/** Arrays of several columns at once, upserts, identity columns, a limit for silent transactions. */
const OLDEST = { number: 120_000, name: "12" };

/** A server that cannot serve is refused; returns what is worth a warning. */
export async function checkServer(session: Pick<Session, "send">): Promise<string[]> {
  const { rows } = await session.send({
    text: `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      current_setting('transaction_read_only') AS read_only, current_setting('fsync', true) AS fsync`,
  });
  const { number, version, read_only: readOnly, fsync } = { ...rows[0] };
  if (Number(number) < OLDEST.number) {
    const message = `the server is PostgreSQL ${String(version)}; ${OLDEST.name} or newer is needed`;
    throw new StoreFailure("not-committed", message);
  }
  if (readOnly === "on") {
    const message = "the database cannot be written; connect to the primary, not to a standby";
    throw new StoreFailure("not-committed", message);
  }
  return fsync === "off"
    ? ["the database runs with fsync = off: acknowledged reservations can be lost when its machine fails"]
    : [];
}
