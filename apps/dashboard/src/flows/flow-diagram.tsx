import type { KnownName } from "@resource-broker/base";
import { type KeyboardEvent, useMemo, useState } from "react";
import { amountText, amountWithUnit, count } from "../format/amounts.ts";
import { withQuery } from "../shell/navigation.ts";
import { Link } from "../parts/link.tsx";
import { useWidth } from "../parts/use-width.ts";
import "../charts/ink.css";
import { type Flow, type FlowLink, type FlowNode, layOutFlows, NODE_WIDTH } from "./flow-layout.ts";
import "./flows.css";

interface DiagramProps {
  readonly flows: readonly Flow[];
  readonly resource: KnownName;
  readonly most: number;
  readonly onChoose: (cluster: string) => void;
}

const PHONE = 560;
/** Room for a name where there is little: then rather the whole name than the amount, which stands in the table. */
const NARROW = 104;

export function FlowDiagram({ flows, resource, most, onChoose }: DiagramProps) {
  const [box, width] = useWidth(960);
  const [near, setNear] = useState<string | null>(null);
  const margin = width < PHONE ? NARROW : 190;
  const { height, links, providers, requesters } = useMemo(
    () => layOutFlows(flows, { width, most, margin }),
    [flows, width, most, margin],
  );
  return (
    <div className="flow-box" ref={box}>
      <svg
        className={near === null ? "flow" : "flow has-near"}
        width={width}
        height={height + 8}
        role="group"
        aria-label="Flows of capacity between clusters; the table below says the same"
        onPointerLeave={() => setNear(null)}
      >
        <g>
          {links.map((link) => (
            <Band key={`${link.provider} ${link.requester}`} {...{ link, resource, near }} />
          ))}
        </g>
        {[...providers, ...requesters].map((node) => (
          <Node
            key={`${node.side} ${node.id}`}
            x={node.side === "provider" ? margin : width - margin - NODE_WIDTH}
            {...{ node, resource, near, setNear, onChoose, margin }}
          />
        ))}
      </svg>
    </div>
  );
}

interface BandProps {
  readonly link: FlowLink;
  readonly resource: KnownName;
  readonly near: string | null;
}

function Band({ link, resource, near }: BandProps) {
  const { provider, requester, value, reservations, path, width, tone } = link;
  const text = `${provider || "others"} lends ${amountWithUnit(resource, value)} to ${requester || "others"}: ${count(reservations, "reservation")}`;
  const isNear = near === `provider ${provider}` || near === `requester ${requester}`;
  const band = (
    <path className={`flow-band is-tone-${tone}${isNear ? " is-near" : ""}`} d={path} strokeWidth={width}>
      <title>{text}</title>
    </path>
  );
  if (provider === "" || requester === "") return band;
  return (
    <Link to={withQuery("/reservations", { provider, requester, phase: "live" })} label={text} skipsTabOrder>
      {band}
    </Link>
  );
}

interface NodeProps {
  readonly node: FlowNode;
  readonly x: number;
  readonly margin: number;
  readonly resource: KnownName;
  readonly near: string | null;
  readonly setNear: (near: string | null) => void;
  readonly onChoose: (cluster: string) => void;
}

const PIXELS_PER_LETTER = 7.4;

function Node({ node, x, margin, resource, near, setNear, onChoose }: NodeProps) {
  const { id, side, y, height } = node;
  const isProvider = side === "provider";
  const { name, shown, amount, words } = nodeWords(node, resource, margin);
  const key = `${side} ${id}`;
  const choice =
    id === ""
      ? { role: "img", "aria-label": words }
      : {
          role: "button",
          tabIndex: 0,
          "aria-label": `${words}. Show only its flows.`,
          onFocus: () => setNear(key),
          onBlur: () => setNear(null),
          onClick: () => onChoose(id),
          onKeyDown: (event: KeyboardEvent) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            onChoose(id);
          },
        };
  const look = near === key ? "flow-node is-near" : "flow-node";
  return (
    <g className={id === "" ? look : `${look} is-button`} onPointerEnter={() => setNear(key)} {...choice}>
      <title>{name}</title>
      <rect
        className="flow-target"
        x={isProvider ? 0 : x}
        y={y}
        width={margin + NODE_WIDTH}
        height={height}
      />
      <rect className="flow-bar" x={x} y={y} width={NODE_WIDTH} height={height} rx={3} />
      <text
        x={isProvider ? x - 8 : x + NODE_WIDTH + 8}
        y={y + height / 2 + 4}
        textAnchor={isProvider ? "end" : "start"}
      >
        {shown} <tspan className="flow-amount">{amount}</tspan>
      </text>
    </g>
  );
}

function nodeWords({ id, side, value, clusters }: FlowNode, resource: KnownName, margin: number) {
  const whole = amountText(resource, value);
  const name = id === "" ? count(clusters, "other") : id;
  const amount = margin > NARROW || name.length <= lettersFor(margin, whole) ? whole : "";
  const shown = shortened(name, lettersFor(margin, amount));
  const does = side === "provider" ? "lends" : "borrows";
  // The visible text comes first, so that voice control can use it.
  const words = `${`${shown} ${amount}`.trim()}: ${name} ${does} ${amountWithUnit(resource, value)}`;
  return { name, shown, amount, words };
}

function lettersFor(margin: number, amount: string): number {
  const letters = Math.floor((margin - 16) / PIXELS_PER_LETTER);
  return amount === "" ? letters : letters - amount.length - 1;
}

/** From the middle: what tells clusters apart is often at the end. */
function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const half = Math.max(1, Math.floor((letters - 1) / 2));
  return `${name.slice(0, half)}…${name.slice(-half)}`;
}
