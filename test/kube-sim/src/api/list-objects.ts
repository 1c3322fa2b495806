import { selectorOf } from "../selectors/selectors.ts";
import type { Span, Store } from "../store/store.ts";
import type { CollectionTarget, ListQuery, ListResult } from "./cluster-api.ts";
import { type ApiContext, keyOf, resourceOf } from "./registry.ts";
import { present } from "./identity.ts";
import { badRequest, expired, tooLargeVersion } from "./statuses.ts";

const FORGOTTEN_LIST = "The resourceVersion for the provided list is too old.";
const FORGOTTEN_PAGE =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

export function listObjects(context: ApiContext, target: CollectionTarget, query: ListQuery): ListResult {
  const { definition } = target;
  const selector = selectorOf(definition, query);
  const { version, lastKey } = startOf(context, query);
  const span = spanOf(target, selector.name);
  const from = lastKey === undefined || `${lastKey}\0` < span.from ? span.from : `${lastKey}\0`;
  const page = context.store.page(resourceOf(definition), {
    span: { ...span, from },
    at: version,
    limit: query.limit === undefined || query.limit <= 0 ? Number.POSITIVE_INFINITY : query.limit,
    matches: selector.matches,
  });
  return {
    items: page.objects.map((object) => present(definition, object)),
    resourceVersion: String(version),
    ...(page.lastKey === undefined ? {} : { continue: writeToken({ version, lastKey: page.lastKey }) }),
  };
}

interface Start {
  readonly version: number;
  readonly lastKey?: string;
}

function startOf({ store }: ApiContext, query: ListQuery): Start {
  const asked = readVersion(query.resourceVersion ?? "");
  const { continue: token = "" } = query;
  if (token !== "") {
    if (asked > 0) throw badRequest("specifying resource version is not allowed when using continue");
    return nextOf(store, readToken(token));
  }
  if (asked > store.version()) throw tooLargeVersion(asked, store.version());
  // A limit with a version means exactly that one; without, one that is at least as new.
  const isExact = asked > 0 && (query.limit ?? 0) > 0;
  if (!isExact) return { version: store.version() };
  if (asked < store.oldest()) throw expired(FORGOTTEN_LIST);
  return { version: asked };
}

function nextOf(store: Store, { version, lastKey }: ContinueToken): Start {
  if (version > store.version()) throw tooLargeVersion(version, store.version());
  if (version === NEWEST) return { version: store.version(), lastKey };
  if (version >= store.oldest()) return { version, lastKey };
  throw expired(FORGOTTEN_PAGE, writeToken({ version: NEWEST, lastKey }));
}

/** Where a paged list goes on. */
interface ContinueToken {
  readonly version: number;
  readonly lastKey: string;
}

/** The version of a token whose first page is forgotten: it reads on at whatever is newest. */
const NEWEST = -1;

function writeToken({ version, lastKey }: ContinueToken): string {
  return Buffer.from(JSON.stringify([version, lastKey])).toString("base64url");
}

function readToken(text: string): ContinueToken {
  const [, version, lastKey] = /^\[(-?\d+),"(.+)"\]$/u.exec(Buffer.from(text, "base64url").toString()) ?? [];
  if (version === undefined || lastKey === undefined)
    throw badRequest("continue key is not valid: it was not made by this server");
  return { version: Number(version), lastKey };
}

/** 0 for a version that is left open. */
export function readVersion(text: string): number {
  if (text === "") return 0;
  const version = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(version)) return version;
  throw badRequest(
    `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

/** The keys that can hold an answer: one namespace's keys lie together. */
export function spanOf({ definition, namespace }: CollectionTarget, name?: string): Span {
  const space = definition.isNamespaced ? (namespace ?? "") : "";
  if (name !== undefined && (space !== "" || !definition.isNamespaced)) {
    const key = keyOf(space, name);
    return { from: key, before: `${key}\0` };
  }
  // The sign after the slash is the zero.
  return space === "" ? { from: "" } : { from: `${space}/`, before: `${space}0` };
}
