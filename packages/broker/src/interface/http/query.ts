import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";

/** What stands behind the `?` of an address. */
export interface Query {
  /** The one value of a parameter; undefined: not given. Throws a Fault when it is given twice. */
  readonly one: (name: string) => string | undefined;
}

const EMPTY: Query = { one: () => undefined };

export function readQuery(text: string): Query {
  if (text === "") return EMPTY;
  const parameters = new URLSearchParams(text);
  return {
    one: (name) => {
      const values = parameters.getAll(name);
      if (values.length > 1)
        throw new Fault("invalid", `${name} is given ${values.length} times; give it once`);
      return values[0];
    },
  };
}

/** Which part of a long list is asked for. */
export interface Page {
  readonly limit: number;
  /** Go on behind this one; "": from the start. */
  readonly after: string;
}

export function readPage(query: Query): Page {
  const limit = query.one("limit");
  const after = query.one("after") ?? "";
  if (after.length > LIMIT.afterLength) throw new Fault("invalid", "after is no name from an earlier page");
  return { limit: limit === undefined ? LIMIT.pageDefault : readLimit(limit), after };
}

function readLimit(text: string): number {
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT.pageMax) return limit;
  throw new Fault("invalid", `limit must be a whole number from 1 to ${LIMIT.pageMax}`);
}

/** Accepts `true` or `false` only. */
export function readSwitch(query: Query, name: string): boolean {
  const text = query.one(name);
  if (text === undefined || text === "false") return false;
  if (text === "true") return true;
  throw new Fault("invalid", `${name} must be true or false`);
}
