import { type BenchEnvironment, withBroker } from "./environment.ts";
import { closeAll } from "./load/fleet.ts";
import { type CpuProfile, profiled } from "./measure/profiler.ts";
import { openReservationLoad } from "./sections/reservation-load.ts";

const SHOWN = 30;
const IN_FLIGHT = 250;
const NODE_FLAGS = ["--inspect=127.0.0.1:0"];

/** Where the broker's time goes while it makes reservations: by function, its own and with all it calls. */
export function profileReservations(env: BenchEnvironment): Promise<string> {
  const { isQuick, report } = env;
  return withBroker(
    env,
    async (broker) => {
      const load = await openReservationLoad(env, broker);
      report("warming up");
      await load.run(IN_FLIGHT, isQuick ? 2000 : 5000);
      const before = load.granted();
      report("profiling");
      const profile = await profiled(await broker.logLines(), () =>
        load.run(IN_FLIGHT, isQuick ? 4000 : 10_000),
      );
      closeAll(load.fleet);
      return render(profile, load.granted() - before);
    },
    NODE_FLAGS,
  );
}

function render(profile: CpuProfile, answered: number): string {
  const { own, total, busyUs } = timesOf(profile);
  const list = (times: ReadonlyMap<string, number>): string[] =>
    [...times]
      .sort((a, b) => b[1] - a[1])
      .slice(0, SHOWN)
      .map(([name, time]) => {
        const share = `${((100 * time) / busyUs).toFixed(1)} %`.padStart(7);
        return `${share}  ${(time / answered).toFixed(1).padStart(6)} µs each  ${name}`;
      });
  return [
    `${(busyUs / answered).toFixed(0)} µs for each of ${answered} reservations, with the profiler's own cost`,
    "\nown time, by function:",
    ...list(own),
    "\nwith all they call:",
    ...list(total),
  ].join("\n");
}

interface Times {
  readonly own: ReadonlyMap<string, number>;
  readonly total: ReadonlyMap<string, number>;
  readonly busyUs: number;
}

function timesOf({ nodes, samples, timeDeltas }: CpuProfile): Times {
  const nameOf = new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]));
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const own = new Map<string, number>();
  const total = new Map<string, number>();
  let busyUs = 0;
  for (const [index, id] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    const names = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at))
      names.add(nameOf.get(at) ?? "?");
    if (names.has("(idle)")) continue;
    busyUs += time;
    const [top = "?"] = names;
    own.set(top, (own.get(top) ?? 0) + time);
    for (const name of names) total.set(name, (total.get(name) ?? 0) + time);
  }
  return { own, total, busyUs };
}

function frameName({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string {
  const file = url.slice(url.lastIndexOf("/") + 1);
  return `${functionName === "" ? "(anonymous)" : functionName}${file === "" ? "" : `  ${file}:${lineNumber + 1}`}`;
}
