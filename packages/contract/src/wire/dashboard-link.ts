import { line, object, oneOf, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { time } from "../schema/terms.ts";

const MAX_URL_LENGTH = 512;
const roleSchema = oneOf("viewer", "admin");

export const dashboardLinkRequestSchema = titled(
  "DashboardLinkRequestDTO",
  object({
    role: optional(roleSchema, "What the browser may do: read everything, or also act. Absent: admin.", {
      examples: ["viewer"],
    }),
  }),
  "Asks for a link that signs one browser in to the dashboard, once.",
);
export type DashboardLinkRequest = Infer<typeof dashboardLinkRequestSchema>;

export const dashboardLinkSchema = titled(
  "DashboardLinkDTO",
  object({
    url: required(
      line({ minLength: 1, maxLength: MAX_URL_LENGTH }),
      "Open it in a browser. The token stands behind `#`, so that no proxy, log or preview ever sees it.",
      { examples: ["http://127.0.0.1:8090/#token=mYq1…"] },
    ),
    role: required(roleSchema, "What the browser may do.", { examples: ["admin"] }),
    expiresAt: required(time(), "Until when it can be opened.", { examples: ["2026-07-01T10:02:00Z"] }),
  }),
  "Signs one browser in to the dashboard, once.",
);
export type DashboardLink = Infer<typeof dashboardLinkSchema>;
