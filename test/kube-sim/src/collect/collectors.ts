import type { Clock } from "@resource-broker/base";
import type { ApiContext } from "../api/context.ts";
import { emptyKinds } from "./empty-kinds.ts";
import { emptyNamespaces } from "./empty-namespaces.ts";
import { garbageCollector } from "./garbage-collector.ts";

/** What a real cluster's controllers clean up: dependents, namespaces and kinds that go. */
export function startCollectors(context: ApiContext, clock: Clock): () => void {
  const stops = [garbageCollector, emptyNamespaces, emptyKinds].map((start) => start(context, clock));
  return () => {
    for (const stop of stops) stop();
  };
}
