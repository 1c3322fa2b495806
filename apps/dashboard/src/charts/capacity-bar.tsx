import type { UiCapacity, UiResource } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { Bar } from "./bar.tsx";
import { type CapacityPart, capacityBar } from "./capacity-view.ts";
import { Legend } from "./legend.tsx";

const CAPACITY_PARTS: readonly CapacityPart[] = ["allocated", "reserved", "available"];

interface BarProps {
  readonly capacity: UiCapacity;
  readonly resource: UiResource;
  readonly size?: "row" | "large";
}

/** Solid, hatched, open. */
export const CapacityBar = memo(function CapacityBar({ capacity, resource, size = "row" }: BarProps) {
  const view = capacityBar(capacity, resource);
  if (!view.hasAny) {
    return (
      <span className="faint" title={`no ${view.title}`}>
        –
      </span>
    );
  }
  const fills = CAPACITY_PARTS.map((name) => ({ name, share: view.shares[name] }));
  return (
    <span className={`bar-box is-${size}`} title={view.description}>
      <Bar label={view.description} fills={fills} isOver={view.isOver} />
      <span className="bar-text num" aria-hidden="true">
        {view.text}
      </span>
    </span>
  );
});

export function CapacityLegend() {
  return <Legend label="Legend" items={CAPACITY_PARTS.map((name) => ({ name, title: name }))} />;
}
