import { PATH } from "@resource-broker/contract";
import type { PlainAnswer, Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** What answers without knowing anything: that the process lives, and how to talk to it. */
export function healthRoutes({ openApi }: Pick<RouteContext, "openApi">): readonly Route[] {
  const alive = (): PlainAnswer => ({
    status: 200,
    text: { type: "text/plain; charset=utf-8", content: "ok" },
  });
  return [
    { method: "GET", path: PATH.health, access: "anyone", handle: alive },
    { method: "HEAD", path: PATH.health, access: "anyone", handle: alive },
    {
      method: "GET",
      path: PATH.openapi,
      access: "cluster",
      handle: () => ({ status: 200, text: { type: "application/json", content: openApi } }),
    },
  ];
}
