import type { UiCapacity, UiResource } from "@resource-broker/contract";
import { memo } from "react";
import { capacityBar, type Holding } from "./capacity-view.ts";

const HOLDINGS: readonly Holding[] = ["allocated", "reserved", "available"];

interface BarProps {
  readonly capacity: UiCapacity;
  readonly resource: UiResource;
  readonly size?: "row" | "large";
}

/** Told apart by pattern as well as by colour: solid, hatched, open. */
export const CapacityBar = memo(function CapacityBar({ capacity, resource, size = "row" }: BarProps) {
  const view = capacityBar(capacity, resource);
  if (!view.hasAny) {
    return (
      <span className="faint" title={`no ${view.title}`}>
        –
      </span>
    );
  }
  return (
    <span className={`bar-box is-${size}`} title={view.description}>
      <span className={view.isOver ? "bar is-over" : "bar"} role="img" aria-label={view.description}>
        {HOLDINGS.map((holding) => (
          <span
            key={holding}
            className={`fill is-${holding}`}
            style={{ inlineSize: `${view.shares[holding] * 100}%` }}
          />
        ))}
      </span>
      <span className="bar-text num" aria-hidden="true">
        {view.text}
      </span>
    </span>
  );
});

export function CapacityLegend() {
  return (
    <ul className="legend" aria-label="Legend">
      {HOLDINGS.map((holding) => (
        <li key={holding}>
          <span className={`swatch fill is-${holding}`} aria-hidden="true" />
          {holding}
        </li>
      ))}
    </ul>
  );
}
