import { PATH } from "@resource-broker/contract";
import type { PlainAnswer, Route } from "../route.ts";
import type { RouteContext } from "./context.ts";

/** Routes that need no ledger: health and the OpenAPI document. */
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
