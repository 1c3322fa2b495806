import { Counter, Gauge, type Registry } from "prom-client";
import type { AuditObserver } from "../store/audit-watch.ts";

/** What is known of the audit log. */
export function auditMetrics(registry: Registry): AuditObserver {
  const registers = [registry];
  const broken = new Gauge({
    name: "broker_audit_chain_broken",
    help: "1 if a line of the audit log is missing or was changed, 0 otherwise.",
    registers,
  });
  const checked = new Counter({
    name: "broker_audit_lines_checked_total",
    help: "Lines of the audit log whose hash was computed again, in rounds from the oldest to the newest.",
    registers,
  });
  return {
    auditChecked: (lines) => checked.inc(lines),
    auditFound: (problem) => broken.set(problem === undefined ? 0 : 1),
  };
}
