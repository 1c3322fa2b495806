import type { Answer } from "../../http/route.ts";
import { signedIn, type UiCall, type UiRoute } from "../route.ts";
import type { UiContext } from "./context.ts";

/** What happens, as it happens. */
export function eventRoutes({ hub }: UiContext): readonly UiRoute[] {
  const listen = (call: UiCall): Answer => {
    const session = signedIn(call);
    const stated = call.headers["last-event-id"] ?? call.parameters.get("after") ?? undefined;
    const lastEventId = stated === undefined ? undefined : String(stated);
    return {
      stream: hub.open({ lastEventId, sessionId: session.id, isAllowed: () => session.leftMs() > 0 }),
    };
  };
  return [{ method: "GET", path: "/ui/events", access: "viewer", handle: listen }];
}
