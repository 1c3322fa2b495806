import { Fault, formatTime } from "@resource-broker/base";
import { type UiSession, uiSignInSchema } from "@resource-broker/contract/dashboard";
import { type Answer, ok, type PlainAnswer } from "../../http/route.ts";
import { checked } from "../../shared/checked.ts";
import { signedIn, type UiCall, type UiRoute } from "../route.ts";
import type { Session } from "../session/sessions.ts";
import type { UiContext } from "./context.ts";

const PATH = "/ui/session";
const NO_CONTENT = 204;

/** Signing in by a link, once; and out. */
export function sessionRoutes(context: UiContext): readonly UiRoute[] {
  const { engine, links, sessions, cookie, about, log } = context;

  const view = (session: Session, host: string): UiSession => ({
    role: session.role,
    name: session.name,
    by: session.by,
    expiresAt: formatTime(engine.now() + session.leftMs()),
    ledgerID: engine.ledgerId,
    version: about.version,
    currency: engine.policy.prices.currency,
    apiURL: about.apiURL(host),
    objectsNamespace: about.objectsNamespace,
    now: formatTime(engine.now()),
  });

  const signIn = async ({ body, host, token: former }: UiCall): Promise<PlainAnswer> => {
    const { token } = checked(uiSignInSchema, body ?? {});
    const link = links.redeem(token);
    const opened = link === undefined ? undefined : sessions.open(link);
    // The session is invalid if the admin's certificate is no longer valid.
    if (opened === undefined || opened.session.leftMs() === 0) {
      const message = "this link was used already, or is too old: make a new one with brokerctl dashboard";
      throw new Fault("no-certificate", message);
    }
    // A cookie from before must not live on beside the new one.
    if (former !== undefined) await sessions.end(former);
    const { session } = opened;
    log.info({ name: session.name, role: session.role }, "a browser signed in to the dashboard");
    const set = cookie.set(opened.token, session.leftMs());
    return { ...ok(view(session, host)), headers: ["Set-Cookie", set] };
  };

  const signOut = async ({ token }: UiCall): Promise<PlainAnswer> => {
    if (token !== undefined) await sessions.end(token);
    return { status: NO_CONTENT, headers: ["Set-Cookie", cookie.clear()] };
  };

  return [
    { method: "POST", path: PATH, access: "anyone", handle: signIn },
    { method: "GET", path: PATH, access: "viewer", handle: (call) => ok(view(signedIn(call), call.host)) },
    { method: "DELETE", path: PATH, access: "anyone", handle: signOut },
  ];
}

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
