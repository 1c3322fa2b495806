import { LIMIT, PATH } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";

/** What a ledger says of one reservation; there is more, but nobody here needs it. */
export interface ListedReservation {
  readonly id: string;
  readonly requesterID: string;
  readonly targetClusterID: string;
}

/** All of them, page by page, as an admin sees them. */
export async function listReservations(broker: BrokerProcess): Promise<ListedReservation[]> {
  const found: ListedReservation[] = [];
  for (let after = ""; ; ) {
    const query = new URLSearchParams({ limit: String(LIMIT.pageMax), ...(after === "" ? {} : { after }) });
    const { status, body } = await broker.admin().request("GET", `${PATH.reservations}?${query.toString()}`);
    if (status !== 200 || !Array.isArray(body))
      throw new Error(`the reservations cannot be listed: ${status}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own broker's answer, as its contract says
    const page = body as ListedReservation[];
    found.push(...page.map(({ id, requesterID, targetClusterID }) => ({ id, requesterID, targetClusterID })));
    const last = page.at(-1);
    if (last === undefined || page.length < LIMIT.pageMax) return found;
    after = last.id;
  }
}
