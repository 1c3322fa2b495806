import type { HttpClient } from "../http/http-client.ts";
import { type ListPage, readListPage } from "../protobuf/list-page.ts";
import { collectionPath } from "../resource/paths.ts";
import type { Resource } from "../resource/resource.ts";
import type { Target } from "../status/target.ts";
import { type Formats, isProtobuf, isSuccess, PAGE_TIMEOUT_MS, queryOf, refusalOf } from "./caller.ts";
import type { ListEnd, ListQuery } from "./client.ts";
import { readJsonPage } from "./json-page.ts";

const PAGE_SIZE = 500;

export interface Listing<T> {
  readonly resource: Resource<T>;
  readonly query: ListQuery;
  readonly each: (object: T) => void;
}

export interface ListDeps {
  readonly http: HttpClient;
  readonly formats: Formats;
  readonly target: Target;
}

/** Reads a list page by page. `gone`: it took so long that the server has forgotten where it stood. */
export async function listAll<T>(listing: Listing<T>, deps: ListDeps): Promise<ListEnd> {
  let count = 0;
  let page: ListPage | undefined;
  do {
    page = await readPage(listing, page?.continue ?? "", deps);
    count += page.count;
  } while (page.continue !== "");
  return { resourceVersion: page.resourceVersion, count };
}

async function readPage<T>(
  { resource, query, each }: Listing<T>,
  token: string,
  { http, formats, target }: ListDeps,
): Promise<ListPage> {
  const { namespace, labelSelector, fieldSelector, pageSize, resourceVersion, signal } = query;
  const isFirst = token === "";
  const parameters = queryOf({
    limit: pageSize ?? PAGE_SIZE,
    continue: token,
    labelSelector,
    fieldSelector,
    // The token knows its version.
    resourceVersion: isFirst ? resourceVersion : undefined,
  });
  const path = `${collectionPath(resource, namespace)}${parameters}`;
  const reply = await formats.negotiate(resource, (accept) =>
    http.call(
      {
        method: "GET",
        path,
        accept,
        isRepeatable: true,
        timeoutMs: PAGE_TIMEOUT_MS,
        signal,
      },
      Number.POSITIVE_INFINITY,
    ),
  );
  if (!isSuccess(reply)) throw refusalOf(reply, target);
  return isProtobuf(reply) && resource.protobuf !== undefined
    ? readListPage(reply.body, resource.protobuf, each)
    : readJsonPage(reply.body, each);
}
