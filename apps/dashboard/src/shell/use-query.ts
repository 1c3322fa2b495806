import { useCallback } from "react";
import { withQuery } from "../net/query.ts";
import { useAppDeps, useRoute } from "./app-deps.ts";

export type QueryChange = Readonly<Record<string, string | number | null>>;

/** What a list shows stands in the address: it can be sent to somebody, and survives a reload. */
export function useQuery(): {
  readonly query: URLSearchParams;
  readonly change: (change: QueryChange, options?: { readonly replace?: boolean }) => void;
} {
  const { router } = useAppDeps();
  const { query } = useRoute();
  const change = useCallback(
    (changes: QueryChange, options: { readonly replace?: boolean } = {}) => {
      const now = router.route();
      const [path = "/"] = now.href.split("?");
      router.go(withQuery(path, { ...Object.fromEntries(now.query), ...changes }), options);
    },
    [router],
  );
  return { query, change };
}
