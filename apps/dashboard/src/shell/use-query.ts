import { useCallback } from "react";
import { withQuery } from "../net/query.ts";
import { useAppDeps, useRoute } from "./app-deps.ts";

export type QueryChange = Readonly<Record<string, string | number | null>>;

/** The state of a list is in the address: the address can be shared, and a reload keeps it. */
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
