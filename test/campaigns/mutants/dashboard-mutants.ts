import { type Mutant, testFile } from "./mutant.ts";

const HTTP = "packages/broker/src/interface/http";
const DASHBOARD = "packages/broker/src/interface/dashboard";
const INSIGHT = "packages/broker/src/interface/insight";

/** What people see and may do in a browser. */
export const DASHBOARD_MUTANTS: readonly Mutant[] = [
  {
    name: "lets a viewer change something",
    file: `${HTTP}/authorize.ts`,
    find: 'if (session?.role === "viewer" && method !== "GET"',
    replace: 'if (session?.role === "viewer" && method === "HEAD"',
    caughtBy: testFile(`${DASHBOARD}/session.test.ts`),
  },
  {
    name: "takes a session whose sign-out it remembers",
    file: `${DASHBOARD}/session/sessions.ts`,
    find: " || signOuts.has(claims);",
    replace: ";",
    caughtBy: testFile(`${DASHBOARD}/session-restart.test.ts`),
  },
  {
    name: "shows a cluster the reservations of others in a sorted list",
    file: `${HTTP}/routes/reservation-lists.ts`,
    find: "(each) => isVisible(caller, each)",
    replace: "() => true",
    caughtBy: testFile(`${INSIGHT}/insight.test.ts`),
  },
  {
    name: "forgets the moments it has just heard of",
    file: `${INSIGHT}/audit/acknowledgement-times.ts`,
    find: "      times.delete(oldest);",
    replace: "      times.clear();",
    caughtBy: testFile(`${INSIGHT}/audit/acknowledgement-times.test.ts`),
  },
  {
    name: "keeps the oldest decisions of many",
    file: `${INSIGHT}/recent-decisions.ts`,
    find: "rows = rows.slice(-MAX_ROWS);",
    replace: "rows = rows.slice(0, MAX_ROWS);",
    caughtBy: testFile(`${INSIGHT}/recent-decisions.test.ts`),
  },
  {
    name: "forgets the history of living clusters to make room",
    file: `${INSIGHT}/history/capacity-history.ts`,
    find: "newestAt < now - lengthMs(WINDOWS.week)",
    replace: "newestAt < now",
    caughtBy: testFile(`${INSIGHT}/history/capacity-history.test.ts`),
  },
  {
    name: "counts each retry of a refused request as demand",
    file: `${INSIGHT}/demand.ts`,
    find: "return known === undefined;",
    replace: "return true;",
    caughtBy: testFile(`${INSIGHT}/demand.test.ts`),
  },
  {
    name: "counts requests of others in a cluster's queue",
    file: `${INSIGHT}/queue-list.ts`,
    find: "isWaitingVisible(reader, each) && ",
    replace: "",
    caughtBy: testFile(`${HTTP}/routes/queue.test.ts`),
  },
  {
    name: "shows the start of the queue where its end was asked for",
    file: `${INSIGHT}/queue-list.ts`,
    find: "isDescending ? ids.size - offset - limit : offset",
    replace: "offset",
    caughtBy: testFile(`${HTTP}/routes/queue.test.ts`),
  },
  {
    name: "counts a reservation under notice down to its expiry",
    file: "apps/dashboard/src/reservations/reservation-view.ts",
    find: "[preempting?.at, status.expiresAt]",
    replace: "[status.expiresAt]",
    caughtBy: testFile("apps/dashboard/src/reservations/reservations.test.ts"),
  },
  {
    name: "shows an exceeded quota as one that is used up",
    file: "apps/dashboard/src/requests/request-view.ts",
    find: "const isOver = share > 1;",
    replace: "const isOver = false;",
    caughtBy: testFile("apps/dashboard/src/requests/requests.test.ts"),
  },
];
