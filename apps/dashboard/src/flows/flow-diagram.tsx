import type { UiFlows, UiResource } from "@resource-broker/contract";
import { useMemo, useState } from "react";
import { amountText, amountWithUnit, count } from "../format/amounts.ts";
import { withQuery } from "../net/query.ts";
import { Link } from "../parts/link.tsx";
import { useWidth } from "../parts/use-width.ts";
import { type FlowLayout, type FlowNode, layOutFlows, NODE_WIDTH } from "./flow-layout.ts";

interface DiagramProps {
  readonly flows: UiFlows;
  readonly resource: UiResource;
  readonly most: number;
  readonly only?: string;
  readonly onChoose: (cluster: string) => void;
}

const PHONE = 560;

export function FlowDiagram({ flows, resource, most, only, onChoose }: DiagramProps) {
  const [box, width] = useWidth(960);
  const [near, setNear] = useState<string | null>(null);
  const margin = width < PHONE ? 100 : 190;
  const layout = useMemo(
    () => layOutFlows(flows, { resource, width, most, margin, ...(only === undefined ? {} : { only }) }),
    [flows, resource, width, most, margin, only],
  );
  return (
    <div className="flow-box" ref={box}>
      <svg
        className={near === null ? "flow" : "flow has-near"}
        width={width}
        height={layout.height + 8}
        role="group"
        aria-label="Flows of capacity between clusters; the table below says the same"
        onPointerLeave={() => setNear(null)}
      >
        <Bands layout={layout} resource={resource} near={near} />
        {layout.lenders.map((node) => (
          <Node key={node.id} node={node} x={margin} {...{ resource, near, setNear, onChoose, margin }} />
        ))}
        {layout.borrowers.map((node) => (
          <Node
            key={node.id}
            node={node}
            x={width - margin - NODE_WIDTH}
            {...{ resource, near, setNear, onChoose, margin }}
          />
        ))}
      </svg>
    </div>
  );
}

function Bands({
  layout,
  resource,
  near,
}: {
  readonly layout: FlowLayout;
  readonly resource: UiResource;
  readonly near: string | null;
}) {
  return (
    <g className="flow-bands">
      {layout.links.map(({ provider, requester, value, reservations, path, width, tone }) => {
        const text = `${provider || "others"} lends ${amountWithUnit(resource, value)} to ${requester || "others"}: ${count(reservations, "reservation")}`;
        const isNear = near !== null && (near === `lender ${provider}` || near === `borrower ${requester}`);
        const band = (
          <path
            className={`flow-band is-tone-${tone}${isNear ? " is-near" : ""}`}
            d={path}
            strokeWidth={width}
          >
            <title>{text}</title>
          </path>
        );
        if (provider === "" || requester === "") return <g key={`${provider} ${requester}`}>{band}</g>;
        return (
          <Link
            key={`${provider} ${requester}`}
            to={withQuery("/reservations", { provider, requester, phase: "live" })}
            label={text}
            isPassedByKeys
          >
            {band}
          </Link>
        );
      })}
    </g>
  );
}

interface NodeProps {
  readonly node: FlowNode;
  readonly x: number;
  readonly margin: number;
  readonly resource: UiResource;
  readonly near: string | null;
  readonly setNear: (near: string | null) => void;
  readonly onChoose: (cluster: string) => void;
}

const PIXELS_PER_LETTER = 7.7;

function Node({ node, x, margin, resource, near, setNear, onChoose }: NodeProps) {
  const { id, side, value, clusters, y, height } = node;
  const isLender = side === "lender";
  const amount = amountText(resource, value);
  const name = id === "" ? `${count(clusters, "other")}` : id;
  const shown = shortened(name, lettersFor(margin, amount));
  const choose = (): void => {
    if (id !== "") onChoose(id);
  };
  return (
    <g
      className={`flow-node is-${side}${near === `${side} ${id}` ? " is-near" : ""}`}
      role="button"
      tabIndex={id === "" ? -1 : 0}
      aria-label={`${shown} ${amount}: ${name} ${isLender ? "lends" : "borrows"} ${amountWithUnit(resource, value)}. Show only its flows.`}
      onPointerEnter={() => setNear(`${side} ${id}`)}
      onFocus={() => setNear(`${side} ${id}`)}
      onBlur={() => setNear(null)}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      }}
    >
      <title>{name}</title>
      <rect className="flow-target" x={isLender ? 0 : x} y={y} width={margin + NODE_WIDTH} height={height} />
      <rect className="flow-bar" x={x} y={y} width={NODE_WIDTH} height={height} rx={3} />
      <text
        x={isLender ? x - 8 : x + NODE_WIDTH + 8}
        y={y + height / 2 + 4}
        textAnchor={isLender ? "end" : "start"}
      >
        {shown} <tspan className="flow-amount">{amount}</tspan>
      </text>
    </g>
  );
}

function lettersFor(margin: number, amount: string): number {
  return Math.floor((margin - 16) / PIXELS_PER_LETTER) - amount.length - 1;
}

function shortened(name: string, letters: number): string {
  return name.length <= letters ? name : `${name.slice(0, Math.max(1, letters - 1))}…`;
}
