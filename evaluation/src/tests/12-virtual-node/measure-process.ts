/** A process among clusters with Liqo, in their network namespace: it takes one order and ends. */
import { missingLiqo } from "./cluster-pair.ts";
import { measureNodes } from "./measure-nodes.ts";
import type { MeasureCommand, Report, VirtualNodes } from "./virtual-node.ts";

process.once("disconnect", () => process.exit());
const send = (report: Report): void => void process.send?.(report);

process.once("message", (order: MeasureCommand) => {
  const reason = missingLiqo();
  if (reason !== undefined) return finish({ kind: "not measured", reason });
  const measured = measureNodes(order, (share, doing) => send({ kind: "progress", share, doing }));
  measured.then(finish, (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    process.disconnect();
  });
});

function finish(result: VirtualNodes): void {
  const report: Report = { kind: "result", result };
  process.send?.(report, () => process.disconnect());
}
