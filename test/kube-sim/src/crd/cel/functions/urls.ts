import { BOOL, listOf, mapOf, STRING, URL_TYPE } from "../types.ts";
import { failure, listValue, type MapKey, type UrlParts, type Value } from "../values.ts";
import { fn, method, type Overload, taggedArg, textArg } from "./overload.ts";

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s;
const AUTHORITY = /^\/\/([^/?#]*)(.*)$/s;
const HOST = /^(?:(\[[^\]]*\])|([^:]*))(?::(\d*))?$/;
// oxlint-disable-next-line no-control-regex -- control characters are what makes a URL wrong
const CONTROL = /[\u0000-\u001f\u007f]/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

export const URLS: readonly Overload[] = [
  fn("url", [STRING], [URL_TYPE, ([text]) => read(textArg(text))]),
  fn("isURL", [STRING], [BOOL, ([text]) => parseUrl(textArg(text)) !== undefined]),
  method("getScheme", [URL_TYPE], [STRING, ([url]) => urlArg(url).scheme]),
  method("getHost", [URL_TYPE], [STRING, ([url]) => urlArg(url).host]),
  method("getHostname", [URL_TYPE], [STRING, ([url]) => urlArg(url).hostname]),
  method("getPort", [URL_TYPE], [STRING, ([url]) => urlArg(url).port]),
  method("getEscapedPath", [URL_TYPE], [STRING, ([url]) => urlArg(url).escapedPath]),
  method(
    "getQuery",
    [URL_TYPE],
    [mapOf(STRING, listOf(STRING)), ([url]) => ({ kind: "map", entries: queryEntries(urlArg(url)) })],
  ),
];

/** What Go's `ParseRequestURI` takes: an absolute URL, or a path that begins with a slash. */
export function parseUrl(text: string): UrlParts | undefined {
  if (text === "" || CONTROL.test(text)) return undefined;
  const scheme = SCHEME.exec(text);
  if (scheme !== null) return parseAfterScheme(scheme[1] ?? "", scheme[2] ?? "");
  return text.startsWith("/") ? parts({ scheme: "", authority: "", rest: text }) : undefined;
}

function parseAfterScheme(scheme: string, rest: string): UrlParts | undefined {
  if (rest === "") return undefined;
  // `mailto:x` is opaque, and fine.
  if (!rest.startsWith("/")) return parts({ scheme, authority: "", rest: "" });
  const [, authority = "", path = rest] = AUTHORITY.exec(rest) ?? [];
  return parts({ scheme, authority, rest: path });
}

function parts(found: { scheme: string; authority: string; rest: string }): UrlParts | undefined {
  const host = found.authority.slice(found.authority.lastIndexOf("@") + 1);
  const pieces = HOST.exec(host);
  if (pieces === null || /[\s<>"\\^`{|}]/.test(host)) return undefined;
  const [withoutFragment = ""] = found.rest.split("#");
  const [path = "", ...queries] = withoutFragment.split("?");
  if (BAD_ESCAPE.test(path)) return undefined;
  const [, bracketed, plain, port = ""] = pieces;
  return {
    scheme: found.scheme.toLowerCase(),
    host,
    hostname: bracketed === undefined ? (plain ?? "") : bracketed.slice(1, -1),
    port,
    escapedPath: encodeURI(path).replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1"),
    query: queryOf(queries.join("?")),
  };
}

function queryOf(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) found.set(name, [...(found.get(name) ?? []), value]);
  return found;
}

function read(text: string): Value {
  const url = parseUrl(text);
  if (url !== undefined) return { kind: "url", url };
  return failure(
    `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
  );
}

function urlArg(value: Value | undefined): UrlParts {
  return taggedArg(value, "url").url;
}

function queryEntries(url: UrlParts): Map<MapKey, Value> {
  return new Map([...url.query].map(([name, values]) => [name, listValue(values)]));
}
