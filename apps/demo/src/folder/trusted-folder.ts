import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "@resource-broker/base";

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * The demo starts programs in the folder and trusts its keys: a user who can write there, or replace the folder,
 * could act as the user of the demo. Returns the path without symbolic links, because a link in the folder of
 * another user can change later. Undefined `uid`: a system without file owners.
 */
export function checkTrusted(folder: string, uid = process.getuid?.()): string {
  const place = realpathSync(folder);
  if (uid === undefined) return place;
  for (const parent of parentsOf(place)) checkParent(parent, lstatSync(parent), uid);
  checkOwn(place, lstatSync(place), uid);
  for (const name of readdirSync(place, { recursive: true, encoding: "utf8" })) {
    const path = join(place, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry !== undefined) checkOwn(path, entry, uid);
  }
  return place;
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

/** In a folder with the sticky bit, as /tmp, others cannot touch what is ours. */
function checkParent(path: string, { mode, uid: owner }: Stats, uid: number): void {
  if (owner !== uid && owner !== 0) refuse(path, `belongs to another user (${owner})`);
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0)
    refuse(path, "can be written by other users");
}

function checkOwn(path: string, entry: Stats, uid: number): void {
  if (entry.uid !== uid) refuse(path, `belongs to another user (${entry.uid})`);
  // Nobody looks at the mode of a link.
  if (!entry.isSymbolicLink() && (entry.mode & WRITABLE_BY_OTHERS) !== 0) {
    refuse(path, "can be written by other users", `take that away (chmod -R go-w ${path}), or `);
  }
}

function refuse(path: string, problem: string, remedy = ""): never {
  throw new Fault(
    "invalid",
    `--keep: ${path} ${problem}, who could then change what this demo runs; ${remedy}name a folder of your own`,
  );
}
