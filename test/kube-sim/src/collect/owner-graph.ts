import type { JsonObject } from "../json.ts";
import { uidOf } from "../json-access.ts";
import type { Change } from "../store/change.ts";
import { ownersOf } from "./owners.ts";

/** Where an object lies: `resource key`. Neither holds a space. */
export type Place = string;

export function placeOf(resource: string, key: string): Place {
  return `${resource} ${key}`;
}

export function resourceAndKey(place: Place): readonly [string, string] {
  const space = place.indexOf(" ");
  return [place.slice(0, space), place.slice(space + 1)];
}

/** Who names whom as an owner. Objects without owners cost nothing here. */
export interface OwnerGraph {
  readonly note: (change: Change) => void;
  readonly dependentsOf: (uid: string) => readonly Place[];
}

export function ownerGraph(): OwnerGraph {
  const dependents = new Map<string, Set<Place>>();
  const forget = (object: JsonObject, place: Place) => {
    for (const { uid } of ownersOf(object)) {
      const known = dependents.get(uid);
      known?.delete(place);
      if (known?.size === 0) dependents.delete(uid);
    }
  };
  const learn = (object: JsonObject, place: Place) => {
    for (const { uid } of ownersOf(object)) {
      if (uid === uidOf(object)) continue;
      const known = dependents.get(uid) ?? new Set();
      dependents.set(uid, known.add(place));
    }
  };
  return {
    note: ({ resource, key, before, after }) => {
      const place = placeOf(resource, key);
      if (before !== undefined) forget(before, place);
      if (after !== undefined) learn(after, place);
    },
    dependentsOf: (uid) => [...(dependents.get(uid) ?? [])],
  };
}
