import { lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault, isRecord, parseJson } from "@resource-broker/base";
import { makeFolder } from "@resource-broker/runtime";
import { DEFAULT_CLUSTERS, type FleetSize } from "../fleet/plan-fleet.ts";

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

const LOCK = "demo.lock";
/** What locking leaves in a folder. */
const LOCK_FILES: readonly string[] = [LOCK, `${LOCK}-journal`];
const BUSY = 5;

/** Says that a folder is ours, and what runs in it. */
const MARKER = "demo.json";

export interface KeptFolder {
  readonly folder: string;
  readonly size: FleetSize;
  /** Lets others have it. */
  readonly release: () => void;
}

/** A folder for this demo alone: a new one, or one of an earlier demo, which then continues with the same fleet. */
export async function keepFolder(dir: string, asked: FleetSize): Promise<KeptFolder> {
  const named = resolve(dir);
  makeFolder(named, 0o700);
  const folder = checkTrusted(named);
  const others = (await readdir(folder)).filter((name) => !LOCK_FILES.includes(name));
  const isAgain = others.includes(MARKER);
  if (!isAgain && others.length > 0) {
    throw new Fault(
      "invalid",
      `--keep: ${folder} is not empty and was not created by an earlier demo; name a new folder`,
    );
  }
  const release = lockFolder(folder);
  try {
    const file = join(folder, MARKER);
    const size = isAgain ? sameFleetSize(await readMarker(file), asked, folder) : newFleetSize(asked);
    await writeFile(file, `${JSON.stringify(size)}\n`);
    return { folder, size, release };
  } catch (error) {
    release();
    throw error;
  }
}

export function newFleetSize({ clusters, nodes }: FleetSize): FleetSize {
  return { clusters: clusters || DEFAULT_CLUSTERS, nodes };
}

/** The ledger knows the clusters it has: other ones would only confuse. */
function sameFleetSize(kept: FleetSize, asked: FleetSize, folder: string): FleetSize {
  const isSame = (name: keyof FleetSize): boolean => asked[name] === 0 || asked[name] === kept[name];
  if (isSame("clusters") && isSame("nodes")) return kept;
  const size = kept.nodes === 0 ? "" : ` with ${kept.nodes} nodes each`;
  throw new Fault(
    "invalid",
    `--keep: ${folder} holds a demo of ${kept.clusters} clusters${size}; leave --clusters and --nodes out, or name a new folder`,
  );
}

async function readMarker(file: string): Promise<FleetSize> {
  const marker = parseJson(await readFile(file, "utf8"));
  const { clusters, nodes } = isRecord(marker) ? marker : {};
  if (isCount(clusters) && clusters > 0 && isCount(nodes)) return { clusters, nodes };
  throw new Fault("invalid", `--keep: ${file} cannot be read; name a new folder`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/**
 * Takes the folder for this process until it is released or dies, however it dies: the lock is the operating system's
 * (Node has no call for one, SQLite does), so nothing stale is left behind.
 */
function lockFolder(folder: string): () => void {
  const database = new DatabaseSync(join(folder, LOCK));
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(folder) : error;
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

function inUse(folder: string): Fault {
  return new Fault(
    "conflict",
    `--keep: another npm start runs in ${folder}; end that one, or name another folder`,
  );
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === BUSY;
}
