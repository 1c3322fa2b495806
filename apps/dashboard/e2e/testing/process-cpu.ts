import { readdir, readFile } from "node:fs/promises";

const TICKS_PER_SECOND = 100;

/** CPU seconds of a process and everything below it. */
export async function cpuSecondsOf(root: number): Promise<number> {
  const processes = await Promise.all(
    (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map((pid) => readProcess(Number(pid))),
  );
  const known = processes.filter((each) => each !== undefined);
  const family = new Set([root]);
  // Children have higher numbers only mostly: look until nobody is added.
  for (let before = 0; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of known) if (family.has(parent)) family.add(pid);
  }
  return known.filter(({ pid }) => family.has(pid)).reduce((sum, { seconds }) => sum + seconds, 0);
}

async function readProcess(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name may hold spaces and brackets: what is wanted stands behind the last one.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields === undefined) return undefined;
  const [, parent = "0"] = fields;
  return {
    pid,
    parent: Number(parent),
    seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}
