import { expect, test } from "vitest";
import { FLEET } from "../fleet/fleet-page.tsx";
import { REFUSED, WAITING } from "../requests/request-lists.tsx";
import { RESERVATIONS } from "../reservations/reservations-page.tsx";
import { listPath, readList } from "./list.tsx";

test.each([
  ["all clusters by ID", FLEET, "", "advertisements?sort=id&order=asc&offset=0"],
  [
    "nonsense is left out",
    FLEET,
    "sort=beauty&order=up&state=odd&offset=-7&q=eu west",
    "advertisements?q=eu+west&sort=id&order=asc&offset=0",
  ],
  [
    "a filter, an order and a page",
    FLEET,
    "state=stale&sort=cpu&order=desc&offset=100",
    "advertisements?state=stale&sort=cpu&order=desc&offset=100",
  ],
  ["the newest reservations first", RESERVATIONS, "", "reservations?sort=created&order=desc&offset=0"],
  [
    "a filter that came by a link",
    RESERVATIONS,
    "phase=live&provider=paris",
    "reservations?phase=live&provider=paris&sort=created&order=desc&offset=0",
  ],
  [
    "the queue in its order, of one tenant",
    WAITING,
    "show=waiting&tenant=ml",
    "queue?tenant=ml&sort=position&order=asc&offset=0",
  ],
  ["the last refused first", REFUSED, "show=refused", "refused-requests?sort=last&order=desc&offset=0"],
  ["other orders rise", RESERVATIONS, "sort=cpu&offset=50", "reservations?sort=cpu&order=asc&offset=50"],
])("an address asks for what it says: %s", (_name, spec, search, path) => {
  expect(listPath(spec, readList(spec, new URLSearchParams(search)))).toBe(`/api/v1/${path}&limit=50`);
});
