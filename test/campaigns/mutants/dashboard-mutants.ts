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
];
